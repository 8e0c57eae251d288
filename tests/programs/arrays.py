# SPDX-License-Identifier: Apache-2.0
"""Kernels of PyOpenCL's on N numbers, and what they computed: arrays.py N [sum] [scan] [bitonic] [radix]"""
import os
import sys

os.environ["PYOPENCL_NO_CACHE"] = "1"
import numpy as np  # noqa: E402
import pyopencl as cl  # noqa: E402
import pyopencl.array  # noqa: E402
from pyopencl.algorithm import RadixSort  # noqa: E402
from pyopencl.bitonic_sort import BitonicSort  # noqa: E402
from pyopencl.reduction import ReductionKernel  # noqa: E402
from pyopencl.scan import GenericScanKernel  # noqa: E402

N = int(sys.argv[1])
WHICH = sys.argv[2:] or ["sum", "scan", "bitonic", "radix"]

context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
queue = cl.CommandQueue(context)
numbers = np.arange(N) * 37 % 101
floats = cl.array.to_device(queue, numbers.astype(np.float32))
integers = cl.array.to_device(queue, numbers.astype(np.int32))

if "sum" in WHICH:
    total = ReductionKernel(context, np.float32, neutral="0", reduce_expr="a + b", map_expr="x[i] * x[i]",
                            arguments="__global float *x")
    print("sum", float(total(floats).get()).hex())
if "scan" in WHICH:
    sums, scan = integers.copy(), GenericScanKernel(context, np.int32, arguments="__global int *x", input_expr="x[i]",
                                                    scan_expr="a + b", neutral="0", output_statement="x[i] = item;")
    scan(sums, queue=queue)
    print("scan", sums.get().tolist())
if "bitonic" in WHICH:
    ordered, event = BitonicSort(context)(floats.copy(), queue=queue)
    event.wait()
    print("bitonic", ordered.get().tolist())
if "radix" in WHICH:
    sort = RadixSort(context, "int *x", key_expr="x[i]", sort_arg_names=["x"])
    (ordered,), _ = sort(integers, key_bits=8, queue=queue)
    print("radix", ordered.get().tolist())
