#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for NVIDIA's cuobjdump, for fat binaries as brings.c makes them: `-xptx all FILE` writes BASE.N.sm_XX.ptx
into the current folder, and prints the options of each."""
import pathlib
import sys

assert sys.argv[1:3] == ["-xptx", "all"] and len(sys.argv) == 4, sys.argv
name = pathlib.Path(sys.argv[3])
data = name.read_bytes()
assert data[:8] == b"\x50\xed\x55\xba\x01\x00\x10\x00"
assert int.from_bytes(data[8:16], "little") == len(data) - 16, "the whole of it, and no more"
for number, part in enumerate(data[64:].split(b"\0@")[1:], 1):
    words, _, text = part.rstrip(b"\0").partition(b"\n")
    architecture, options = words.decode().split(" ", 1)
    out = f"{name.stem}.{number}.{architecture}.ptx"
    assert not pathlib.Path(out).exists()
    pathlib.Path(out).write_bytes(b"\n\n" + text)
    print(f"Extracting PTX file and ptxas options    {number}: {out} {options} ")
