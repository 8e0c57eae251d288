# SPDX-License-Identifier: Apache-2.0
"""No decision hangs on the wording of our own sentences: enums and fields decide, and the sentence is made
from them at the end. Searching in text is for what the user, the vendor or the system wrote."""
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
SOURCE = ROOT / "src"
SEARCH = re.compile(r"\b(?:strstr|strcasestr|strchr|memmem|strpbrk)\(")
# Files that may search in text, how often at most, and whose text it is.
ALLOWED = {
    "analysis/recording/facts.c": (1, "the program's environment"),
    "analysis/symbols/kind.c": (3, "names of files"),
    "analysis/symbols/symbols.c": (1, "a script's file and function, as they were recorded"),
    "backend/cuda/module.c": (2, "the user's module or source"),
    "backend/cuda/nvrtc/nvrtc.c": (4, "the compiler's log and the user's kernel"),
    "backend/cuda/ptx/parameter.c": (4, "the user's source"),
    "backend/cuda/ptx/ptx.c": (2, "PTX"),
    "backend/levelzero/library.c": (2, "ZE_ENABLE_ALT_DRIVERS"),
    "backend/nvidia_peaks.c": (1, "the vendor's name of a board"),
    "backend/opencl/facts.c": (1, "the driver's extensions"),
    "backend/opencl/module.c": (1, "the driver's versions"),
    "backend/spirv_parameter.c": (3, "types in SPIR-V"),
    "base/units.c": (1, "what the user typed"),
    "blocks/fat.c": (4, "a path, and what cuobjdump writes and prints"),
    "blocks/options/trials.c": (2, "what the user typed"),
    "blocks/ptx/build.c": (1, "the program's build options"),
    "blocks/ptx/instrument.c": (1, "PTX"),
    "blocks/report/listed.c": (1, "PTX"),
    "blocks/gains/floats.c": (1, "the program's source, in OpenCL C"),
    "blocks/gains/source.c": (3, "the program's source, in OpenCL C"),
    "blocks/gains/text.c": (8, "the program's source, in OpenCL C"),
    "blocks/intel/listing.c": (5, "a compiler's listing"),
    "blocks/intel/listings.c": (1, "the name of a compiler's file"),
    "blocks/tools/arguments.c": (1, "what a driver says of a device"),
    "blocks/intel/ze_info.c": (1, "mnemonics of assembly"),
    "blocks/clock/code.c": (4, "LLVM's text of a module, and a path"),
    "blocks/bodies.c": (1, "names of functions in a module"),
    "blocks/compile.c": (1, "the driver's version"),
    "blocks/cuda/samples.c": (1, "CUPTI's name of a stall reason"),
    "guest/blocks/parts.c": (1, "the program's options of linking"),
    "guest/blocks/program.c": (1, "the device's extensions"),
    "guest/blocks/readback.c": (1, "a variable for tests"),
    "blocks/parts.c": (2, "the program's build options"),
    "blocks/tools/fused.c": (6, "LLVM's text"),
    "blocks/tools/legal.c": (6, "LLVM's text"),
    "blocks/report/json.c": (1, "a path"),
    "blocks/report/page.c": (1, "a path"),
    "blocks/report/source.c": (1, "a path"),
    "blocks/run.c": (1, "a path"),
    "blocks/tools/tool.c": (2, "a path, and what a compiler printed"),
    "blocks/written.c": (1, "the options that the program built it with"),
    "cli/devices/device_select.c": (6, "what the user typed, looked for in names of devices"),
    "cli/devices/ze_cpu.c": (1, "a path"),
    "cli/options/completion.c": (1, "characters that a shell wants escaped"),
    "cli/options/help.c": (1, "characters that Markdown wants escaped"),
    "cli/run/report_view.c": (1, "what the user typed, looked for in names of devices"),
    "guest/cuda/counters/launch.c": (2, "symbols of the program's kernels"),
    "guest/cuda/library.c": (1, "the name of the driver's file"),
    "guest/levelzero/stub/stub.c": (1, "ZE_ENABLE_ALT_DRIVERS"),
    "guest/stack/module.c": (1, "a path"),
    "guest/life/identity.c": (1, "/proc/self/stat"),
    "guest/samples/exact_name.c": (1, "linked names of the program's kernels"),
    "measure/core/engines.c": (1, "what the user typed"),
    "measure/core/result_cache.c": (1, "a path"),
    "measure/devices/topology.c": (1, "/proc/cpuinfo"),
    "measure/host/memory.c": (2, "/proc/self/cgroup"),
    "measure/host/pages.c": (1, "/sys/kernel/mm"),
    "measure/matmul/rungs.c": (1, "what the user typed"),
    "measure/overlap/kernel_list.c": (1, "the contract's list of a module's kernels"),
    "measure/overlap/user_kernel_arguments.c": (2, "what the user typed"),
    "measure/overlap/user_kernel_contract.c": (2, "types in the user's source"),
    "measure/overlap/user_kernel_source.c": (2, "the user's source"),
    "measure/peak/launch.c": (1, "the compiler's log"),
    "measure/several/places.c": (2, "sysfs"),
    "model/script/script_value.c": (1, "a script"),
    "record/child.c": (2, "a path"),
    "record/environment.c": (1, "LD_PRELOAD"),
    "record/folder.c": (2, "keys and values of a record.json"),
    "record/job.c": (1, "characters of a job's number"),
    "record/loader/closure.c": (2, "names of libraries"),
    "record/loader/cupti.c": (2, "names of libraries"),
    "record/loader/driver.c": (3, "ZE_ENABLE_ALT_DRIVERS"),
    "record/loader/layer.c": (1, "a path"),
    "record/loader/loader.c": (2, "names of libraries"),
    "record/loader/object.c": (1, "a path"),
    "record/loader/program.c": (2, "a path, and bytes of the program"),
    "report/page/page_template.c": (2, "marks of the page's template"),
    "report/core/table_csv.c": (1, "characters that CSV wants quoted"),
    "report/terminal/names.c": (6, "the program's names"),
    "report/terminal/write.c": (2, "where lines and first sentences end: punctuation, not words"),
    "result/number.c": (1, "the locale's decimal point"),
}
# Members that hold a sentence of ours, compared with a literal.
SENTENCE = re.compile(r"\bstrn?(?:case)?cmp\(\s*[^;\"]*(?:->|\.)(?:message|reason|absent|action|note|method|why|said)\b"
                      r"\s*,\s*\"|\btare_fact_reason\([^;]*\)\s*,\s*[\"A-Z]")


def code(path):
    """Without comments and without what is between quotes; the quotes stay."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.S)
    return re.sub(r"\"(?:\\.|[^\"\\\n])*\"", '""', text)


def searches(path):
    return len(SEARCH.findall(code(path)))


def sources():
    return sorted(path for path in SOURCE.rglob("*.[ch]"))


def test_text_is_searched_only_where_others_wrote_it():
    found = {str(path.relative_to(SOURCE)): searches(path) for path in sources()}
    more = {name: count for name, count in found.items() if count > ALLOWED.get(name, (0, ""))[0]}
    assert more == {}, "decide by an enum or a field; or say in ALLOWED whose text it is"


def test_no_sentence_is_compared_with_a_literal():
    assert [] == [f"{path.relative_to(SOURCE)}: {each}" for path in sources() for each in SENTENCE.findall(code(path))]


def test_a_search_in_a_sentence_is_found(tmp_path):
    example = tmp_path / "example.c"
    example.write_text('if (strstr(cell->absent, "budget")) // strchr(\n\tputs("strstr(");\n'
                       'if (strcmp(warning->action,\n           "wait") == 0)\n')
    assert searches(example) == 1
    assert SENTENCE.search(code(example))
