# SPDX-License-Identifier: Apache-2.0
"""What `make install` puts where."""
import os
import pathlib
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


def test_the_installed_program_runs(installed):
    shown = subprocess.run([installed / "bin/tare", "--version"], capture_output=True, text=True,
                           check=True)
    assert shown.stdout.startswith("tare ")


def test_man_pages_completions_and_schema_are_there(installed):
    files = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    wanted = ["share/bash-completion/completions/tare", "share/zsh/site-functions/_tare",
              "share/fish/vendor_completions.d/tare.fish", "share/tare/result.schema.json",
              "share/doc/tare/LICENSE", "share/doc/tare/NOTICE"]
    if shutil.which("scdoc"):
        wanted += [f"share/man/man1/tare{page}.1" for page in
                   ("", "-devices", "-latency", "-bandwidth", "-peak", "-matmul", "-overlap",
                    "-checkup", "-render")]
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
