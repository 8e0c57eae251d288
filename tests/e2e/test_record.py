# SPDX-License-Identifier: Apache-2.0
"""tare record: the program is the user's own in all that can be seen, and what tare says of it."""
import fcntl
import json
import os
import pathlib
import pty
import resource
import shutil
import signal
import subprocess
import sys
import termios
import time

import pytest

PYTHON = sys.executable
OURS = ("OPENCL_LAYERS", "TARE_RECORD", "TARE_RECORD_OPTIONS", "TARE_PHASES", "INTEL_LIBITTNOTIFY64",
        "NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH")


@pytest.fixture
def fake():
    """A program that leaves a trace file with the header that its arguments ask for."""
    if "TARE_RECORD_PROGRAM" not in os.environ:
        pytest.skip("TARE_RECORD_PROGRAM does not name the stand-in program")
    return os.environ["TARE_RECORD_PROGRAM"]


@pytest.fixture
def start(tare_path, tmp_path):
    """Starts tare record with a Python program and leaves it running."""
    started = []

    def begin(program, *options, **settings):
        settings = {"cwd": tmp_path, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                    "stderr": subprocess.PIPE, "text": True, **settings}
        started.append(subprocess.Popen([tare_path, "record", "-fo", "run", *options, "--", PYTHON,
                                         "-c", program], **settings))
        return started[-1]

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()


def document(tmp_path, name="run"):
    return json.loads((tmp_path / f"{name}.tare/record.json").read_text(encoding="utf-8"))


def wait_for(condition, what):
    """Waits until it is so; only its coming is asserted, never when."""
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail(f"never came: {what}")


# ---- the program's own

@pytest.mark.parametrize("status", [0, 1, 2, 77, 125, 255])
def test_exit_status_is_the_programs(tare, status):
    done = tare("record", "-o", "run", "--", "sh", "-c", f"exit {status}")
    assert done.returncode == status and done.stdout == ""


@pytest.mark.parametrize("name", ["TERM", "SEGV", "KILL", "ABRT", "INT", "PIPE", "USR1", "XFSZ"])
def test_a_signal_that_ends_the_program_ends_tare(tare, tmp_path, name):
    number = getattr(signal, "SIG" + name)
    done = tare("record", "-q", "-o", "run", "--", "sh", "-c", f"ulimit -c 0; kill -{name} $$")
    assert done.returncode == -number and done.stderr == ""
    assert not list(tmp_path.glob("core*"))
    ended = document(tmp_path)
    assert (ended["exit_status"], ended["exit_signal"]) == (None, number)


def test_tare_dies_without_a_core_file_of_its_own(start):
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]
    process = start("import os, resource, signal; resource.setrlimit(resource.RLIMIT_CORE, (0, 0));"
                    "os.kill(os.getpid(), signal.SIGSEGV)", "-q",
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (most, most)))
    _, status = os.waitpid(process.pid, 0)
    process.returncode = 0
    assert os.WTERMSIG(status) == signal.SIGSEGV and not os.WCOREDUMP(status)


def test_input_and_output_are_untouched_and_tare_speaks_last(tare_path, tmp_path):
    done = subprocess.run([tare_path, "record", "-o", "run", "sh", "-c", "cat; echo own >&2"],
                          cwd=tmp_path, input=bytes(range(256)), capture_output=True, check=False)
    assert done.stdout == bytes(range(256))
    first, *rest = done.stderr.decode().splitlines()
    assert first == "own" and rest and all(line.startswith("tare: record: ") for line in rest)
    quiet = subprocess.run([tare_path, "record", "-qfo", "run", "sh", "-c", "echo own >&2"],
                           cwd=tmp_path, capture_output=True, check=False)
    assert quiet.stderr == b"own\n"


LOOK = """
import os, resource, sys
status = dict(line.rstrip().split(":", 1) for line in open("/proc/self/status"))
print(*[status[key].strip() for key in ("SigBlk", "SigIgn", "SigCgt", "Umask")])
print(sorted(int(fd) for fd in os.listdir("/proc/self/fd")), os.getcwd(), sys.argv)
print(os.getpgrp() in (os.getpid(), os.getppid()), os.getsid(0), resource.getrlimit(resource.RLIMIT_CORE))
print(sorted((k, v) for k, v in os.environ.items() if k not in %r))
""" % (OURS,)


def test_the_program_finds_what_it_would_find_without_tare(tare_path, tmp_path):
    def unusual():
        os.setpgid(0, 0)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGRTMIN + 3, signal.SIGTERM})
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        os.umask(0o27)

    command = [PYTHON, "-c", LOOK, "--", "-x", "a b"]
    seen = []
    for before in ([], [tare_path, "record", "-o", "run", "--"]):
        process = subprocess.Popen(before + command, cwd=tmp_path, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True, preexec_fn=unusual)
        text = process.communicate()[0]
        assert process.returncode == 0
        seen.append(text)
    assert seen[0] == seen[1] and "0000000000004001" not in seen[0]


def test_a_closed_standard_output_stays_closed(tare_path, tmp_path):
    command = f"'{PYTHON}' -c 'import os; os.fstat(1)'"
    for prefix in ("", f"'{tare_path}' record -qo run -- "):
        done = subprocess.run(["sh", "-c", f"{prefix}{command} >&-"], cwd=tmp_path,
                              capture_output=True, text=True, check=False)
        assert done.returncode == 1 and "Bad file descriptor" in done.stderr


# ---- signals and job control

COUNTING = """
import signal, sys, time
seen = []
for name in %r:
    signal.signal(getattr(signal, name), lambda number, frame: seen.append(number))
print("ready", flush=True)
while not seen:
    time.sleep(0.01)
print("heard", flush=True)
while signal.SIGTERM not in seen:
    time.sleep(0.01)
time.sleep(0.3)
print(*seen, flush=True)
sys.exit(9)
"""


@pytest.mark.parametrize("name", ["SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGWINCH", "SIGALRM",
                                  "SIGQUIT", "SIGTSTP", "SIGRTMIN"])
def test_signals_to_tare_reach_the_program_once(start, name):
    process = start(COUNTING % ([name, "SIGTERM"],))
    assert process.stdout.readline() == "ready\n"
    number = getattr(signal, name)
    process.send_signal(number)
    assert process.stdout.readline() == "heard\n"
    process.send_signal(signal.SIGTERM)
    text, _ = process.communicate(timeout=60)
    # Python takes those that wait in the order of their numbers.
    assert sorted(map(int, text.split())) == sorted([int(number), int(signal.SIGTERM)])
    assert process.returncode == 9


def test_what_the_program_sends_to_its_group_does_not_come_back(start):
    process = start("""
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
for turn in range(20):
    os.killpg(os.getpgrp(), signal.SIGUSR1)
    if signal.sigwaitinfo([signal.SIGUSR1]).si_pid != os.getpid():
        sys.exit(3)
sys.exit(4 if signal.sigtimedwait([signal.SIGUSR1], 0.3) else 0)
""", start_new_session=True)
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_a_timer_set_before_tare_reaches_the_program(start):
    process = start("import time; time.sleep(60)",
                    preexec_fn=lambda: signal.setitimer(signal.ITIMER_REAL, 1.0))
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGALRM


def test_who_kills_tare_kills_the_program(start, tmp_path):
    process = start("import os, time; print(os.getpid(), flush=True); time.sleep(60)")
    program = int(process.stdout.readline())
    process.kill()
    process.wait()

    def gone():
        try:
            return pathlib.Path(f"/proc/{program}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
        except OSError:
            return True

    wait_for(gone, "the program's end")
    assert document(tmp_path)["end_raw_ns"] is None


class Terminal:
    """tare record as the foreground job of a terminal of its own."""

    def __init__(self, tare_path, folder, program):
        self.master, worker = pty.openpty()

        def lead():
            os.setsid()
            fcntl.ioctl(worker, termios.TIOCSCTTY, 0)

        # The shell stays the session's leader, as in life: without one the group is an orphan, and
        # orphans do not stop.
        shell = f"""
import os, signal, subprocess, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = subprocess.Popen({[tare_path, "record", "-qfo", "run", "--", PYTHON, "-c", program]!r},
                       preexec_fn=lambda: (os.setpgid(0, 0), os.tcsetpgrp(0, os.getpgrp()),
                                           signal.signal(signal.SIGTTOU, signal.SIG_DFL)))
while True:
    _, status = os.waitpid(job.pid, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        print("stopped", os.WSTOPSIG(status), flush=True)
        os.killpg(job.pid, signal.SIGCONT)
        continue
    print("ended", os.waitstatus_to_exitcode(status), flush=True)
    break
"""
        self.shell = subprocess.Popen([PYTHON, "-c", shell], cwd=folder, stdin=worker, stdout=worker,
                                      stderr=worker, preexec_fn=lead)
        os.close(worker)
        os.set_blocking(self.master, False)
        self.text = ""

    def read_until(self, word):
        def come():
            if word in self.text:
                return True
            try:
                self.text += os.read(self.master, 4096).decode()
            except OSError:
                pass
            return word in self.text
        wait_for(come, f"{word} after {self.text}")

    def close(self):
        self.shell.kill()
        self.shell.wait()
        os.close(self.master)


@pytest.fixture
def terminal(tare_path, tmp_path, pseudo_terminals):
    made = []
    yield lambda program: made.append(Terminal(tare_path, tmp_path, program)) or made[-1]
    for one in made:
        one.close()


def test_an_interrupt_from_the_terminal_comes_once(terminal):
    # Blocked and fetched, so that two in a row are seen as two where they do not meet.
    job = terminal("""
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
print("ready", flush=True)
users = 0
for turn in range(20):
    while (info := signal.sigwaitinfo([signal.SIGINT])).si_code <= 0:
        users += 1
    print(f"turn {turn}.", flush=True)
while signal.sigtimedwait([signal.SIGINT], 0.3):
    users += 1
print(f"sent by processes: {users}.", flush=True)
""")
    job.read_until("ready")
    for turn in range(20):
        os.write(job.master, b"\x03")
        job.read_until(f"turn {turn}.")
    job.read_until("ended 0")
    assert "sent by processes: 0." in job.text


def test_a_program_that_stops_stops_tare_and_goes_on_with_it(terminal):
    job = terminal("import sys; print('ready', flush=True); sys.exit(len(sys.stdin.readline()))")
    job.read_until("ready")
    os.write(job.master, b"\x1a")
    job.read_until(f"stopped {int(signal.SIGTSTP)}")
    os.write(job.master, b"four\n")
    job.read_until("ended 5")


# ---- what cannot be run

def refused(done, status):
    lines = done.stderr.splitlines()
    assert done.returncode == status and done.stdout == "", done
    assert len(lines) == 1 and lines[0].startswith("tare: record: "), done.stderr
    return lines[0]


@pytest.mark.parametrize("name, text, mode, status, says", [
    ("missing", None, 0, 127, "no program"),
    ("folder", "", 0o40755, 126, "folder"),
    ("plain", "#!/bin/sh\n", 0o644, 126, "chmod"),
    ("orphan", "#!/no/such/interpreter\n", 0o755, 127, "interpreter"),
])
def test_what_cannot_be_run_is_said_and_leaves_nothing(tare, tmp_path, name, text, mode, status, says):
    path = tmp_path / name
    if mode & 0o40000:
        path.mkdir()
    elif text is not None:
        path.write_text(text)
        path.chmod(mode)
    sentence = refused(tare("record", "-o", "run", "--", f"./{name}"), status)
    assert says in sentence and name in sentence
    assert not (tmp_path / "run.tare").exists()


def test_a_program_that_cannot_be_run_costs_no_trace(tare, tmp_path, fake):
    assert tare("record", "-o", "run", "--", fake, "calls_seen=1").returncode == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "run.tare").iterdir()}
    (tmp_path / "orphan").write_text("#!/no/such/interpreter\n")
    (tmp_path / "orphan").chmod(0o755)
    for program in ("./missing", "./orphan"):
        refused(tare("record", "-fo", "run", "--", program), 127)
        assert {path.name: path.read_bytes() for path in (tmp_path / "run.tare").iterdir()} == before


@pytest.mark.parametrize("arguments, says", [
    ((), "missing"), (("--",), "missing"), (("--force",), "missing"),
    (("--colour", "x"), "unknown option"), (("-o",), "needs a value"), (("--json", "x", "true"), "takes no option"),
    (("--max-size", "x", "true"), "--max-size"), (("--max-size", "5K", "true"), "at least 1M"),
    (("--keep", "all", "--max-size", "1M", "true"), "newest nor oldest"),
    (("--keep", "newest", "true"), "needs --max-size"), (("--delay", "-1", "true"), "--delay"),
    (("--duration", "soon", "true"), "--duration"),
    (("--delay", "inf", "true"), "from 0.001 to 1000000"), (("--delay", "1e7", "true"), "from 0.001 to 1000000"),
    (("--duration", "0", "true"), "from 0.001 to 1000000"), (("--duration", "nan", "true"), "from 0.001 to 1000000"),
    (("-o", "..", "true"), "names no folder"),
    (("-o", "no/such/folder", "true"), "no/such/folder.tare"), (("-o", "/proc/run", "true"), "/proc/run.tare"),
])
def test_a_wrong_command_line_ends_with_125(tare, tmp_path, arguments, says):
    assert says in refused(tare("record", *arguments), 125)
    assert not list(tmp_path.iterdir())


def test_options_of_the_program_are_the_programs(tare, tmp_path):
    for line in (("--", "echo", "-o", "x", "--", "--help"), ("echo", "-o", "x", "--", "--help")):
        assert tare("record", "-fo", "run", *line).stdout == "-o x -- --help\n"
    assert document(tmp_path)["program"] == ["echo", "-o", "x", "--", "--help"]
    assert [path.name for path in tmp_path.iterdir()] == ["run.tare"]


def test_a_limit_on_files_is_said_before_the_program_runs(tare):
    done = tare("record", "--", "echo", "ran",
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    assert "record.json" in refused(done, 125)


# ---- the folder

def test_an_existing_trace_is_kept_unless_forced(tare, tmp_path, fake):
    assert tare("record", "--", fake, "calls_seen=1").returncode == 0
    folder = tmp_path / (pathlib.Path(fake).name + ".tare")
    old = list(folder.glob("*.trace"))
    sentence = refused(tare("record", "--", fake), 125)
    assert "--force" in sentence and "-o" in sentence and folder.name in sentence
    assert list(folder.glob("*.trace")) == old
    assert tare("record", "--force", "--", fake, "calls_seen=1").returncode == 0
    assert len(list(folder.glob("*.trace"))) == 1 and list(folder.glob("*.trace")) != old


def test_a_folder_that_is_not_ours_is_never_touched(tare, tmp_path):
    (tmp_path / "mine.tare").mkdir()
    (tmp_path / "mine.tare/a.trace").write_text("precious")
    assert "no trace of tare" in refused(tare("record", "--force", "-o", "mine", "true"), 125)
    assert (tmp_path / "mine.tare/a.trace").read_text() == "precious"
    (tmp_path / "empty.tare").mkdir()
    assert tare("record", "-o", "empty.tare", "true").returncode == 0


def test_a_folder_is_one_recordings_until_it_ends(tare, start, tmp_path, fake):
    def end(process, number):
        process.send_signal(number)
        process.wait()

    sleeping = start("import time; print('ready', flush=True); time.sleep(60)")
    assert sleeping.stdout.readline() == "ready\n"
    before = document(tmp_path)
    for options in ((), ("--force",)):
        sentence = refused(tare("record", *options, "-o", "run", "--", fake, "calls_seen=1"), 125)
        assert "another tare record is recording into run.tare" in sentence and "-o DIR" in sentence
    assert document(tmp_path) == before and not list((tmp_path / "run.tare").glob("*.trace"))
    end(sleeping, signal.SIGTERM)
    assert document(tmp_path)["exit_signal"] == signal.SIGTERM
    # One that is killed leaves no lock behind.
    sleeping = start("import time; print('ready', flush=True); time.sleep(60)")
    assert sleeping.stdout.readline() == "ready\n"
    end(sleeping, signal.SIGKILL)
    assert "replace it with --force" in refused(tare("record", "-o", "run", "--", fake), 125)
    assert tare("record", "-fo", "run", "--", fake, "calls_seen=1").returncode == 0
    assert document(tmp_path)["exit_status"] == 0


@pytest.mark.parametrize("launcher", [{"OMPI_COMM_WORLD_SIZE": "4", "PMIX_NAMESPACE": "7"}, {"PMI_SIZE": "4"}])
def test_ranks_that_come_at_once_share_a_folder(tare_path, tare, tmp_path, fake, launcher):
    assert tare("record", "-o", "run", "--", fake, "calls_seen=99").returncode == 0
    # Each waits for the others, so that all of them record at the same time.
    script = "touch $0.$$; while [ $(ls $0.* | wc -l) -lt 4 ]; do sleep 0.01; done; exec $1 calls_seen=1"
    ranks = [subprocess.Popen([tare_path, "record", "-fo", "run", "--", "sh", "-c", script, tmp_path / "here", fake],
                              cwd=tmp_path, env={**os.environ, **launcher}, stderr=subprocess.PIPE, text=True)
             for _ in range(4)]
    ended = [(rank.communicate(timeout=60)[1], rank.returncode) for rank in ranks]
    assert [status for _, status in ended] == [0] * 4, ended
    assert len(list((tmp_path / "run.tare").glob("*.trace"))) == 4
    assert sum(bool(text) for text, _ in ended) == 1, ended
    assert document(tmp_path)["job"] is not None and document(tmp_path)["end_raw_ns"] is not None


def test_the_document_tells_the_run_from_outside(tare, start, tmp_path):
    process = start("import sys; print(1, flush=True); sys.stdin.readline()", "--strict", "--max-size", "2M",
                    "--keep", "newest", "--delay", "0.5", "--duration", "2", stdin=subprocess.PIPE)
    process.stdout.readline()
    wait_for((tmp_path / "run.tare/record.json").exists, "record.json")
    during = document(tmp_path)
    assert during["end_raw_ns"] is None and during["exit_status"] is None
    process.communicate("\n")
    after = document(tmp_path)
    assert after["format"] == "tare.record/1" and after["program"][:2] == [PYTHON, "-c"]
    assert after["start_raw_ns"] == during["start_raw_ns"] < after["end_raw_ns"]
    # A kernel that divides CPU time by its ticks may give all of a short program's to one of the two.
    assert after["user_cpu_ns"] + after["system_cpu_ns"] > 0
    assert after["exit_status"] == 0 and after["max_resident_bytes"] > 1 << 20
    assert after["options"] == {"strict": True, "keep": "newest", "max_bytes": 2 << 20,
                                "delay_ns": 500000000, "duration_ns": 2000000000,
                                "call_stacks": False, "contents": False, "times": "sampled"}
    assert abs(after["start_realtime_ns"] / 1e9 - time.time()) < 3600
    assert after["host_units"] == os.cpu_count() and after["cwd"] == str(tmp_path)
    # CPU time of children counts as well.
    compute = "import time\nwhile time.process_time() < 0.1: pass\nprint(__import__(\"os\").times().user)"
    done = tare("record", "-fo", "run", "--", "sh", "-c", f"{PYTHON} -c '{compute}'; exit 0")
    assert document(tmp_path)["user_cpu_ns"] >= 1e9 * float(done.stdout.splitlines()[0]) > 0


def test_the_environment_leads_to_the_layer(tare, tmp_path):
    shown = tare("record", "-o", "run", "--max-size", "1M", "--strict", "--", "env",
                 env={"OPENCL_LAYERS": "/other.so"}).stdout
    found = dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)
    layer, other = found["OPENCL_LAYERS"].split(":")
    assert os.path.isabs(layer) and pathlib.Path(layer).exists() and other == "/other.so"
    assert document(tmp_path)["layer"]["path"] == layer
    assert found["TARE_RECORD"] == str(tmp_path / "run.tare")
    words = found["TARE_RECORD_OPTIONS"].split(",")
    assert {"strict", "times=sampled", "max=1048576", f"start={document(tmp_path)['start_raw_ns']}"} == set(words)


# ---- what is said of the trace

def said(done):
    assert done.returncode == 0, done
    lines = done.stderr.splitlines()
    assert all(line.startswith("tare: record: ") for line in lines)
    return [line.removeprefix("tare: record: ") for line in lines]


@pytest.mark.parametrize("members, first, then", [
    (["calls_seen=81204", "windows=3"], "1 process, 81,204 calls, ", None),
    (["calls_seen=999", "windows=3"], "1 process, 999 calls, ", None),
    (["calls_seen=0"], "the layer was loaded, 0 calls", None),
    (["calls_seen=9", "lost_records=4", "lost_commands=1", "stop_reason=2"], "1 process, 9 calls",
     "4 records, 1 command among them, are lost: the disk was full"),
    (["calls_seen=9", "recycled_records=4"], "1 process", "--keep newest"),
    (["calls_seen=9", "stop_reason=3", "state=4"], "1 process", "ulimit -f"),
])
def test_the_last_word_tells_what_was_recorded_and_lost(tare, fake, tmp_path, members, first, then):
    lines = said(tare("record", "-o", "run", "--", fake, *members))
    assert lines[0].startswith(first), lines
    if "loaded" in first:
        assert document(tmp_path)["layer"]["state"].startswith("the layer was loaded, 0 calls")
    else:
        assert lines[0].endswith("next: tare report run.tare")
        assert document(tmp_path)["layer"]["state"] == "loaded"
    assert len(lines) == (2 if then else 1)
    assert not then or then in lines[1]


def test_every_process_of_the_program_joins(tare, fake, tmp_path):
    lines = said(tare("record", "-o", "run", "--", "sh", "-c",
                      f"'{fake}' calls_seen=1000 & '{fake}' calls_seen=34; wait"))
    assert lines[0].startswith("2 processes, 1,034 calls")
    assert len(list((tmp_path / "run.tare").glob("*.trace"))) == 2


def test_a_process_that_is_left_behind_is_told(tare, fake, tmp_path):
    lines = said(tare("record", "-o", "run", "--", "sh", "-c",
                      f"'{fake}' calls_seen=1 state=1 pid={os.getpid()}"))
    assert any("left behind" in line for line in lines)


def test_what_runs_on_and_has_not_begun_is_told(tare, tmp_path):
    done = tare("record", "-o", "run", "--", "sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!; sleep 0.3")
    os.kill(int(done.stdout), signal.SIGKILL)
    line, = said(done)
    assert line.startswith("nothing is recorded yet, but 1 process that the program left behind still runs; ")
    assert line.endswith("tare report run.tare") and document(tmp_path)["layer"]["state"] == line


def test_a_tare_record_inside_another_is_named(tare, tare_path, tmp_path, fake):
    inner = [tare_path, "record", "-fqo", "b", "--", fake, "calls_seen=5"]
    for _ in range(2):  # what was said of the first is forgotten
        line, = said(tare("record", "-fo", "a", "--", *inner))
        assert line == ("nothing was recorded here: the program runs tare record itself; "
                        f"next: tare report {tmp_path}/b.tare")
        assert document(tmp_path, "a")["layer"]["state"] == line
        assert os.listdir(tmp_path / "a.tare") == ["record.json"]
    # Some of the program's processes under the inner one, others not.
    words = " ".join(f"'{word}'" for word in inner)
    first, then = said(tare("record", "-fo", "a", "--", "sh", "-c", f"{words}; '{fake}' calls_seen=7"))
    assert first.startswith("1 process, 7 calls") and then.endswith(f" is in {tmp_path}/b.tare")
    # What was said to one that was killed is not of the next.
    (tmp_path / "a.tare/.inner").write_text("/old.tare")
    line, = said(tare("record", "-fo", "a", "--", "true"))
    assert "tare record itself" not in line
    sentence = tare("record", "-fo", "a", "--", tare_path, "record", "-fo", "a", "--", fake)
    assert sentence.returncode == 125 and "another tare record" in sentence.stderr


@pytest.mark.parametrize("delay, says", [("100", True), ("0", False), ("0.001", False)])
def test_a_delay_that_is_never_over_is_told(tare, fake, delay, says):
    lines = said(tare("record", "-o", "run", "--delay", delay, "--", "sh", "-c", f"sleep 0.1; '{fake}' calls_seen=3"))
    assert any("before --delay was over" in line for line in lines) == says and "3 calls" in lines[0]


def test_a_program_without_opencl_is_told_why_nothing_came(tare, tmp_path):
    line, = said(tare("record", "-o", "run", "--", "true"))
    assert line.startswith("the program made no OpenCL call") or "there is no " in line
    state = document(tmp_path)["layer"]
    assert state["state"] == line
    if state["loader"]:
        knows = b"OPENCL_LAYERS" in pathlib.Path(state["loader"]).read_bytes()
        assert ("knows no layers" in line) != knows


def test_static_and_set_user_id_programs_are_known(tare, tmp_path):
    static = pathlib.Path("/sbin/ldconfig")
    if static.exists() and b"ld-linux" not in static.read_bytes()[:4096]:
        line, = said(tare("record", "-o", "static", "--", static, "--version"))
        assert "statically linked" in line and str(static) in line
    if os.geteuid() != 0:
        pytest.skip("only root can make a set-user-ID program")
    program = tmp_path / "other"
    shutil.copy("/bin/true", program)
    os.chown(program, 12345, 12345)
    program.chmod(0o4755)
    line, = said(tare("record", "-o", "set", "--", program))
    assert "set-user-ID" in line


def test_a_layer_that_is_not_there_is_named(tare, tmp_path):
    sentence = refused(tare("record", "true", env={"TARE_LAYER_DIR": str(tmp_path)}), 125)
    assert "TARE_LAYER_DIR" in sentence and str(tmp_path) in sentence
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("bytes_kept, says", [(0, "cannot be loaded"), (20000, "cut off"), (None, "cannot be loaded")])
def test_a_layer_that_no_program_could_load_is_told_before(tare, tmp_path, bytes_kept, says):
    shown = tare("record", "-qo", "run", "--", "sh", "-c", "echo ${OPENCL_LAYERS%%:*}").stdout.strip()
    (tmp_path / "l").mkdir()
    layer = tmp_path / "l" / pathlib.Path(shown).name
    layer.write_bytes(b"no library" if bytes_kept is None else pathlib.Path(shown).read_bytes()[:bytes_kept])
    sentence = refused(tare("record", "-o", "other", "echo", "ran", env={"TARE_LAYER_DIR": "l"}), 125)
    assert says in sentence and str(layer) in sentence
    assert not (tmp_path / "other.tare").exists()
