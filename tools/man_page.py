#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a man page: man_page.py TARE SCDOC INPUT.scd OUTPUT

@OPTIONS@ and @LINES@ in the page become what the program's own tables say.
"""
import pathlib
import subprocess
import sys

tare, scdoc, source, output = sys.argv[1:]
command = pathlib.Path(source).name.split(".")[0].removeprefix("tare-")
page = pathlib.Path(source).read_text(encoding="utf-8")
for mark, words in (("@OPTIONS@\n", ["man", command]), ("@LINES@\n", ["lines"])):
    if mark in page:
        text = subprocess.run([tare, "describe", *words], check=True, stdout=subprocess.PIPE).stdout
        page = page.replace(mark, text.decode())
made = subprocess.run([scdoc], input=page.encode(), check=True, stdout=subprocess.PIPE).stdout
pathlib.Path(output).write_bytes(made)
