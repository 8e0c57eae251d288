# SPDX-License-Identifier: Apache-2.0
"""The order of the source: which folder includes which (docs/architecture.md), and whose it is."""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
SOURCE = ROOT / "src"
# Each folder and those it may include, beside itself, public headers and made ones.
ARROWS = {
    "base": set(),
    "model": {"base"},
    "trace": {"base"},
    "guest": set(),
    "analysis": {"base", "model", "trace"},
    "record": {"base", "guest"},
    "result": {"base", "model"},
    "table": set(),
    "report": {"base", "table", "model", "result", "analysis"},
    "backend": {"base", "model"},
    "sample": {"base", "backend", "trace"},
    "measure": {"base", "model", "result", "backend"},
    "export": {"base", "table", "analysis", "report"},
    "blocks": {"base", "table", "analysis", "backend", "guest", "record", "result", "report"},
    "time": set(),
    "cli": {"base", "table", "model", "result", "report", "backend", "measure", "record", "analysis", "export",
            "blocks", "sample"},
}
# Inside a folder: each of its rooms and those it may include. "" is the folder's own files.
CORE = {"core", "host"}
ROOMS = {
    "model": {"": {"statistics"}, "statistics": set(), "script": {""}, "engine": {"", "script", "statistics"}},
    "record": {"": {"loader"}, "loader": set()},
    "blocks": {"": {"tools", "module"}, "tools": set(), "module": set(), "findings": {"", "module"},
               "ptx": {"", "module"}, "elf": set(), "cuda": {"tools", "elf"}, "cuda/report": {"cuda"}, "intel": {"", "tools"},
               "clock": {"elf", "tools"}, "options": {""}, "gains": {"", "module", "findings", "options"},
               "report": {"", "findings", "intel", "options", "clock", "module", "gains", "cuda", "cuda/report"},
               "page": {"", "findings", "intel", "gains", "cuda/report", "report"}},
    "analysis": {
        "core": set(), "recording": {"core"}, "recording/lists": {"recording", "core"}, "recording/memory": {"recording", "core"}, "ledger": {"core", "recording"},
        "symbols": {"core", "recording", "ledger"},
        "tables": {"core", "recording", "ledger", "symbols"}, "whatif": {"core", "recording", "ledger", "tables"},
        "hotspots": {"core", "recording", "ledger", "symbols", "tables"},
        "findings": {"core", "recording", "ledger", "tables", "whatif"},
        "findings/transfers": {"findings", "core", "recording", "ledger", "tables", "whatif"},
        "findings/execution": {"findings", "core", "recording", "ledger", "tables", "whatif"},
    },
    "guest": {
        "": set(), "file": {""}, "life": {""}, "python": {""}, "stack": {"", "python"}, "phase": {""}, "count": {""},
        "calibrate": {"", "stack"}, "layer": {""}, "opencl": {"", "stack", "calibrate", "layer"}, "levelzero": {"", "stack", "calibrate"},
        "levelzero/counters": {"", "count", "levelzero"}, "levelzero/stub": {""},
        "cuda": {"", "stack", "calibrate", "cuda/front", "cuda/counters"}, "cuda/counters": {"", "count", "cuda"}, "cuda/front": set(),
        "blocks": {"", "layer"}, "samples": {"", "cuda"}, "ptx": {"", "blocks", "cuda"},
    },
    "report": {"": {"terminal"}, "terminal": set(), "core": {"terminal"}, "tables": {"core", "terminal"},
               "result": {"", "terminal", "core"}, "run": {"", "terminal", "core", "tables"},
               "hotspots": {"", "terminal", "core", "tables", "run"}, "page": {"", "core", "result", "tables", "run", "hotspots"}},
    "measure": {
        "devices": set(), "host": set(), "core": {"devices", "host"}, "latency": CORE, "bandwidth": CORE, "peak": CORE,
        "matmul": CORE, "pipeline": CORE, "overlap": CORE | {"pipeline"}, "several": CORE,
        "checkup": CORE | {"devices", "latency", "bandwidth", "peak", "matmul", "overlap"},
    },
    "cli": {"": {"commands", "devices", "options", "terminal"}, "options": set(), "terminal": {"options"},
            "devices": {"options", "terminal"}, "run": {"options", "terminal"},
            "commands": {"options", "terminal", "devices", "run"}},
}
# Files of one kind that a person still finds something among.
MOST_FILES = 30
# The Level Zero driver for CPUs stands outside: of src it knows the script, its arithmetic, the reader of
# SPIR-V and the declarations that Debian's headers lack, and nothing of src knows it.
DRIVER = ROOT / "drivers" / "ze-cpu"
DRIVER_MAY = {"base", "model", "backend/spirv.h", "backend/spirv_parameter.h", "backend/spirv_words.h",
              "backend/levelzero/newer.h"}
KINDS = {".c", ".h", ".py", ".sh", ".js", ".css", ".html", ".build", ".scd", ".cl", ".cu"}
NAMES = {"Makefile", "meson_options.txt", "check", "demo", "fuzz", "setup"}
# Declarations of a vendor's interface, which include nothing of ours. libtare takes the stopping rule and
# how numbers and texts are written, too: files that stand on nothing but base.
ABI = {"analysis": {"guest/environment.h", "guest/levelzero/counters/metrics.def"},
       "backend": {"guest/levelzero/counters/metric.h", "guest/cuda/cupti_places.h"},
       "guest": {"backend/cuda/abi.h", "backend/cuda/cupti_abi.h", "backend/cuda/cupti_profiler_abi.h", "backend/cuda/cupti_pc_sampling_abi.h",
                  "backend/cuda/cupti_sass_abi.h", "backend/cuda/nvml/nvml_abi.h"},
       "time": {"backend/cuda/abi.h", "backend/cuda/cupti_abi.h", "backend/cuda/cupti/engines.h", "guest/cuda/cupti_places.h", "model/statistics/statistics.h", "result/number.h", "result/clean_text.h"}}
SRC_KNOWS_DRIVER = re.compile(r'#[ \t]*include[ \t]+"(?:[^"]*/)?(?:drivers|ze-cpu)/')


def wrong_includes(folder, text):
    """The included folders that `folder` may not know."""
    found = re.findall(r'^[ \t]*#[ \t]*include[ \t]+["<](\w+)/([^">]+)', text, re.M)
    named = {top for top, rest in found if f"{top}/{rest}" not in ABI.get(folder, ())}
    return sorted((named & set(ARROWS)) - ARROWS[folder] - {folder})


def wrong_in_driver(text):
    """What a file of the driver includes and may not."""
    named = re.findall(r'^[ \t]*#[ \t]*include[ \t]+["<](\w+)/([^">]+)', text, re.M)
    return sorted(f"{folder}/{rest}" for folder, rest in named
                  if folder in ARROWS and not {folder, f"{folder}/{rest}"} & DRIVER_MAY)


def test_every_folder_has_its_arrows():
    assert {path.name for path in SOURCE.iterdir() if path.is_dir()} == set(ARROWS)


@pytest.mark.parametrize("folder", ARROWS)
def test_a_folder_includes_only_what_is_below_it(folder):
    files = [path for path in (SOURCE / folder).rglob("*") if path.suffix in (".c", ".h")]
    assert files
    wrong = {str(path.relative_to(ROOT)): wrong_includes(folder, path.read_text(encoding="utf-8"))
             for path in files}
    assert {path: names for path, names in wrong.items() if names} == {}


def rooms_of(folder):
    """The folders under `folder` that have files of C, as ROOMS names them."""
    return {"" if (room := str(path.parent.relative_to(SOURCE / folder))) == "." else room
            for path in (SOURCE / folder).rglob("*.[ch]")}


def wrong_rooms(folder, room, text):
    """Rooms of the same folder that a file of `room` includes and may not."""
    found = re.findall(rf'#[ \t]*include[ \t]+"{folder}/([^">]+)', text)
    named = {str(pathlib.PurePath(name).parent) for name in found}
    named = {"" if name == "." else name for name in named}
    return sorted(named - ROOMS[folder][room] - {room})


@pytest.mark.parametrize("folder", ROOMS)
def test_a_room_includes_only_what_is_below_it(folder):
    assert rooms_of(folder) == set(ROOMS[folder])
    wrong = {}
    for room in ROOMS[folder]:
        for path in (SOURCE / folder / room).glob("*.[ch]"):
            names = wrong_rooms(folder, room, path.read_text(encoding="utf-8"))
            if names:
                wrong[str(path.relative_to(ROOT))] = names
    assert wrong == {}


def test_no_folder_is_a_heap():
    heaps = {str(folder.relative_to(ROOT)): count for root in (SOURCE, DRIVER) for folder in [root, *root.rglob("*")] if folder.is_dir()
             and (count := len(list(folder.glob("*.[ch]")))) > MOST_FILES}
    assert heaps == {}


def test_the_driver_knows_little_of_src_and_src_nothing_of_it():
    files = {path: path.read_text(encoding="utf-8") for path in DRIVER.rglob("*") if path.suffix in (".c", ".h")}
    assert len(files) > 20
    assert {path.name: wrong for path, text in files.items() if (wrong := wrong_in_driver(text))} == {}
    assert [path.name for path in SOURCE.rglob("*.[ch]")
            if SRC_KNOWS_DRIVER.search(path.read_text(encoding="utf-8"))] == []


def test_a_wrong_arrow_is_seen():
    assert wrong_includes("model", '#include "base/time.h"\n#include "backend/call.h"\n') == ["backend"]
    assert wrong_includes("result", '\t# include "report/report.h"\n') == ["report"]
    assert wrong_includes("measure", '#include "backend/call.h"\n#include <sys/stat.h>\n') == []
    assert wrong_includes("guest", '#include "backend/cuda/abi.h"\n#include "backend/cuda/internal.h"\n') == ["backend"]
    assert wrong_in_driver('#include "model/engine/engine.h"\n#include "backend/call.h"\n') == ["backend/call.h"]
    assert SRC_KNOWS_DRIVER.search('#include "../../drivers/ze-cpu/run/run.h"')


def sources():
    for top in ("docs", "drivers", "examples", "include", "kernels", "man", "src", "tests", "tools", "web"):
        yield from (path for path in (ROOT / top).rglob("*") if path.is_file())
    yield from (path for path in ROOT.iterdir() if path.is_file())


def test_every_source_file_names_its_licence():
    files = [path for path in sources() if path.suffix in KINDS or path.name in NAMES]
    assert len(files) > 200
    without = [str(path.relative_to(ROOT)) for path in files
               if "SPDX-License-Identifier: Apache-2.0" not in
               "".join(path.read_text(encoding="utf-8").splitlines(True)[:5])]
    assert without == []
