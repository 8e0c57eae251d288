# SPDX-License-Identifier: Apache-2.0
"""For all tests in Python: results as TAP with --tap, so that meson counts each case, and the
program under test."""
import os
import pathlib
import pty
import subprocess

import pytest


def name_of(nodeid):
    """A case's name in TAP, where a # begins a comment."""
    return nodeid.split("::", 1)[-1].replace("#", " ")


class Tap:
    """Writes one line a test case, as the test programs in C do."""

    def __init__(self, capture):
        self.capture = capture
        self.count = 0

    def line(self, text):
        with self.capture.global_and_fixture_disabled():
            print(text, flush=True)

    def result(self, ok, name, note=""):
        self.count += 1
        self.line(f"{'ok' if ok else 'not ok'} {self.count} - {name}{note}")

    def pytest_runtest_logreport(self, report):
        name = name_of(report.nodeid)
        if report.skipped:
            self.result(True, name, f" # SKIP {self.reason(report)}")
        elif report.failed:
            self.result(False, name if report.when == "call" else f"{name} ({report.when})")
            self.explain(report.longreprtext)
        elif report.when == "call":
            self.result(True, name)

    @staticmethod
    def reason(report):
        """The reason of a skip, or of a failure that is expected, whose longrepr is the test's source; in one line."""
        if isinstance(report.longrepr, tuple):
            text = report.longrepr[2]
        else:
            text = getattr(report, "wasxfail", "") or "a failure was expected"
        return " ".join(text.removeprefix("Skipped: ").removeprefix("reason: ").split())

    def pytest_collectreport(self, report):
        if report.failed:
            self.result(False, report.nodeid)
            self.explain(report.longreprtext)
        elif report.skipped:
            self.result(True, report.nodeid, f" # SKIP {self.reason(report)}")

    def explain(self, text):
        for line in text.splitlines():
            self.line(f"# {line}")

    def pytest_sessionfinish(self):
        self.line(f"1..{self.count}")


def pytest_collection_modifyitems(config, items):
    """The part of the tests that $TARE_TEST asks for; without it all. Of these the cases named in $TARE_AGAIN, a line
    each; where none is of this program, all."""
    part = os.environ.get("TARE_TEST")
    if part in ("quick", "rest"):
        wanted = [item for item in items if (item.get_closest_marker("thorough") is None) == (part == "quick")]
        config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
        items[:] = wanted
    again = set(os.environ.get("TARE_AGAIN", "").split("\n"))
    items[:] = [item for item in items if name_of(item.nodeid) in again] or items


def pytest_addoption(parser):
    parser.addoption("--tap", action="store_true", help="results as TAP")


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    if config.getoption("--tap"):
        config.pluginmanager.unregister(name="terminalreporter")
        config.pluginmanager.register(Tap(config.pluginmanager.get_plugin("capturemanager")), "tap")


@pytest.fixture(scope="session")
def tare_path():
    """The program under test: $TARE, which the build sets."""
    if "TARE" not in os.environ:
        pytest.skip("TARE does not name the program under test")
    return os.environ["TARE"]


@pytest.fixture
def tare(tare_path, tmp_path):
    """Runs tare in an empty folder, with no input, as a script would."""

    def run(*arguments, env=None, cwd=tmp_path, timeout=120, **options):
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("TARE_DEVICE", "COLUMNS", "NO_COLOR")}
        environment.update({"LC_ALL": "C.UTF-8", **(env or {})})
        return subprocess.run([tare_path, *map(str, arguments)], cwd=cwd, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              encoding="utf-8", timeout=timeout, check=False, **options)

    return run


@pytest.fixture(scope="session")
def pseudo_terminals():
    """For tests that need one: a bare chroot has none."""
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError as error:
        pytest.skip(f"no pseudo-terminal: {error.strerror}; is /dev/pts mounted?")


@pytest.fixture(scope="session")
def kernel_cache(tmp_path_factory):
    """Where PoCL keeps what it has built: one for all test programs, as a user's is for all of theirs. Compiling
    takes most of their time."""
    shared = os.environ.get("TARE_KERNEL_CACHE")
    return pathlib.Path(shared) if shared else tmp_path_factory.mktemp("pocl")


@pytest.fixture(scope="session")
def test_data():
    return pathlib.Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def spirv():
    """tare's kernels of overlap as SPIR-V."""
    path = pathlib.Path(os.environ.get("TARE_BUILD", "/nonexistent")) / "kernels/overlap.spv"
    if not path.exists():
        pytest.skip("the build makes no SPIR-V")
    return path
