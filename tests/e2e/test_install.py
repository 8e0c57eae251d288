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
              "share/tare/hotspots.schema.json", "share/tare/report.schema.json",
              "share/doc/tare/LICENSE", "share/doc/tare/NOTICE"]
    if shutil.which("scdoc"):
        wanted += [f"share/man/man1/tare{page}.1" for page in
                   ("", "-devices", "-latency", "-bandwidth", "-peak", "-matmul", "-overlap",
                    "-checkup", "-record", "-report", "-run", "-export",
                    "-render")]
        wanted += ["share/man/man3/tare_time.3"]
    assert set(wanted) <= files, files


def test_man_pages_have_no_mark_left_and_no_roff_errors(installed):
    pages = sorted(installed.glob("share/man/man[13]/*.[13]"))
    if not pages:
        pytest.skip("no scdoc")
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "@" not in text and ("EXIT STATUS" in text or "RETURN VALUE" in text)
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


TIMED = """
int main(void)
{
	struct tare_time_error error;
	struct tare_timer *timer;

	return tare_time_open_opencl(&timer, NULL, NULL, &error) == 0 || puts(error.message) < 0;
}
"""


@pytest.fixture(name="timed")
def timed_source(installed, tmp_path):
    """The first program of docs/own-program.md, but for what it does: its main is another one (test_python.py runs it)."""
    root = pathlib.Path(__file__).parents[2]
    lines = re.search(r"^```c\n(.*?)^```", (root / "docs/own-program.md").read_text(encoding="utf-8"), re.M | re.S)[1]
    assert lines.count("int main(void)") == 1
    (tmp_path / "timed.c").write_text(lines.replace("int main(void)", "void page(void)") + TIMED, encoding="utf-8")
    found = subprocess.run(["cc", "-x", "c", "-", "-lOpenCL", "-o", tmp_path / "links"], check=False, capture_output=True,
                           text=True, input="#include <CL/cl.h>\nint main(void) { return 0; }\n") if shutil.which("cc") else None
    sanitized = b"__asan_init" in next(installed.rglob("libtare.so")).read_bytes()
    if not found or found.returncode or sanitized:
        pytest.skip("no cc, nothing to link OpenCL with, or a build with sanitizers")
    return tmp_path / "timed.c"


def check_timed(program, library):
    done = subprocess.run([program], capture_output=True, text=True, check=True,
                          env={**os.environ, "LD_LIBRARY_PATH": str(library)})
    assert done.stdout == "the command queue is NULL\n"


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="no pkg-config")
def test_a_program_of_one_s_own_is_timed(installed, timed):
    described = next(installed.rglob("pkgconfig/tare.pc"))
    destination = str(installed).removesuffix(re.search(r"^prefix=(.*)$", described.read_text(), re.M)[1])
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "tare"], capture_output=True, text=True, check=True,
                           env={**os.environ, "PKG_CONFIG_PATH": str(described.parent),
                                "PKG_CONFIG_SYSROOT_DIR": destination}).stdout.split()
    program = timed.parent / "timed"
    subprocess.run(["cc", "-Wall", "-Werror", timed, *flags, "-lOpenCL", "-o", program], check=True)
    check_timed(program, described.parent.parent)


def test_so_it_is_by_cmake(installed, timed):
    described = next(installed.rglob("tareConfig.cmake"), None)
    if not described or not shutil.which("cmake"):
        pytest.skip("no CMake")
    header = next(installed.rglob("tare/time.h")).read_text(encoding="utf-8")
    version = re.search(r'TARE_TIME_VERSION "(\d+\.\d+)\.', header)[1]
    (timed.parent / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.10)\nproject(timed C)\nfind_package(tare {version} REQUIRED)\n"
        "add_executable(timed timed.c)\ntarget_link_libraries(timed tare::tare OpenCL)\n", encoding="utf-8")
    built = timed.parent / "built"
    for command in (["cmake", f"-Dtare_DIR={described.parent}", "-B", built, timed.parent], ["cmake", "--build", built]):
        subprocess.run(command, check=True, capture_output=True)
    check_timed(built / "timed", described.parents[2])
