# SPDX-License-Identifier: Apache-2.0
"""Which cases of a parametrised test belong to the quick check."""
import pytest


def thorough_but(quick, values):
    """The values as parameters: those of `quick` for the quick check, the others for the thorough one."""
    assert all(value in values for value in quick)
    return [value if value in quick else pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.thorough)
            for value in values]
