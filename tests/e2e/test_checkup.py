# SPDX-License-Identifier: Apache-2.0
"""`tare checkup` as a whole: every part is there or says why not, whatever happens on the way."""
import csv
import json
import os
import re
import signal
import subprocess
import time

import pytest

import validate
from on_terminal import OnTerminal
from patience import HUNG_S

PARTS = ["devices", "latency", "bandwidth", "peak", "matmul", "overlap"]
BASIC = {"POCL_DEVICES": "basic"}
SIMULATED = ["--budget", "1", "--seed", "1"]
# The progress line has told of a figure of latency, and after that of another: the first is measured.
ANOTHER = r"latency, ([^\r]+)\r(?:.*\r)?[^\r]*latency, (?!\1\r)[^\r]+\r"


def one_line(text):
    return " ".join(text.split())


def parts_of(document):
    return [part["command"] for part in document["parts"]]


def missing_of(document):
    return [re.match(r"no (\w+): .", warning["message"])[1] for warning in document["warnings"]
            if warning["id"] == "part-missing"]


def check_document(document):
    """What holds for every checkup: parts in their order, those that are missing with a reason."""
    assert document["command"] == "checkup" and document["cells"] == []
    have, missing = parts_of(document), missing_of(document)
    assert sorted(have + missing, key=PARTS.index) == PARTS
    assert have == sorted(have, key=PARTS.index)
    device = document["device"]["facts"]["name"]["value"]
    for part in document["parts"]:
        shown = part["devices"] if part["command"] == "devices" else [part["device"]]
        assert any(one["facts"]["name"]["value"] == device for one in shown)
        for cell in part["cells"]:
            assert cell.get("absent") or cell["median"] is not None


def opencl_or_skip(tare, environment):
    found = json.loads(tare("devices", "--json", "-", env=environment).stdout)
    if not any(device["backend"] == "opencl" for device in found["devices"]):
        pytest.skip("no OpenCL device on this machine")


@pytest.mark.thorough
def test_ten_seconds_on_a_real_device(tare, tmp_path):
    opencl_or_skip(tare, BASIC)
    def timed(budget, *outputs):
        begun = time.monotonic()
        done = tare("checkup", "--device", "opencl:0", "--budget", budget, *outputs, env=BASIC, timeout=HUNG_S)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return time.monotonic() - begun, done

    # Beside the budget, buffers and kernels are made: what a run with hardly any budget takes on this machine,
    # which may get busier: then once more.
    for last in (False, False, True):
        least, _ = timed(1)
        took, result = timed(10, "--json", "a.json", "--csv", "a.csv", "--html", "a.html")
        if took < 10 * 1.5 + 3 * least:
            break
        assert not last, (took, least)
    document = validate.check(tmp_path / "a.json")
    check_document(document)
    assert {"devices", "latency", "bandwidth"} <= set(parts_of(document))
    assert [each["id"] for each in document["conclusions"]][0] == "pays"
    for part in parts_of(document):
        assert f"\n== {part} ==" in result.stdout
    with open(tmp_path / "a.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["command"] for row in rows} <= set(PARTS)
    assert {"latency", "bandwidth"} <= {row["command"] for row in rows}
    assert "</html>" in (tmp_path / "a.html").read_text(encoding="utf-8")
    again = tare("render", "a.json")
    assert again.stdout.splitlines() == result.stdout.splitlines()[:-1]


@pytest.fixture(scope="module")
def simulated(tare_path, tmp_path_factory):
    """A file with the checkup of the simulated device."""
    path = tmp_path_factory.mktemp("checkup") / "simulated.json"
    environment = {name: value for name, value in os.environ.items() if name != "TARE_DEVICE"}
    done = subprocess.run([tare_path, "checkup", "--device", "simulated", *SIMULATED, "--json", path],
                          env={**environment, "LC_ALL": "C.UTF-8"}, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=HUNG_S, check=False)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return path


# The quick check compares it with a golden file instead.
@pytest.mark.thorough
def test_it_is_the_same_each_time_on_the_simulated_device(tare, simulated):
    again = tare("checkup", "--device", "simulated", *SIMULATED, "--json", "-")
    assert again.stdout == simulated.read_text(encoding="utf-8")


def test_every_part_is_there_on_the_simulated_device(simulated):
    document = validate.check(simulated)
    check_document(document)
    assert missing_of(document) == []
    budgets = [part["parameters"]["budget_ns"] for part in document["parts"] if part["command"] != "devices"]
    assert sum(budgets) <= document["parameters"]["budget_ns"]
    ids = [each["id"] for each in document["conclusions"]]
    assert ids == ["pays", "device", "launch", "link", "ceilings", "matmul", "overlap"]


def test_advice_for_a_part_names_its_command(simulated):
    document = json.loads(simulated.read_text(encoding="utf-8"))
    for part in document["parts"]:
        for warning in part["warnings"]:
            assert not (warning["action"] or "").startswith("--"), warning
        if part["command"] in ("bandwidth", "matmul", "overlap"):
            cut = next(each for each in part["warnings"] if each["id"] == "short-profile")
            assert cut["action"] == f"tare {part['command']} measures it in full"


def test_without_kernels_the_rest_goes_on(tare, tmp_path, test_data):
    result = tare("checkup", "--device", f"simulated:{test_data / 'build-failure.tare-device'}",
                  *SIMULATED, "--json", "a.json")
    assert result.returncode == 0, result.stderr
    document = validate.check(tmp_path / "a.json")
    check_document(document)
    assert {"latency", "bandwidth"} <= set(parts_of(document))
    for part in document["parts"]:
        if part["command"] in ("peak", "matmul", "overlap"):
            assert any(cell.get("absent") for cell in part["cells"])


def test_a_device_lost_on_the_way_keeps_the_parts_before(tare, tmp_path, test_data):
    text = (test_data / "device-lost.tare-device").read_text(encoding="utf-8")
    (tmp_path / "faulty").write_text(text.replace("device-lost 500\n", "device-lost 20000\n"), "utf-8")
    result = tare("checkup", "--device", "simulated:faulty", "--budget", "20", "--seed", "1", "--json",
                  "a.json")
    assert result.returncode == 1
    assert "lost" in result.stderr and len(result.stderr.splitlines()) == 1
    document = validate.check(tmp_path / "a.json")
    assert any(warning["id"] == "device-lost" for warning in document["warnings"])
    have = parts_of(document)
    assert have[:2] == ["devices", "latency"] and have == PARTS[:len(have)] and len(have) < len(PARTS)
    assert any(warning["id"] == "device-lost" for warning in document["parts"][-1]["warnings"])
    assert any(cell.get("samples") for cell in document["parts"][1]["cells"])


def test_an_interruption_keeps_the_parts_before(tare, tare_path, tmp_path, pseudo_terminals):
    opencl_or_skip(tare, BASIC)
    with OnTerminal([tare_path, "checkup", "--device", "opencl:0", "--budget", "200", "--json", "a.json"], cwd=tmp_path,
                    env={**os.environ, **BASIC, "LC_ALL": "C.UTF-8", "TERM": "xterm"}) as run:
        run.wait_for(ANOTHER)
        run.signal(signal.SIGINT)
        status, output, errors = run.end()
    assert status == 130 and "interrupted" in errors[-1], errors
    assert (tmp_path / "a.json").exists()
    document = validate.check(tmp_path / "a.json")
    assert document["interrupted"] is True
    have = parts_of(document)
    assert have == PARTS[:len(have)] and 2 <= len(have) < len(PARTS)
    assert document["parts"][-1]["interrupted"] is True
    assert any(cell.get("samples") for cell in document["parts"][-1]["cells"])
    assert not any(part["interrupted"] for part in document["parts"][:-1])
    assert "Interrupted: only what was measured until then is here." in one_line(output)
