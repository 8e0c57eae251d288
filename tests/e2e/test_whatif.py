# SPDX-License-Identifier: Apache-2.0
"""What overlapping the sequential pipeline would gain, predicted from its recording alone, against the
concurrent one as it runs. PoCL copies with the cores of its kernels, so the range is wide."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import EXAMPLES, Recorder, built, kernel_cache  # noqa: E402, F401

pytestmark = built()
TRIES = 4
ARGUMENTS = ("16", "1024", "8")


@pytest.fixture(scope="module")
def recorder(tare_path, tmp_path_factory, kernel_cache):  # noqa: F811
    return Recorder(tare_path, tmp_path_factory.mktemp("whatif"), kernel_cache)


def record(recorder, form):
    done = recorder.record([EXAMPLES / "pipeline", form, *ARGUMENTS], name="whatif",
                           environment={"POCL_DEVICES": "pthread", "POCL_PTHREAD_COUNT": "2",
                                        "MALLOC_PERTURB_": "0"})
    assert done.status == 0, done.errors.decode()
    report = recorder.report(done.folder)
    parts = {part["category"]: part["ns"] for part in report["ledgers"][0]["parts"]}
    # Without what the host does: a first launch compiles, and a busy machine stops programs.
    busy_ms = sum(parts[name] for name in parts if name == "kernel" or name.startswith("transfer")) / 1e6
    return report, busy_ms


def figures(finding):
    return {figure["name"]: figure["value"] for figure in finding["figures"]}


def test_the_gain_of_the_sequential_pipeline(recorder):
    seen = []
    for _ in range(TRIES):
        report, _ = record(recorder, "sequential")
        _, concurrent_ms = record(recorder, "concurrent")
        found = [finding for finding in report["findings"] if finding["id"] == "overlap-missed"]
        if not found:
            continue
        told = figures(found[0])
        low_ms, high_ms = told["predicted_low_ns"] / 1e6, told["predicted_high_ns"] / 1e6
        predicted_ms = (low_ms + high_ms) / 2
        print(f"# sequential {told['measured_ns'] / 1e6:.1f} ms, predicted {predicted_ms:.1f} ({low_ms:.1f} to "
              f"{high_ms:.1f}), concurrent {concurrent_ms:.1f}: "
              f"{100 * (predicted_ms / concurrent_ms - 1):+.0f} %")
        if told["chunks"] != 16:  # the machine stopped the program for so long that the rest is another part
            continue
        assert found[0]["source"] == "model" and low_ms <= high_ms < told["measured_ns"] / 1e6
        seen.append((low_ms, concurrent_ms, high_ms))
        if low_ms / 1.5 < concurrent_ms < high_ms * 1.5:
            return
    assert not seen, seen
    pytest.fail("the sequential pipeline never raised overlap-missed")
