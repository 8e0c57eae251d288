# SPDX-License-Identifier: Apache-2.0
"""Asks a Level Zero driver for functions by their names, as programs do, and prints whose each is:
  addresses.py NAME...
"""
import ctypes
import os
import sys


class Where(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("name", ctypes.c_char_p), ("at", ctypes.c_void_p)]


loader, process = ctypes.CDLL("libze_loader.so.1"), ctypes.CDLL(None)
driver, count, address, where = ctypes.c_void_p(), ctypes.c_uint32(1), ctypes.c_void_p(), Where()
assert loader.zeInit(0) == 0 and loader.zeDriverGet(ctypes.byref(count), ctypes.byref(driver)) == 0
for name in sys.argv[1:]:
    if loader.zeDriverGetExtensionFunctionAddress(driver, name.encode(), ctypes.byref(address)) == 0:
        assert process.dladdr(address, ctypes.byref(where)) != 0
        print(name, os.path.basename(where.file.decode()))
