# SPDX-License-Identifier: Apache-2.0
"""tare record --contents: which transfers' bytes are hashed, and when; memory that is gone is no fault."""
import pathlib
import struct
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recorded import PROGRAMS, Recorder, built  # noqa: E402, F401

pytestmark = built()
COMMAND, CONTENTS = 18, 36
WRITE, READ, UNMAP = 3, 4, 8
WHOLE, SAMPLED, SKIPPED, UNREADABLE, UNSEEN, NO_ROW = range(1, 7)
LATE = 1
TRIES = 8
SIZE = 1 << 20


@pytest.fixture(scope="module", params=["basic", "pthread"])
def recorder(request, tare_path, tmp_path_factory, kernel_cache):  # noqa: F811
    return Recorder(tare_path, tmp_path_factory.mktemp("contents"), kernel_cache, request.param)


def records(folder):
    """(type, record) of the only process, in the order of the file."""
    path, = folder.glob("*.trace")
    data = path.read_bytes()
    window_bytes, = struct.unpack_from("<I", data, 20)
    for window in range(4096, len(data), window_bytes):
        for at in range(window + 64, window + window_bytes, 64):
            if data[at] == 0:
                break
            yield data[at], data[at:at + 64]


def contents(folder):
    """[(kind, bytes of the command, of, late, whole, sample, bytes)] in the order of the commands."""
    commands, found = {}, {}
    for kind, record in records(folder):
        track, = struct.unpack_from("<I", record, 4)
        if kind == COMMAND:
            number, = struct.unpack_from("<I", record, 20)
            commands[track, number] = record[24], struct.unpack_from("<Q", record, 40)[0]
        elif kind == CONTENTS:
            of = struct.unpack_from("<II", record, 8)
            assert of not in found, "one a command"
            start, end = struct.unpack_from("<QQ", record, 48)
            assert start <= end
            found[of] = (struct.unpack_from("<H", record, 2)[0], bool(record[1] & LATE),
                         *struct.unpack_from("<QQQ", record, 24))
    assert set(found) <= set(commands)
    return [(*commands[of], *found[of]) for of in sorted(found, key=lambda of: of[1])]


def test_what_is_hashed_when(recorder):
    plain = recorder.native([PROGRAMS / "contents"])
    # Who is kept from the processors may hash a part only, or see a read late: not each time.
    for _ in range(TRIES):
        done = recorder.record([PROGRAMS / "contents"], "--contents")
        assert (done.status, done.out, done.errors) == (plain.status, plain.out, plain.errors) == (0, b"7\n0\n", b"")
        # Without the setting up: of the program's own memory.
        rows = [row for row in contents(done.folder) if row[1] > 256]
        *kept, gone = rows
        assert [row[:2] for row in rows] == [(WRITE, SIZE), (READ, SIZE), (READ, SIZE // 2), (UNMAP, SIZE), (WRITE, 512),
                                             (READ, SIZE)]
        # It was let go of by a callback, in the wait or before it; hashed before that, or not at all.
        assert gone[2] in (UNREADABLE, WHOLE, SAMPLED, SKIPPED, UNSEEN)
        assert gone[2] != UNREADABLE or gone[4] == 14  # EFAULT
        # The same bytes, written, read and unmapped; as far as they were hashed.
        same = [kept[at] for at in (0, 1, 3) if kept[at][2] in (WHOLE, SAMPLED)]
        assert len({row[5] for row in same}) <= 1
        if [row[2] for row in kept] == [WHOLE] * 4 + [NO_ROW] and gone[2] == UNREADABLE:
            break
    assert [row[2] for row in kept] == [WHOLE] * 4 + [NO_ROW]
    assert [row[3] for row in kept] == [False, True, False, False, False]
    hashes = [(row[4], row[5]) for row in kept]
    assert hashes[0] == hashes[1] == hashes[3] != hashes[2] and hashes[0][0] != 0


def test_without_it_nothing_is_hashed(recorder):
    done = recorder.record([PROGRAMS / "contents"])
    assert done.status == 0 and not contents(done.folder)
    coverage = recorder.report(done.folder)["coverage"]
    assert [coverage[name] for name in ("contents_ns", "contents_whole", "contents_sampled", "contents_not")] == [0] * 4


def test_what_it_costs_is_told(recorder):
    folder = recorder.record([PROGRAMS / "pairs_transfers", "duplicate-transfers", "raise"], "--contents").folder
    report = recorder.report(folder)
    coverage = report["coverage"]
    assert 0 < coverage["contents_ns"] <= coverage["cost_ns"]
    assert coverage["contents_whole"] + coverage["contents_sampled"] + coverage["contents_not"] == sum(
        row["count"] for row in report["transfers"])


def test_times_that_are_not_asked_for(recorder):
    """Nobody sees when a read is complete that has no event; those that block are seen nevertheless."""
    done = recorder.record([PROGRAMS / "contents"], "--contents", "--times", "none")
    found = [row[2] for row in contents(done.folder) if row[1] > 256]
    assert [found[1], found[4], found[5]] == [UNSEEN, NO_ROW, UNSEEN]
    assert all(of in (WHOLE, SAMPLED, SKIPPED) for of in (found[0], found[2], found[3]))


def test_what_kernels_may_have_overwritten_is_not_sure(recorder):
    """The same bytes each time, to a buffer that the kernel gets and writes."""
    for _ in range(TRIES):
        folder = recorder.record([PROGRAMS / "pairs_transfers", "transfers-dominate", "raise"], "--contents").folder
        found = {finding["id"]: finding for finding in recorder.report(folder)["findings"]}
        if "duplicate-transfers" in found:
            break
    figures = {figure["name"]: figure["value"] for figure in found["duplicate-transfers"]["figures"]}
    assert figures["maybe_overwritten"] == figures["copies"] > 0
    assert found["duplicate-transfers"]["cost_low_ns"] == 0
