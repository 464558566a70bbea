"""Groups in the partition of `__consumer_offsets` that is theirs, and in others."""

from __future__ import annotations

from pathlib import Path

import pytest

from rules.finding import Finding, Severity
from tests.auditor.dumps_at_hand import audited
from tests.rules.broken_dumps import TOPIC_ID, Yard
from tests.rules.cluster_dumps import OFFSETS, MetadataLog, commit_key, commit_value, entry, topic_id, with_metadata

THERE = {"d": 0, "banana": 27, "g1": 42}
"""Groups and their partitions of 50, as Java's `String.hashCode` and Kafka's `Utils.abs` tell."""


def dump(root: Path, groups: list[str], *, partition: int = 0, counts: tuple[int, ...] = (50,)) -> Path:
    """A partition of the offsets topic with commits of these groups; the topic grew by these counts."""
    log = MetadataLog()
    for at, (before, count) in enumerate(zip((0, *counts), counts, strict=False)):
        log.topic(OFFSETS, 1, [[1]] * (count - before), at=1000 * at, first=before)
    if counts:
        with_metadata(root, log)
    kept = [entry(n, [(commit_key(group), commit_value(5))]) for n, group in enumerate(groups)]
    Yard(root, topic=OFFSETS).broker(1, kept, partition=partition, topic_id=topic_id(1) if counts else TOPIC_ID)
    return root


def found(root: Path) -> list[Finding]:
    return [finding for finding in audited(root).findings if finding.rule == "CONS005"]


def asked(root: Path) -> list[str]:
    return [point.reason for point in audited(root).coverage.undecided if point.rule == "CONS005"]


@pytest.mark.parametrize(("group", "partition"), THERE.items())
def test_a_group_in_its_own_partition_is_no_finding(tmp_path: Path, group: str, partition: int) -> None:
    root = dump(tmp_path, [group], partition=partition)
    assert (found(root), asked(root)) == ([], [])


def test_groups_that_belong_elsewhere_are_told_with_their_homes(tmp_path: Path) -> None:
    (finding,) = found(dump(tmp_path, ["d", "g1", "banana"]))
    assert (finding.severity, finding.confidence, finding.topic, finding.partition) == (
        Severity.MEDIUM, "certain", OFFSETS, 0,
    )  # fmt: skip
    facts = finding.values()
    assert (facts["groups"], facts["homes"], facts["count"]) == (["banana", "g1"], [27, 42], 50)
    shown = {exhibit.role: exhibit.span for exhibit in finding.exhibits}
    span = shown["what g1 has here"]
    assert b"g1" in (tmp_path / span.source).read_bytes()[span.start : span.end]


def test_partitions_that_were_added_leave_groups_behind(tmp_path: Path) -> None:
    # In the one partition that there was, every group was at home.
    (finding,) = found(dump(tmp_path, ["d", "g1"], counts=(1, 50)))
    assert (finding.values()["groups"], finding.values()["count"]) == (["g1"], 50)


def test_where_nothing_tells_how_many_partitions_there_are_nobody_is_accused(tmp_path: Path) -> None:
    root = dump(tmp_path, ["g1"], partition=7, counts=())
    assert found(root) == []
    wrong = "groups are in the wrong partition if the topic has 8 partitions."
    assert asked(root) == [f"{wrong} So many have folders here, and there may be more"]


def test_a_group_whose_records_were_all_deleted_is_not_here(tmp_path: Path) -> None:
    root = dump(tmp_path, [])
    key = commit_key("g1")
    log = [entry(0, [(key, commit_value(5))]), entry(1, [(key, None)])]
    folder = next(tmp_path.rglob(f"{OFFSETS}-0"))
    (folder / f"{0:020d}.log").write_bytes(b"".join(one.content for one in log))
    assert found(root) == []
