# SPDX-License-Identifier: Apache-2.0
"""The measuring commands on Level Zero: over ze-cpu with a script, whose figures they must find, and
over a stand-in for the loader that plays what can be wrong."""
import json
import os
import pathlib
import subprocess

import pytest

from patience import ended_well, patient

SCRIPT = pathlib.Path(__file__).parents[1] / "data/ze-slow-gpu.tare-device"
ZE_CPU = f"--ze-cpu={SCRIPT}"
TICK_NS = 80


@pytest.fixture(scope="module")
def kernels(tare_path):
    """Skips where Level Zero or what builds kernels over ze-cpu is missing."""
    shown = subprocess.run([tare_path, "--ze-cpu", "latency", "--budget", "0.01", "--json", "-"],
                           capture_output=True, text=True, check=False)
    for words in ("is not in", "no Level Zero loader", "without Level Zero"):
        if words in shown.stderr:
            pytest.skip(shown.stderr.strip())
    for words in ("tare's own kernels do not build", "carries no"):
        if words in shown.stdout + shown.stderr:
            pytest.skip(words)


@pytest.fixture
def stand_in():
    path = pathlib.Path(os.environ.get("TARE_BUILD", "/nonexistent")) / "tests/fakes/fake_levelzero.so"
    if not path.exists():
        pytest.skip(f"{path.name} is not built")
    return {"TARE_LEVELZERO_LIBRARY": str(path)}


def document(result):
    ended_well(result)
    return json.loads(result.stdout)


def sentence(result):
    if result.returncode < 0:
        pytest.fail(f"exit status {result.returncode}: {result.stderr}")
    assert result.returncode == 1
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    return lines[0]


def cell(result, source="device", **labels):
    found = [each for each in result["cells"] if each["source"] == source and
             all(each["labels"].get(name) == value for name, value in labels.items())]
    assert len(found) == 1, labels
    assert found[0]["absent"] is None, found[0]["absent"]
    return found[0]


def warns(result, word):
    return any(warning["id"] == word for warning in result["warnings"])


def test_devices_tell_groups_encodings_and_what_it_is(tare, kernels):
    facts = document(tare("devices", ZE_CPU, "-d", "levelzero", "--json", "-"))["devices"][0]["facts"]
    told = {key: fact["value"] for key, fact in facts.items()}
    assert told["timer_hz"] == 12500000 and told["timer_valid_bits"] == 36
    assert told["timer_older_encoding"] == "80 ns a tick, which is exact"
    assert told["global_timer_valid_bits"] == 36 and told["memories"].startswith("0: 1 GB")
    assert told["queue_groups"].startswith("0: 1 queue for compute, copy") and "; 1: 2 queues" in told["queue_groups"]
    assert told["peak_fp32_flops"] is None and told["fp32_lanes_per_unit"] is None
    assert "for tests" in told["note"]
    posing = document(tare("devices", ZE_CPU, "-d", "levelzero", "--json", "-", env={"ZE_CPU_TYPE": "gpu"}))
    assert "for tests" in posing["devices"][0]["facts"]["note"]["value"]


@patient
def test_bandwidth_finds_the_script_by_engine(tare, kernels, times):
    wanted = {"heap-to-device": 0.4, "device-to-heap": 0.5, "host-to-device": 0.8, "device-to-host": 1.0,
              "device-to-device": 4.0, "shared-to-shared": 2.0}
    size = 1 << 20
    for engine, title in (("0", "ordinal 0, compute 0"), ("1.1", "ordinal 1, copy 1")):
        result = document(tare("bandwidth", ZE_CPU, "--engine", engine, "--lines", "copy,both", "--sizes", "1M..1M",
                               "--budget", str(0.8 * times), "--json", "-"))
        assert result["parameters"]["engine"] == title and warns(result, "not-a-device")
        for line, rate in wanted.items():
            ns = cell(result, line=line, bytes=size)["median"] / 1000
            assert ns == pytest.approx(20000 + size / rate, abs=TICK_NS), line
        for line, rate, share in (("both-to-device", 0.8, 0.9), ("both-to-host", 1.0, 0.75)):
            both = cell(result, line=line, bytes=size)["rate"]["median"]
            assert both == pytest.approx(share / (1 / rate + 20000 / size * share), rel=0.02), line


@patient
@pytest.mark.parametrize("script, fixed_ns, rate", [("ze-discrete", 4000, 180), ("ze-integrated", 6000, 12.1)])
def test_what_orders_short_copies_is_not_theirs(tare, kernels, times, script, fixed_ns, rate):
    """They last fewer ticks than one pair of stamps can tell within 1 %; the gap between two of them is 0.8 and 1 us."""
    result = document(tare("bandwidth", f"--ze-cpu={SCRIPT.with_name(script + '.tare-device')}", "--lines",
                           "device-to-device", "--sizes", "8K..128K", "--budget", str(1.5 * times), "--json", "-"))
    assert cell(result, line="device-to-device", bytes=8192)["labels"]["batch"] > 1
    for size in (8192, 16384, 32768, 65536, 100000, 131072):
        ns = cell(result, line="device-to-device", bytes=size)["median"] / 1000
        assert ns == pytest.approx(fixed_ns + size / rate, rel=0.01), size
    assert cell(result, "model", line="device-to-device", fit="latency")["median"] == pytest.approx(fixed_ns, rel=0.02)


@pytest.mark.thorough
@pytest.mark.skipif(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 4 << 30, reason="2 GB of memory are to be copied")
@patient
def test_sizes_reach_the_largest_allocation(tare, kernels, times, tmp_path):
    """Copies at an offset end at 256 MB: for larger ones nothing more than their size is allocated."""
    text = SCRIPT.with_name("ze-discrete.tare-device").read_text(encoding="utf-8")
    script = tmp_path / "large.tare-device"
    script.write_text(text.replace("memory 1 GiB largest 512 MiB", "memory 8 GiB largest 512 MiB"), encoding="utf-8")
    result = document(tare("bandwidth", f"--ze-cpu={script}", "--lines", "host-to-device", "--sizes", "512M..512M",
                           "--budget", str(min(20 * times, 80)), "--json", "-"))
    assert not warns(result, "sizes-bounded")
    assert cell(result, line="host-to-device", bytes=512 << 20)["rate"]["median"] == pytest.approx(12, rel=0.01)


@patient
def test_pages_of_the_host_are_measured_or_say_why(tare, kernels, times):
    result = document(tare("bandwidth", ZE_CPU, "--lines", "pages", "--sizes", "1M..4M", "--budget", str(times),
                           "--json", "-"))
    lines = {}
    for each in result["cells"]:
        if each["source"] == "host" and each["labels"].get("bytes"):
            assert each["labels"]["bytes"] % (2 << 20) == 0
            lines[each["labels"]["line"]] = each
    assert len(lines) == 9
    for name, each in lines.items():
        if each["absent"] is None:
            assert each["verified"] and each["median"] > 0, name
        else:
            assert "huge pages" in each["absent"] and "small" not in name, each["absent"]


@patient
def test_bandwidth_uses_the_words_of_the_api(tare, kernels, times):
    shown = tare("bandwidth", ZE_CPU, "--lines", "heap-to-device", "--sizes", "64K..64K", "--budget", str(0.1 * times))
    assert "heap is malloc, host zeMemAllocHost, device zeMemAllocDevice" in shown.stdout
    assert "zeMemAllocShared; engine: ordinal 0, compute 0" in shown.stdout.replace("\n", " ")
    assert max(map(len, shown.stdout.splitlines())) <= 80


@patient
def test_latency_shows_one_launch_in_ticks(tare, kernels, tmp_path, times):
    shown = tare("latency", ZE_CPU, "-v", "--budget", str(0.8 * times), "--json", "l.json")
    ended_well(shown)
    result = json.loads((tmp_path / "l.json").read_text())
    raw = result["kernel_timestamp"]
    assert raw["kernel"] == "empty kernel" and raw["timer_numerator_hz"] == 12500000
    mask = (1 << raw["valid_bits"]) - 1
    for counter in ("global", "kernel"):
        ticks = (raw[f"{counter}_end_ticks"] - raw[f"{counter}_start_ticks"]) & mask
        assert raw[f"{counter}_duration_ticks"] == ticks and raw[f"{counter}_duration_ns"] == ticks * TICK_NS
        assert abs(ticks * TICK_NS - 10000) <= TICK_NS
        assert f"{counter} start" in shown.stdout and f"{ticks} ticks, {ticks * TICK_NS} ns" in shown.stdout
    event, written = (cell(result, what=name)["median"] / 1000
                      for name in ("copy of 64 KB, by its event", "the same between global timestamps"))
    assert event == pytest.approx(20000 + 65536 / 0.8, abs=TICK_NS) and event <= written <= event + 10000
    assert cell(result, what="global timestamp, back to back")["median"] > 0
    names = {each["labels"].get("what") for each in result["cells"]}
    assert {"regular list, append", "regular list, close and execute", "host signal to start"} <= names
    assert cell(result, "host", what="regular list, fence and wait")["median"] > 0


@patient
def test_a_counter_too_narrow_for_a_launch_gives_no_figure(tare, kernels, tmp_path, times):
    text = SCRIPT.read_text().replace("timer  rate 12.5 MHz bits 36", "timer rate 12.5 MHz bits 8")
    (tmp_path / "narrow.tare-device").write_text(text + "pair-timer rate 12.5 MHz bits 36\n")
    shown = tare("latency", "--ze-cpu=narrow.tare-device", "-v", "--budget", str(0.2 * times),
                 "--json", "n.json")
    ended_well(shown)
    result = json.loads((tmp_path / "n.json").read_text())
    reason = "lasts longer than the device clock can tell (half its period, 10.2 µs)"
    raw = result["kernel_timestamp"]
    assert raw["valid_bits"] == 8 and raw["no_durations"] == reason
    assert not any(name.endswith(("_duration_ticks", "_duration_ns")) for name in raw)
    assert f"durations n/a: it {reason}" in " ".join(shown.stdout.split())
    told = [each for each in result["cells"] if each["source"] == "device" and each["absent"] is None]
    assert not told, told


@patient
def test_overlap_finds_engines_and_the_schedule_for_them(tare, kernels, times):
    result = document(tare("overlap", ZE_CPU, "--bytes", "4M", "--cycles", "5..5:1", "--chunks", "1,4,8", "--queues",
                           "2", "--break", "none", "--budget", str(3 * times), "--json", "-"))
    engines = [each for each in result["cells"] if each["quantity"] == "engines"]
    assert [each["median"] for each in engines] == [3, 3]
    words = json.dumps(result["cells"])
    assert "stage-queues" in words
    for stage, rate in (("to-device", 0.8), ("to-host", 1.0)):
        times = [each for each in result["cells"] if each["labels"].get("stage") == stage and
                 each["source"] == "device" and each["quantity"] == "time" and each["absent"] is None]
        assert times, stage
        scale = {"ns": 1, "ps": 1000}[times[0]["unit"]]
        assert times[0]["median"] / scale == pytest.approx(20000 + (4 << 20) / rate, rel=0.02), stage


@pytest.mark.parametrize("name,data,words", [
    ("my.cl", b"kernel void f(global float *a) {}", ["OpenCL C", "clang -cl-std=CL1.2", "llvm-spirv-15 my.bc"]),
    ("my.spv", b"no words at all, but long", ["no SPIR-V"]),
    ("my.spv", b"\x03\x02\x23\x07garbagegarbagegarbage", ["does not compile", "the build log says why"]),
])
def test_kernels_that_it_cannot_take(tare, kernels, tmp_path, name, data, words):
    (tmp_path / name).write_bytes(data)
    result = tare("overlap", ZE_CPU, "--kernel", name)
    assert result.returncode == 1 and result.stdout == ""
    last = result.stderr.splitlines()[-1]
    assert last.startswith(f"tare: overlap: {name}") and all(word in last for word in words), result.stderr
    # What the build log says stands before it.
    assert ("log" in words[-1]) == (len(result.stderr.splitlines()) > 1), result.stderr


@patient
def test_without_a_translator_the_rest_is_measured(tare, kernels, times):
    result = document(tare("latency", ZE_CPU, "--budget", str(0.2 * times), "--json", "-",
                           env={"ZE_CPU_LLVM_SPIRV": "/nonexistent"}))
    absent = [each["absent"] for each in result["cells"] if each["absent"]]
    assert any("/nonexistent" in reason for reason in absent)
    assert any(each["absent"] is None and each["labels"]["group"] == "copy" for each in result["cells"])
    # All that peak measures needs a kernel: its cells say why there are none, and so does the end.
    shown = tare("peak", ZE_CPU, "--json", "-", env={"ZE_CPU_LLVM_SPIRV": "/nonexistent"})
    assert "nothing was measured: " in sentence(shown) and "/nonexistent" in shown.stderr
    assert json.loads(shown.stdout)["cells"]


@pytest.mark.parametrize("engine,words", [("2", "no engine 2; there are 0.0 (compute), 1.0 (copy), 1.1 (copy)"),
                                          ("x", "no ordinal"), ("1.", "no ordinal")])
def test_an_engine_that_is_not_there(tare, kernels, engine, words):
    assert words in sentence(tare("bandwidth", ZE_CPU, "--engine", engine))


def test_an_engine_where_the_api_chooses(tare):
    assert "leave it out" in sentence(tare("bandwidth", "-d", "simulated", "--engine", "0"))


@pytest.mark.parametrize("plays,words", [("bits=0", "0 valid bits"), ("bits=65", "65 valid bits"),
                                         ("wide=0", "0 valid bits"), ("rate=0", "rate of 0")])
def test_a_timer_that_makes_no_sense(tare, stand_in, plays, words):
    environment = {**stand_in, "TARE_FAKE_LEVELZERO": plays}
    for command in ("latency", "overlap"):
        said = sentence(tare(command, "-d", "levelzero", env=environment))
        assert words in said and "update the device's driver" in said
    listed = tare("devices", "-d", "levelzero", env=environment)
    assert listed.returncode == 0 and words in " ".join(listed.stdout.split())


@pytest.mark.parametrize("environment,words", [
    ({"TARE_LEVELZERO_LIBRARY": "/nonexistent/libze.so"}, "'/nonexistent/libze.so', which cannot be opened"),
    ({"TARE_FAKE_LEVELZERO": "no_driver"}, "finds no driver; for Intel GPUs install"),
    ({"TARE_FAKE_LEVELZERO": "no_device"}, "finds no device; install its driver"),
    ({"TARE_FAKE_LEVELZERO": ""}, "lacks zeContextCreate"),
])
def test_what_is_missing_is_one_sentence(tare, stand_in, environment, words):
    alone = {"ZE_ENABLE_ALT_DRIVERS": "", **stand_in, **environment}
    for command in ("latency", "bandwidth"):
        assert words in sentence(tare(command, "-d", "levelzero", "--budget", "0.2", env=alone))


def faulty(tmp_path, fault):
    script = tmp_path / "faulty.txt"
    script.write_text(SCRIPT.read_text() + f"fault {fault}\n")
    return f"--ze-cpu={script}"


# The device stops in turn while it is tried, prepared and measured.
@pytest.mark.parametrize("command,operation", [
    ("latency", 20), ("latency", 60), ("bandwidth", 60), ("peak", 60), ("matmul --n 64", 20),
    ("overlap --bytes 1M --queues 2", 10), ("overlap --bytes 1M --queues 2", 20),
    ("overlap --kernel SPIRV --entry overlap_register --arg int:1 --arg int:5 --bytes 1M --queues 2", 20), ("bandwidth --lines device-to-device --sizes 64K..64K", 9)])
@patient
def test_an_operation_that_never_ends_ends_the_run_in_time(request, tare, kernels, tmp_path, command, operation, times):
    spirv = request.getfixturevalue("spirv") if "SPIRV" in command else None
    result = tare(faulty(tmp_path, f"hang {operation}"), *command.replace("SPIRV", str(spirv)).split(), "--budget", str(0.3 * times), "--json",
                  "r.json", timeout=60, env={"TARE_LEVELZERO_LIMIT_MS": str(100 * times)})
    assert f"not done after {0.1 * times:g} s" in sentence(result)
    if (tmp_path / "r.json").exists() and (tmp_path / "r.json").stat().st_size:
        kept = json.loads((tmp_path / "r.json").read_text())
        assert warns(kept, "device-lost") and any(each["absent"] is None for each in kept["cells"])


@pytest.mark.parametrize("fault,words", [("hang 1", "does not do it: 4096 bytes to copy to it and back"),
                                         ("hang 2", "not done after "),
                                         ("wrong-data 1", "copies wrong data: of 4096 bytes")])
@patient
def test_a_device_that_does_nothing_is_not_measured(tare, kernels, tmp_path, fault, words, times):
    for command in ("latency", "overlap"):
        result = tare(faulty(tmp_path, fault), command, timeout=60, env={"TARE_LEVELZERO_LIMIT_MS": str(100 * times)})
        assert words in sentence(result) and "nothing was measured" in result.stderr and result.stdout == ""
