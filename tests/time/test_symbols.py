# SPDX-License-Identifier: Apache-2.0
"""The symbols of libtare.so: those of the saved list, which are those of the header, and no other."""
import os
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).parent
SAVED = (HERE / "symbols.txt").read_text(encoding="utf-8").split()
HEADERS = [HERE.parents[1] / "include" / "tare" / name for name in ("time.h", "time_series.h")]


def shown():
    text = subprocess.run([os.environ["TARE_NM"], "-D", "--defined-only", os.environ["TARE_TIME_LIBRARY"]],
                          check=True, capture_output=True, text=True).stdout
    return sorted(line.split()[-1].split("@")[0] for line in text.splitlines())


def test_the_library_shows_what_is_saved():
    # Sanitizers and coverage show symbols of their own.
    assert [name for name in shown() if not name.startswith(("__", "_fini", "_init"))] == SAVED


def test_the_header_declares_what_is_saved():
    text = "".join(header.read_text(encoding="utf-8") for header in HEADERS)
    declared = re.findall(r"TARE_TIME_API[^;(]*?\b(tare_time_\w+)\(", text)
    assert sorted(declared) == SAVED


def test_every_function_is_called_in_a_test():
    called = "".join(path.read_text(encoding="utf-8") for path in HERE.glob("*.c"))
    assert [name for name in SAVED if f"{name}(" not in called] == []
