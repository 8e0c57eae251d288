# SPDX-License-Identifier: Apache-2.0
"""tools/setup on machines that are not this one: dpkg-query, apt-get, id and sudo are played."""
import pathlib
import subprocess

import pytest

SETUP = pathlib.Path(__file__).parents[2] / "tools/setup"


@pytest.fixture
def machine(tmp_path):
    """Runs setup with `missing` not installed; returns the result and what apt-get was asked."""
    log = tmp_path / "log"

    def tool(name, body):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def run(*arguments, missing=(), root=True, sudo=False, apt_works=True, debian=True, known=()):
        absent = " | ".join(missing) or "nothing-at-all"
        if debian:
            tool("dpkg-query", f'for package; do :; done\ncase $package in {absent}) exit 1 ;; esac\n'
                               "printf installed")
        tool("apt-get", f'echo "apt-get $*" >> {log}\nexit {0 if apt_works else 100}')
        if known:
            tool("apt-cache", "\n".join(f"echo {package}" for package in known))
        tool("id", f"echo {0 if root else 1000}")
        tool("env", 'while case $1 in *=*) ;; *) false ;; esac; do export "$1"; shift; done\nexec "$@"')
        if sudo:
            tool("sudo", f'echo sudo >> {log}\nexec "$@"')
        done = subprocess.run(["/bin/sh", SETUP, *arguments], env={"PATH": str(tmp_path)},
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        return done, log.read_text(encoding="utf-8").splitlines() if log.exists() else []

    return run


def test_nothing_is_installed_where_nothing_is_missing(machine):
    done, log = machine()
    assert done.returncode == 0 and done.stdout == "setup: nothing is missing\n" and log == []


def test_what_is_missing_is_named_and_installed_and_nothing_else(machine):
    done, log = machine(missing=["meson", "pocl-opencl-icd"])
    assert done.returncode == 0
    assert "missing: meson pocl-opencl-icd" in done.stdout
    assert log == ["apt-get update",
                   "apt-get install -y --no-install-recommends meson pocl-opencl-icd"]


def test_a_dry_run_only_tells(machine):
    done, log = machine("--dry-run", missing=["gcc"])
    assert done.returncode == 0 and log == []
    assert "would run: apt-get install -y --no-install-recommends gcc" in done.stdout


def test_the_demo_needs_no_test_packages(machine):
    done, _ = machine("demo", "--dry-run", missing=["chromium", "libcmocka-dev", "clpeak"])
    assert done.stdout == "setup: nothing is missing\n"
    done, _ = machine("check", "--dry-run", missing=["chromium"])
    assert "missing: chromium" in done.stdout


@pytest.mark.parametrize("known, taken", [
    ((), "llvm-spirv-15"),
    (("llvm-spirv-14", "llvm-spirv-15", "llvm-spirv-16"), "llvm-spirv-15"),
    (("llvm-spirv-9", "llvm-spirv-19", "llvm-spirv-17", "llvm-spirv-latest"), "llvm-spirv-19"),
    (("llvm-spirv-", "llvm-spirv-next"), "llvm-spirv-15"),
])
def test_the_translator_has_the_number_that_apt_knows(machine, known, taken):
    done, _ = machine("demo", "--dry-run", missing=["llvm-spirv-*"], known=known)
    assert f"setup: missing: {taken}\n" in done.stdout


@pytest.mark.parametrize("package", ["clang-format-19", "oclgrind"])
@pytest.mark.parametrize("known, taken", [("-doc", False), ("", True)])
def test_what_some_checks_need_is_taken_where_apt_knows_it(machine, package, known, taken):
    for kind, wanted in (("demo", False), ("check", taken)):
        done, _ = machine(kind, "--dry-run", missing=[package], known=(package + known,))
        assert (f"setup: missing: {package}\n" in done.stdout) == wanted, done.stdout


def test_sudo_is_used_where_it_is_and_the_command_is_told_where_it_is_not(machine):
    done, log = machine(missing=["gcc"], root=False, sudo=False)
    assert done.returncode == 1 and log == []
    assert "as root, run: apt-get update && apt-get install" in done.stderr
    done, log = machine(missing=["gcc"], root=False, sudo=True)
    assert done.returncode == 0 and log.count("sudo") == 2


def test_an_install_that_fails_is_an_error_with_the_command(machine):
    done, _ = machine(missing=["gcc"], apt_works=False)
    assert done.returncode == 1
    assert "could not install: gcc; as root, run: apt-get install" in done.stderr


def test_elsewhere_than_debian_it_names_the_packages_and_goes_on(machine):
    done, log = machine(debian=False)
    assert done.returncode == 0 and log == []
    assert "meson" in done.stdout and "no Debian" in done.stdout


def test_an_unknown_word_is_refused(machine):
    done, _ = machine("--frob")
    assert done.returncode == 2 and "usage" in done.stderr


@pytest.mark.parametrize("arguments", [[], ["--no-such-option"], ["trixie", "bookworm"]])
def test_try_on_tells_how_it_is_called(arguments):
    done = subprocess.run(["/bin/bash", SETUP.parent / "try-on", *arguments], capture_output=True, text=True,
                          check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and done.stdout == ""
    assert "tools/try-on SUITE" in done.stderr and "--mirror" in done.stderr
