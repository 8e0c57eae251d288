# SPDX-License-Identifier: Apache-2.0
"""For tests with short budgets and limits: on a busy machine they may end before what is looked for had its
turn, or tare may be stopped while it measures. With more time what is right is found; what is wrong stays so."""
import functools
import inspect

TIMES = (1, 4, 16)


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
