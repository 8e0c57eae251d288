# SPDX-License-Identifier: Apache-2.0
"""CUDA programs, recorded on the stand-ins for the driver and CUPTI: every command is there once, its device
times are the script's, and the program does what it does without tare."""
import collections
import csv
import os
import pathlib
import signal
import struct
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "levelzero"), str(HERE.parent / "e2e")]
from cuda_programs import MIB, SCRIPT, STREAMS, WITHIN, on  # noqa: E402, F401
from recorded import run  # noqa: E402
from trace import NO_TIMES, Trace, records  # noqa: E402

UNTIMED_REFUSED = 1
DEPENDS = 20
PROFILING = 1  # of what was changed


def transfer_ns(fixed_us, count):
    """As the script has it."""
    return fixed_us * 1000 + round(count * 1e9 / 65.536e9)


# What each style does with n = 4: kind and how long it takes, and how often.
KERNELS = {("kernel", 50000): 2, ("kernel", 70000): 2}
DEFAULTS = {("kernel", 50000): 5}
COPIES = {("write", transfer_ns(29, MIB)): 5, ("copy", transfer_ns(29, MIB // 2)): 4,
          ("read", transfer_ns(29, MIB // 4)): 4, ("fill", transfer_ns(19, MIB // 4)): 4,
          ("read", transfer_ns(29, MIB // 2)): 1, ("write", transfer_ns(29, MIB // 8)): 1,
          ("read", transfer_ns(29, MIB // 8)): 1}
THREADS = {("kernel", 50000): 16}
EVENTS = {("kernel", 50000): 4, ("kernel", 70000): 4}


def near(kind_ns, expected):
    """The expected kind and length that this one is, within the rounding of the model's times."""
    kind, ns = kind_ns
    found = [each for each in expected if each[0] == kind and abs(each[1] - ns) <= 2]
    return found[0] if found else kind_ns


@pytest.mark.parametrize("style, expected, amount", [
    ("kernels", KERNELS, 0), ("defaults", DEFAULTS, 0), ("threads", THREADS, 0), ("events", EVENTS, 0),
    ("copies", COPIES, 4 * (MIB + MIB // 2 + MIB // 4 + MIB // 4) + MIB + MIB // 2 + 2 * (MIB // 8))])
@pytest.mark.parametrize("cupti", ["", "late", "fill=4096", "version=12", "version=12 late"])
def test_every_command_is_there_once_with_the_devices_times(on, style, expected, amount, cupti):
    on.environment["TARE_FAKE_CUPTI"] = cupti
    native = on.native([STREAMS, style])
    done = on.record([STREAMS, style])
    assert (done.status, done.out) == (native.status, native.out) == (0, native.out)
    trace = Trace(done.folder)
    assert {len(times) for times in trace.times.values()} == {1}
    assert {key[:2] for key in trace.times} == set(trace.commands)
    seen = collections.Counter(near((kind, end - start), expected) for kind, start, end in trace.runs())
    assert seen == expected
    assert sum(each.amount for each in trace.commands.values() if each.kind != "kernel") == amount
    assert not trace.untimed
    report = on.report(done.folder)
    count = sum(expected.values())
    coverage = report["coverage"]
    assert (coverage["enqueued"], coverage["completed"], coverage["unobserved"]) == (count, count, 0)
    assert report["devices"][0]["name"] == "exact"


def test_several_threads_may_be_the_first_to_name_something(on):
    """The first launch ends after others that began later: they have defined what it names."""
    on.environment["TARE_FAKE_CUPTI"] = "hold"
    done = on.record([STREAMS, "threads=2"])
    report = on.report(done.folder)
    assert (report["coverage"]["completed"], report["problems"]) == (8, [])
    assert [task["name"] for task in report["tasks"]] == ["empty"] and len(report["queues"]) == 2


def test_times_may_come_before_the_calls_end(on):
    """Which needs the helper: the program has threads."""
    on.environment["TARE_FAKE_CUPTI"] = "early"
    done = on.record([STREAMS, "threads=1", "copies=1"])
    trace = Trace(done.folder)
    assert len(trace.commands) == len(trace.times) == 4 + 4 + 4 and not trace.untimed


def test_what_was_never_asked_for_is_no_command(on):
    """A launch that fails is an attempt; a copy of nothing is a call."""
    done = on.record([STREAMS, "wrong"])
    assert done.status == 0
    commands = Trace(done.folder).commands.values()
    assert [each.flags & 1 for each in commands] == [1] * 4
    assert on.report(done.folder)["coverage"]["enqueued"] == 0


def waits_of(folder):
    """{(track, number): those that the command waits for}, and what calls wait for."""
    path, = folder.glob("*.trace")
    commands, calls = collections.defaultdict(set), []
    for kind, flags, count, track, data in records(path):
        if kind == DEPENDS:
            words = struct.unpack("<8Q", data)
            events = {(word >> 32, word & 0xffffffff) for word in words[2:2 + count]}
            if flags & 1:
                calls.append(events)
            else:
                commands[track, words[1]] |= events
    return dict(commands), calls


def test_a_command_waits_for_what_its_streams_event_stands_for(on):
    done = on.record([STREAMS, "events=3"])
    commands, calls = waits_of(done.folder)
    # Odd ones are in one stream, before the event; even ones in another, which waits for it.
    assert commands == {(1, 2): {(1, 1)}, (1, 4): {(1, 3)}, (1, 6): {(1, 5)}}
    assert calls == [{(1, 1)}, {(1, 3)}, {(1, 5)}]


def test_the_legacy_stream_and_blocking_ones_wait_for_each_other(on):
    # 1: legacy; 2: of the thread; then 3 streams, of which the first is a blocking one (3 and 6), and 7 and 8 as 1 and 2.
    done = on.record([STREAMS, "defaults=1", "kernels=4", "defaults=1"])
    commands, _ = waits_of(done.folder)
    assert commands == {(1, 2): {(1, 1)}, (1, 3): {(1, 1)}, (1, 7): {(1, 2), (1, 6)}, (1, 8): {(1, 7)}}


def test_copies_from_pageable_memory_are_found_in_cudas_words(on):
    # Copies so long that the pauses of a busy machine stay the smaller part of the run.
    path = pathlib.Path(on.environment["TARE_FAKE_CUDA_DEVICE"])
    path.write_text(SCRIPT.replace("pageable device fixed 29 us rate 65.536", "pageable device fixed 29 us rate 0.5"))
    done = on.record([STREAMS, "copies=20", "pageable=100"])
    found = {finding["id"]: finding for finding in on.report(done.folder)["findings"]}
    assert "cudaHostAlloc" in found["pageable-memory"]["advice"]


def test_streams_are_queues(on):
    done = on.record([STREAMS, "kernels=6", "defaults=4"])
    trace = Trace(done.folder)
    queues = collections.Counter(each.queue for each in trace.commands.values())
    # Three streams; the legacy one by both of its names; that of the thread.
    assert sorted(queues.values()) == [1, 2, 2, 2, 4]
    assert trace.changes[PROFILING] == 5


def test_several_devices_are_several_ledgers(on):
    on.environment["TARE_FAKE_CUDA"] = "devices=2"
    done = on.record([STREAMS, "kernels=4", "second=3"])
    report = on.report(done.folder)
    coverage = report["coverage"]
    assert coverage["enqueued"] == coverage["completed"] == 4 + 3 + 1
    assert [device["number"] for device in report["devices"]] == [0, 1]
    assert len({device["uuid"] for device in report["devices"]}) == 2
    count = collections.Counter()
    for task in report["tasks"]:
        count[task["device_number"]] += task["instances"]
    assert count == {0: 4, 1: 3}
    peer, = report["transfers"]
    assert (peer["kind"], peer["bytes"], peer["device_number"]) == ("copy", MIB, 1)
    # Each device's time is in its own ledger, the copy between them in that of the stream it is in; all in one trace.
    parts = {(ledger["scope"], ledger.get("device_number")): {part["category"]: part["ns"] for part in ledger["parts"]}
             for ledger in report["ledgers"]}
    assert set(parts) == {("device", 0), ("device", 1), ("union", None)} and len(report["processes"]) == 1
    first, second, both = (parts[key] for key in (("device", 0), ("device", 1), ("union", None)))
    assert (second["kernel"], second["local_copy"]) == (pytest.approx(3 * 50000, abs=6), pytest.approx(peer["total_ns"], abs=2))
    # Two of its streams may run at the same time.
    assert 2 * 70000 - 4 <= first["kernel"] <= 2 * 50000 + 2 * 70000 + 8 and first["local_copy"] == 0
    assert max(first["kernel"], second["kernel"]) <= both["kernel"] <= first["kernel"] + second["kernel"]


def graph_nodes(trace):
    """Times of the nodes of each launch: (track, number): [(start, end)...]"""
    nodes = collections.defaultdict(list)
    for (track, number, _), times in trace.times.items():
        if trace.commands[track, number].kind == "graph":
            nodes[track, number] += times
    return nodes


def test_the_nodes_of_a_graph_are_commands_under_its_launch(on):
    done = on.record([STREAMS, "graph"])
    trace = Trace(done.folder)
    kinds = collections.Counter(each.kind for each in trace.commands.values())
    assert kinds == {"graph": 4, "kernel": 1}  # what was captured is none
    nodes = graph_nodes(trace)
    assert [len(times) for times in nodes.values()] == [3] * 4
    assert len({node for *_, node in trace.times if node}) == 3  # the same in each launch
    report = on.report(done.folder)
    coverage = report["coverage"]
    assert coverage["completed"] == coverage["enqueued"] == 4 * 3 + 1
    tasks = {task["name"]: task for task in report["tasks"]}
    assert {name: task["instances"] for name, task in tasks.items()} == {"empty": 4 + 1, "other": 4}
    assert tasks["other"]["work"] == {"global": [128], "local": [64]}
    assert tasks["other"]["total_ns"] == pytest.approx(4 * 70000, abs=8)
    assert tasks["empty"]["total_ns"] == pytest.approx(5 * 50000, abs=10)
    copy, = report["transfers"]
    assert (copy["kind"], copy["count"], copy["bytes"], copy["memory"]) == ("write", 4, 4 * MIB, "pinned")
    assert copy["total_ns"] == pytest.approx(4 * transfer_ns(29, MIB), abs=8)


def test_between_the_kernels_of_a_graph_no_kernel_ran(on):
    """The copy between them is a transfer, and what lies between nodes is idle."""
    report = on.report(on.record([STREAMS, "graph"]).folder)
    ledger = next(each for each in report["ledgers"] if each["device_number"] == 0)
    parts = {part["category"]: part["ns"] for part in ledger["parts"]}
    assert parts["kernel"] == pytest.approx(4 * (50000 + 70000) + 50000, abs=50)
    assert parts["transfer_to_device"] == pytest.approx(4 * transfer_ns(29, MIB), abs=50)


def test_without_the_nodes_numbers_a_graphs_launch_is_one_command(on):
    """CUPTI of CUDA 11.0 does not say which node a record is of."""
    on.environment["TARE_FAKE_CUPTI"] = "version=13"
    done = on.record([STREAMS, "graph"])
    trace = Trace(done.folder)
    assert [len(times) for times in graph_nodes(trace).values()] == [3] * 4
    report = on.report(done.folder)
    assert report["coverage"]["completed"] == report["coverage"]["enqueued"] == 5
    graph, = (task for task in report["tasks"] if task["name"] == "(graph)")
    assert graph["instances"] == 4 and graph["total_ns"] >= 4 * (50000 + 70000 + transfer_ns(29, MIB)) - 8


def test_occupancy_is_told_with_what_limits_it(on):
    """Two kernels of 64 work-items, 32 registers and 256 bytes of shared memory; one asks for 40 KiB more."""
    script = on.folder / "script"
    script.write_text(SCRIPT.replace("memory 1 GiB", "memory 1 GiB units 4 local 228 KiB"))
    report = on.report(on.record([STREAMS, "kernels=4", "shared=3"]).folder)
    tasks = {task["name"]: task["occupancy"] for task in report["tasks"]}
    by = {"work_items": 32, "registers": 32, "groups": 32}
    assert tasks["other"] == {"share": 1, "groups_at_once": 32, "limit": "work_items", "registers": 32,
                              "local_bytes": 256, "cluster": None, "waves": 2 / (4 * 32),
                              "groups_by": {**by, "local_memory": 228 * 1024 // (256 + 1024)}}
    # The frequent size of the other one is the one with more.
    assert tasks["empty"] == {"share": 5 * 2 / 64, "groups_at_once": 5, "limit": "local_memory", "registers": 32,
                              "local_bytes": 256 + 40960, "cluster": None, "waves": 2 / (4 * 5),
                              "groups_by": {**by, "local_memory": 5}}
    sizes = next(task["by_shape"] for task in report["tasks"] if task["name"] == "empty")
    assert sorted((size["instances"], size["occupancy"]["groups_at_once"]) for size in sizes) == [(2, 32), (3, 5)]
    text = run([on.tare, "report", "run.tare"], on.environment, cwd=on.folder).out.decode()
    assert "kernel on a unit" in text and " 15.6 % local memory " in text


def test_without_the_devices_limits_there_is_no_occupancy(on):
    report = on.report(on.record([STREAMS, "kernels=4"]).folder)
    assert [task["occupancy"] for task in report["tasks"]] == [None, None]


def test_memory_that_is_mapped_is_an_object_and_what_is_unknown_is_none(on):
    done = on.record([STREAMS, "mapped=3"])
    assert done.status == 0
    trace = Trace(done.folder)
    assert sorted(bool(each.object) for each in trace.commands.values()) == [False] * 3 + [True] * 3
    report = on.report(done.folder)
    assert report["coverage"]["unresolved"] == 0 and not report["problems"]
    assert {call["function"]: call["count"] for call in report["api"]}["cuMemMap"] == 1


def test_managed_memory_that_the_driver_moves_is_transfers_of_their_own(on):
    """1 MiB to the device for the first kernel, then half of it to and fro, at 40 GB/s and 1.2 us a page's fault."""
    (on.folder / "script").write_text(SCRIPT + "kernel takes fixed 30 us\n"
                                      "migrate page 64 KiB fault 1.2 us fixed 5 us rate 40 GB/s\n")
    report = on.report(on.record([STREAMS, "managed=3", "waits=3"]).folder)
    moved = {each["direction"]: each for each in report["transfers"]}
    assert {each["kind"] for each in report["transfers"]} == {"migrate"}
    assert {each["memory"] for each in report["transfers"]} == {"shared"}
    to, back = moved["to_device"], moved["from_device"]
    assert (to["count"], to["bytes"], back["count"], back["bytes"]) == (3, 2 * MIB, 3, 3 * MIB // 2)
    assert to["total_ns"] == pytest.approx(2 * MIB / 40 + 32 * 1200, abs=10)
    assert back["total_ns"] == pytest.approx(3 * MIB / 2 / 40, abs=10)
    device, = (each for each in report["devices"] if each["number"] == 0)
    assert device["managed_memory"] == {"host_faults": 0, "device_faults": 9, "device_fault_groups": 3,
                                        "thrashing": 0, "throttled": 0, "throttled_ns": 0, "remote_maps": 0}
    coverage = report["coverage"]
    assert coverage["enqueued"] == coverage["completed"] == 3  # nobody enqueued the others
    assert not any("unified" in each["function"] for each in report["api"])


def test_who_has_no_managed_memory_is_not_told(on):
    report = on.report(on.record([STREAMS, "kernels=4"]).folder)
    assert report["devices"][0]["managed_memory"] is None


def test_what_an_nvtx_range_launched_is_its_own(on, tmp_path):
    """Of nested ranges a command is both's, and the inner one launched it. It may run when both are over."""
    done = on.record([STREAMS, "ranges=5"])
    phases = {phase["name"]: phase for phase in on.report(done.folder)["phases"]}
    empty_ns, other_ns, fill_ns = 50000, 70000, transfer_ns(19, MIB // 4)
    for name, count, commands, kernels, kernel_ns, launched_ns, self_ns in (
            ("pushed", 5, 15, 10, empty_ns + other_ns, empty_ns + other_ns + fill_ns, empty_ns),
            ("inner", 5, 10, 5, other_ns, other_ns + fill_ns, other_ns + fill_ns), ("ranged", 1, 1, 1, empty_ns, empty_ns, empty_ns)):
        row = phases[name]
        assert [row[key] for key in ("count", "commands", "timed", "kernels")] == [count, commands, commands, kernels]
        assert [row[key] / count for key in ("kernel_ns", "launched_ns", "launched_self_ns")] == pytest.approx(
            [kernel_ns, launched_ns, self_ns], abs=4)
    assert run([on.tare, "export", done.folder, "--csv", tmp_path / "tables"]).status == 0
    rows = {name: list(csv.DictReader((tmp_path / f"tables/{name}.csv").open())) for name in ("phase", "command")}
    name_of = {row["phase"]: row["name"] for row in rows["phase"]} | {"": "none"}
    assert [(row["kind"], name_of[row["phase"]]) for row in rows["command"]] == 5 * [
        ("kernel", "pushed"), ("kernel", "inner"), ("fill", "inner"), ("kernel", "none")] + [("kernel", "ranged")]


def test_streams_have_their_priority(on):
    report = on.report(on.record([STREAMS, "kernels=3", "urgent=7"]).folder)
    assert {queue["commands"]: queue["priority"] for queue in report["queues"]} == {1: 0, 7: -3}


def test_a_program_that_is_killed_leaves_what_was_delivered(on):
    done = on.record([STREAMS, "killed=9"])
    assert done.status in (-signal.SIGKILL, 128 + signal.SIGKILL)
    trace = Trace(done.folder)
    assert len(trace.commands) == len(trace.times) == 9


@pytest.mark.parametrize("style, status", [("quits=9", 9), ("terminated=9", -signal.SIGTERM)])
def test_a_program_that_ends_without_its_handlers_leaves_what_was_delivered(on, style, status):
    done = on.record([STREAMS, style])
    assert done.status in (status, 128 - status)
    trace = Trace(done.folder)
    last = 1 if style.startswith("quits") else 0
    assert len(trace.commands) == 9 + last and len(trace.times) == 9
    coverage = on.report(done.folder)["coverage"]
    assert coverage["unobserved_by"]["pending"] == coverage["unobserved"] == last


def test_processes_are_one_trace(on):
    """Two ranks, of which one has a child that begins before CUDA does."""
    command = f"{STREAMS} kernels=5 & {STREAMS} first:fork kernels=7; wait"
    done = on.record(["/bin/sh", "-c", command])
    assert done.status == 0 and done.out == on.native(["/bin/sh", "-c", command]).out
    report = on.report(done.folder)
    coverage = report["coverage"]
    assert (coverage["enqueued"], coverage["completed"], coverage["unobserved"]) == (19, 19, 0)
    assert len(list(done.folder.glob("*.trace"))) == 3 == len(report["processes"])
    assert [device["name"] for device in report["devices"]] == ["exact"]
    assert {each["device_number"] for each in report["ledgers"]} <= {0, None}  # and that of all together
    assert sorted(task["instances"] for task in report["tasks"]) == [2 + 3 + 3, 3 + 4 + 4]


def test_call_stacks_lead_to_the_program(on):
    done = on.record([STREAMS, "kernels=20", "copies"], "--call-stacks")
    sites = on.report(done.folder)["sites"]
    assert {site["site"].split(":")[0] for site in sites} == {"streams.c"} and len(sites) > 5


@pytest.mark.skipif(not WITHIN.exists(), reason="there is no OpenCL library to link with")
def test_a_program_of_two_apis_is_one_trace(on):
    """CUDA's driver lets us in from within OpenCL's call: then times are asked for with the program's own first work."""
    done = on.record([WITHIN, "kernels=20", "copies=2"])
    assert (done.status, done.out) == (0, on.native([STREAMS, "kernels=20", "copies=2"]).out)
    report = on.report(done.folder)
    coverage = report["coverage"]
    assert coverage["enqueued"] == coverage["completed"] == 1 + 20 + 2 * 4 + 4
    apis = {device["name"]: device["apis"] for device in report["devices"]}
    assert apis.pop("exact") == ["cuda"] and list(apis.values()) == [["opencl"]]
    assert [each["device_number"] for each in report["ledgers"]] == [0, 1, None]  # and both together


def test_the_child_of_a_fork_asks_cupti_for_nothing(on):
    done = on.record([STREAMS, "forks"])
    assert (done.status, done.out) == (0, on.native([STREAMS, "forks"]).out)
    assert len(Trace(done.folder).times) == 8


def test_old_cupti_is_asked_for_the_calls_of_its_records(on):
    """Records of which it did not say whose they are stay away: what came before it was asked is untimed."""
    on.environment["TARE_FAKE_CUPTI"] = "uncorrelated"
    done = on.record([STREAMS, "kernels=9", "waits", "kernels=5"])
    trace = Trace(done.folder)
    assert sorted(number for _, number, _ in trace.times) == list(range(10, 15))
    coverage = on.report(done.folder)["coverage"]
    assert (coverage["completed"], coverage["unobserved"]) == (5, 9)


def test_without_cupti_the_program_runs_and_it_is_said(on):
    on.environment["TARE_FAKE_CUPTI"] = "holder=other"
    native = on.native([STREAMS, "kernels=99", "watched"])
    done = run([on.tare, "record", "-fo", "run", "--", STREAMS, "kernels=99", "watched"], on.environment, cwd=on.folder)
    if done.status == 77:
        pytest.skip("/proc does not show who looks")
    assert (done.status, done.out) == (native.status, native.out)
    said = done.errors.decode()
    assert "libcuda.so.1" in said and "libcupti.so" in said and "CUDA" in said and "--no-cupti" in said


@pytest.mark.parametrize("options", [["--strict"], ["--times", "none"]])
def test_without_times_there_are_counts(on, options):
    done = run([on.tare, "record", "-qfo", "run", *options, "--", STREAMS, "kernels"], on.environment, cwd=on.folder)
    assert done.status == 0
    trace = Trace(on.folder / "run.tare")
    assert len(trace.commands) == 4 and not trace.times and not trace.changes[PROFILING]
    assert all(each.flags & NO_TIMES for each in trace.commands.values())


@pytest.mark.parametrize("cupti, untimed", [("drop=3", 0), ("timeless=2", 2)])
def test_what_cupti_drops_is_unobserved_and_what_has_no_times_is_refused(on, cupti, untimed):
    on.environment["TARE_FAKE_CUPTI"] = cupti
    done = on.record([STREAMS, "kernels=20"])
    trace = Trace(done.folder)
    missing = int(cupti[-1])
    assert len(trace.commands) == 20 and len(trace.times) == 20 - missing
    assert [why for *_, why in trace.untimed] == [UNTIMED_REFUSED] * untimed
    coverage = on.report(done.folder)["coverage"]
    assert (coverage["completed"], coverage["unobserved"]) == (20 - missing, missing)


def test_work_of_calls_that_are_not_recorded_is_counted(on):
    done = on.record([STREAMS, "foreign=3", "kernels=4"])
    report = on.report(done.folder)
    assert (report["coverage"]["enqueued"], report["coverage"]["passed_calls"]) == (4, 3)
    assert any("3 calls of functions that are not recorded" in each["text"] for each in report["problems"])


def test_what_was_not_to_be_recorded_is_not_counted(on):
    done = on.record([STREAMS, "kernels=50", "waits=3", "kernels=4"], "--delay", "0.2")
    coverage = on.report(done.folder)["coverage"]
    assert coverage["passed_calls"] == 0
    assert 4 <= coverage["enqueued"] == coverage["completed"] <= 54


def test_cupti_that_cannot_trace_leaves_counts(on):
    on.environment["TARE_FAKE_CUPTI"] = "fail_enable=999"
    done = on.record([STREAMS, "kernels"])
    trace = Trace(done.folder)
    assert done.status == 0 and len(trace.commands) == 4 and not trace.times


@pytest.mark.parametrize("cupti", ["", "outer", "outer late", "outer early"])
def test_a_call_of_the_runtimes_has_its_name_and_is_there_once(on, cupti):
    """Whether activities have the number of the runtime's call or of the driver's. A copy sleeps 20 ms before that.
    Launches have the driver's name."""
    on.environment["TARE_FAKE_CUPTI"] = cupti
    done = on.record([STREAMS, "runtime=5"])
    assert (done.status, done.out) == (0, on.native([STREAMS, "runtime=5"]).out)
    trace = Trace(done.folder)
    assert {key[:2] for key in trace.times} == set(trace.commands) and len(trace.commands) == 13
    report = on.report(done.folder)
    calls = {call["function"]: call for call in report["api"]}
    count = {name: (call["count"], call["nested"]) for name, call in calls.items()}
    for name, times in {"cudaMalloc": (1, 0), "cudaMemcpyAsync": (6, 0), "cuMemcpyHtoDAsync": (1, 0),
                        "cudaStreamSynchronize": (1, 0), "cudaMemset": (1, 0), "cudaFree": (1, 0),
                        "cuLaunchKernel": (6, 0), "cuStreamSynchronize": (1, 0),
                        "cuDevicePrimaryCtxRetain": (2, 1)}.items():
        assert count[name] == times, (name, count)
    assert not {"cudaGetDevice", "cudaLaunchKernel"} & set(count)
    assert calls["cudaMemcpyAsync"]["total_ns"] >= 5 * 19_000_000


@pytest.mark.parametrize("variables, expected", [
    ({}, set()),
    ({"CUDA_LAUNCH_BLOCKING": "0", "CUDA_DEVICE_MAX_CONNECTIONS": "8"}, set()),
    ({"CUDA_LAUNCH_BLOCKING": "1"}, {"launch-blocking"}),
    ({"CUDA_DEVICE_MAX_CONNECTIONS": "1"}, {"few-connections"}),
    ({"CUDA_LAUNCH_BLOCKING": "1", "CUDA_DEVICE_MAX_CONNECTIONS": "1"}, {"launch-blocking", "few-connections"})])
def test_what_keeps_streams_apart_in_the_environment_is_a_problem(on, variables, expected):
    on.environment.update({"CUDA_LAUNCH_BLOCKING": "", "CUDA_DEVICE_MAX_CONNECTIONS": "", **variables})
    done = on.record([STREAMS, "copies=6", "kernels=20"])
    ids = {problem["id"] for problem in on.report(done.folder)["problems"]}
    assert ids & {"launch-blocking", "few-connections"} == expected


LOAD_MS, MODULE_MS = 20, 50


@pytest.mark.parametrize("style", ["kernels=20", "runtime=5"])
@pytest.mark.parametrize("cupti", ["", "late", "version=12", "early"])
def test_what_a_first_launch_loads_is_a_state_of_its_own(on, style, cupti):
    """Two kernels of a module, each loaded by its first launch; what else is overhead is not told."""
    on.environment.update({"TARE_FAKE_CUPTI": cupti, "TARE_FAKE_CUDA": f"load_us={LOAD_MS * 1000} module_us={MODULE_MS * 1000}"})
    native = on.native([STREAMS, style]).out
    done = on.record([STREAMS, style])
    assert (done.status, done.out) == (0, native)
    report = on.report(done.folder)
    calls = {call["function"]: call for call in report["api"]}
    kernels = {task["name"] for task in report["tasks"]}
    assert calls["(lazy function loading)"]["count"] == len(kernels) and calls["(module loading)"]["count"] == 1
    assert all(calls[name]["role"] == "load" and calls[name]["nested"] == calls[name]["count"]
               for name in ("(lazy function loading)", "(module loading)"))
    least = (LOAD_MS * len(kernels) + MODULE_MS) * 1_000_000
    parts = {part["category"]: part["ns"] for part in report["ledgers"][-1]["parts"]}
    assert least <= parts["host_load"] <= calls["cuLaunchKernel"]["total_ns"]
    # None of it is counted as the launch as well.
    assert parts["host_api"] <= report["wall_ns"] - least


def test_what_ends_while_the_helper_reads_is_there(on):
    """It has begun to read when the program ends, and what CUPTI gives back then waits for it."""
    on.environment.update({"TARE_FAKE_CUPTI": "slow", "TARE_FAKE_CUDA": "load_us=300000"})
    done = on.record([STREAMS, "kernels=20"])
    trace = Trace(done.folder)
    assert {key[:2] for key in trace.times} == set(trace.commands) and len(trace.commands) == 20
    calls = {call["function"]: call["count"] for call in on.report(done.folder)["api"]}
    assert calls["(lazy function loading)"] == 2


def test_a_kernel_that_is_there_is_not_loaded(on):
    done = on.record([STREAMS, "kernels=20"])
    report = on.report(done.folder)
    assert not [call for call in report["api"] if call["role"] == "load"]
    assert {part["category"]: part["ns"] for part in report["ledgers"][-1]["parts"]}["host_load"] == 0


def test_variables_that_the_driver_reads_are_facts(on):
    """As they are when it begins, and only those that are set."""
    for name in [name for name in os.environ if name.startswith("CUDA_")]:
        on.environment[name] = ""
    on.environment.update({"CUDA_DEVICE_MAX_CONNECTIONS": "1", "CUDA_MODULE_LOADING": "EAGER", "CUDA_OF_NOBODY": "1"})
    done = on.record(["/bin/sh", "-c", f"{STREAMS} kernels & CUDA_CACHE_DISABLE=1 {STREAMS} kernels; wait"])
    report = on.report(done.folder)
    said = collections.Counter(each["text"] for each in report["environment"] if not each["text"].endswith("="))
    assert said == {"CUDA_DEVICE_MAX_CONNECTIONS=1": 2, "CUDA_MODULE_LOADING=EAGER": 2, "CUDA_CACHE_DISABLE=1": 1}
    text = " ".join(run([on.tare, "report", "run.tare"], on.environment, cwd=on.folder).out.decode().split())
    assert text.count("CUDA_DEVICE_MAX_CONNECTIONS=1") == 1 and "CUDA_CACHE_DISABLE=1" in text


@pytest.mark.parametrize("style", ["kernels=400", "runtime=3"])
@pytest.mark.parametrize("options", [[], ["--times", "none"], ["--call-stacks"]])
def test_our_own_code_is_measured_and_cuptis_part_is_not_known(on, style, options):
    done = on.record([STREAMS, style], *options)
    assert (done.status, done.out) == (0, on.native([STREAMS, style]).out)
    report = on.report(done.folder)
    coverage = report["coverage"]
    assert coverage["self_cost_ns"] > 0 and coverage["driver_cost_ns"] is None
    assert coverage["cost_source"] == "own_code" and coverage["cost_high_ns"] is None
    assert (coverage["stack_cost_ns"] is not None) == ("--call-stacks" in options)
    assert not report["problems"] or options == ["--times", "none"]
    # What was measured is in no table.
    assert not any("Array" in each["function"] for each in report["api"])
    assert sum(task["instances"] for task in report["tasks"]) == {"kernels=400": 400}.get(style, 4)
