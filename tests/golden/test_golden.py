# SPDX-License-Identifier: Apache-2.0
"""Exact outputs of every command on the simulated device, beside this file.

TARE_UPDATE_GOLDEN=1 writes them anew; the difference is then what there is to review. Results that
were measured on real devices lie in saved/, with the text they render to.
"""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from parts import thorough_but  # noqa: E402

UPDATE = os.environ.get("TARE_UPDATE_GOLDEN") == "1"
DEVICE = ["--device", "simulated"]
LATENCY = ["latency", *DEVICE, "--budget", "2", "--seed", "7"]
BANDWIDTH = ["bandwidth", *DEVICE, "--sizes", "8K..1M", "--budget", "1", "--seed", "7"]
PEAK = ["peak", *DEVICE, "--budget", "1", "--seed", "7"]
MATMUL = ["matmul", *DEVICE, "--n", "32,64,100", "--budget", "1", "--seed", "7", "--peaks", "none"]
OVERLAP = ["overlap", *DEVICE, "--bytes", "1M", "--chunks", "1,4,16", "--queues", "1,3", "--budget", "1",
           "--seed", "7", "--peaks", "none"]
CHECKUP = ["checkup", *DEVICE, "--budget", "1", "--seed", "7"]
SAVED = sorted(path.name for path in HERE.glob("saved/*.json"))
# One of each command.
SAVED_QUICK = list({name.split("-")[1]: name for name in reversed(SAVED)}.values())

# Each command measures once and writes everything; the other texts are rendered from its JSON.
COMMANDS = {"devices": ["devices", *DEVICE], "latency": LATENCY, "bandwidth": BANDWIDTH, "peak": PEAK,
            "matmul": MATMUL, "overlap": OVERLAP, "checkup": CHECKUP}
RENDERED = {"verbose": (["-v"], "80"), "120": ([], "120")}
HELP = {"help.txt": ["help"], "help-bandwidth.txt": ["help", "bandwidth"],
        "help-overlap.txt": ["help", "overlap"]}


def digest(samples):
    """Thousands of samples as their number and a hash: as exact, and fit to be read."""
    plain = re.sub(r"\s", "", samples[1])
    count = plain.count(",") + 1 if plain else 0
    return f'"samples": "{count}, sha256 {hashlib.sha256(plain.encode()).hexdigest()[:16]}"'


def normal(text):
    """Without the version of tare, which is no result."""
    text = re.sub(r'("version": )"\d+\.\d+\.\d+"', r'\1"X"', text)
    return re.sub(r'"samples": \[([^\]]*)\]', digest, text)


def compare(name, text):
    path = HERE / name
    if UPDATE:
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"no {name}: TARE_UPDATE_GOLDEN=1 writes it"
    assert text == path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def measured(tare_path, tmp_path_factory):
    """What each command wrote: text, JSON and CSV by file name, and a folder with the JSON."""
    folder = tmp_path_factory.mktemp("measured")
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "80"}
    environment.pop("TARE_DEVICE", None)
    for name, arguments in COMMANDS.items():
        result = subprocess.run(
            [tare_path, *arguments, "--json", f"{name}.json", "--csv", f"{name}.csv"], cwd=folder,
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
            timeout=600, check=False)
        assert result.returncode == 0 and result.stderr == "", result.stderr
        # The last line names the files.
        (folder / f"{name}.txt").write_text("".join(result.stdout.splitlines(True)[:-1]), "utf-8")
    return folder


@pytest.mark.parametrize("kind", ["txt", "json", "csv"])
@pytest.mark.parametrize("command", COMMANDS)
def test_output(measured, command, kind):
    name = f"{command}.{kind}"
    compare(name, normal((measured / name).read_text("utf-8")))


@pytest.mark.parametrize("form", RENDERED)
@pytest.mark.parametrize("command", COMMANDS)
def test_rendered(tare, measured, command, form):
    options, columns = RENDERED[form]
    result = tare("render", measured / f"{command}.json", *options, env={"COLUMNS": columns})
    assert result.returncode == 0 and result.stderr == "", result.stderr
    compare(f"{command}-{form}.txt", result.stdout)


@pytest.mark.parametrize("name", HELP)
def test_help(tare, name):
    compare(name, tare(*HELP[name]).stdout)


@pytest.fixture(scope="module")
def saved_commands():
    return {json.loads((HERE / "saved" / name).read_text("utf-8"))["command"] for name in SAVED}


@pytest.mark.parametrize("command", COMMANDS)
def test_there_is_a_saved_result_of_every_command(saved_commands, command):
    assert command in saved_commands, "measure it on a real device and put the JSON into tests/golden/saved"


@pytest.mark.parametrize("name", thorough_but(SAVED_QUICK, SAVED))
def test_a_document_that_was_written_once_can_be_read_for_ever(tare, tmp_path, name):
    saved = HERE / "saved" / name
    result = tare("render", saved, "--csv", "a.csv", "--html", "a.html", "--json", "a.json",
                  env={"COLUMNS": "80"})
    assert result.returncode == 0 and result.stderr == "", result.stderr
    # The last line names the files.
    compare("saved/" + name.replace(".json", ".txt"), "".join(result.stdout.splitlines(True)[:-1]))
    document = json.loads(saved.read_text("utf-8"))
    again = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert again["cells"] == document["cells"]
    # Facts that later versions know are added to what was written.
    assert [part["cells"] for part in again.get("parts", [])] == \
        [part["cells"] for part in document.get("parts", [])]
    assert again.get("conclusions") == document.get("conclusions")
    assert len((tmp_path / "a.csv").read_text("utf-8").splitlines()) > 1
    assert "</html>" in (tmp_path / "a.html").read_text("utf-8")


@pytest.mark.parametrize("path", sorted(HERE.glob("*.txt")), ids=lambda path: path.name)
def test_no_line_is_wider_than_the_terminal(path):
    width = 120 if path.name.endswith("-120.txt") else 80
    for line in path.read_text(encoding="utf-8").splitlines():
        assert len(line) <= width, line
        assert line == line.rstrip(), line


def test_a_second_run_is_the_same(tare):
    first, second = (tare("latency", *DEVICE, "--budget", "0.2", "--json", "-") for _ in range(2))
    assert first.stdout == second.stdout
    assert json.loads(first.stdout)["parameters"]["seed"] == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_a_locale_without_utf8_gets_ascii_of_the_same_shape(tare, measured, command):
    # Wide enough for no paragraph to be broken: "+-" for "±" takes one column more. A table's column takes a blank for it.
    utf8 = tare("render", measured / f"{command}.json", env={"COLUMNS": "400"})
    ascii_only = tare("render", measured / f"{command}.json", env={"LC_ALL": "C", "COLUMNS": "400"})
    assert ascii_only.returncode == 0 and ascii_only.stdout.isascii()
    assert [len(line) for line in ascii_only.stdout.splitlines()] == [
        len(line.replace("  ±", " +-").replace("±", "+-")) for line in utf8.stdout.splitlines()]
