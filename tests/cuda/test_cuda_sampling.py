# SPDX-License-Identifier: Apache-2.0
"""tare hotspots --timeline on the stand-ins: the device is busy in every other 40 ms of its timer, as
fake_cupti_sampling.c says, so each part of the run has a truth; what is refused is said in a sentence."""
import json
import struct

import pytest

from test_cuda_counters import BUILD, STREAMS, on, records, run, value_of  # noqa: F401

SAMPLED, SAMPLING = 45, 46
PREPARED, ABSENT, CLOCK, LOST, ENDED = 1, 2, 3, 4, 5
PERIOD_NS, TIMER_NS = 40_000_000, 10**15
SHARE = ".avg.pct_of_peak_sustained_elapsed"
METRICS = {"cores_active": "sm__cycles_active" + SHARE, "instructions": "sm__inst_executed_realtime" + SHARE,
           "matrix": "sm__pipe_tensor_cycles_active_realtime" + SHARE, "device_memory": "dram__throughput" + SHARE,
           "device_read": "dram__bytes_read.sum", "device_write": "dram__bytes_write.sum",
           "pcie_read": "pcie__read_bytes.sum", "pcie_write": "pcie__write_bytes.sum",
           "nvlink_received": "nvlrx__bytes.sum", "nvlink_sent": "nvltx__bytes.sum"}


class Sampled:
    def __init__(self, on, *options, words="", styles=("kernels=40",)):
        environment = {**on.environment, "TARE_FAKE_CUPTI": words}
        self.native = run([STREAMS, *styles], on.environment, cwd=on.folder)
        self.done = run([on.tare, "hotspots", "--force", "-o", "run", "--json", "sampled.json", "--launches", "1",
                         *options, "--", STREAMS, *styles], environment, cwd=on.folder)
        self.said = self.done.errors.decode()
        self.out = " ".join(self.done.out.decode().split())
        assert self.done.status == self.native.status, self.said
        self.json = json.loads((on.folder / "sampled.json").read_text())
        self.timeline = self.json["timeline"]
        self.series = {each["key"]: each for each in self.timeline["series"]} if self.timeline else {}
        self.folder = on.folder / "run.tare" / "sampled.tare"
        self.about = [(detail, struct.unpack_from("<QQQQQIIII", data, 8))
                      for path in self.folder.glob("*.trace")
                      for kind, _, detail, _, data in records(path) if kind == SAMPLING]


def truth_of(name):
    """Of a busy moment, as the series has it."""
    return value_of(METRICS[name], "") * (1 if METRICS[name].endswith(SHARE) else 1e9)


def busy_ns(at_ns):
    whole, rest = divmod(at_ns + TIMER_NS, 2 * PERIOD_NS)
    return whole * PERIOD_NS + min(rest, PERIOD_NS)


def check_parts(sampled, name):
    """Each part that samples cover is busy as long as the timer says, but for where samples may lie."""
    timeline, series = sampled.timeline, sampled.series[name]
    parts = len(series["means"])
    length = timeline["run_ns"] / parts
    off = (timeline["residual_ns"] + 2 * timeline["interval_ns"]) / length
    seen = 0
    for part, mean in enumerate(series["means"]):
        if mean is None:
            continue
        begin = timeline["start_ns"] + int(part * length)
        busy = (busy_ns(begin + int(length)) - busy_ns(begin)) / length
        assert abs(mean / truth_of(name) - busy) <= off + 0.01, (name, part)
        seen += 1
    assert seen > parts * 0.9


def test_each_part_of_the_run_has_what_the_device_did(on):  # noqa: F811
    sampled = Sampled(on, "--timeline", styles=("kernels=3000",))
    assert set(sampled.series) == set(METRICS)
    timeline = sampled.timeline
    assert timeline["interval_ns"] == 100_000 and timeline["losses"] == 0 and timeline["sampled"] > 0.99
    assert timeline["clock_readings"] >= 2 and 0 < timeline["residual_ns"] < 10_000_000
    assert abs(timeline["samples"] - timeline["run_ns"] / 100_000) <= 2
    for name, series in sampled.series.items():
        if truth_of(name):
            check_parts(sampled, name)
            assert series["peak"] == pytest.approx(truth_of(name), rel=1e-3)
        assert series["mean"] == pytest.approx(truth_of(name) * series["at_work"], rel=0.1)
    assert 0 < sum(timeline["kernels"]) / 1000 <= 1
    assert "cores active" in sampled.out and "PCIe, from the host" in sampled.out


def test_the_interval_is_the_user_s(on):  # noqa: F811
    sampled = Sampled(on, "--timeline", "--sampling-interval", "500")
    assert sampled.timeline["interval_ns"] == 500_000
    refused = run([on.tare, "hotspots", "--sampling-interval", "500", "--", STREAMS], on.environment, cwd=on.folder)
    assert refused.status == 2 and b"with --timeline" in refused.errors


def test_without_it_nothing_is_sampled(on):  # noqa: F811
    sampled = Sampled(on)
    assert sampled.timeline is None and not sampled.folder.exists()


def test_lost_samples_are_said(on):  # noqa: F811
    sampled = Sampled(on, "--timeline", words="overflow=4", styles=("kernels=3000",))
    assert sampled.timeline["losses"] == 1 and "lost 1 time" in sampled.out
    assert [what for what, _ in sampled.about].count(LOST) == 1


def test_what_a_chip_lacks_is_left_out(on):  # noqa: F811
    sampled = Sampled(on, "--timeline", words="lacks=nvl")
    assert set(sampled.series) == {name for name in METRICS if "nvlink" not in name}
    assert {about[5] for what, about in sampled.about if what == ABSENT} == {43, 44}


def test_more_than_a_pass_has_is_left_out(on):  # noqa: F811
    sampled = Sampled(on, "--timeline", words="pass=4")
    assert list(sampled.series) == list(METRICS)[:4]


@pytest.mark.parametrize("code, words", [(35, "NVreg_RestrictProfilingToAdminUsers=0"), (26, "another program counts"),
                                         (43, "MIG")])
def test_a_refusal_is_said_and_the_program_runs_as_ever(on, code, words):  # noqa: F811
    sampled = Sampled(on, "--timeline", words=f"refuse={code}")
    assert sampled.timeline is None
    line = [each for each in sampled.said.splitlines() if "--timeline" in each]
    assert len(line) == 1 and words in line[0]
    assert sampled.done.out.startswith(sampled.native.out)


def test_a_full_buffer_ends_it_with_one_sentence(on):  # noqa: F811
    sampled = Sampled(on, "--timeline", words="full")
    line = [each for each in sampled.said.splitlines() if "--timeline" in each]
    assert sampled.timeline is None and len(line) == 1 and "sample less often" in line[0]


def test_samples_of_another_clock_are_not_shown(on):  # noqa: F811
    sampled = Sampled(on, "--timeline", words="unsteady")
    assert sampled.timeline is None and "not the device's global timer" in sampled.said


def test_without_cuda_it_is_said(on):  # noqa: F811
    environment = {**on.environment, "TARE_CUDA_LIBRARY": "/nonexistent.so"}
    done = run([on.tare, "hotspots", "--force", "-o", "none", "--timeline", "--", "/bin/true"], environment, cwd=on.folder)
    line = [each for each in done.errors.decode().splitlines() if "--timeline: n/a" in each]
    assert len(line) == 1 and "/nonexistent.so" in line[0]


def listed(on, words=""):
    done = run([on.tare, "devices", "--counters", "-d", "cuda:0"], {**on.environment, "TARE_FAKE_CUPTI": words}, cwd=on.folder)
    assert done.status == 0, done.errors
    return " ".join(done.out.decode().split())


def test_devices_says_that_counters_may_be_read_and_which_are_asked_for(on):  # noqa: F811
    said = listed(on)
    assert "Its counters may be read" in said and "n/a" not in said
    assert "device memory to L2 bytes" in said and "instruction issue %" in said
    assert "local memory, read" not in said  # Level Zero's


@pytest.mark.parametrize("code, words", [(35, "NVreg_RestrictProfilingToAdminUsers=0"), (26, "another program counts"),
                                         (40, "virtual GPU"), (43, "MIG"), (46, "does not know the chip")])
def test_devices_says_why_counters_may_not_be_read(on, code, words):  # noqa: F811
    said = listed(on, f"refuse={code}")
    assert "n/a: " in said and words in said and "may be read" not in said


def test_a_chip_that_is_not_sampled_over_time_may_be_counted(on):  # noqa: F811
    said = listed(on, "refuse=27")
    assert "Not over time (--timeline)" in said and "device memory to L2 bytes" in said and "n/a" not in said


def test_devices_says_that_there_is_no_cupti(on):  # noqa: F811
    on.environment["TARE_CUPTI_LIBRARY"] = "/nonexistent.so"
    assert "n/a: " in listed(on) and "/nonexistent.so" in listed(on)
