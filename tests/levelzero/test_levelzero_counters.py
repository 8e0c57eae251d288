# SPDX-License-Identifier: Apache-2.0
"""tare hotspots on ze-cpu: every figure is what the script says its metrics count of the kernel, and what cannot be
trusted is no figure."""
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
ROUNDS = 24
BEGUN = 5
COUNTING = 40
# name, type, unit, what the script says of the kernel `empty`
BASIC = [("GpuTime", "duration", "ns", 50000), ("XVE_ACTIVE", "ratio", "%", 30), ("XVE_STALL", "ratio", "%", 50),
         ("XVE_THREADS_OCCUPANCY_ALL", "ratio", "%", 40), ("SLM_BYTE_READ", "throughput", "bytes", 8192),
         ("SLM_BYTE_WRITE", "throughput", "bytes", 4096), ("ReportError", "flag", "", 0)]
MEMORY = [("GpuTime", "duration", "ns", 50000), ("L3_BYTE_READ", "throughput", "bytes", 3000000),
          ("L3_BYTE_WRITE", "throughput", "bytes", 1000000), ("GPU_MEMORY_BYTE_READ", "throughput", "bytes", 2000000),
          ("GPU_MEMORY_BYTE_WRITE", "throughput", "bytes", 700000)]
GROUPS = {"ComputeBasic": BASIC, "MemoryProfile": MEMORY}
TRUTH = {"duration_ns": 50000, "cores_active_share": 80, "issue_share": 100 * 30 / 80, "occupancy_share": 50,
         "local_read_bytes": 8192, "local_write_bytes": 4096, "l1_read_bytes": 3000000, "l1_write_bytes": 1000000,
         "l2_bytes": 4000000, "device_read_bytes": 2000000, "device_write_bytes": 700000}
OF_INSTRUCTIONS = {"lane_instructions", "flop_fp16", "flop_fp32", "flop_fp64", "l1_bytes", "local_read_bytes", "local_write_bytes"}
LACKING = {"pipe_tensor_share", "pipe_memory_share", "l1_bytes"}


def script(on, groups=None, forbidden="no", counts=None, engines=""):
    lines = [SCRIPT.format(rate="1 GHz", bits=64, epoch=0), engines]
    for group, metrics in (GROUPS if groups is None else groups).items():
        lines.append(f"metric-group {group} sampling event,time domain 0 forbidden {forbidden}")
        for name, kind, unit, value in metrics:
            unit = f' unit "{unit}"' if unit else ""
            lines.append(f"metric {group} {name} type {kind}{unit}")
            lines.append(f"metric-value {group} {name} empty value {value} counts {(counts or {}).get(name, 'right')}")
            lines.append(f"metric-value {group} {name} any value {value + 7}")
    path = on.folder / "script.tare-device"
    path.write_text("\n".join(lines) + "\n")
    on.environment["ZE_CPU_SCRIPT"] = str(path)


class Hotspots:
    """What tare hotspots did with a program."""

    def __init__(self, on, *styles, options=(), status=0):
        self.native = run([COUNTED, *styles], on.environment, cwd=on.folder)
        self.done = run([on.tare, "hotspots", "--force", "-o", "run", "--json", "counted.json", *options, "--", COUNTED,
                         *styles], {**on.environment, "XDG_CACHE_HOME": str(on.folder / "cache")}, cwd=on.folder)
        self.said = self.done.errors.decode()
        assert self.native.status == self.done.status == status, self.said
        self.json = json.loads((on.folder / "counted.json").read_text())
        self.kernel, = self.json["kernels"]
        self.counting = [(detail, struct.unpack_from("<IIQQQIIIIQ", data, 8))
                         for path in (on.folder / "run.tare/counted.tare").glob("*.trace")
                         for kind, _, detail, _, data in records(path) if kind == COUNTING]

    def check(self, without=()):
        """Every figure is the script's."""
        counters = self.kernel["counters"]
        assert {name for name, value in counters.items() if value["state"] == "not-on-device"} == LACKING
        for name, truth in TRUTH.items():
            if name in without:
                continue
            value = counters[name]
            assert value["state"] == "counted", (name, value, self.said)
            assert value["mean"] == pytest.approx(truth, rel=1e-6), name
            assert value["least"] == pytest.approx(value["most"], rel=1e-9), name
        assert self.kernel["launches"] == ROUNDS, "the recording has what the program launched"

    def states(self):
        return {name: value["state"] for name, value in self.kernel["counters"].items()}


@pytest.mark.parametrize("style", ["in-turn", "synchronous", "anew"])
def test_every_figure_is_the_script_s(on, style):
    script(on)
    counted = Hotspots(on, style, options=("--launches", "2"))
    counted.check()
    assert counted.done.out.startswith(2 * counted.native.out), "the program does what it does, twice"
    # Both groups have the duration.
    assert {counted.kernel["counters"][name]["launches"] for name in TRUTH if name != "duration_ns"} == {2}
    assert counted.kernel["counters"]["duration_ns"]["launches"] == counted.kernel["counted_launches"] == 4
    assert len([what for what, _ in counted.counting if what == BEGUN]) >= 4
    assert "metric queries and barriers stood around counted launches" in \
        " ".join(run([on.tare, "report", "-v", "run.tare/counted.tare"], on.environment, cwd=on.folder).out.decode().split())


def test_a_query_that_ends_behind_all_that_was_waited_for_is_read(on):
    """The last launch is counted, too: its list is destroyed while the barrier before its query's end takes its time."""
    script(on)
    path = on.folder / "script.tare-device"
    path.write_text(path.read_text().replace("marker fixed 10 us", "marker fixed 1 ms"))
    counted = Hotspots(on, "in-turn", options=("--launches", "2"))
    counted.check()
    assert counted.kernel["counted_launches"] == 4


def test_a_list_that_is_executed_again_is_counted_for_one_group(on):
    """Its queries are of one group; what other groups tell has no turn."""
    script(on)
    counted = Hotspots(on, "again", options=("--launches", "3"))
    first = {"duration_ns", "cores_active_share", "issue_share", "occupancy_share", "local_read_bytes", "local_write_bytes"}
    counted.check(without=set(TRUTH) - first)
    assert {counted.states()[name] for name in set(TRUTH) - first} == {"no-instance"}
    executions = [said[9] for what, said in counted.counting if what == 4]
    assert len(executions) == 3 and all(execution > 0 for execution in executions)


def test_a_list_executed_before_its_last_execution_was_read(on):
    """It is waited for, but not for long: then nothing more of it is counted."""
    script(on)
    counted = Hotspots(on, "behind")
    for name, state in counted.states().items():
        if state == "counted":
            assert counted.kernel["counters"][name]["mean"] == pytest.approx(TRUTH[name], rel=1e-6)


def test_what_ran_beside_another_queue_is_no_figure(on):
    script(on, engines="engine compute runs kernel")
    counted = Hotspots(on, "threads", options=("--overlapping", "--launches", "3"))
    for name, value in counted.kernel["counters"].items():
        if value["state"] == "counted":
            assert value["mean"] == pytest.approx(TRUTH[name], rel=1e-6), name


@pytest.mark.parametrize("metric,counts,lost", [
    ("SLM_BYTE_READ", "saturated", {"local_read_bytes"}),
    ("SLM_BYTE_READ", "wrapped", {"local_read_bytes"}),
    ("XVE_ACTIVE", "wrapped", {"cores_active_share", "issue_share", "occupancy_share"}),
    ("XVE_STALL", "saturated", {"cores_active_share", "issue_share", "occupancy_share"}),
    ("GPU_MEMORY_BYTE_WRITE", "wrapped", {"device_write_bytes"}),
])
def test_counters_that_wrapped_or_stand_still_are_no_figures(on, metric, counts, lost):
    script(on, counts={metric: counts})
    counted = Hotspots(on, "in-turn", options=("--launches", "2"))
    counted.check(without=lost)
    assert {counted.states()[name] for name in lost} == {"not-trusted"}
    assert all(counted.kernel["counters"][name]["mean"] is None for name in lost)


def test_a_report_that_says_that_it_is_wrong_is_believed(on):
    basic = [row if row[0] != "ReportError" else (*row[:3], 1) for row in BASIC]
    script(on, {"ComputeBasic": basic})
    counted = Hotspots(on, "in-turn")
    assert "counted" not in counted.states().values()


def test_a_duration_that_is_not_the_launch_s_takes_the_shares_along(on):
    """The query saw more time than the kernel had: shares are of that time, bytes are right."""
    script(on, {"ComputeBasic": [("GpuTime", "duration", "ns", 70000), *BASIC[1:]]})
    states = Hotspots(on, "in-turn").states()
    assert {states[name] for name in ("duration_ns", "cores_active_share", "issue_share", "occupancy_share")} == {"not-trusted"}
    assert states["local_read_bytes"] == states["local_write_bytes"] == "counted"


@pytest.mark.parametrize("change,sentence", [
    ({"forbidden": "yes"}, "counters are for administrators alone"),
    ({"groups": {}}, "the driver lists no counters of single launches"),
])
def test_why_there_are_no_counters(on, change, sentence):
    script(on, **change)
    counted = Hotspots(on, "in-turn")
    assert sentence in counted.json["device"]["no_counters"]
    assert sentence in " ".join(counted.done.out.decode().split())
    # The device is a CPU: what its code does is counted instead, and nothing of it is a counter's.
    assert counted.json["by_instructions"] and "the program ran four times" in " ".join(counted.said.split())
    assert counted.kernel["launches"] == counted.kernel["counted_launches"] == ROUNDS
    assert {name for name, state in counted.states().items() if state == "counted"} <= OF_INSTRUCTIONS
    assert counted.kernel["verdict"]["bound"] == "n/a"


def test_a_program_that_counts_by_itself_is_left_alone(on):
    script(on)
    on.environment["ZET_ENABLE_METRICS"] = "1"
    counted = Hotspots(on, "own", "in-turn")
    assert b"own 0" in counted.native.out
    assert "the program counts by itself" in counted.json["device"]["no_counters"]
    assert BEGUN not in [what for what, _ in counted.counting]


def test_a_program_that_begins_to_count_ends_it(on):
    script(on)
    counted = Hotspots(on, "in-turn", "own", "synchronous", options=("--launches", "3"))
    assert "the program began to count by itself" in counted.said
    before = [said[3] for what, said in counted.counting if what == BEGUN]
    left = [said[3] for what, said in counted.counting if what == 3 and said[5] == 4]
    assert len(left) == 1 and before and max(before) <= left[0]


def test_metrics_are_switched_on_and_a_user_s_no_stays(on):
    script(on)
    on.environment["ZET_ENABLE_METRICS"] = "0"
    assert "ZET_ENABLE_METRICS" in Hotspots(on, "in-turn").json["device"]["no_counters"]


def test_a_driver_that_does_not_begin_with_metrics_is_not_given_them(on):
    """Intel's, without its libraries: the program runs once, as ever."""
    script(on)
    on.environment["ZE_CPU_NO_METRICS"] = "1"
    counted = Hotspots(on, "in-turn")
    assert "lacks a library that counts" in counted.json["device"]["no_counters"]
    assert counted.done.out.count(b"done in-turn") == 1 and not counted.counting


def test_devices_are_listed_where_the_driver_does_not_begin_with_metrics(on):
    script(on)
    on.environment["ZE_CPU_NO_METRICS"] = "1"
    done = run([on.tare, "devices", "--counters", "--device", "levelzero:0"], on.environment)
    assert done.status == 0, done.errors
    assert "libigdmd" in " ".join(done.out.decode().split())
