"""Tiered storage: a local log that starts late is lawful, and lost records that remote storage holds are told."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from dumps_at_hand import SAMPLES, audited
from dumps_at_hand import copied as a_copy

from auditor.config import ConfigError
from auditor.report.bill import sentence
from auditor.report.json import document, render
from auditor.report.model import AuditReport, Loss
from auditor.report.summary import summary
from auditor.salvage import SalvageRequest, run_salvage
from parsers.internal_topics import InternalRecord, remote_segments
from parsers.provenance import Origin, Span
from rules.finding import Severity
from rules.replicas.remote import RemoteCopy, by_epoch, of_the_topic
from tests.hostile.mutators import batches_of
from tests.lab.sample_reports import report_on

CLEAN, LOSSY = SAMPLES / "tiered", SAMPLES / "tiered_unclean"
ORIGIN = Origin(source="__remote_log_metadata-0/00000000000000000000.log", topic="__remote_log_metadata", partition=0)


def truth(case: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((case / "truth.json").read_text(encoding="utf-8"))
    return told


@cache
def report(case: Path) -> AuditReport:
    return report_on(case)


def loss() -> Loss:
    (found,) = (loss for history in report(LOSSY).histories for loss in history.losses)
    return found


def test_a_local_log_that_starts_above_its_log_start_is_sound() -> None:
    """Its segments went to remote storage; a replica that lost its directory began where its leader's log begins."""
    told = report(CLEAN)
    assert told.verdict == "clean"
    assert {finding.rule for finding in told.violations if finding.severity > Severity.LOW} == set()
    own = [placed.replica for placed in told.replicas if placed.topic == "tier"]
    starts = {replica.broker: replica.log_start_offset for replica in own}
    assert all(start > 0 for start in starts.values())
    assert len(starts) == len(("broker 1", "broker 2"))


def test_copies_are_those_that_stand_in_remote_storage() -> None:
    """The object store's own files are the truth: their names bear the ids and the first offsets."""
    stored = {(each["segment"], each["startOffset"]) for each in truth(LOSSY)["remote"]}
    told = {(copy.segment, copy.start_offset) for copy in loss().remote}
    assert told
    assert told <= stored
    assert {copy.epoch for copy in loss().remote} == {0}
    later = {(segment, start) for segment, start in stored - told if start >= loss().start_offset}
    assert len(later) == 1, "one segment at these offsets is of the new leader's epoch"


def test_lost_records_in_remote_storage_are_told_as_such() -> None:
    assert loss().kept_remotely == ((120, 210),)
    assert "Remote storage holds offsets 120–209 in 3 segments, by __remote_log_metadata." in sentence(loss())
    lost = summary(report(LOSSY)).lost
    assert lost is not None
    assert lost.copies.endswith("Remote storage holds 90 of the 120 offsets.")
    told: Any = document(report(LOSSY))
    (billed,) = (each for history in told["histories"] for each in history["losses"])
    ranges = [(each["startOffset"], each["endOffset"]) for each in billed["remote"]]
    assert ranges == [(120, 150), (150, 180), (180, 210)]


def test_without_the_brokers_notes_nothing_is_said_of_remote_storage(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    shutil.copytree(LOSSY / "dump", dump)
    for folder in sorted(dump.glob("broker-*/data/__remote_log_metadata-0")):
        shutil.rmtree(folder)
    assert "emote storage" not in render(audited(dump))


def asked(dump: Path) -> tuple[str, list[str]]:
    """The verdict, and what is asked of segments."""
    told = audited(dump)
    return told.verdict, [point.reason for point in told.coverage.undecided if point.rule == "SEG003"]


def without_notes(dump: Path, keep: Callable[[int], bool]) -> Path:
    """Of the log of remote segments on each broker the entries by their place that are kept."""
    for path in sorted(dump.glob("broker-*/data/__remote_log_metadata-0/*.log")):
        content = path.read_bytes()
        entries = [content[start:end] for start, end in batches_of(content)]
        path.write_bytes(b"".join(entry for place, entry in enumerate(entries) if keep(place)))
    return dump


def test_what_remote_storage_alone_holds_is_named_and_leaves_the_verdict(tmp_path: Path) -> None:
    dump = a_copy("tiered", tmp_path / "dump", logs=True)
    named = (
        "no disk in this dump holds offsets 0–239. By __remote_log_metadata they are in remote storage."
        " So they were not checked"
    )
    assert asked(dump) == ("clean", [named])


def test_without_the_brokers_notes_it_is_open_whether_remote_storage_holds_the_beginning(tmp_path: Path) -> None:
    dump = a_copy("tiered", tmp_path / "dump", logs=True)
    for folder in sorted(dump.glob("broker-*/data/__remote_log_metadata-0")):
        shutil.rmtree(folder)
    verdict, reasons = asked(dump)
    assert verdict == "unknown"
    assert reasons[0].startswith("no disk in this dump holds offsets 0–239. Nothing here tells of a copy in remote")


def test_what_the_notes_leave_out_is_asked_for(tmp_path: Path) -> None:
    """Entries of one segment in the middle are not in this copy of the notes."""
    whole = a_copy("tiered", tmp_path / "dump", logs=True)
    dump = without_notes(whole, lambda place: place not in (4, 5))
    verdict, reasons = asked(dump)
    assert verdict != "clean"
    assert any("__remote_log_metadata here tells of no copy in remote storage" in reason for reason in reasons), reasons


def uvarint(number: int) -> bytes:
    more, rest = number >> 7, number & 0x7F
    return bytes([rest | 0x80]) + uvarint(more) if more else bytes([rest])


def big(number: int, size: int) -> bytes:
    return number.to_bytes(size, "big", signed=True)


def named(segment: int) -> bytes:
    return uvarint(len("tier") + 1) + b"tier" + bytes(16) + big(0, 4) + b"\0" + bytes([segment] * 16) + b"\0"


def copied(segment: int, start: int, last: int) -> bytes:
    """A record of a copy that is begun, written from Kafka's own message definition."""
    epochs = uvarint(2) + big(0, 4) + big(0, 8) + b"\0"
    times = big(0, 8) + big(0, 8)
    body = named(segment) + big(start, 8) + big(last, 8) + big(1, 4) + times + epochs
    return b"\1\0\0" + body + big(99, 4) + b"\0" + big(0, 1) + b"\0"


def moved(segment: int, state: int) -> bytes:
    return b"\1\1\0" + named(segment) + big(1, 4) + big(0, 8) + b"\0" + big(state, 1) + b"\0"


def records(*values: bytes | None) -> list[InternalRecord]:
    span = Span(source=ORIGIN.source, start=0, end=1)
    return [InternalRecord(offset=n, timestamp=0, key=None, value=value, span=span) for n, value in enumerate(values)]


def standing(*values: bytes | None) -> list[tuple[int, int]]:
    told = remote_segments(records(*values), ORIGIN)
    assert told.refusals == ()
    return [(segment.start_offset, segment.end_offset) for segment in told.standing]


def test_a_segment_counts_while_its_copy_is_finished_and_no_longer() -> None:
    begun = copied(1, 0, 9)
    assert standing(begun) == []
    assert standing(begun, moved(1, 1)) == [(0, 10)]
    assert standing(begun, moved(1, 1), moved(1, 2)) == []
    assert standing(begun, moved(1, 1), moved(1, 2), moved(1, 3)) == []
    assert standing(moved(2, 1), None, copied(3, 5, 5), moved(3, 1)) == [(5, 6)]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (b"", "malformed"),
        (copied(1, 0, 9)[:-3], "malformed"),
        (copied(1, 0, 9) + b"x", "malformed"),
        (copied(1, 9, 0), "malformed"),
        (b"\2" + copied(1, 0, 9)[1:], "unknown_version"),
        (b"\1\0\1" + copied(1, 0, 9)[3:], "unknown_version"),
        (b"\1\x09\0", "unknown_version"),
    ],
)
def test_bytes_that_are_no_such_record_are_refused(value: bytes, kind: str) -> None:
    told = remote_segments(records(value, copied(2, 0, 4), moved(2, 1)), ORIGIN)
    assert [refusal.kind for refusal in told.refusals] == [kind]
    assert [segment.end_offset for segment in told.standing] == [5]


def test_more_segments_than_there_is_room_for_are_counted() -> None:
    told = remote_segments(records(copied(1, 0, 4), copied(2, 5, 9), copied(3, 10, 14), moved(1, 1)), ORIGIN, limit=1)
    assert (len(told.standing), told.left_out) == (1, 2)


def test_a_segment_of_several_epochs_is_a_copy_of_each() -> None:
    assert list(by_epoch(((0, 0), (3, 25), (4, 28)), 20, 30)) == [(0, 20, 25), (3, 25, 28), (4, 28, 30)]
    assert list(by_epoch((), 20, 30)) == []


def test_copies_of_another_topic_of_the_name_are_left_out() -> None:
    span = Span(source="x", start=0, end=1)
    mine, other = (
        RemoteCopy(segment=each, topic_id=each, broker=1, epoch=0, start_offset=0, end_offset=5, span=span)
        for each in "ab"
    )
    assert of_the_topic((other, mine, mine), frozenset({"a"})) == (mine,)
    assert of_the_topic((other, mine), frozenset()) == (mine, other)


def salvaged(dump: Path, place: Path) -> str:
    """What salvage says of what LEAD001 calls lost, without writing it."""
    report = audited(dump)
    (finding,) = (each for each in report.violations if each.rule == "LEAD001" and each.topic == "tier")
    kept = place / "report.json"
    kept.write_text(render(report), encoding="utf-8")
    return run_salvage(SalvageRequest(finding=finding.id, target=place / "out.jsonl", report=kept, dump=dump))


def test_salvage_says_what_remote_storage_holds(tmp_path: Path) -> None:
    told = salvaged(LOSSY / "dump", tmp_path)
    assert "Remote storage holds offsets 120–209 of epoch 0, by __remote_log_metadata: segments q_In-" in told


def test_salvage_says_so_where_no_copy_is_in_the_dump(tmp_path: Path) -> None:
    dump = Path(shutil.copytree(LOSSY / "dump", tmp_path / "dump"))
    for deleted in dump.glob("broker-1/data/tier-0/*.log.deleted"):
        deleted.unlink()
    with pytest.raises(ConfigError, match=r"no copy of .*Remote storage holds offsets 120–209 of epoch 0"):
        salvaged(dump, tmp_path)
