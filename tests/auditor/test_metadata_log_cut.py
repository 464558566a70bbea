"""A metadata log that was emptied, or cut before it tells of the partitions: no clean verdict is silent about it."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from dumps_at_hand import audited, copied

from auditor.report.summary import summary

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
def test_a_clean_verdict_names_what_the_metadata_log_does_not_tell(kept: int, partial: bool, tmp_path: Path) -> None:
    dump = copied("recreated_topic", tmp_path / "dump")
    logs = [*dump.glob("*/data/__cluster_metadata-0/*.log")]
    assert logs
    for log in logs:
        log.write_bytes(first_batches(log.read_bytes(), kept))
    report = audited(dump, partial=partial)
    scope = report.coverage.scope
    assert (report.verdict, scope.metadata_untold) == ("clean", 1)
    assert "without a word of the metadata log on 1 partition" in scope.words
    assert any(each.words.startswith("The metadata log here does not tell of 1") for each in summary(report).unseen)


def test_a_whole_metadata_log_tells_of_all(tmp_path: Path) -> None:
    report = audited(copied("recreated_topic", tmp_path / "dump"), partial=True)
    assert report.coverage.scope.metadata_untold == 0
    assert "metadata log on" not in report.coverage.scope.words
