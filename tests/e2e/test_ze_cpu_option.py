# SPDX-License-Identifier: Apache-2.0
"""--ze-cpu: where the driver is found, what a command and a program see of it, what is refused."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

SCRIPT = """tare-device 1
device name "Toy" memory 64 MiB units 2
timer rate 12 MHz bits 32
engine compute runs kernel,to-device,to-host,local
"""


@pytest.fixture(scope="module", autouse=True)
def level_zero(tare_path):
    shown = subprocess.run([tare_path, "--ze-cpu", "devices", "--json", "-"], capture_output=True, text=True,
                           check=False)
    if "is not in" in shown.stderr:
        pytest.skip("built without Level Zero")
    if "ze-cpu" not in shown.stdout:
        pytest.skip("no Level Zero loader")


@pytest.fixture
def script(tmp_path):
    file = tmp_path / "toy.txt"
    file.write_text(SCRIPT)
    return file


def name_of(shown):
    assert shown.returncode == 0, shown.stderr
    devices = [device for device in json.loads(shown.stdout)["devices"] if device["backend"] == "levelzero"]
    assert len(devices) == 1
    return devices[0]["facts"]["name"]["value"]


@pytest.mark.parametrize("before", [True, False])
def test_devices_lists_it(tare, script, before):
    for option, name in (("--ze-cpu", "(ze-cpu: kernels on the CPU, for tests)"),
                         (f"--ze-cpu={script}", "Toy (ze-cpu, scripted)")):
        words = [option, "devices"] if before else ["devices", option]
        assert name_of(tare(*words, "--json", "-")).endswith(name)


def test_a_script_is_found_from_elsewhere(tare, script, tmp_path):
    assert name_of(tare(f"--ze-cpu={script.name}", "devices", "--json", "-")) == "Toy (ze-cpu, scripted)"


def test_counters_of_a_script_are_listed(tare):
    script = pathlib.Path(__file__).parents[1] / "data" / "ze-metrics.tare-device"
    words = [line.split() for line in script.read_text().splitlines()]
    done = tare("devices", f"--ze-cpu={script}", "--device", "levelzero", "--counters")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    listed = [line[0] for line in lines]
    names = [line[1] if line[0] == "metric-group" else line[2] for line in words if line and line[0] in ("metric-group", "metric")]
    assert [name for name in listed if name in names] == names and len(names) == 7
    told = {line[0]: " ".join(line[2:4]) for line in lines if line[0].startswith("XVE")}
    assert told == {"XVE_ACTIVE": "cores issuing", "XVE_STALL": "cores stalled"}
    assert "No counter is known for: occupancy, matrix engines" in done.stdout.replace("\n  ", " ")


def test_a_device_without_counters_says_so(tare):
    done = tare("devices", "--ze-cpu", "--counters")
    assert done.returncode == 0 and "n/a: the driver lists no counters" in done.stdout
    done = tare("devices", "--counters", "--json", "-")
    assert done.returncode == 2 and "leave --json" in done.stderr


def test_its_type_is_what_its_user_says(tare):
    for said, shown in (("", "CPU"), ("cpu", "CPU"), ("gpu", "GPU")):
        done = tare("--ze-cpu", "devices", "--json", "-", env={"ZE_CPU_TYPE": said})
        devices = [device for device in json.loads(done.stdout)["devices"] if device["backend"] == "levelzero"]
        assert [device["facts"]["type"]["value"] for device in devices] == [shown]
    done = tare("--ze-cpu", "latency", env={"ZE_CPU_TYPE": "fpga"})
    assert done.returncode == 1 and 'ze-cpu: ZE_CPU_TYPE is "fpga"; it may be cpu or gpu\n' in done.stderr
    assert "the CPU driver does not start" in done.stderr and "unset" not in done.stderr


def test_it_is_the_device_to_measure_unless_one_is_named(tare):
    for words, environment, backend in ((["--ze-cpu"], {"TARE_DEVICE": "simulated"}, "levelzero"),
                                        (["--ze-cpu", "-d", "simulated"], {}, "simulated")):
        done = tare("latency", "--budget", "0.01", "--json", "-", *words, env=environment)
        assert json.loads(done.stdout)["device"]["backend"] == backend, done.stderr


def test_what_cannot_be_is_one_sentence(tare, tare_path, script, tmp_path, test_data):
    script.write_text(SCRIPT.replace("kernel,to-device,to-host,local", "kernel,to-device"))
    copy = tmp_path / "tare"
    shutil.copy(tare_path, copy)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for words, status, said in (
            ([f"--ze-cpu={pipe}", "latency"], 1, "pipe:1: the script is empty"),
            (["--ze-cpu=/nowhere/at.all", "latency"], 1, "/nowhere/at.all: No such file"),
            (["latency", f"--ze-cpu={test_data}"], 1, "Is a directory"),
            ([f"--ze-cpu={script}", "latency"], 1, "toy.txt:4: this engine copies in some directions only"),
            (["run", "--ze-cpu=/nowhere", "--", "true"], 125, "/nowhere: No such file")):
        done = tare(*words)
        assert (done.returncode, done.stdout) == (status, ""), done
        assert said in done.stderr and done.stderr.count("\n") == 1, done.stderr
    done = tare("-c", '"$0" --ze-cpu latency', copy, executable="/bin/sh")
    assert done.returncode == 1 and "the driver libze_cpu.so is not in" in done.stderr


def test_a_program_sees_it_beside_the_drivers_that_were_there(tare, script, tmp_path):
    done = tare("record", "-o", tmp_path / "t", f"--ze-cpu={script}", "--", "sh", "-c",
                "echo $ZE_ENABLE_ALT_DRIVERS; echo $ZE_CPU_SCRIPT",
                env={"ZE_ENABLE_ALT_DRIVERS": "/other/libze_other.so"})
    if "the recorder" in done.stderr and "is not in" in done.stderr:
        pytest.skip("built without the recorder")
    drivers, told = done.stdout.splitlines()
    ours, other = drivers.split(",")
    assert pathlib.Path(ours).is_file() and pathlib.Path(ours).is_absolute()
    assert other == "/other/libze_other.so" and told == str(script.resolve())
