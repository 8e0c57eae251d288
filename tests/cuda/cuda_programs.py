# SPDX-License-Identifier: Apache-2.0
"""What tests of CUDA programs on the stand-ins share: a script, the program, and a recorder of it."""
import os
import pathlib
import shutil
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "levelzero"), str(HERE.parent / "e2e")]
from recorded import BUILD, Recorder  # noqa: E402

STREAMS = BUILD / "tests/cuda/streams"
WITHIN = BUILD / "tests/cuda/streams_within"
FAKES = BUILD / "tests/fakes"
MIB = 1 << 20
SCRIPT = """tare-device 1
device name "exact" memory 1 GiB
timer rate 1 GHz
engine compute runs kernel
engine copy runs to-device,local
engine copy runs to-host
copy pinned device fixed 29 us rate 65.536 GB/s
copy device pinned fixed 29 us rate 65.536 GB/s
copy pageable device fixed 29 us rate 65.536 GB/s
copy device pageable fixed 29 us rate 65.536 GB/s
copy device device fixed 29 us rate 65.536 GB/s
fill fixed 19 us rate 65.536 GB/s
marker fixed 1 us
kernel empty fixed 50 us
kernel other fixed 70 us
"""


def stand_ins(folder, device):
    """The environment of a program that finds the stand-ins where it looks for driver and CUPTI. `device` names the
    script, or several."""
    (folder / "lib").mkdir()
    # By their names it is told what is the program's: files of the process, call stacks.
    driver = shutil.copy(FAKES / "fake_cuda.so", folder / "lib/libcuda.so.1")
    cupti = shutil.copy(FAKES / "fake_cupti.so", folder / "lib/libcupti.so.13")
    return {"LD_LIBRARY_PATH": f"{folder / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}",
            "TARE_CUDA_LIBRARY": str(driver), "TARE_CUPTI_LIBRARY": str(cupti), "TARE_FAKE_CUDA_DEVICE": str(device)}


@pytest.fixture
def on(tare_path, tmp_path):
    recorder = Recorder(tare_path, tmp_path, tmp_path / "cache")
    (tmp_path / "script").write_text(SCRIPT)
    recorder.environment.update(stand_ins(tmp_path, tmp_path / "script"))
    return recorder
