# SPDX-License-Identifier: Apache-2.0
"""The command line: what it accepts, what it refuses and how it says so."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

MEASURING = ["latency", "bandwidth", "peak", "matmul", "overlap", "checkup"]
COMMANDS = ["devices", *MEASURING, "record", "report", "run", "hotspots", "blocks", "export", "render"]
HERE = pathlib.Path(__file__).parent
BASIC = {"POCL_DEVICES": "basic"}


def options_in_help(tare, command):
    """The long options that --help lists."""
    found = re.findall(r"^ +(?:-\w, )? *(--[a-z-]+)", tare(command, "--help").stdout, re.M)
    assert "--help" in found
    return set(found)


def sentence(result):
    """The one line on standard error."""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("tare: ")
    return lines[0]


def test_version_and_overview(tare):
    assert re.fullmatch(r"tare \d+\.\d+\.\d+\n", tare("--version").stdout)
    overview = tare("help")
    assert overview.returncode == 0 and overview.stdout == tare("--help").stdout
    for command in COMMANDS:
        assert f"  tare {command} " in overview.stdout
    assert "describe" not in overview.stdout


@pytest.mark.parametrize("command", COMMANDS + ["help"])
def test_help_of_a_command_fits_80_columns(tare, command):
    shown = tare(command, "--help")
    assert shown.returncode == 0 and shown.stderr == ""
    assert shown.stdout == tare("help", command).stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80


def test_help_names_the_budget_that_counts(tare):
    for command in MEASURING:
        shown = " ".join(tare("help", command).stdout.split())
        assert re.search(r"how long to measure \(default: \d+\)", shown), command
    default = float(re.search(r"how long to measure \(default: (\d+)\)", tare("help", "latency").stdout)[1])
    result = json.loads(tare("latency", "--device", "simulated", "--json", "-").stdout)
    assert result["parameters"]["budget_ns"] == default * 1e9


@pytest.mark.parametrize("command", COMMANDS)
def test_every_listed_option_is_taken(tare, command):
    for option in options_in_help(tare, command) - {"--help"}:
        bare = tare(command, option + "=")
        # Either it takes no value, or it says that this one is none: but it is known.
        assert bare.returncode == (125 if command in ("record", "run", "hotspots", "blocks") else 2)
        assert option in sentence(bare) and "unknown" not in bare.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_man_page_and_completions_have_the_options_of_help(tare, command):
    expected = options_in_help(tare, command)
    man = tare("describe", "man", command).stdout
    assert set(re.findall(r"\*(--[a-z-]+)\*", man)) == expected
    built = pathlib.Path(os.environ.get("TARE_BUILD", "/nonexistent")) / f"man/tare-{command}.1"
    if built.exists():
        page = built.read_text(encoding="utf-8").replace("\\-", "-")
        assert expected <= set(re.findall(r"\\fB(--[a-z-]+)\\fR", page))
    bash = tare("describe", "bash").stdout
    assert set(re.search(rf"\t{command}\) options='([^']*)'", bash)[1].split()) == expected
    zsh = re.search(rf"\t{command}\)\n\t\t_arguments(.*?);;", tare("describe", "zsh").stdout, re.S)[1]
    bare = re.sub(r"\[.*?\]|\(.*?\)|:[^']*", "", zsh)
    assert set(re.findall(r"--[a-z-]+", bare)) == expected
    fish = tare("describe", "fish").stdout.splitlines()
    assert {"--" + re.search(r" -l ([a-z-]+)", line)[1] for line in fish
            if re.search(rf"subcommand_from[^']* {command}\b", line) and " -l " in line} == expected


def test_the_first_man_page_names_every_command():
    text = (HERE.parents[1] / "man" / "tare.1.scd").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"\n*tare-{name}*(1)\n" not in text] == []


# A line as it is typed, and all that Tab offers for its last word.
COMPLETIONS = [
    ("tare ban", {"bandwidth"}),
    ("tare latency --bu", {"--budget"}),
    ("tare latency --si", set()),
    ("tare overlap --item", {"--item-bytes"}),
    ("tare overlap --device o", {"opencl"}),
    ("tare bandwidth --lines host-to-device,device-to-ho", {"host-to-device,device-to-host"}),
    ("tare bandwidth --lines rect", {"rectangle", "rectangle-to-device", "rectangle-to-host"}),
    ("tare matmul --rungs naive,ti", {"naive,tiled"}),
    ("tare overlap --break pageable,def", {"pageable,default-queue"}),
    ("tare overlap --loop v", {"volatile"}),
    ("tare overlap --kernel my", {"mykernel.cl"}),
    ("tare matmul --peaks no", {"none", "notes.json"}),
    ("tare latency --json no", {"notes.json"}),
    ("tare render no", {"notes.json"}),
    ("tare record --keep n", {"newest"}),
    ("tare report --dev", {"--device"}),
    ("tare record --stri", {"--strict"}),
    ("tare run --stri", {"--strict"}),
    ("tare hotspots --ze", {"--ze-cpu"}),
    ("tare blocks --ze", {"--ze-cpu"}),
    ("tare export --perf", {"--perfetto"}),
    ("tare help la", {"latency"}),
    ("tare --ze", {"--ze-cpu"}),
    ("tare --ze-cpu la", {"latency"}),
    ("tare --ze-cpu latency --bud", {"--budget"}),
]


def complete_bash(script, folder, line):
    words = " ".join(f"'{word}'" for word in line.split(" "))
    code = (f"{script}\nCOMP_WORDS=({words}); COMP_CWORD={line.count(' ')}; _tare; "
            'printf "%s\n" "${COMPREPLY[@]}"')
    return ["bash", "-c", code]


def complete_zsh(script, folder, line):
    (folder / "_tare").write_text(script, encoding="utf-8")
    return ["zsh", "-f", HERE / "complete.zsh", folder, line]


def complete_fish(script, folder, line):
    (folder / "tare.fish").write_text(script, encoding="utf-8")
    return ["fish", "--no-config", "-c", f"source {folder}/tare.fish; complete -C '{line}'"]


SHELLS = {
    # what asks the shell, and where the offered words are in what it prints
    "bash": (complete_bash, r"^(\S+)$"),
    "zsh": (complete_zsh, r"<(\S+)>"),
    "fish": (complete_fish, r"^(\S+)"),
}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes_commands_options_and_values(tare, tmp_path, shell, request):
    if not shutil.which(shell):
        pytest.skip(f"no {shell}")
    if shell == "zsh":
        request.getfixturevalue("pseudo_terminals")
    ask, pattern = SHELLS[shell]
    script = tare("describe", shell).stdout
    files, work = tmp_path / "files", tmp_path / "work"
    files.mkdir()
    work.mkdir()
    for name in ("mykernel.cl", "notes.json"):
        (files / name).touch()
    for line, expected in COMPLETIONS:
        # The script lies elsewhere, so that it is not offered as a file.
        shown = subprocess.run(ask(script, work, line), cwd=files, capture_output=True, text=True, check=False,
                               stdin=subprocess.DEVNULL, timeout=60, env={**os.environ, "LC_ALL": "C.UTF-8"})
        assert shown.stderr == "", shown.stderr
        assert set(re.findall(pattern, shown.stdout.replace("\r", ""), re.M)) == expected, line


USAGE = [
    # arguments, what the sentence has to name
    ([], ["a command is missing"]),
    (["bandwith"], ["'bandwith'", "did you mean 'bandwidth'?"]),
    (["xyzzy"], ["'xyzzy'", "tare help"]),
    (["help", "latenci"], ["'latenci'", "did you mean 'latency'?"]),
    (["--device", "0"], ["'--device'", "follow the command"]),
    (["latency", "--devcie", "0"], ["'--devcie'", "did you mean '--device'?"]),
    (["latency", "--nonsense"], ["'--nonsense'", "tare latency --help"]),
    (["latency", "-x"], ["'-x'"]),
    (["latency", "--sizes", "8K"], ["latency takes no option '--sizes'"]),
    (["devices", "--budget", "1"], ["devices takes no option '--budget'"]),
    (["bandwidth", "--s", "8K"], ["'--s' could be", "--sizes", "--seed"]),
    (["latency", "--device"], ["--device needs a value (WHAT)"]),
    (["latency", "-d"], ["--device needs a value (WHAT)"]),
    (["latency", "--device="], ["--device"]),
    (["latency", "--quiet=yes"], ["--quiet takes no value"]),
    (["latency", "--seed", "-1"], ["--seed", "'-1'"]),
    (["latency", "--seed", "ten"], ["--seed", "'ten'"]),
    (["latency", "--seed", "99999999999999999999"], ["--seed", "'99999999999999999999'"]),
    (["latency", "--budget", "0"], ["--budget", "'0'"]),
    (["latency", "--budget", "soon"], ["--budget", "'soon'"]),
    (["latency", "--budget", "nan"], ["--budget", "'nan'"]),
    (["latency", "--budget", "1e-10"], ["--budget", "'1e-10'", "0.001"]),
    (["latency", "--budget", "0.0009"], ["--budget", "'0.0009'", "0.001"]),
    (["bandwidth", "--sizes", "8Q"], ["--sizes", "'8Q'"]),
    (["bandwidth", "--sizes", "1G..8K"], ["--sizes"]),
    (["bandwidth", "--sizes", "0..8K"], ["--sizes"]),
    (["bandwidth", "--sizes", ""], ["--sizes"]),
    (["bandwidth", "--lines", "host-to-devise"], ["did you mean 'host-to-device'?"]),
    (["bandwidth", "--lines", "sideways"], ["'sideways'", "host-to-device"]),
    (["matmul", "--rungs", "naive,regster"], ["--rungs", "'regster'", "did you mean 'register'?"]),
    (["matmul", "--rungs", "quantum"], ["--rungs", "'quantum'", "tiled"]),
    (["overlap", "--break", "pagable"], ["--break", "'pagable'", "did you mean 'pageable'?"]),
    (["overlap", "--loop", "volatle"], ["--loop", "'volatle'", "volatile"]),
    (["matmul", "--n", ""], ["--n: needs a value (LIST)"]),
    (["overlap", "--arg="], ["--arg: needs a value (TYPE:VALUE)"]),
    (["overlap", *["--arg", "int:1"] * 17], ["--arg", "more than 16 times"]),
    (["overlap", "--align", "0"], ["--align", "at least 1"]),
    (["overlap", "--align", "-4"], ["--align", "'-4'"]),
    (["overlap", "--group", "many"], ["--group", "'many'"]),
    (["peak", "--lines", "copy"], ["peak takes no option '--lines'"]),
    (["checkup", "--kernel", "a.cl"], ["checkup takes no option '--kernel'"]),
    (["overlap", "--kernl", "a.cl"], ["did you mean '--kernel'?"]),
    (["checkup", "--budget", "0"], ["--budget", "'0'"]),
    (["latency", "spare"], ["unexpected argument 'spare'"]),
    (["render"], ["FILE.json is missing"]),
    (["render", "a.json", "b.json"], ["unexpected argument 'b.json'"]),
    (["latency", "--json", "-", "--csv", "-"], ["--json and --csv", "standard output"]),
    (["latency", "--json", "same", "--html", "same"], ["--json and --html", "same"]),
]


@pytest.mark.parametrize("arguments,words", USAGE, ids=[" ".join(row[0]) or "nothing" for row in USAGE])
def test_usage_errors_name_what_is_wrong(tare, tmp_path, arguments, words):
    result = tare(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    for word in words:
        assert word in sentence(result)
    assert list(tmp_path.iterdir()) == []


# ---- devices

def pocl_or_skip(tare):
    found = json.loads(tare("devices", "--json", "-", env=BASIC).stdout)
    if not any(device["backend"] == "opencl" for device in found["devices"]):
        pytest.skip("no OpenCL device on this machine")
    return found


def test_devices_says_why_an_api_has_none(tare):
    result = tare("devices", env={"TARE_OPENCL_LIBRARY": "/nonexistent/libOpenCL.so"})
    assert result.returncode == 0 and result.stderr == ""
    assert re.search(r" none opencl: .*/nonexistent/libOpenCL.so", " ".join(result.stdout.split()))


def test_devices_fit_80_columns_and_any_locale(tare):
    for verbose in ([], ["-v"]):
        for locale in ("C.UTF-8", "C"):
            shown = tare("devices", *verbose, env={**BASIC, "LC_ALL": locale})
            assert shown.returncode == 0
            # Only a name that is itself longer than a line may be wider.
            for line in shown.stdout.splitlines():
                assert len(line) <= 80 or max(map(len, line.split())) > 80, line
            if locale == "C":
                assert shown.stdout.isascii()


def test_devices_are_chosen_by_number_api_and_name(tare):
    found = pocl_or_skip(tare)
    entry = next(device for device in found["devices"] if device["backend"] == "opencl")
    name = entry["facts"]["name"]["value"]
    for what in (entry["number"], "opencl", "opencl:0", "OpenCL:0", name, name[3:12].upper()):
        shown = tare("devices", "--device", what, "--json", "-", env=BASIC)
        assert shown.returncode == 0, shown.stderr
        assert {device["number"] for device in json.loads(shown.stdout)["devices"]} == {entry["number"]}
    by_environment = tare("devices", "--json", "-", env={**BASIC, "TARE_DEVICE": "opencl:0"})
    assert len(json.loads(by_environment.stdout)["devices"]) == 1


def test_an_unknown_device_is_refused_with_those_there_are(tare):
    for command in ("devices", *MEASURING):
        result = tare(command, "--device", "no such device", env=BASIC)
        assert result.returncode == 2
        assert "no such device" in sentence(result) and "simulated:0" in sentence(result)
    assert tare("latency", "--device", "opencl:77", env=BASIC).returncode == 2


def test_an_ambiguous_device_is_refused_with_the_candidates(tare):
    found = pocl_or_skip(tare)
    names = {device["number"]: device["backend"] for device in found["devices"]}
    assert len(names) > 1
    result = tare("latency", "--device", "e", env=BASIC)
    assert result.returncode == 2
    assert "could be" in sentence(result) and "opencl:0" in sentence(result)


NO_DEVICE = [
    # environment, what the sentence names
    ("no loader", {"TARE_OPENCL_LIBRARY": "/nonexistent/libOpenCL.so"}, "libOpenCL"),
    ("loader without drivers", {"OCL_ICD_VENDORS": "/nonexistent"}, "pocl-opencl-icd"),
]


@pytest.mark.parametrize("name,environment,word", NO_DEVICE, ids=[row[0] for row in NO_DEVICE])
@pytest.mark.parametrize("command", ["latency", "bandwidth", "checkup"])
def test_without_a_device_it_says_what_to_install(tare, tmp_path, command, name, environment, word):
    everywhere = {**environment, "TARE_CUDA_LIBRARY": "/nonexistent/libcuda.so",
                  "TARE_LEVELZERO_LIBRARY": "/nonexistent/libze_loader.so"}
    for device in ([], ["--device", "opencl"]):
        result = tare(command, *device, "--json", "out.json", env=everywhere)
        assert result.returncode == 1
        assert word in sentence(result)
        assert "simulated" in sentence(result) or device
    assert list(tmp_path.iterdir()) == []


def test_the_choice_is_said_when_there_is_one(tare):
    fakes = pathlib.Path(os.environ.get("TARE_BUILD", "/nonexistent")) / "tests/fakes"
    if not (fakes / "fake_cuda.so").exists():
        pytest.skip("fake_cuda.so is not built")
    nowhere = {"TARE_OPENCL_LIBRARY": "/nonexistent", "TARE_LEVELZERO_LIBRARY": "/nonexistent"}
    fake = {"TARE_CUDA_LIBRARY": str(fakes / "fake_cuda.so"),
            "TARE_NVML_LIBRARY": str(fakes / "fake_nvml.so")}

    def run(*options, count):
        return tare("latency", "--budget", "0.3", "--json", "-", *options,
                    env={**nowhere, **fake, "TARE_FAKE_CUDA": f"devices={count}"})

    two = run(count=2)
    assert two.returncode == 0, two.stderr
    name = json.loads(two.stdout)["device"]["facts"]["name"]["value"]
    assert two.stderr == f"tare: latency: measuring {name} (cuda:0); --device picks another\n"
    # Nothing to say where there is no other, or the user has chosen, or wants silence.
    for quiet in (run(count=1), run("--device", "cuda:1", count=2), run("-q", count=2)):
        assert quiet.returncode == 0 and quiet.stderr == "", quiet.stderr
