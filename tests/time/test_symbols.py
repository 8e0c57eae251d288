# SPDX-License-Identifier: Apache-2.0
"""The symbols of libtare.so: those of the saved list, which are those of the header, and no other."""
import os
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).parent
SAVED = (HERE / "symbols.txt").read_text(encoding="utf-8").split()
HPP = HERE.parents[1] / "include" / "tare" / "time.hpp"
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


def test_every_function_is_called_from_cpp():
    """By time.hpp, whose functions the C++ test calls, or by that itself."""
    called = HPP.read_text(encoding="utf-8") + (HERE / "test_time_plus.cpp").read_text(encoding="utf-8")
    assert [name for name in SAVED if f"{name}(" not in called] == []


def test_every_member_of_the_cpp_header_is_used():
    used = (HERE / "test_time_plus.cpp").read_text(encoding="utf-8")
    public = re.sub(r"private:.*?\n};", "", HPP.read_text(encoding="utf-8"), flags=re.S)
    members = set(re.findall(r"^\t[\w:<> &*]*?\b(?!if|for|while|return|time_check|time_error|runtime_error|operator)(\w+)\([^;]*$", public, re.M))
    assert {"opencl", "event", "repeat", "table", "line"} <= members
    assert [name for name in sorted(members) if f"{name}(" not in used and f" {name}" not in used] == []


def test_every_function_is_called_from_python():
    """By tare_time.py; and the test calls every function and method of that."""
    module = (HERE.parents[1] / "src" / "time" / "tare_time.py").read_text(encoding="utf-8")
    named = set(re.findall(r'"(\w+)": \[', module)) | set(re.findall(r"tare_time_(\w+)", module))
    assert [name for name in SAVED if name.removeprefix("tare_time_") not in named] == []
    used = (HERE / "test_python.py").read_text(encoding="utf-8")
    public = [name for name in re.findall(r"^ *def (\w+)\(", module, re.M) if not name.startswith("_")]
    assert [name for name in public if not re.search(rf"\b{name}\b", used)] == []


def test_the_man_page_has_every_function():
    page = (HERE.parents[1] / "man" / "tare_time.3.scd").read_text(encoding="utf-8")
    lines = [line for line in page.split("# DESCRIPTION")[0].splitlines() if "(" in line and "pkg-config" not in line]
    told = [re.sub(r"\s+", "", line.replace("++", "").replace("\\*", "@").replace("*", "").replace("@", "*"))
            for line in lines if "tare_time_" in line and line.startswith("*")]
    # Arguments are written _so_; names have underscores of their own.
    plain = sorted(re.sub(r"(?<=[ ,(*])_|_(?=[,)])|(?<=\w)_(?=\*)", "", line) for line in told)
    text = "".join(header.read_text(encoding="utf-8") for header in HEADERS)
    declared = sorted(re.sub(r"\s+", "", each) for each in re.findall(r"^TARE_TIME_API ([^;]*;)", text, re.M))
    assert [re.sub("_", "", each) for each in plain] == [re.sub("_", "", each) for each in declared]
