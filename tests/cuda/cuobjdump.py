#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for NVIDIA's cuobjdump, for fat binaries as brings.c makes them: `-xptx all FILE` writes BASE.N.sm_XX.ptx
into the current folder, and prints the options of each; `-lelf FILE` prints what it calls machine code."""
import pathlib
import sys

LISTS = sys.argv[1:-1] == ["-lelf"]
assert LISTS or sys.argv[1:-1] == ["-xptx", "all"], sys.argv
name = pathlib.Path(sys.argv[-1])
data = name.read_bytes()
assert data[:8] == b"\x50\xed\x55\xba\x01\x00\x10\x00"
assert int.from_bytes(data[8:16], "little") == len(data) - 16, "the whole of it, and no more"
for number, part in enumerate(data[64:].split(b"\0@")[1:], 1):
    words, _, text = part.rstrip(b"\0").partition(b"\n")
    architecture, options = words.decode().split(" ", 1)
    # "elf_sm_90" stands for machine code.
    if architecture.startswith("elf_"):
        if LISTS:
            print(f"ELF file    {number}: {name.stem}.{number}.{architecture[4:]}.cubin")
        continue
    if LISTS:
        continue
    out = f"{name.stem}.{number}.{architecture}.ptx"
    assert not pathlib.Path(out).exists()
    pathlib.Path(out).write_bytes(b"\n\n" + text)
    print(f"Extracting PTX file and ptxas options    {number}: {out} {options} ")
