# SPDX-License-Identifier: Apache-2.0
"""api/opencl.roles against the installed headers, and what tools/gen_api.py makes of headers that
are older or newer than the roles."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

TOP = pathlib.Path(__file__).parents[2]
ROLES = TOP / "api/opencl.roles"
COMPILER = os.environ.get("CC", "cc").split()


def generate(*arguments, roles=ROLES, compiler=None):
    return subprocess.run([sys.executable, TOP / "tools/gen_api.py", "--roles", roles, *arguments,
                           "--", *(compiler or COMPILER)], capture_output=True, text=True, check=False)


@pytest.fixture
def wrappers(tmp_path):
    """Generates from the given text of roles, or with a compiler of the given text of headers."""
    def make(roles=None, headers=None):
        file, compiler = ROLES, None
        if roles is not None:
            file = tmp_path / "roles"
            file.write_text(roles, encoding="utf-8")
        if headers is not None:
            (tmp_path / "headers").write_text(headers, encoding="utf-8")
            compiler = ["/bin/sh", "-c", f"cat >/dev/null; cat {tmp_path}/headers", "cc"]
        done = generate("--source", tmp_path / "w.c", "--header", tmp_path / "w.h", roles=file,
                        compiler=compiler)
        text = (tmp_path / "w.c").read_text(encoding="utf-8") if done.returncode == 0 else ""
        return done, text
    return make


# What functions of such names do to their thread, in the roles of either API: a state of the host hangs on it. The
# first that fits; memory's are allocation's.
NAMES = [
    # Times of a command are there when it has ended: who asks for them does not ask whether it has.
    (r"clGetEventInfo$", {"poll"}),
    (r"clGet\w+Info(KHR|INTEL|EXT|QCOM)?$", {"query"}),
    (r"clReleaseMemObject$|ze(MemFree(Ext)?|PhysicalMemDestroy|ImageDestroy)$", {"allocate"}),
    (r"clRelease\w+$|clTerminateContextKHR$", {"release"}),
    (r"ze(Module|Kernel|Context|CommandList|CommandQueue|Event|EventPool|Fence)Destroy$", {"release"}),
    (r"ze(Driver|Device|Module|Kernel)Get\w*Properties$", {"query"}),
    (r"cl(Set|Retain)\w+$|zeCommandList(Reset|Close)$", {"other"}),
    (r"clCreate(Context|Kernel|ProgramWith\w+|CommandQueue\w*)$|ze(Context|Kernel|Event|EventPool)Create$", {"create"}),
]


def test_queries_and_releases_have_their_roles():
    seen = set()
    for roles in (ROLES, ROLES.with_name("levelzero.roles")):
        for line in roles.read_text(encoding="utf-8").splitlines():
            words = line.split()
            if not words or line.startswith("#") or words[1] == "pass":
                continue
            for pattern, allowed in NAMES:
                if re.match(pattern, words[0]):
                    assert words[1] in allowed, line
                    seen.add(pattern)
                    break
    assert seen == {pattern for pattern, _ in NAMES}


def preprocessed():
    source = "#define CL_TARGET_OPENCL_VERSION 300\n#include <CL/cl_icd.h>\n#include <CL/cl_ext.h>\n"
    return subprocess.run([*COMPILER, "-E", "-P", "-x", "c", "-"], input=source, text=True,
                          capture_output=True, check=True).stdout


def test_every_function_of_the_headers_has_a_role():
    done = generate("--check")
    assert done.returncode == 0, done.stderr


def test_the_whole_table_is_wrapped(wrappers):
    done, text = wrappers()
    assert done.returncode == 0 and done.stderr == ""
    table = re.search(r"struct _cl_icd_dispatch \{(.*?)\}", preprocessed(), re.S)[1]
    names = re.findall(r"(\w+)\s*;", table)
    wrapped = set(re.findall(r"table->(\w+) = (?:wrap|layer_first)_", text))
    left = [name for name in names if name not in wrapped]
    assert len(names) >= 149
    assert all("D3D1" in name or "DX9" in name for name in left), left
    assert list(re.findall(r"table->(\w+) = (?:wrap|layer_first)_", text)) == [n for n in names if n in wrapped]


@pytest.mark.parametrize("line, complaint", [
    ("clFinish", "a function and its role"),
    ("clFinish waits : queue", "'waits'"),
    ("clFinish wait : tail", "'tail'"),
    ("clEnqueueBarrier command fence : queue", "'fence'"),
    ("clFlush flush : queue\nclFlush flush : queue", "before"),
])
def test_bad_roles_are_refused(wrappers, line, complaint):
    done, _ = wrappers(roles=line + "\n")
    assert done.returncode == 1
    assert complaint in done.stderr and re.search(r"line \d", done.stderr)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("change, complaint", [
    (lambda text: re.sub(r"(?m)^clFinish .*\n", "", text), "clFinish has no role"),
    (lambda text: re.sub(r"(?m)^clMemFreeINTEL .*\n", "", text), "clMemFreeINTEL has no role"),
    (lambda text: text + "clNovel query : -\n", "clNovel is in no header"),
    (lambda text: text.replace("clFinish wait : queue", "clFinish wait : queue -"),
     "clFinish has 1 arguments, not 2"),
])
def test_a_maintainer_is_told(tmp_path, change, complaint):
    file = tmp_path / "roles"
    file.write_text(change(ROLES.read_text(encoding="utf-8")), encoding="utf-8")
    done = generate("--check", roles=file)
    assert done.returncode == 1 and complaint in done.stderr


def test_newer_headers_warn_and_the_function_is_timed(wrappers):
    text = preprocessed()
    text = text.replace("} cl_icd_dispatch;", "cl_api_clNovel clNovel;\n} cl_icd_dispatch;")
    text += "typedef cl_int(*cl_api_clNovel)(cl_mem, size_t count, void (*notify)(void *), int n[3]);\n"
    text += "typedef cl_int (*clOddEXT_fn)(cl_mem memory);\n"
    done, source = wrappers(headers=text)
    assert done.returncode == 0
    assert "clNovel has no role" in done.stderr and "clOddEXT has no role" in done.stderr
    assert "wrap_clNovel(cl_mem a0, size_t a1, void (*a2)(void *), int *a3)" in source
    assert "layer_asked(thread, 149" in source or "layer_asked(thread, 150" in source
    assert "clOddEXT" not in source


def test_older_headers_leave_out_what_they_lack(wrappers):
    text = re.sub(r"\bclMemFreeINTEL", "clOther", preprocessed())
    done, source = wrappers(headers=text)
    assert done.returncode == 0
    assert "clMemFreeINTEL is left alone" in done.stderr and "clMemFreeINTEL" not in source


def test_headers_that_cannot_be_read(tmp_path):
    done = generate("--check", compiler=["/bin/false"])
    assert done.returncode == 1 and "cannot read the OpenCL headers" in done.stderr
