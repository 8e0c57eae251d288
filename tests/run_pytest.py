# SPDX-License-Identifier: Apache-2.0
"""Runs pytest for meson, with results as TAP; skips where this Python has no pytest."""
import sys

try:
    import pytest
except ImportError:
    print(f"1..0 # SKIP {sys.executable} has no pytest; install python3-pytest")
    sys.exit(0)
sys.exit(pytest.main(["--tap", *sys.argv[1:]]))
