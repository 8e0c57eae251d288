# SPDX-License-Identifier: Apache-2.0
"""tare hotspots on the stand-ins for the driver and CUPTI: each figure is what fake_cupti_profiler.c says of the
metric and the kernel, launches are counted in turns, what must be left alone is, and the program stays as it is."""
import collections
import json
import pathlib
import struct
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "levelzero"), str(HERE.parent / "e2e")]
from cuda_programs import STREAMS, stand_ins  # noqa: E402
from recorded import BUILD, Recorder, run  # noqa: E402
from trace import records  # noqa: E402

GIVES = BUILD / "tests/cuda/gives"
UNLIKE = BUILD / "tests/cuda/unlike"
SCRIPT = """tare-device 1
device name "exact" memory 1 GiB
timer rate 1 GHz
{engines}engine copy runs to-device,local
engine copy runs to-host
copy pinned device fixed 29 us rate 65.536 GB/s
copy device pinned fixed 29 us rate 65.536 GB/s
marker fixed 1 us
kernel empty fixed 50 us
kernel other fixed 70 us
"""
ENGINE = "engine compute runs kernel\n"
COMMAND, COUNTED, COUNTING = 18, 39, 40
PREPARED, ABSENT, LEFT, LAUNCH = 1, 2, 3, 4
LEFT_CAPTURED, LEFT_COOPERATIVE = 1, 2
GROUPS, A_GROUP = 5, 3
GROUP_OF_CODE = 4
# Of a figure the factors of its metrics.
FIGURES = {
    "duration_ns": {"gpu__time_duration.sum": 1},
    "instructions": {"smsp__inst_executed.sum": 1},
    "occupancy_share": {"sm__warps_active.avg.pct_of_peak_sustained_active": 1},
    "l2_bytes": {"lts__t_sectors.sum": 32},
    "device_read_bytes": {"dram__bytes_read.sum": 1},
    "core_active_most": {"sm__cycles_active.max": 1},
    "l1_bytes": {"l1tex__t_bytes.sum": 1},
    "l2_miss_bytes": {"lts__t_sectors_lookup_miss.sum": 32},
    "pipe_alu_share": {"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active": 1},
    "pipe_tensor_share": {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active": 1},
    "host_read_bytes": {"lts__t_sectors_aperture_sysmem_op_read.sum": 32},
    "flop_fp32": {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": 1,
                  "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum": 1,
                  "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 2},
}


@pytest.fixture
def on(tare_path, tmp_path):
    recorder = Recorder(tare_path, tmp_path, tmp_path / "cache")
    (tmp_path / "script").write_text(SCRIPT.format(engines=ENGINE))
    recorder.environment.update(stand_ins(tmp_path, tmp_path / "script"), XDG_CACHE_HOME=str(tmp_path / "cache"))
    return recorder


class Counted:
    """What tare hotspots did with a program."""

    def __init__(self, on, styles, *options, words="", program=STREAMS):
        folder = on.folder / "run.tare"
        environment = {**on.environment, "TARE_FAKE_CUPTI": words}
        self.native = run([program, *styles], on.environment, cwd=on.folder)
        self.done = run([on.tare, "hotspots", "--force", "-o", "run", "--json", "counted.json",
                         *(() if "--launches" in options else ("--launches", str(A_GROUP))), *options, "--",
                         program, *styles], environment, cwd=on.folder)
        text = self.done.errors.decode()
        assert self.done.status == self.native.status, text
        self.said = text
        self.json = json.loads((on.folder / "counted.json").read_text())
        self.kernels = {each["name"]: each for each in self.json["kernels"]}
        self.first, self.second = (self.commands(each) for each in (folder, folder / "counted.tare"))
        # It runs a second time only if there is something to count.
        assert self.done.out.startswith((2 if self.second else 1) * self.native.out), text
        self.counting = collections.defaultdict(list)
        for path in (folder if "--one-run" in options else folder / "counted.tare").glob("*.trace"):
            for kind, _, detail, track, data in records(path):
                if kind == COUNTING:
                    names = ("command_track", "number", "object", "from", "to", "code", "group", "passes", "text")
                    self.counting[detail].append(dict(zip(names, struct.unpack_from("<IIQQQIIII", data, 8)),
                                                      track=track))

    @staticmethod
    def commands(folder):
        """Of each file its commands as (kind, object's place among the objects)."""
        return sorted([data[24:26] for kind, _, _, _, data in records(path) if kind == COMMAND]
                      for path in folder.glob("*.trace"))


def value_of(metric, kernel):
    def hash_of(text):
        found = 0xcbf29ce484222325
        for byte in text.encode():
            found = (found ^ byte) * 0x100000001b3 % 2**64
        return found
    return hash_of(metric) % 90 + hash_of(kernel) % 9


def truth(figure, kernel):
    kernel = "a graph's" if kernel.startswith("graph ") else kernel
    return sum(factor * value_of(metric, kernel) for metric, factor in FIGURES[figure].items())


def check_values(kernel, states=("counted",)):
    for figure in FIGURES:
        value = kernel["counters"][figure]
        if value["state"] == "not-asked":  # of a chip that lacks it by another name
            continue
        assert value["state"] in states, figure
        if value["state"] == "counted":
            assert value["mean"] == value["least"] == value["most"] == truth(figure, kernel["name"]), figure


def test_each_figure_is_the_metric_s_value_of_that_kernel(on):
    counted = Counted(on, ["kernels=40"])
    assert set(counted.kernels) == {"empty", "other"}
    for kernel in counted.kernels.values():
        check_values(kernel)
        assert kernel["counted_launches"] == GROUPS * A_GROUP and not kernel["replayed"]
        assert {value["launches"] for value in kernel["counters"].values() if value["state"] != "not-asked"} == {A_GROUP}
    assert counted.first == counted.second  # nothing was launched twice, and nothing left out


def turns_of(counted, first):
    """Of the launches of one of two kernels in turn, those that were counted: places from 0 on, and groups."""
    return [((each["number"] - 1) // 2, each["group"]) for each in counted.counting[LAUNCH] if each["number"] % 2 == first % 2]


def test_in_one_run_kernels_are_counted_as_they_come(on):
    launches = 200
    counted = Counted(on, [f"kernels={launches}"], "--one-run", "--launches", "1")
    assert not counted.second and counted.done.out.count(counted.native.out) == 1
    assert "the program ran once" in counted.said and counted.json["counted_wall_ns"] is None
    assert set(counted.kernels) == {"empty", "other"}
    for kernel in counted.kernels.values():
        check_values(kernel)
        assert kernel["counted_launches"] == GROUPS and kernel["launches"] == launches // 2 and kernel["total_ns"] > 0
    for kernel in (0, 1):
        turns = turns_of(counted, kernel)
        assert sorted(group for _, group in turns) == list(range(GROUPS)) and turns[0][1] == 0
        # Each part is twice as long as the one before; the first launch is in none.
        assert all(2**i <= place <= 2**(i + 1) for i, (place, _) in enumerate(turns)), turns


def test_in_one_run_the_longest_are_counted_in_full(on):
    counted = Counted(on, ["kernels=200"], "--one-run", "--launches", "1", "--top", "1")
    longest, other = sorted(counted.kernels.values(), reverse=True,
                            key=lambda kernel: kernel["counters"]["duration_ns"]["mean"])
    assert longest["counted_launches"] == GROUPS and other["counted_launches"] < GROUPS
    assert other["counters"]["duration_ns"]["state"] == "counted"
    check_values(longest)
    check_values(other, states=("counted", "no-instance"))


def test_what_one_run_does_not_know_is_not_asked_of_it(on):
    done = run([on.tare, "hotspots", "--one-run", "--kernel", "a*", "--", STREAMS, "kernels=4"], on.environment, cwd=on.folder)
    assert done.status == 2 and b"--one-run chooses kernels by itself" in done.errors


def test_what_a_launch_is_given_is_what_its_arguments_point_into(on):
    counted = Counted(on, ["40"], program=GIVES)
    assert {name: each["compulsory_bytes"] for name, each in counted.kernels.items()} == {
        "gives": 2**20 + 2**18, "reads": 2**20 + 2**16, "counts": None, "nothing": None}
    assert "no argument is the address" in counted.kernels["counts"]["given"]
    assert "tells no parameters" in counted.kernels["nothing"]["given"]
    gives = counted.kernels["gives"]
    assert "at most 1.25 MB" in gives["given"]
    for edge in gives["edges"]:
        if edge["bytes"] is not None:
            assert edge["over_compulsory"] == pytest.approx(edge["bytes"] / (2**20 + 2**18))
    assert sum(edge["over_compulsory"] is not None for edge in gives["edges"]) >= 2


def test_launches_are_counted_in_turns_all_over_the_run(on):
    launches = 300
    counted = Counted(on, [f"kernels={launches}"], "--kernel", "empty")
    numbers = [each["number"] for each in counted.counting[LAUNCH]]
    groups = [each["group"] for each in counted.counting[LAUNCH]]
    assert all(each["code"] == 0 and each["passes"] == 1 for each in counted.counting[LAUNCH])
    assert len(numbers) == GROUPS * A_GROUP
    # One in each part of equal length of the launches of this kernel, which are the odd commands; not the first.
    places = [number // 2 for number in numbers]
    part = launches // 2 / len(places)
    assert [int(place // part) for place in places] == list(range(len(places))) and places[0] > 0
    # The next group costs nothing more: none is passed over.
    assert groups == list(range(GROUPS)) * A_GROUP


def test_a_launch_right_behind_one_counted_by_code_leaves_its_turn_to_a_later_one(on):
    """Code in a kernel moves bytes of its own, which the launch behind it would be told of: it is a later one's turn."""
    turns = GROUPS * A_GROUP
    counted = Counted(on, [f"kernels={2 * 8 * turns}"])
    launches = sorted((each["number"], each["group"]) for each in counted.counting[LAUNCH])
    assert len(launches) == 2 * turns
    behind = [number for (before, code), (number, group) in zip(launches, launches[1:])
              if code == GROUP_OF_CODE and group != GROUP_OF_CODE and number <= before + 3]
    # Of two kernels in turn, eight launches a part; the last of a part has no later one.
    assert all(number // 2 % 8 == 7 for number in behind)


def test_groups_are_separate_where_passes_are_shared(on):
    """A chip whose passes are not the groups' has a profiler for each: what changes nothing is preferred."""
    counted = Counted(on, ["kernels=300"], "--kernel", "empty", words="merges")
    groups = [each["group"] for each in counted.counting[LAUNCH]]
    for turn in range(A_GROUP):
        assert sorted(groups[turn * GROUPS:(turn + 1) * GROUPS]) == list(range(GROUPS))
    assert groups[GROUPS] == groups[GROUPS - 1] and groups[2 * GROUPS] == groups[2 * GROUPS - 1]
    check_values(counted.kernels["empty"])


@pytest.mark.parametrize("launches", [10, 20, 60, 500])
def test_kernels_in_step_with_the_groups_get_all_figures(on, launches):
    """Ten launches a round and five groups: a group that does not come by itself is gone on to."""
    counted = Counted(on, [f"kernels={launches}"], "--launches", "1")
    for kernel in counted.kernels.values():
        check_values(kernel)
        assert kernel["counted_launches"] == GROUPS


def test_a_kernel_with_few_launches_lacks_what_had_no_turn(on):
    counted = Counted(on, ["kernels=6"])
    for kernel in counted.kernels.values():
        check_values(kernel, ("counted", "no-instance"))
        states = [kernel["counters"][figure]["state"] for figure in ("duration_ns", "l1_bytes", "pipe_alu_share",
                                                                  "pipe_tensor_share", "flop_fp32")]
        assert states == ["counted"] * 3 + ["no-instance"] * 2
        assert kernel["counters"]["duration_ns"]["launches"] == 1


def test_replay_counts_all_of_few_launches(on):
    counted = Counted(on, ["kernels=4"], "--replay")
    for kernel in counted.kernels.values():
        check_values(kernel)
        assert kernel["replayed"] and kernel["counted_launches"] == 2
    assert {(each["group"], each["passes"]) for each in counted.counting[LAUNCH]} == {(GROUPS, GROUPS)}
    assert counted.first == counted.second


def test_no_kernel_is_replayed_that_has_launches_enough(on):
    counted = Counted(on, ["kernels=40"], "--replay")
    assert {each["passes"] for each in counted.counting[LAUNCH]} == {1}
    assert not any(kernel["replayed"] for kernel in counted.kernels.values())


def test_what_is_captured_is_left_alone(on):
    """The stand-in ends a program whose capture is disturbed."""
    counted = Counted(on, ["graph=20"])
    assert counted.kernels["other"]["uncounted"] == "captured"
    counted = Counted(on, ["kernels=20", "graph=5", "kernels=20"])
    left = [each for each in counted.counting[LEFT] if each["code"] == LEFT_CAPTURED]
    assert len(left) == 2
    for kernel in counted.kernels.values():
        check_values(kernel)


def graphs_of(counted):
    return {name: each for name, each in counted.kernels.items() if name.startswith("graph ")}


def test_a_graph_is_counted_as_one(on):
    """What runs before its work is done, or as ranges of its kernels, fails in the stand-in."""
    counted = Counted(on, ["graph=60"], "--kernel", "graph*")
    graph = counted.kernels["graph 1 (empty and more)"]
    check_values(graph)
    # One group has nothing of a graph's launch.
    assert graph["launches"] == 60 and graph["counted_launches"] == (GROUPS - 1) * A_GROUP
    assert graph["compulsory_bytes"] is None and "not looked at" in graph["given"]
    assert counted.kernels["other"]["uncounted"] == "not-chosen"
    # From its kernels' begin to their end, of the recording: 50 us, a copy of 1 MiB, and 70 us.
    assert graph["mean_ns"] >= 0.999 * (50_000 + 70_000 + 29_000)
    numbers = [each["number"] for each in counted.counting[LAUNCH] if each["code"] == 0]
    assert len(numbers) == GROUPS * A_GROUP and counted.first == counted.second
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))) and numbers[0] > 1


def test_graphs_and_kernels_take_turns_and_graphs_are_told_apart(on):
    counted = Counted(on, ["kernels=100", "graph=40", "kernels=100", "graph=30", "kernels=100"])
    assert {name: each["launches"] for name, each in graphs_of(counted).items()} == {
        "graph 1 (empty and more)": 40, "graph 2 (empty and more)": 30}
    for name, kernel in counted.kernels.items():
        check_values(kernel)
        assert kernel["counted_launches"] == (GROUPS - name.startswith("graph ")) * A_GROUP
    places = [each["track"] for each in counted.counting[LAUNCH]]
    assert len(places) == 4 * GROUPS * A_GROUP


def test_the_profiler_changes_once_between_graphs_and_kernels(on):
    """A change takes as long as seven counted launches."""
    counted = Counted(on, ["rounds=60"], "--launches", "2", program=UNLIKE)
    are_graphs = [each["object"] > 0 for each in sorted(counted.counting[LAUNCH], key=lambda each: each["from"])]
    assert len(are_graphs) == 4 * 2 * GROUPS and are_graphs == sorted(are_graphs, reverse=True)
    for name, kernel in counted.kernels.items():
        check_values(kernel)
        assert kernel["counted_launches"] == (GROUPS - name.startswith("graph ")) * 2


def test_no_launch_is_waited_for_that_waits_for_the_program(on):
    counted = Counted(on, ["gated=40"], "--launches", "1", program=UNLIKE)
    kernel = counted.kernels["empty"]
    # The turns before the gate are counted, the first one behind it is given up with all others.
    assert 2 <= kernel["counted_launches"] < GROUPS and kernel["counters"]["duration_ns"]["state"] == "counted"
    assert "1 launches could not be counted: cuStreamQuery (the work before it did not end within a second)" in counted.said
    assert [each["code"] for each in counted.counting[LAUNCH]] == kernel["counted_launches"] * [0] + [600]


def test_launches_of_the_size_that_took_most_time_are_counted(on):
    counted = Counted(on, ["sizes=90"], "--launches", "2", program=UNLIKE)
    kernel = counted.kernels["empty"]
    check_values(kernel)
    # All take 50 us, of a clock that may be slewed by 500 ppm against the trace's; two of three are small.
    assert (kernel["launches"], kernel["unlike_launches"]) == (90, 30)
    assert kernel["unlike_ns"] == pytest.approx(30 * 50_000, rel=1e-3)
    assert kernel["like_ns"] == pytest.approx(50_000, rel=1e-3)
    assert kernel["counted_launches"] == 2 * GROUPS and kernel["other_sizes"] == 0
    places = [each["number"] - 1 for each in counted.counting[LAUNCH]]
    assert len(places) == 2 * GROUPS and not [place for place in places if place % 3 == 2]
    assert places == sorted(places) and places[-1] > 60
    assert "Its launches differ: 30 of 90, with 33 % of its time, are of another size" in kernel["verdict"]["margin"]


def test_a_graph_of_few_launches_lacks_what_had_no_turn(on):
    counted = Counted(on, ["graph=3"])
    graph = counted.kernels["graph 1 (empty and more)"]
    check_values(graph, ("counted", "no-instance"))
    assert graph["counters"]["duration_ns"]["state"] == graph["counters"]["pipe_alu_share"]["state"] == "counted"
    assert graph["counters"]["pipe_tensor_share"]["state"] == "no-instance"


def test_operations_in_graphs_are_not_known(on):
    """CUPTI has 0 for them."""
    graph = Counted(on, ["graph=60"], "--kernel", "graph*").kernels["graph 1 (empty and more)"]
    assert graph["arithmetic"]["flop"] is None
    assert all(graph["counters"][f"flop_fp{bits}"]["state"] == "not-asked" for bits in (16, 32, 64))


def test_few_launches_of_kernels_and_graphs_in_turn_have_theirs(on):
    counted = Counted(on, ["kernels=2", "graph=1"] * 4)
    for kernel in counted.kernels.values():
        assert kernel["counted_launches"] and kernel["counters"]["duration_ns"]["state"] == "counted"


def test_no_graph_is_counted_where_groups_are_separate(on):
    counted = Counted(on, ["graph=60"], "--kernel", "graph*", words="merges")
    assert counted.kernels["graph 1 (empty and more)"]["uncounted"] == "not-launched"
    assert not counted.counting[LAUNCH]


def test_cooperative_kernels_are_left_alone(on):
    """The stand-in ends a program that is counted there."""
    counted = Counted(on, ["cooperates=20"])
    assert counted.kernels["other"]["uncounted"] == "cooperative"
    assert [each["code"] for each in counted.counting[LEFT]] == [LEFT_COOPERATIVE] and not counted.counting[LAUNCH]


def test_kernels_that_run_beside_others_are_left_alone_unless_asked_for(on):
    (on.folder / "script").write_text(SCRIPT.format(engines=2 * ENGINE))
    counted = Counted(on, ["kernels=60"])
    assert {kernel["uncounted"] for kernel in counted.kernels.values()} == {"waits"}
    counted = Counted(on, ["kernels=60"], "--overlapping")
    for kernel in counted.kernels.values():
        check_values(kernel)


def test_without_cupti_the_program_runs_once_and_it_is_said(on):
    on.environment["TARE_CUPTI_LIBRARY"] = str(on.folder / "none.so")
    counted = Counted(on, ["kernels=40"])
    assert "CUPTI (libcupti.so)" in counted.json["device"]["no_counters"] and not counted.second
    assert "CUPTI (libcupti.so)" in " ".join(counted.done.out.decode().split())
    assert "was not launched" not in counted.done.out.decode()


@pytest.mark.parametrize("code, words", [
    (35, "NVreg_RestrictProfilingToAdminUsers=0"), (26, "another program counts"), (43, "MIG"), (40, "virtual GPU"),
    (46, "does not know the chip"), (999, "cuptiRangeProfilerEnable")])
def test_a_refusal_is_said_with_the_way_out(on, code, words):
    counted = Counted(on, ["kernels=40"], words=f"refuse={code}")
    assert words in counted.json["device"]["no_counters"]
    assert words in " ".join(counted.done.out.decode().split())
    assert {kernel["uncounted"] for kernel in counted.kernels.values()} == {"failed"}
    assert [each["code"] for each in counted.counting[PREPARED]] == [code] and not counted.counting[LAUNCH]


def test_what_a_chip_lacks_is_said(on):
    counted = Counted(on, ["kernels=40"], words="lacks=dram__bytes")
    for kernel in counted.kernels.values():
        assert kernel["counters"]["device_read_bytes"]["state"] == "not-on-device"
        assert kernel["counters"]["instructions"]["mean"] == truth("instructions", kernel["name"])


def test_what_does_not_fit_into_a_pass_is_spread(on):
    """Eight groups of seven metrics hold them all."""
    counted = Counted(on, ["kernels=100"], words="pass=7")
    assert [each["group"] for each in counted.counting[PREPARED]] == [8]
    assert {each["passes"] for each in counted.counting[LAUNCH]} == {1}
    for kernel in counted.kernels.values():
        check_values(kernel, ("counted", "not-on-device"))
        assert kernel["counters"]["flop_fp32"]["state"] in ("counted", "not-on-device")


def test_a_failure_is_said_and_leaves_the_rest_as_it_is(on):
    counted = Counted(on, ["kernels=40"], words="fail=3")
    failed = [each for each in counted.counting[LAUNCH] if each["code"]]
    # A start fails for its launch, or while it goes on to the group that the launch lacks.
    assert 2 * GROUPS * A_GROUP // 3 <= len(failed) < 2 * GROUPS * A_GROUP
    assert f"{len(failed)} launches could not be counted" in counted.said
    for kernel in counted.kernels.values():
        check_values(kernel, ("counted", "no-instance"))
    assert counted.first == counted.second


def test_nothing_is_counted_while_another_stream_captures(on):
    """The stand-in ends a program whose capture is disturbed."""
    counted = Counted(on, ["kernels=10", "beside_capture=40", "kernels=10"])
    assert counted.counting[LAUNCH]


@pytest.mark.parametrize("styles", [["threads=40", "kernels=20"], ["rivals"]])
def test_several_threads_get_no_figures_of_one_another(on, styles):
    counted = Counted(on, styles, "--overlapping", words="slow")
    for kernel in counted.kernels.values():
        check_values(kernel, ("counted", "no-instance"))


@pytest.mark.parametrize("style", ["forks=20", "quits=20", "wrong"])
def test_a_program_may_end_as_it_likes(on, style):
    """In the child of a fork the stand-in ends whoever asks it for anything."""
    counted = Counted(on, [style])
    assert all(len(one) == len(other) for one, other in zip(counted.first, counted.second))


def test_only_what_is_asked_for_is_counted(on):
    counted = Counted(on, ["kernels=40"], "--kernel", "oth*", "--launches", "1")
    assert counted.kernels["empty"]["uncounted"] == "not-chosen"
    assert counted.kernels["other"]["counted_launches"] == GROUPS
    counted = Counted(on, ["kernels=40"], "--top", "1", "--launches", "2")
    assert counted.kernels["other"]["counted_launches"] == 2 * GROUPS
    assert counted.kernels["other"]["uncounted"] is None and counted.kernels["empty"]["uncounted"] == "not-chosen"


def test_without_the_profiler_s_library_the_program_runs(on):
    on.environment["TARE_CUPTI_LIBRARY"] = str(on.folder / "lib/none.so")
    counted = Counted(on, ["kernels=10"])
    assert all(kernel["uncounted"] for kernel in counted.kernels.values())
