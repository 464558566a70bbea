"""What groups committed reaches the partition that they read: from the coordinators' logs of real clusters."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from dumps_at_hand import audited
from hypothesis import given
from hypothesis import strategies as st

from auditor.audit import prepare
from auditor.config import AuditConfig
from auditor.dumps import gather
from auditor.engines.reading import read_unit
from auditor.report.model import AuditReport, GroupAtRisk
from auditor.report.postmortem.document import render as postmortem
from auditor.report.summary.actions import actions
from parsers.internal_topics import InternalRecord, latest_commits
from parsers.provenance import Origin
from parsers.tables import from_arrow, to_arrow
from rules.narrow.assemble import assemble
from rules.narrow.facts import Fact, Surroundings
from tests.mutants.on_told import committed
from tests.mutants.surgery import Copy

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"
ORIGIN = Origin(source="log", partition=7)
ABORT, COMMIT = 0, 1


def facts_of(dump: Path) -> Iterator[Fact]:
    for unit in prepare(gather(dump), AuditConfig(engine="local")).units:
        if unit.kind == "group-offsets":
            yield from read_unit(unit, "full")


@pytest.mark.parametrize("case", ["clean_1_1", "clean_2_8", "clean_mixed", "clean_4x"])
def test_a_recorded_commit_becomes_a_fact_of_the_partition_that_was_read(case: str) -> None:
    (fact,) = (fact for fact in facts_of(SAMPLES / case / "dump") if fact.group_commits)
    (travelled,) = from_arrow(to_arrow([fact], Fact), Fact)
    evidence = assemble([travelled], Surroundings(cluster_id=None))
    (commit,) = evidence.group_offsets
    assert (evidence.topic, evidence.partition, commit.group, commit.offset, commit.told_by) == (
        "orders", 0, "g1", 100, "log",
    )  # fmt: skip
    held = (SAMPLES / case / "dump" / commit.span.source).read_bytes()[commit.span.start : commit.span.end]
    assert b"g1" in held
    assert b"orders" in held


def test_the_copy_is_read_that_the_others_would_follow(tmp_path: Path) -> None:
    dump = shutil.copytree(SAMPLES / "clean_2_8" / "dump", tmp_path / "dump", ignore=shutil.ignore_patterns("logs"))
    for log in dump.glob("broker-[12]/data/__consumer_offsets-0/*.log"):
        log.write_bytes(b"")
    (fact,) = (fact for fact in facts_of(dump) if fact.group_commits)
    assert fact.group_commits[0].span.source.startswith("broker-3/")


def test_level_quick_reads_no_commit() -> None:
    units = prepare(gather(SAMPLES / "clean_2_8" / "dump"), AuditConfig(engine="local", level="quick")).units
    assert [read_unit(unit, "quick") for unit in units if unit.kind == "group-offsets"] == [(), ()]


def commit(offset: int, committed: int | None, *, group: bytes = b"g", producer: int = -1) -> InternalRecord:
    key = b"\x00\x01\x00" + bytes([len(group)]) + group + b"\x00\x01t\x00\x00\x00\x00"
    value = None
    if committed is not None:
        value = b"\x00\x03" + committed.to_bytes(8, "big") + b"\x00\x00\x00\x05\x00\x00" + bytes(8)
    return record(offset, key, value, producer)


def record(
    offset: int, key: bytes | None, value: bytes | None, producer: int = -1, marker: int | None = None
) -> InternalRecord:
    return InternalRecord(
        offset=offset,
        timestamp=1,
        key=key,
        value=value,
        span=ORIGIN.span(offset, offset + 1),
        control_type=marker,
        producer_id=producer,
        transactional=producer >= 0,
    )


def in_force(*records: InternalRecord) -> dict[str, int | None]:
    return {row.group: row.committed_offset for row in latest_commits(records, ORIGIN).offsets}


def test_the_last_commit_counts_and_a_tombstone_ends_it() -> None:
    assert in_force(commit(0, 10), commit(1, 20)) == {"g": 20}
    assert in_force(commit(0, 10), commit(1, None)) == {}


def test_a_transaction_counts_from_its_marker_on() -> None:
    open_one = (commit(0, 10), commit(1, 20, producer=7))
    assert in_force(*open_one) == {"g": 10}
    assert in_force(*open_one, record(2, None, None, 7, COMMIT)) == {"g": 20}
    assert in_force(*open_one, record(2, None, None, 7, ABORT)) == {"g": 10}
    later = commit(2, 30)
    assert in_force(*open_one, later, record(3, None, None, 7, COMMIT)) == {"g": 30}


def test_what_has_no_room_is_refused_by_name() -> None:
    told = latest_commits([commit(n, n, group=f"g{n}".encode()) for n in range(5)], ORIGIN, limit=3)
    assert [row.group for row in told.offsets] == ["g0", "g1", "g2"]
    assert [(refusal.kind, refusal.span_start) for refusal in told.refusals] == [("too_large", 4)]


@given(st.lists(st.tuples(st.sampled_from([b"a", b"b"]), st.none() | st.integers(0, 99)), max_size=12))
def test_plain_commits_are_a_map_written_in_order(written: list[tuple[bytes, int | None]]) -> None:
    held: dict[str, int | None] = {}
    for group, offset in written:
        held[group.decode()] = offset
    told = in_force(*(commit(place, offset, group=group) for place, (group, offset) in enumerate(written)))
    assert told == {group: offset for group, offset in held.items() if offset is not None}


def committing(to: Path, offset: int, epoch: int) -> AuditReport:
    """The sample whose group committed an offset behind a record of an epoch."""
    copy = Copy("clean_mixed", to)
    committed(offset, epoch)(copy)
    return audited(copy.dump, topic=("orders",), partial=True)


def to_do(report: AuditReport) -> list[tuple[str, tuple[str, ...], str]]:
    asked = [action for action in actions(report) if not action.is_gate]
    return [(action.aims[0].words, action.names, action.words) for action in asked]


def test_all_that_a_newer_epoch_wrote_below_a_commit_was_not_read(tmp_path: Path) -> None:
    """The leader holds records of epoch 1 up to 252, of epoch 2 behind them, and the group had read epoch 0 alone."""
    report = committing(tmp_path / "dump", 260, 0)
    (finding,) = report.violations
    begin = 162
    assert (finding.rule, finding.start_offset, finding.end_offset) == ("CONS002", begin, 260)
    assert "of epochs 1 and 2. The group has not read these" in finding.message
    ((where, groups, words),) = to_do(report)
    assert (where, groups) == (f"orders-0 offsets {begin}–259", ("'g1'",))
    assert "set their offset to the first of these offsets" in words
    assert "Nobody, as far as this evidence goes" not in postmortem(report)


def test_a_commit_of_a_newer_epoch_than_the_log_holds_there_tells_of_its_last_record_alone(tmp_path: Path) -> None:
    (finding,) = committing(tmp_path / "dump", 100, 2).violations
    assert (finding.rule, finding.start_offset, finding.end_offset) == ("CONS002", 99, 100)


def test_a_group_beyond_the_log_is_told_what_its_clients_do_next(tmp_path: Path) -> None:
    report = committing(tmp_path / "dump", 1000, -1)
    assert "CONS001" in {finding.rule for finding in report.violations}
    (asked,) = (each for each in to_do(report) if each[1] == ("'g1'",))
    assert "auto.offset.reset" in asked[2]


@pytest.mark.parametrize(
    ("offset", "epoch", "read"),
    [(140, 0, (100, 140)), (140, None, (100, 140)), (170, 0, (100, 150)), (140, 1, None), (100, 0, None)],
)
def test_what_a_group_has_read_of_a_loss_goes_up_to_its_commit(
    offset: int, epoch: int | None, read: tuple[int, int] | None
) -> None:
    group = GroupAtRisk(group="g1", offset=offset, epoch=epoch, time=None, standing="beyond the log end")
    assert group.has_read(0, 100, 150) == read
