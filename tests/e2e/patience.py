# SPDX-License-Identifier: Apache-2.0
"""For tests with short budgets and limits: on a busy machine they may end before what is looked for had its
turn, or tare may be stopped while it measures. With more time what is right is found; what is wrong stays so,
but for what goes wrong now and then: a crash and a wrong result are never tried again (ended_well)."""
import functools
import inspect

import pytest

TIMES = (1, 4, 16)
# What has not ended after so many seconds hangs, on any machine.
HUNG_S = 600


def patient(test):
    """A test whose last argument, `times`, is what it multiplies its budgets by: 1; where it fails, more."""
    signature = inspect.signature(test)
    fixtures = [argument for name, argument in signature.parameters.items() if name != "times"]

    @functools.wraps(test)
    def run(**arguments):
        for times in TIMES[:-1]:
            try:
                return test(times=times, **arguments)
            except (AssertionError, KeyError, IndexError, TypeError) as fault:
                print(f"# with {times} times the budget: {type(fault).__name__}: {fault}")
        return test(times=TIMES[-1], **arguments)

    run.__signature__ = signature.replace(parameters=fixtures)
    return run


def ended_well(result):
    """The command's exit status is 0. After a crash or a wrong result the test fails, whatever is patient."""
    if result.returncode < 0 or any(word in result.stderr for word in ("wrong", "destination did not")):
        pytest.fail(f"exit status {result.returncode}: {result.stderr}")
    assert result.returncode == 0, result.stderr
