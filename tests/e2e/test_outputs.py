# SPDX-License-Identifier: Apache-2.0
"""Files: found unwritable before measuring, complete or not there at all, and what an interruption
or a lost device leaves behind."""
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import time

import pytest

from on_terminal import A_FIGURE, OnTerminal
from patience import HUNG_S

SIMULATED = ["--device", "simulated", "--budget", "0.2", "--seed", "1"]
ONE_LINE = ["--lines", "host-to-device", "--sizes", "8K..32K"]


def sentence(result):
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("tare: ")
    return lines[0]


@pytest.fixture
def faulty(tmp_path_factory):
    """A path to the built-in script's device with a fault."""
    source = pathlib.Path(__file__).parents[2] / "src/backend/simulated/default.tare-device"

    def make(*changes):
        text = source.read_text(encoding="utf-8")
        for old, new in changes:
            assert old == "" or old in text
            text = text.replace(old, new) if old else text + new + "\n"
        script = tmp_path_factory.mktemp("scripts") / "faulty.tare-device"
        script.write_text(text, encoding="utf-8")
        return f"simulated:{script}"

    return make


# ---- writing

def test_every_format_is_written_and_named(tare, tmp_path):
    result = tare("bandwidth", *SIMULATED, *ONE_LINE, "--json", "a.json", "--csv", "a.csv",
                  "--html", "a.html")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert result.stdout.splitlines()[-1] == "page: a.html   data: a.json   table: a.csv"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.html", "a.json"]
    document = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert document["schema"] == "tare.result/1" and not document["interrupted"]
    assert (tmp_path / "a.csv").read_text(encoding="utf-8").startswith("line,bytes,")
    assert (tmp_path / "a.html").read_text(encoding="utf-8").lower().startswith("<!doctype html>")


@pytest.mark.parametrize("option", ["--json", "--csv", "--html"])
def test_standard_output_takes_one_and_the_report_is_left_out(tare, tmp_path, option):
    shown = tare("bandwidth", *SIMULATED, *ONE_LINE, option, "-")
    written = tare("bandwidth", *SIMULATED, *ONE_LINE, option, "file")
    assert shown.returncode == written.returncode == 0
    assert shown.stdout == (tmp_path / "file").read_text(encoding="utf-8")
    assert shown.stderr == ""


@pytest.mark.parametrize("command", [["bandwidth", *SIMULATED, *ONE_LINE], ["latency", *SIMULATED],
                                     ["checkup", *SIMULATED], ["devices"]],
                         ids=["bandwidth", "latency", "checkup", "devices"])
def test_a_saved_result_renders_to_the_same_text(tare, command):
    first = tare(*command, "--json", "a.json")
    again = tare("render", "a.json")
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines() == first.stdout.splitlines()[:-1]


def test_rendering_again_changes_nothing(tare, tmp_path):
    assert tare("latency", *SIMULATED, "--json", "a.json", "--csv", "a.csv").returncode == 0
    assert tare("render", "a.json", "--csv", "b.csv", "--json", "b.json").returncode == 0
    for kind in ("json", "csv"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    # Over itself, too.
    assert tare("render", "a.json", "--json", "a.json").returncode == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_new_files_follow_the_umask_and_old_ones_keep_their_mode(tare, tmp_path):
    (tmp_path / "old.json").write_text("old", encoding="utf-8")
    (tmp_path / "old.json").chmod(0o604)
    before = os.umask(0o027)
    try:
        tare("devices", "--json", "old.json", "--csv", "new.csv")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "old.json").stat().st_mode) == 0o604
    assert stat.S_IMODE((tmp_path / "new.csv").stat().st_mode) == 0o640


def test_a_link_stays_and_its_target_is_replaced(tare, tmp_path):
    (tmp_path / "target.json").write_text("old", encoding="utf-8")
    (tmp_path / "link.json").symlink_to("target.json")
    assert tare("devices", "--json", "link.json").returncode == 0
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "target.json").read_text(encoding="utf-8"))


# ---- not writing

UNWRITABLE = [
    ("no folder", "missing/a.json", "No such file or directory"),
    ("a folder", "folder", "Is a directory"),
    ("through a file", "file/a.json", "Not a directory"),
    ("a name too long", "x" * 300, "File name too long"),
]


@pytest.mark.parametrize("option", ["--json", "--csv", "--html"])
@pytest.mark.parametrize("name,path,reason", UNWRITABLE, ids=[row[0] for row in UNWRITABLE])
def test_unwritable_is_found_before_measuring(tare, tmp_path, option, name, path, reason):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("kept", encoding="utf-8")
    # Nothing can be measured on a device that is not there; that would be said otherwise.
    nowhere = ("bandwidth", "--device", "simulated:7", "--html", "good.html")
    assert "there is no device" in sentence(tare(*nowhere))
    result = tare(*nowhere, option, path)
    assert result.returncode == 1
    assert reason in sentence(result) and path[:20] in sentence(result)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder"]
    assert (tmp_path / "file").read_text(encoding="utf-8") == "kept"


@pytest.fixture
def as_somebody(tare_path):
    """Runs tare as a user who is not root, in a folder that everybody may write."""
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    user = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}

    def run(*arguments):
        try:
            return subprocess.run([tare_path, *arguments], cwd=folder, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, check=False, timeout=60, **user)
        except PermissionError:
            pytest.skip("another user cannot reach the program under test")

    yield folder, run
    folder.chmod(0o777)
    shutil.rmtree(folder)


def test_a_read_only_file_is_not_replaced(as_somebody):
    folder, run = as_somebody
    (folder / "a.csv").write_text("kept", encoding="utf-8")
    (folder / "a.csv").chmod(0o444)
    result = run("devices", "--device", "simulated", "--csv", "a.csv")
    assert result.returncode == 1 and "a.csv: Permission denied" in sentence(result)
    assert (folder / "a.csv").read_text(encoding="utf-8") == "kept"


def test_a_file_in_a_read_only_folder_is_written_in_place(as_somebody):
    folder, run = as_somebody
    (folder / "a.csv").write_text("STALE " * 10000, encoding="utf-8")
    (folder / "a.csv").chmod(0o666)
    folder.chmod(0o555)
    refused = run("devices", "--device", "simulated", "--csv", "b.csv")
    assert refused.returncode == 1 and "b.csv: Permission denied" in sentence(refused)
    result = run("devices", "--device", "simulated", "--csv", "a.csv")
    assert result.returncode == 0, result.stderr
    text = (folder / "a.csv").read_text(encoding="utf-8")
    assert text.startswith("device,") and "STALE" not in text


@pytest.mark.parametrize("option", ["--json", "--csv", "--html"])
def test_a_full_disk_is_reported_and_the_other_files_are_written(as_somebody, option):
    # Not as root, who could replace the device by a file.
    folder, run = as_somebody
    other = "--csv" if option == "--json" else "--json"
    result = run("devices", "--device", "simulated", option, "/dev/full", other, "other")
    assert result.returncode == 1
    assert "/dev/full: No space left on device" in sentence(result)
    assert (folder / "other").stat().st_size > 0
    assert [entry.name for entry in folder.iterdir()] == ["other"]


@pytest.mark.parametrize("arguments", [["devices"], ["help"], ["--version"], ["latency", "--help"],
                                       ["devices", "--json", "-"]], ids=" ".join)
def test_a_full_standard_output_is_reported(tare_path, arguments):
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = subprocess.run([tare_path, *arguments], stdout=full, stderr=subprocess.PIPE,
                                stdin=subprocess.DEVNULL, text=True, check=False, timeout=60)
    assert result.returncode == 1
    assert "standard output: No space left on device" in sentence(result)


def test_a_reader_that_goes_away_is_no_news(tare_path):
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run([tare_path, "devices"], stdout=writer, stderr=subprocess.PIPE,
                            stdin=subprocess.DEVNULL, text=True, check=False, timeout=60)
    os.close(writer)
    assert result.returncode == 1 and result.stderr == ""


def test_two_names_of_one_file_are_refused(tare, tmp_path):
    (tmp_path / "a").write_text("kept", encoding="utf-8")
    result = tare("devices", "--json", "a", "--csv", "./a")
    assert result.returncode == 2 and "would both write" in sentence(result)
    assert (tmp_path / "a").read_text(encoding="utf-8") == "kept"


# ---- reading

def test_what_is_no_result_is_refused_with_what_is_wrong(tare, tmp_path):
    assert tare("devices", "--json", "good.json").returncode == 0
    good = (tmp_path / "good.json").read_text(encoding="utf-8")
    rows = {
        "truncated": good[:len(good) // 2],
        "empty": "",
        "text": "line,bytes\n1,2\n",
        "foreign": '{"benchmarks": []}',
        "newer": good.replace("tare.result/1", "tare.result/2"),
        "list": "[]",
        "binary": "\x00\x01\x02",
    }
    for name, text in rows.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        result = tare("render", name, "--html", "out.html")
        assert result.returncode == 1, name
        assert result.stdout == ""
        assert name in sentence(result)
        assert not (tmp_path / "out.html").exists()
    for name in ("missing.json", "."):
        result = tare("render", name)
        assert result.returncode == 1 and name in sentence(result)


# ---- faults of the device

@pytest.mark.parametrize("script,number,words", [("device-lost", 500, "lost"),
                                                 ("hang", 30, "not done after|would never end")])
@pytest.mark.parametrize("command,later", [("latency", 15000), ("bandwidth", 3000)])
def test_a_device_lost_in_the_middle_fails_and_keeps_what_was_measured(
        tare, tmp_path, test_data, command, later, script, number, words):
    text = (test_data / f"{script}.tare-device").read_text(encoding="utf-8")
    old = f"fault  {script} {number}\n"
    assert old in text
    # Late enough for some figures of either command.
    (tmp_path / "faulty").write_text(text.replace(old, f"fault  {script} {later}\n"), encoding="utf-8")
    result = tare(command, "--device", "simulated:faulty", "--budget", "5", "--seed", "1",
                  "--json", "a.json", "--csv", "a.csv", "--html", "a.html")
    assert result.returncode == 1
    assert re.search(words, sentence(result))
    document = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    warning = next(each for each in document["warnings"] if each["id"] == "device-lost")
    assert warning["action"]
    assert sentence(result).removeprefix(f"tare: {command}: ") in warning["message"]
    assert re.search(words, " ".join(result.stdout.split()))
    assert not document["interrupted"]
    cells = document["cells"]
    assert any(cell.get("samples") for cell in cells)
    reasons = {cell["absent"] for cell in cells if cell.get("absent")}
    assert "not measured: the run ended before its turn" in reasons
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.csv", "a.html", "a.json", "faulty"]
    again = tare("render", "a.json")
    assert again.returncode == 0 and again.stdout.splitlines() == result.stdout.splitlines()[:-1]


@pytest.mark.parametrize("command", ["latency", "bandwidth"])
def test_a_device_lost_before_the_first_figure_writes_nothing(tare, tmp_path, faulty, command):
    (tmp_path / "kept.json").write_text("kept", encoding="utf-8")
    result = tare(command, "--device", faulty(("", "fault device-lost 2")), "--budget", "5", "--json",
                  "kept.json", "--html", "new.html")
    assert result.returncode == 1 and result.stdout == ""
    assert "lost" in sentence(result)
    assert [entry.name for entry in tmp_path.iterdir()] == ["kept.json"]
    assert (tmp_path / "kept.json").read_text(encoding="utf-8") == "kept"


def test_without_profiling_there_are_host_times_and_reasons(tare, faulty):
    device = faulty(("stamps queued,submitted,start,end", "stamps none"))
    result = tare("bandwidth", "--device", device, "--budget", "0.2", *ONE_LINE, "--json", "-")
    assert result.returncode == 0, result.stderr
    cells = json.loads(result.stdout)["cells"]
    measured = {cell["source"] for cell in cells if not cell.get("absent")}
    assert "host" in measured and "device" not in measured
    assert all(cell["median"] is None for cell in cells if cell.get("absent"))


def test_out_of_device_memory_ends_the_sizes_and_is_said(tare, faulty):
    arguments = ["--budget", "0.2", "--lines", "host-to-device", "--sizes", "256K..4M", "--json", "-"]
    result = tare("bandwidth", "--device", faulty(("", "fault out-of-memory-above 1 MiB")), *arguments)
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert any("out of memory" in warning["message"] for warning in document["warnings"])
    measured = {cell["labels"]["bytes"] for cell in document["cells"] if cell.get("samples")}
    assert measured and max(measured) < 4 << 20
    nothing = tare("bandwidth", "--device", faulty(("", "fault out-of-memory-above 4 KiB")), *arguments)
    assert nothing.returncode == 1
    assert "memory" in sentence(nothing) and nothing.stdout == ""


def test_wrong_data_fails_and_the_result_says_where(tare, tmp_path, faulty):
    arguments = ["--budget", "0.05", "--seed", "1", "--lines", "host-to-device", "--sizes", "8K",
                 "--json", "a.json"]

    def fails(fault, number):
        device = faulty(("", f"fault {fault} {number}"))
        return tare("bandwidth", "--device", device, *arguments)

    # The last operation is the last number at which a lost device is noticed.
    low, high = 1, 1 << 20
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fails("device-lost", middle).returncode else (low, middle - 1)
    # Only the last copy into a destination is compared, so one of the last has to be wrong.
    for number in range(low, max(0, low - 8), -1):
        result = fails("wrong-data", number)
        if result.returncode:
            break
    assert result.returncode == 1, f"no operation up to {low} was found wrong"
    assert result.stderr.startswith("tare: bandwidth: ")
    cells = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["cells"]
    assert any(cell["verified"] is False for cell in cells)
    assert "WRONG" in result.stdout


@pytest.mark.parametrize("text,words", [
    ("nonsense\n", ["faulty.tare-device"]),
    ("", ["faulty.tare-device"]),
])
def test_a_bad_script_is_refused_by_line(tare, tmp_path, text, words):
    (tmp_path / "faulty.tare-device").write_text(text, encoding="utf-8")
    result = tare("latency", "--device", "simulated:faulty.tare-device")
    assert result.returncode == 1
    for word in words:
        assert word in sentence(result)
    missing = tare("latency", "--device", "simulated:missing.tare-device")
    assert missing.returncode == 1 and "missing.tare-device" in sentence(missing)


# ---- interruption

def start(tare_path, tmp_path, *arguments):
    return subprocess.Popen([tare_path, *arguments], cwd=tmp_path, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def on_terminal(tare, tare_path, tmp_path, pseudo_terminals):
    """Starts a command that measures a real device."""
    basic = {"POCL_DEVICES": "basic"}
    found = json.loads(tare("devices", "--json", "-", env=basic).stdout)
    if not any(device["backend"] != "simulated" for device in found["devices"]):
        pytest.skip("no real device on this machine")
    return lambda *arguments: OnTerminal([tare_path, *arguments], cwd=tmp_path, env={**os.environ, **basic, "TERM": "xterm"})


def wait_for_temporary(tmp_path):
    """The outputs are open, and the handlers were installed before."""
    deadline = time.monotonic() + HUNG_S
    while time.monotonic() < deadline:
        if any(entry.name.startswith(".tare-") for entry in tmp_path.iterdir()):
            return
        time.sleep(0.02)
    pytest.fail("no output was opened")


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.thorough)],
                         ids=["SIGINT", "SIGTERM"])
def test_an_interruption_keeps_what_was_measured(on_terminal, tmp_path, number):
    with on_terminal("latency", "--budget", "60", "--json", "a.json") as run:
        run.wait_for(A_FIGURE)
        run.signal(number)
        status, output, errors = run.end()
    assert status == 130 and "interrupted" in errors[-1], errors
    document = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert document["interrupted"] is True
    assert any(cell.get("samples") for cell in document["cells"])
    assert "Interrupted" in output
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


def test_what_comes_before_the_first_figure_can_be_interrupted(on_terminal, tmp_path):
    with on_terminal("overlap", "--json", "a.json") as run:
        run.wait_for("choosing cycles")
        run.signal(signal.SIGINT)
        status, output, errors = run.end()
    assert status == 130 and "interrupted" in errors[-1], errors
    document = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert document["interrupted"] is True and document["cells"] == []
    assert "No figures" in output


def test_a_second_interruption_ends_at_once_and_leaves_nothing(on_terminal, tmp_path):
    with on_terminal("bandwidth", "--budget", "60", "--json", "a.json", "--sizes", "64M..256M") as run:
        run.wait_for(r"\d+ of \d+")
        assert any(entry.name.startswith(".tare-") for entry in tmp_path.iterdir())
        # Both at once: the first cannot have been noticed yet.
        for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
            run.signal(number)
        status, _, _ = run.end()
    assert status in (-signal.SIGINT, -signal.SIGTERM)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["devices", "render"])
def test_commands_that_do_not_measure_end_at_the_first_signal(tare, tare_path, tmp_path, command):
    assert tare("latency", *SIMULATED, "--json", "saved").returncode == 0
    arguments = ["devices", "--device", "simulated"] if command == "devices" else ["render", "saved"]
    os.mkfifo(tmp_path / "pipe")
    # Opening waits for a reader, with the other file begun.
    process = start(tare_path, tmp_path, *arguments, "--json", "a.json", "--html", "pipe")
    wait_for_temporary(tmp_path)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=HUNG_S)
    assert process.returncode == -signal.SIGTERM
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["pipe", "saved"]
    # Writing waits for a reader that does not read.
    process = start(tare_path, tmp_path, *arguments, "--html", "pipe")
    with open(tmp_path / "pipe", "rb") as pipe:
        pipe.read(1)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=HUNG_S)
    process.communicate()
    assert process.returncode == -signal.SIGTERM
