# SPDX-License-Identifier: Apache-2.0
"""The example that uses nothing but the public reader, on traces whose content is known."""
import os
import pathlib
import re
import shutil
import subprocess

CORPUS = pathlib.Path(__file__).parents[1] / "fuzz/corpus/trace"


def count(*arguments):
    return subprocess.run([os.environ["TARE_COUNT_COMMANDS"], *arguments], capture_output=True, text=True,
                          check=False)


def test_commands_are_counted_by_process_and_function(tmp_path):
    for name in ("nothing", "raw", "tsc"):
        shutil.copy(CORPUS / f"{name}.trace", tmp_path)
    done = count(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.findall(r"^process 4711, /usr/bin/app: (.*)$", done.stdout, re.M) == ["0.000 s", "15.000 s", "7.500 s"]
    assert re.findall(r"(\d+)  (\w+) +(\d+) bytes, (\d+) failed", done.stdout) == 2 * [
        ("3", "clEnqueueWriteBuffer", "12288", "0"), ("3", "clEnqueueNDRangeKernel", "0", "0")]
    assert done.stdout.count("6  commands, 6 with device times") == 2


def test_damage_is_said_and_the_rest_counted(tmp_path):
    shutil.copy(CORPUS / "raw.trace", tmp_path)
    os.truncate(tmp_path / "raw.trace", 4096 + 10 * 512)
    done = count(tmp_path)
    assert done.returncode == 0
    assert "raw.trace is cut" in done.stdout and "clEnqueueWriteBuffer" in done.stdout


def test_what_is_no_trace_is_said(tmp_path):
    done = count(tmp_path / "nothing.tare")
    assert done.returncode == 1 and "there is no trace" in done.stderr
    assert count().returncode == 2
