# SPDX-License-Identifier: Apache-2.0
"""Begins Level Zero and makes a list; with an argument it begins OpenCL then."""
import ctypes
import sys


class Desc(ctypes.Structure):
    _fields_ = [("stype", ctypes.c_int), ("next", ctypes.c_void_p), ("rest", ctypes.c_uint32 * 4)]


def call(name, *arguments):
    assert getattr(loader, name)(*arguments) == 0, name


loader = ctypes.CDLL("libze_loader.so.1")
driver, device, context, made = (ctypes.c_void_p() for _ in range(4))
count = ctypes.c_uint32(1)
call("zeInit", 0)
call("zeDriverGet", ctypes.byref(count), ctypes.byref(driver))
call("zeDeviceGet", driver, ctypes.byref(count), ctypes.byref(device))
call("zeContextCreate", driver, ctypes.byref(Desc(0xd)), ctypes.byref(context))
call("zeCommandListCreate", context, device, ctypes.byref(Desc(0xf)), ctypes.byref(made))
call("zeCommandListDestroy", made)
if len(sys.argv) > 1:
    ctypes.CDLL("libOpenCL.so.1").clGetPlatformIDs(0, None, ctypes.byref(count))
