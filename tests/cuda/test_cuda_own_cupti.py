# SPDX-License-Identifier: Apache-2.0
"""CUDA programs that subscribe to CUPTI or trace by it themselves, and what they bring along, recorded on the stand-ins."""
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "levelzero"), str(HERE.parent / "e2e")]
from cuda_programs import STREAMS, on  # noqa: E402, F401
from recorded import BUILD, run  # noqa: E402
from trace import NO_TIMES, Trace  # noqa: E402

OWN = {how: BUILD / f"tests/cuda/streams_cupti_{how}" for how in ("lazy", "now")}
# A program whose calls are bound when they are made, and a library whose calls are bound when it is loaded.
LATER = {"program": [OWN["lazy"]], "library": [STREAMS, "plug"], "program-dlsym": [BUILD / "tests/cuda/streams_cupti_dlsym"],
         "library-dlsym": [STREAMS, "plug"]}
LEFT = 12  # of what was changed


def in_both(on, *arguments, how=""):
    """Recorded, when the program has done the same as without."""
    plugin = "own_cupti_dlsym" if how.endswith("-dlsym") else "own_cupti"
    on.environment["TARE_TEST_PLUGIN"] = str(BUILD / f"tests/cuda/{plugin}.so")
    native = on.native(arguments)
    done = on.record(arguments)
    assert (done.status, done.out) == (native.status, native.out)
    assert native.status == 0, native.out
    return done, native.out.decode()


@pytest.mark.parametrize("how", LATER)
def test_a_program_that_subscribes_has_its_callbacks_and_we_have_ours(on, how):
    done, said = in_both(on, *LATER[how], "kernels=6", "own-subscribe", "kernels=5", "own-end", "kernels=4", how=how)
    assert "own-end: 0 kernels, 0 other records, 10 calls" in said
    trace = Trace(done.folder)
    assert len(trace.commands) == len(trace.times) == 15 and not trace.changes[LEFT]


@pytest.mark.parametrize("how", LATER)
@pytest.mark.parametrize("trace, end", [("own-trace", "own-end"), ("own-buffers", "own-finalize")])
def test_a_program_that_traces_has_its_records_and_ours_are_calls_from_then_on(on, how, trace, end):
    done, said = in_both(on, *LATER[how], "kernels=6", "own-subscribe", trace, "kernels=5", "copies=1", "own-flush", end,
                         "kernels=4", how=how)
    assert f"{end}: 5 kernels, 0 other records, 10 calls, 0 at other times" in said
    seen = Trace(done.folder)
    assert len(seen.commands) == 6 + 5 + 8 + 4 and seen.changes[LEFT] == 1
    assert sorted(number for _, number, _ in seen.times) == list(range(1, 7))
    assert all(bool(each.flags & NO_TIMES) == (number > 6) for (_, number), each in seen.commands.items())
    report = on.report(done.folder)
    assert report["coverage"]["unobserved"] == 17
    text, = (each["text"] for each in report["problems"] if "traces its own work" in each["text"])
    assert "17 commands" in text and 0 < float(text.split("from ")[1].split()[0]) < report["wall_ns"] / 1e9
    untimed, = (each["text"] for each in report["problems"] if each["text"] != text)
    assert untimed.endswith("(17 traced by the program itself)")


def test_a_library_that_could_trace_takes_nothing_from_us(on):
    """PyTorch's: they refer to CUPTI's functions and mostly do not call them."""
    done, said = in_both(on, STREAMS, "first:load", "kernels=5", "own-subscribe", "kernels=4", "own-end")
    assert "own-end: 0 kernels, 0 other records, 8 calls" in said
    assert len(Trace(done.folder).times) == 9


@pytest.mark.parametrize("how", OWN)
def test_a_program_that_traces_from_its_beginning_keeps_its_records(on, how):
    done, said = in_both(on, OWN[how], "first:own-trace", "kernels=5", "own-flush")
    assert "own-flush: 5 kernels, 0 other records, 0 calls, 0 at other times" in said
    trace = Trace(done.folder)
    assert len(trace.commands) == 5 and not trace.times and trace.changes[LEFT] == 1
    text, = (each["text"] for each in on.report(done.folder)["problems"])
    assert "traces its own work" in text and "of 5 commands" in text


def test_an_injection_of_the_users_stays(on):
    on.environment["CUDA_INJECTION64_PATH"] = "/nowhere/tool.so"
    done = run([on.tare, "record", "-fo", "run", "--", STREAMS, "kernels"], on.environment, cwd=on.folder)
    assert done.status == 0
    assert "CUDA_INJECTION64_PATH is set to /nowhere/tool.so: CUDA programs are not recorded" in done.errors.decode()
