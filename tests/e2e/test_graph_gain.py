# SPDX-License-Identifier: Apache-2.0
"""What replaying launches as a graph saves: by what `tare latency` has kept, and by doing it, on the stand-ins for the
driver and CUPTI. A launch takes the host 50 us there; a kernel of a graph costs 2 us beside what it runs."""
import csv
import json
import os
import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import BUILD, PROGRAMS, SANITIZED, Recorder, run  # noqa: E402

FAKES = BUILD / "tests/fakes"
DATA = pathlib.Path(__file__).parents[1] / "data"
LAUNCHES = 2000
VERSION = "580.159.04"  # as the stand-in for NVML has it

pytestmark = pytest.mark.skipif(SANITIZED, reason="the times are of a host that is not slowed down")


@pytest.fixture(scope="module")
def on(tare_path, tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    made = Recorder(tare_path, folder, folder / "cache")
    (folder / "lib").mkdir()
    # As it is installed: the file is named after the driver.
    shutil.copy(FAKES / "fake_cuda.so", folder / f"lib/libcuda.so.{VERSION}")
    (folder / "lib/libcuda.so.1").symlink_to(f"libcuda.so.{VERSION}")
    cupti = shutil.copy(FAKES / "fake_cupti.so", folder / "lib/libcupti.so.13")
    script = (DATA / "cuda-pairs.tare-device").read_text().replace("same-gap 3 us", "same-gap 1 us")
    (folder / "script").write_text(script + "graph instantiate 10 us launch 10 us node 1 us\n")
    made.environment.update({"LD_LIBRARY_PATH": f"{folder / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}",
                             "TARE_CUDA_LIBRARY": str(folder / "lib/libcuda.so.1"), "TARE_CUPTI_LIBRARY": str(cupti),
                             "TARE_NVML_LIBRARY": str(FAKES / "fake_nvml.so"), "XDG_CACHE_HOME": str(folder / "cache"),
                             "TARE_FAKE_CUPTI": "unshared", "TARE_FAKE_CUDA": "launch_us=50",
                             "TARE_FAKE_CUDA_DEVICE": str(folder / "script")})
    return made


def finding(on, folder):
    environment = {key: on.environment[key] for key in ("XDG_CACHE_HOME",)}
    done = run([on.tare, "report", "-q", folder, "--json", on.folder / "report.json"], environment)
    assert done.status == 0, done.errors
    report = json.loads((on.folder / "report.json").read_text())
    found = [each for each in report["findings"] if each["id"] == "many-short-kernels"]
    assert len(found) == 1
    return report, found[0], {figure["name"]: figure["value"] for figure in found[0]["figures"]}


def kernels_took_ns(on, folder):
    """From the start of the first of the launches to the end of the last."""
    assert run([on.tare, "export", "--force", folder, "--csv", on.folder / "tables"]).status == 0
    with (on.folder / "tables/command.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "kernel" and row["start_ns"]]
    assert len(rows) == LAUNCHES + 1  # one before them
    return max(int(row["end_ns"]) for row in rows[1:]) - min(int(row["start_ns"]) for row in rows[1:])


def measure_launches(on):
    """Until it is kept: on a busy machine a short budget does not go round."""
    for budget in (2, 8, 20):
        done = run([on.tare, "latency", "-q", "--device", "cuda:0", "--budget", budget], on.environment)
        assert done.status == 0, done.errors
        kept = on.folder / "cache/tare"
        if kept.exists():
            assert [path.name.split("-")[0] for path in kept.iterdir()] == ["latency"]
            return
    pytest.skip("others had the processors: not all that launches cost could be measured")


def test_a_graphs_gain_is_what_was_measured(on):
    pair = PROGRAMS / "pairs_cuda"
    done = on.record([pair, "many-short-kernels", "raise"], name="one-by-one")
    assert done.status == 0
    report, before, figures = finding(on, done.folder)
    assert report["devices"][0]["driver_version"] == VERSION
    # Nothing is kept: at least half is taken to be saved.
    assert "graph_saves_ns" not in figures
    assert before["cost_low_ns"] == pytest.approx(figures["launch_ns"] * LAUNCHES / 2, rel=0.05)
    measure_launches(on)
    _, after, figures = finding(on, done.folder)
    low_ns = figures["graph_saves_ns"]
    assert after["cost_low_ns"] == pytest.approx(low_ns, abs=1) and after["cost_ns"] == before["cost_ns"]
    assert after["evidence"] != before["evidence"]
    # Done:
    graph = on.record([pair, "many-short-kernels", "graph"], name="as-a-graph")
    assert graph.status == 0
    gained_ns = kernels_took_ns(on, done.folder) - kernels_took_ns(on, graph.folder)
    assert 0 <= low_ns <= gained_ns
