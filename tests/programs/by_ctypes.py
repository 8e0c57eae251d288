# SPDX-License-Identifier: Apache-2.0
"""OpenCL from Python, through ctypes alone."""
import ctypes

cl = ctypes.CDLL("libOpenCL.so.1")
for name in ("clCreateContext", "clCreateCommandQueue", "clCreateBuffer"):
    getattr(cl, name).restype = ctypes.c_void_p
handle, number = ctypes.c_void_p, ctypes.c_size_t


def check(status):
    if status != 0:
        raise SystemExit(f"OpenCL error {status}")


platform, device, status = handle(), handle(), ctypes.c_int()
check(cl.clGetPlatformIDs(1, ctypes.byref(platform), None))
check(cl.clGetDeviceIDs(platform, ctypes.c_ulong(0xffffffff), 1, ctypes.byref(device), None))
context = handle(cl.clCreateContext(None, 1, ctypes.byref(device), None, None, ctypes.byref(status)))
queue = handle(cl.clCreateCommandQueue(context, device, ctypes.c_ulong(0), ctypes.byref(status)))
memory = handle(cl.clCreateBuffer(context, ctypes.c_ulong(1), number(1000), None, ctypes.byref(status)))
check(status.value)
text = ctypes.create_string_buffer(b"from Python", 1000)
back = ctypes.create_string_buffer(1000)
for _ in range(10):
    check(cl.clEnqueueWriteBuffer(queue, memory, 0, number(0), number(1000), text, 0, None, None))
check(cl.clEnqueueReadBuffer(queue, memory, 1, number(0), number(1000), back, 0, None, None))
print(back.value.decode())
