# SPDX-License-Identifier: Apache-2.0
"""A library in C, through ctypes:  sites.py LIBRARY"""
import ctypes
import sys

print(ctypes.CDLL(sys.argv[1]).use_device(7))
