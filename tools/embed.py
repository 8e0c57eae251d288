#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns a file into a C array, so that the program carries it.

    tools/embed.py --symbol NAME [--text] [--before FILE] INPUT OUTPUT.c [OUTPUT.h]

writes `const unsigned char NAME[]` and `const size_t NAME_bytes`. A zero byte that
NAME_bytes does not count follows the data, so a text can be used as a C string. With
--text the array is `const char NAME[]`; else it may be read as words of up to 8 bytes.
--before puts another file in front.
"""
import argparse
import pathlib
import re
import sys


def source(data, symbol, kind):
    """The C source that defines the array."""
    values = [str(byte if kind == 'unsigned char' or byte < 128 else byte - 256) for byte in data]
    rows = [', '.join(values[i:i + 24]) + ',' for i in range(0, len(values), 24)]
    aligned = '_Alignas(8) ' if kind == 'unsigned char' else ''
    return '\n'.join(['#include <stddef.h>',
                      f'extern const {kind} {symbol}[];',
                      f'extern const size_t {symbol}_bytes;',
                      f'{aligned}const {kind} {symbol}[] = {{', *rows, '0', '};',
                      f'const size_t {symbol}_bytes = sizeof {symbol} - 1;', ''])


def header(symbol, kind):
    """The header that declares it."""
    return '\n'.join(['#pragma once', '#include <stddef.h>',
                      f'extern const {kind} {symbol}[];',
                      f'extern const size_t {symbol}_bytes;', ''])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--symbol', required=True, help='the name of the array')
    parser.add_argument('--text', action='store_true', help='an array of char')
    parser.add_argument('--before', type=pathlib.Path, help='a file to put in front')
    parser.add_argument('input', type=pathlib.Path)
    parser.add_argument('output', type=pathlib.Path, help='the C source to write')
    parser.add_argument('header', type=pathlib.Path, nargs='?', help='the header to write')
    arguments = parser.parse_args()
    if not re.fullmatch('[A-Za-z_][A-Za-z0-9_]*', arguments.symbol):
        sys.exit(f'embed.py: {arguments.symbol!r} is no C identifier')
    kind = 'char' if arguments.text else 'unsigned char'
    data = arguments.before.read_bytes() if arguments.before else b''
    data += arguments.input.read_bytes()
    arguments.output.write_text(source(data, arguments.symbol, kind))
    if arguments.header:
        arguments.header.write_text(header(arguments.symbol, kind))


if __name__ == '__main__':
    main()
