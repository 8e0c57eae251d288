# SPDX-License-Identifier: Apache-2.0
"""What programs do wrong with Level Zero, and what goes wrong for them: recorded they do and answer the same, and
every command is timed or counted as not timed."""
import collections
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from patience import HUNG_S  # noqa: E402
from recorded import BUILD, SANITIZED  # noqa: E402
from scripted import kinds, on, script  # noqa: E402,F401
from trace import Trace  # noqa: E402

pytestmark = pytest.mark.skipif(SANITIZED, reason="the driver is not made for that")
BAD = BUILD / "tests/levelzero/bad"


def both(on, style, **more):
    native, done = on.native([BAD, style]), on.record([BAD, style], **more)
    assert (done.status, done.out, done.errors) == (native.status, native.out, native.errors)
    return done


def accounted(on, done, enqueued, not_waited_for=0):
    coverage = on.report(done.folder)["coverage"]
    assert coverage["enqueued"] == enqueued == coverage["completed"] + coverage["unobserved"]
    assert coverage["unobserved_by"]["pending"] <= not_waited_for
    return coverage


@pytest.mark.parametrize("style", ["lists-destroyed", "events-destroyed", "handles-reused", "hostile"])
def test_all_is_timed_or_counted(on, style):
    script(on)
    done = both(on, style)
    # Two launches on lists that are destroyed at once may still be running when the context goes.
    coverage = accounted(on, done, sum(kinds(done.out).values()), 2 if style == "lists-destroyed" else 0)
    if style == "handles-reused":
        assert coverage["unobserved"] == 0


def test_the_device_is_lost(on):
    script(on)
    path = pathlib.Path(on.environment["ZE_CPU_SCRIPT"])
    path.write_text(path.read_text() + "fault device-lost 10\n")
    done = both(on, "lost")
    trace = Trace(done.folder)
    assert sum(command.kind == "kernel" for command in trace.commands.values()) == 20
    coverage = on.report(done.folder)["coverage"]
    assert 8 <= coverage["completed"] < 20


def test_a_fork_after_zeinit(on):
    script(on)
    native, done = on.native([BAD, "forked"]), on.record([BAD, "forked"])
    assert (done.status, done.out, done.errors) == (native.status, native.out, native.errors)
    assert b"its status: 7" in done.out
    report = on.report(done.folder)
    assert report["coverage"]["completed"] >= 4, "the parent's, before and after"


@pytest.mark.parametrize("after", range(9))
def test_no_memory_for_the_recorder(on, after):
    """Its mappings fail from some point on, as it needs memory for lists, events, queries, and its file: the program
    neither notices nor loses anything."""
    on.environment["FAIL_AFTER"] = str(after)
    for style in ("greedy", "handles-reused"):
        native, done = on.native([BAD, style]), on.record([BAD, style])
        assert (done.status, done.out, done.errors) == (native.status, native.out, native.errors)
        assert not list(done.folder.glob("*.trace")) or Trace(done.folder)
        on.report(done.folder)


def test_killed_at_any_moment(on):
    """Twenty times: the trace reads, and has all that the program said it had appended."""
    script(on)
    environment = {**os.environ, **on.environment}
    chance = random.Random(15)
    for _ in range(20):
        program = subprocess.Popen([on.tare, "record", "-q", "--force", "-o", "run", "--", BAD, "busy"],
                                   cwd=on.folder, env=environment, stdout=subprocess.PIPE, start_new_session=True)
        lines = 0
        try:
            while lines < 4:
                line = program.stdout.readline()
                assert line, "it has ended"
                lines += line == b"run kernel\n"
            time.sleep(chance.random() / 20)
        finally:
            for child in pathlib.Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split():
                os.kill(int(child), signal.SIGKILL)
        out, _ = program.communicate(timeout=HUNG_S)
        lines += out.count(b"run kernel\n")
        trace = Trace(on.folder / "run.tare")
        found = collections.Counter(command.kind for command in trace.commands.values())
        assert found["kernel"] >= lines and found["graph"] >= lines - 1
        on.report(on.folder / "run.tare")
