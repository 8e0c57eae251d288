# SPDX-License-Identifier: Apache-2.0
"""What overlapping the sequential pipeline would gain, predicted from its recording alone, against the
concurrent one as it runs. PoCL copies with the cores of its kernels, so the range is wide. What the range
must be for the times recorded holds on any machine; what the concurrent form takes, on one without others."""
import collections
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from others import Others  # noqa: E402
from recorded import EXAMPLES, Recorder, built  # noqa: E402, F401

pytestmark = built()
TRIES = 4
QUIET_CORES = 0.3
CHUNKS, UNITS = 16, 2
ARGUMENTS = (str(CHUNKS), "1024", "8")
Try = collections.namedtuple("Try", "kernel_ms copies_ms measured_ms low_ms high_ms source concurrent_ms others")


@pytest.fixture(scope="module")
def recorder(tare_path, tmp_path_factory, kernel_cache):  # noqa: F811
    return Recorder(tare_path, tmp_path_factory.mktemp("whatif"), kernel_cache)


def record(recorder, form):
    done = recorder.record([EXAMPLES / "pipeline", form, *ARGUMENTS], name="whatif",
                           environment={"POCL_DEVICES": "pthread", "POCL_PTHREAD_COUNT": str(UNITS),
                                        "MALLOC_PERTURB_": "0"})
    assert done.status == 0, done.errors.decode()
    report = recorder.report(done.folder)
    parts = {part["category"]: part["ns"] for part in report["ledgers"][0]["parts"]}
    # Without what the host does: a first launch compiles, and a busy machine stops programs.
    busy_ms = sum(parts[name] for name in parts if name == "kernel" or name.startswith("transfer")) / 1e6
    return report, parts["kernel"] / 1e6, busy_ms


def figures(finding):
    return {figure["name"]: figure["value"] for figure in finding["figures"]}


def is_hit(seen):
    return seen.low_ms / 1.5 < seen.concurrent_ms < seen.high_ms * 1.5


@pytest.fixture(scope="module")
def tries(recorder):
    """Those of which the finding tells all chunks, up to the first where the truth lies in the range."""
    seen = []
    for _ in range(TRIES):
        others = Others()
        report, kernel_ms, busy_ms = record(recorder, "sequential")
        _, _, concurrent_ms = record(recorder, "concurrent")
        found = [finding for finding in report["findings"] if finding["id"] == "overlap-missed"]
        if not found:
            continue
        told = figures(found[0])
        if told["chunks"] != CHUNKS:  # the machine stopped the program for so long that the rest is another part
            continue
        seen.append(Try(kernel_ms, busy_ms - kernel_ms, told["measured_ns"] / 1e6, told["predicted_low_ns"] / 1e6,
                        told["predicted_high_ns"] / 1e6, found[0]["source"], concurrent_ms, others.cores()))
        print(f"# {seen[-1]}")
        if is_hit(seen[-1]):
            break
    assert seen, "the sequential pipeline never raised overlap-missed for all its chunks"
    return seen


def test_the_range_is_that_of_the_times_recorded(tries):
    """From copies that are all hidden, each way beside the other, to one engine for everything (docs/findings.md).
    A first launch or a map may be in the ledger and in no chunk; what the host adds, a busy machine makes long."""
    for seen in tries:
        least_ms, most_ms = max(seen.kernel_ms, seen.copies_ms / 2), seen.kernel_ms + seen.copies_ms
        assert seen.source == "model" and seen.low_ms <= seen.high_ms < seen.measured_ms
        assert seen.low_ms > 0.93 * least_ms and seen.high_ms > 0.93 * most_ms, seen
    assert any(seen.low_ms < 1.05 * (seen.kernel_ms + seen.copies_ms / UNITS) and
               seen.high_ms < 1.15 * (seen.kernel_ms + seen.copies_ms) for seen in tries), tries


def test_no_run_is_faster_than_predicted(tries):
    """Others make a run longer, never shorter."""
    assert min(seen.concurrent_ms for seen in tries) > min(seen.low_ms for seen in tries) / 1.5, tries


def test_the_concurrent_form_takes_what_was_predicted(tries):
    """Threads that wait for a core are no longer what the recording saw: that refutes nothing."""
    if any(is_hit(seen) for seen in tries):
        return
    assert not [seen for seen in tries if seen.others <= QUIET_CORES], tries
    pytest.skip(f"others had more than {QUIET_CORES} cores of this machine in each of {len(tries)} tries")
