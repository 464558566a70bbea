"""A metadata log that was emptied, or cut before it tells of the partitions: a part that is missing is never clean."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import pytest
from dumps_at_hand import audited, copied

from auditor.diff.side import side_of
from auditor.report.json import document
from auditor.report.summary import summary
from auditor.report.summary.conclusion import doubts
from auditor.report.summary.not_whole import WAY_OUT

LENGTH_AT, HEAD = 8, 12


def first_batches(log: bytes, count: int) -> bytes:
    """The log's beginning, whole batches."""
    end = 0
    for _ in range(count):
        (length,) = struct.unpack_from(">i", log, end + LENGTH_AT)
        end += HEAD + length
    return log[:end]


@pytest.mark.parametrize("kept", [0, 4])
@pytest.mark.parametrize("partial", [True, False])
def test_a_metadata_log_that_lacks_a_partition_keeps_the_verdict_open(kept: int, partial: bool, tmp_path: Path) -> None:
    dump = copied("recreated_topic", tmp_path / "dump")
    logs = [*dump.glob("*/data/__cluster_metadata-0/*.log")]
    assert logs
    for log in logs:
        log.write_bytes(first_batches(log.read_bytes(), kept))
    report = audited(dump, partial=partial)
    scope = report.coverage.scope
    blocking = [each.words for each in summary(report).unseen if each.blocking]
    assert scope.metadata_untold == 1
    if partial:
        assert (report.verdict, report.exit_code, blocking) == ("clean", 0, [])
        assert "without a word of the metadata log on 1 partition" in scope.words
    else:
        assert (report.verdict, report.exit_code, len(blocking)) == ("unknown", 3, 1)
        assert blocking[0].startswith("The metadata log here lacks 1 partition of this dump")
        assert [*doubts(report)] == [f"the metadata log here lacks 1 partition of this dump ({WAY_OUT})"]
    assert side_of(document(report), "this").lacking is not partial


def test_a_metadata_log_that_nobody_has_is_a_kind_that_is_absent(tmp_path: Path) -> None:
    dump = copied("recreated_topic", tmp_path / "dump")
    for folder in dump.glob("*/data/__cluster_metadata-0"):
        shutil.rmtree(folder)
    report = audited(dump)
    assert (report.verdict, report.coverage.scope.metadata_untold) == ("clean", 0)
    assert "as far as disks alone tell" in report.coverage.scope.words


def test_a_whole_metadata_log_tells_of_all(tmp_path: Path) -> None:
    report = audited(copied("recreated_topic", tmp_path / "dump"), partial=True)
    assert report.coverage.scope.metadata_untold == 0
    assert "metadata log on" not in report.coverage.scope.words
