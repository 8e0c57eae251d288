# SPDX-License-Identifier: Apache-2.0
"""tare hotspots --timeline on ze-cpu: its device is at work in every other 40 ms of its clock, as its streamer says, so
each sample and each part of the run has a truth; what cannot be trusted is in no figure."""
import json
import pathlib
import struct
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from recorded import BUILD, SANITIZED, run  # noqa: E402
from scripted import SCRIPT, on  # noqa: E402,F401
from trace import records  # noqa: E402

pytestmark = pytest.mark.skipif(SANITIZED, reason="the driver is not made for that")

COUNTED = BUILD / "tests/levelzero/counted"
SAMPLED, SAMPLING, LOST = 45, 46, 4
BUSY_NS = 40_000_000
# Of a sample in which the device is at work, and of another one.
METRICS = {"XVE_ACTIVE": ("ratio", "%", 30, 2), "XVE_STALL": ("ratio", "%", 50, 3),
           "XVE_INST_EXECUTED_XMX_ALL_UTILIZATION": ("ratio", "%", 70, 0),
           "GPU_MEMORY_BYTE_READ": ("throughput", "bytes", 200_000, 0),
           "GPU_MEMORY_BYTE_WRITE": ("throughput", "bytes", 70_000, 0), "ReportLost": ("flag", "", 0, 0)}
# By the trace's number of the counter: what the metrics make of it, at work and idle.
TRUTH = {"cores_active": (2, 80, 5), "instructions": (45, 30, 2), "matrix": (46, 70, 0),
         "device_read": (27, 200_000, 0), "device_write": (28, 70_000, 0)}


class Sampled:
    def __init__(self, on, *options, lacks=(), counts=None, busy=None, kinds="time", **environment):  # noqa: F811
        lines = [SCRIPT.format(rate="1 GHz", bits=64, epoch=0), f"metric-group Time sampling {kinds} domain 0"]
        lines += [f'metric Time {name} type {kind} unit "ns"' for name, kind in
                  (("QueryBeginTime", "timestamp"), ("GpuTime", "duration")) if name not in lacks]
        for name, (kind, unit, at_work, idle) in METRICS.items():
            if name in lacks:
                continue
            unit = f' unit "{unit}"' if unit else ""
            lines.append(f"metric Time {name} type {kind}{unit}")
            how = (counts or {}).get(name, "right")
            lines.append(f"metric-value Time {name} sampled-busy value {(busy or {}).get(name, at_work)} counts {how}")
            lines.append(f"metric-value Time {name} sampled-idle value {idle}")
        path = on.folder / "script.tare-device"
        path.write_text("\n".join(lines) + "\n")
        environment = {**on.environment, "ZE_CPU_SCRIPT": str(path), "TARE_CUDA_LIBRARY": "/nonexistent.so",
                       "XDG_CACHE_HOME": str(on.folder / "cache"), **environment}
        self.done = run([on.tare, "hotspots", "--force", "--timeline", "-o", "run", "--json", "sampled.json", *options, "--",
                         COUNTED, "slowly", "in-turn"], environment, cwd=on.folder)
        self.said = self.done.errors.decode()
        self.out = " ".join(self.done.out.decode().split())
        assert self.done.status == 0, self.said
        self.json = json.loads((on.folder / "sampled.json").read_text())
        self.timeline = self.json["timeline"]
        self.series = {each["key"]: each for each in self.timeline["series"]} if self.timeline else {}
        found = [each for path in (on.folder / "run.tare/sampled.tare").glob("*.trace") for each in records(path)]
        self.about = [detail for kind, _, detail, _, _ in found if kind == SAMPLING]
        self.samples = [struct.unpack_from("<QQ4H4d", data, 8) for kind, _, _, _, data in found if kind == SAMPLED]

    def values(self, counter):
        """Of each sample whether the device is at work, and its value."""
        return [(begin // BUSY_NS % 2 == 0, sample[6 + place]) for sample in self.samples for begin in sample[:1]
                for place in range(4) if sample[2 + place] == counter]


def test_every_sample_is_what_the_streamer_says(on):  # noqa: F811
    sampled = Sampled(on)
    assert "Level Zero's device 0 is sampled every 100 us" in sampled.said
    assert sampled.timeline["api"] == "Level Zero" and "of Level Zero's device 0" in sampled.out
    assert set(sampled.series) == set(TRUTH) and sampled.timeline["untrusted"] == sampled.timeline["losses"] == 0
    assert sampled.timeline["sampled"] > 0.9
    for name, (counter, at_work, idle) in TRUTH.items():
        values = sampled.values(counter)
        assert {busy for busy, _ in values} == {True, False}, name
        assert all(value == (at_work if busy else idle) for busy, value in values), name
        a_second = 1e4 if "device" in name else 1
        assert sampled.series[name]["peak"] == pytest.approx(at_work * a_second, rel=1e-3), name
        assert idle * a_second < sampled.series[name]["mean"] < at_work * a_second, name
        assert all(mean is None or mean <= at_work * a_second * 1.001 for mean in sampled.series[name]["means"]), name
    begins = [sample[0] for sample in sampled.samples]
    assert all(end - begin == 100_000 for begin, end, *_ in sampled.samples) and begins == sorted(begins)


@pytest.mark.parametrize("metric,how,gone", [
    ("XVE_STALL", "saturated", {"cores_active"}), ("XVE_ACTIVE", "wrapped", {"cores_active", "instructions"}),
    ("GPU_MEMORY_BYTE_READ", "wrapped", {"device_read"}), ("GPU_MEMORY_BYTE_WRITE", "saturated", {"device_write"})])
def test_what_wrapped_or_stands_still_is_in_no_figure(on, metric, how, gone):  # noqa: F811
    """Idle samples are right: what is left of the series is they."""
    sampled = Sampled(on, counts={metric: how})
    assert sampled.timeline["untrusted"] > 0 and "saturated, wrapped or in doubt" in sampled.out
    for name, (_, at_work, idle) in TRUTH.items():
        a_second = 1e4 if "device" in name else 1
        if name in gone:
            assert sampled.series[name]["peak"] == pytest.approx(idle * a_second)
            assert sampled.series[name]["mean"] == pytest.approx(idle * a_second)
        else:
            assert sampled.series[name]["peak"] == pytest.approx(at_work * a_second, rel=1e-3)


def test_a_report_that_says_that_it_is_wrong_is_believed(on):  # noqa: F811
    sampled = Sampled(on, busy={"ReportLost": 1})
    assert {name: series["peak"] for name, series in sampled.series.items()} == \
        {name: idle for name, (_, _, idle) in TRUTH.items()}


def test_lost_samples_are_said(on):  # noqa: F811
    """There is room for less than what is made between two looks."""
    sampled = Sampled(on, ZE_CPU_METRIC_REPORTS="20")
    assert sampled.timeline["losses"] > 0 and LOST in sampled.about and "were lost" in sampled.out
    assert sampled.timeline["sampled"] < 0.9
    assert sampled.series["matrix"]["peak"] == pytest.approx(70)


def test_what_a_device_lacks_is_left_out(on):  # noqa: F811
    sampled = Sampled(on, lacks=("XVE_STALL", "GPU_MEMORY_BYTE_READ"))
    assert set(sampled.series) == {"instructions", "matrix", "device_write"}


@pytest.mark.parametrize("options,words", [
    ({"lacks": ("QueryBeginTime",)}, "no counters over time"), ({"kinds": "event"}, "no counters over time"),
    ({"ZET_ENABLE_METRICS": "0"}, "no counters over time"),
    # Intel's driver without its libraries is no missing driver.
    ({"ZE_CPU_NO_METRICS": "1"}, "lacks a library that counts")])
def test_why_nothing_is_sampled(on, options, words):  # noqa: F811
    sampled = Sampled(on, **options)
    lines = [line for line in sampled.said.splitlines() if "--timeline: n/a" in line]
    assert sampled.timeline is None and len(lines) == 1 and words in lines[0]
    assert sampled.done.out.startswith(b"") and sampled.json["kernels"][0]["launches"] > 0
