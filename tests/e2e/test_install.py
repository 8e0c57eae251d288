# SPDX-License-Identifier: Apache-2.0
"""What `make install` puts where."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    build = pathlib.Path(os.environ.get("TARE_BUILD", "/nonexistent"))
    if not (build / "build.ninja").exists() or not shutil.which("meson"):
        pytest.skip("no build folder, or no meson")
    target = tmp_path_factory.mktemp("destination")
    done = subprocess.run(["meson", "install", "--no-rebuild", "-C", build], capture_output=True,
                          text=True, check=False, env={**os.environ, "DESTDIR": str(target)})
    assert done.returncode == 0, done.stdout + done.stderr
    prefix = next(target.rglob("bin/tare")).parent.parent
    assert prefix.is_relative_to(target)
    return prefix


def build_options():
    """The arguments that the build's own C files are compiled with."""
    return (pathlib.Path(os.environ["TARE_BUILD"]) / "build.ninja").read_text(encoding="utf-8").split()


def test_the_installed_program_runs(installed):
    shown = subprocess.run([installed / "bin/tare", "--version"], capture_output=True, text=True,
                           check=True)
    assert shown.stdout.startswith("tare ")


def test_man_pages_completions_and_schema_are_there(installed):
    files = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    wanted = ["share/bash-completion/completions/tare", "share/zsh/site-functions/_tare",
              "share/fish/vendor_completions.d/tare.fish", "share/tare/result.schema.json",
              "share/tare/report.schema.json",
              "share/doc/tare/LICENSE", "share/doc/tare/NOTICE"]
    if shutil.which("scdoc"):
        wanted += [f"share/man/man1/tare{page}.1" for page in
                   ("", "-devices", "-latency", "-bandwidth", "-peak", "-matmul", "-overlap",
                    "-checkup", "-record", "-report", "-run", "-export",
                    "-render")]
    assert set(wanted) <= files, files


def test_man_pages_have_no_mark_left_and_no_roff_errors(installed):
    pages = sorted(installed.glob("share/man/man1/*.1"))
    if not pages:
        pytest.skip("no scdoc")
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "@" not in text and "EXIT STATUS" in text
        if shutil.which("groff"):
            drawn = subprocess.run(["groff", "-Kutf8", "-man", "-Tutf8", "-ww", page], capture_output=True,
                                   text=True, check=True)
            assert drawn.stderr == ""


@pytest.mark.skipif(not shutil.which("pkg-config") or not shutil.which("cc"), reason="no pkg-config, or no cc")
@pytest.mark.parametrize("compiler", [["cc", "-std=c99", "-Wpedantic"], ["c++", "-x", "c++"]])
def test_a_program_of_one_s_own_reads_traces(installed, tmp_path, compiler):
    if not shutil.which(compiler[0]):
        pytest.skip(f"no {compiler[0]}")
    root = pathlib.Path(__file__).parents[2]
    described = next(installed.rglob("tare-trace.pc"))
    # The destination stands for the root of the file system.
    destination = str(installed).removesuffix(re.search(r"^prefix=(.*)$", described.read_text(), re.M)[1])
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "tare-trace"], capture_output=True, text=True,
                           check=True, env={**os.environ, "PKG_CONFIG_PATH": str(described.parent),
                                            "PKG_CONFIG_SYSROOT_DIR": destination}).stdout.split()
    if any("fsanitize" in flag for flag in build_options()):
        flags += ["-fsanitize=address,undefined"]
    program = tmp_path / "count_commands"
    subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", root / "examples/trace/count_commands.c",
                    "-x", "none", *flags, "-o", program], check=True)
    traces = tmp_path / "traces"
    traces.mkdir()
    for name in ("raw", "tsc"):
        shutil.copy(root / f"tests/fuzz/corpus/trace/{name}.trace", traces)
    counted = subprocess.run([program, traces], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"(\d+)  (\w+) +(\d+) bytes", counted) == 2 * [
        ("3", "clEnqueueWriteBuffer", "12288"), ("3", "clEnqueueNDRangeKernel", "0")]
    assert counted.count("6  commands, 6 with device times") == 2
