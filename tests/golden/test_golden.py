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

import pytest

HERE = pathlib.Path(__file__).parent
UPDATE = os.environ.get("TARE_UPDATE_GOLDEN") == "1"
DEVICE = ["--device", "simulated"]
LATENCY = ["latency", *DEVICE, "--budget", "2", "--seed", "7"]
BANDWIDTH = ["bandwidth", *DEVICE, "--sizes", "8K..1M", "--budget", "4", "--seed", "7"]
SAVED = sorted(path.name for path in HERE.glob("saved/*.json"))

CASES = {
    "devices.txt": ["devices", *DEVICE],
    "devices-verbose.txt": ["devices", *DEVICE, "-v"],
    "devices.json": ["devices", *DEVICE, "--json", "-"],
    "devices.csv": ["devices", *DEVICE, "--csv", "-"],
    "latency.txt": LATENCY,
    "latency-verbose.txt": [*LATENCY, "-v"],
    "latency.json": [*LATENCY, "--json", "-"],
    "latency.csv": [*LATENCY, "--csv", "-"],
    "bandwidth.txt": BANDWIDTH,
    "bandwidth-verbose.txt": [*BANDWIDTH, "-v"],
    "bandwidth.json": [*BANDWIDTH, "--json", "-"],
    "bandwidth.csv": [*BANDWIDTH, "--csv", "-"],
    "help.txt": ["help"],
    "help-bandwidth.txt": ["help", "bandwidth"],
}
# The same on a wider terminal.
WIDE = {"devices-120.txt": ["devices", *DEVICE], "latency-120.txt": LATENCY,
        "bandwidth-120.txt": BANDWIDTH}


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


@pytest.mark.parametrize("name", CASES)
def test_output(tare, name):
    result = tare(*CASES[name], env={"COLUMNS": "80"})
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    compare(name, normal(result.stdout))


@pytest.mark.parametrize("name", WIDE)
def test_output_at_120_columns(tare, name):
    result = tare(*WIDE[name], env={"COLUMNS": "120"})
    assert result.returncode == 0, result.stderr
    compare(name, result.stdout)


@pytest.mark.parametrize("name", SAVED)
def test_saved_result(tare, name):
    """A document that was written once can be read for ever."""
    result = tare("render", HERE / "saved" / name, env={"COLUMNS": "80"})
    assert result.returncode == 0, result.stderr
    compare("saved/" + name.replace(".json", ".txt"), result.stdout)


@pytest.mark.parametrize("name", [*(name for name in CASES if name.endswith(".txt")), *WIDE])
def test_no_line_is_wider_than_the_terminal(name):
    width = 120 if name in WIDE else 80
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        assert len(line) <= width, line
        assert line == line.rstrip(), line


def test_a_second_run_is_the_same(tare):
    first, second = (tare("latency", *DEVICE, "--budget", "2", "--json", "-") for _ in range(2))
    assert first.stdout == second.stdout
    assert json.loads(first.stdout)["parameters"]["seed"] == 1


@pytest.mark.parametrize("command", ["devices", "latency", "bandwidth"])
def test_a_locale_without_utf8_gets_ascii_of_the_same_shape(tare, command):
    options = [] if command == "devices" else ["--budget", "0.3", "--seed", "7"]
    sizes = ["--sizes", "8K..64K"] if command == "bandwidth" else []
    utf8 = tare(command, *DEVICE, *options, *sizes)
    ascii_only = tare(command, *DEVICE, *options, *sizes, env={"LC_ALL": "C"})
    assert ascii_only.returncode == 0 and ascii_only.stdout.isascii()
    assert [len(line) for line in ascii_only.stdout.splitlines()] == [
        len(line) for line in utf8.stdout.splitlines()]
