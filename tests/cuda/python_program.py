# SPDX-License-Identifier: Apache-2.0
"""A CUDA program in Python, by the driver's functions: three kernels from two lines of inner(), a fill from another thread."""
import ctypes
import threading

cuda = ctypes.CDLL("libcuda.so.1")
PTX = (b".version 6.0\n.target sm_70\n.address_size 64\n"
       b".visible .entry empty() { ret; }\n.visible .entry other() { ret; }\n")


def do(function, *arguments):
    result = getattr(cuda, function)(*arguments)
    assert result == 0, (function, result)


def launch(function):
    do("cuLaunchKernel", function, 2, 1, 1, 64, 1, 1, 0, None, None, None)


class Work:
    def inner(self, function):
        for _ in range(2):
            launch(function)
        launch(function)


def fill(context, memory):
    do("cuCtxSetCurrent", context)
    do("cuMemsetD8Async", memory, 7, ctypes.c_size_t(1000), None)


def main():
    context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    memory = ctypes.c_uint64()
    do("cuInit", 0)
    do("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    do("cuCtxSetCurrent", context)
    do("cuModuleLoadDataEx", ctypes.byref(module), PTX, 0, None, None)
    do("cuModuleGetFunction", ctypes.byref(function), module, b"empty")
    do("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(1 << 20))
    Work().inner(function)
    other = threading.Thread(target=fill, args=(context, memory))
    other.start()
    other.join()
    do("cuCtxSynchronize")
    print("done")


main()
