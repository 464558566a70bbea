"""Every rule on real bytes: one thing is broken in a dump, and the audit names it at its exact offsets."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import google_crc32c
import jsonschema  # type: ignore[import-untyped]  # published without types
import pytest

from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.report.json import document
from parsers.writers.segments import batch_bytes
from rules.catalog import BY_ID, RULES
from rules.finding import Finding, Severity, Violation
from rules.judging.judge import judge
from rules.sketch.notation import read_sketch
from tests.auditor.dumps_at_hand import ROOT
from tests.lab.effort import fast_if
from tests.rules.broken_dumps import OTHER_TOPIC_ID, Yard, batch, chain, change, position, segment, wrote

SCHEMA = ROOT / "docs" / "report.schema.json"
LOG = wrote(0, 0, 60) + wrote(1, 60, 100)


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path)


def fact(finding: Finding, name: str) -> object:
    return finding.values()[name]


def broken(yard: Yard, **claims: object) -> Path:
    """Broker 3 to be broken, 1 and 2 healthy; the only segment of broker 3."""
    yard.healthy(LOG, 1, 2)
    return segment(yard.broker(3, LOG, **claims))  # type: ignore[arg-type]


def message(yard: Yard, rule: str) -> str:
    (finding,) = (found for found in yard.report().violations if found.rule == rule)
    return finding.message


def test_three_equal_replicas_show_nothing(yard: Yard) -> None:
    broken(yard)
    assert yard.told(least=Severity.INFO) == []
    assert yard.undecided() == []


# --- headers and payload, field by field ----------------------------------------------------------------------------

FIELDS = {"length": 11, "leader epoch": 15, "magic": 16, "crc": 17, "last delta": 26, "payload": 70}


@pytest.mark.parametrize("field", ["crc", "payload"])
def test_a_flipped_bit_under_the_checksum(yard: Yard, field: str) -> None:
    change(broken(yard), position(LOG, 40) + FIELDS[field], lambda byte: byte ^ 4)
    assert yard.told() == [("SEG001", "medium", (3,), 40, 50)]


# Where a batch of one record carries the latest timestamp, its producer's id, epoch, sequence, and unused attributes.
OF_A_BATCH = {"latest timestamp": 42, "producer id": 50, "producer epoch": 52, "first sequence": 56, "attributes": 21}


@pytest.mark.parametrize("field", OF_A_BATCH)
def test_a_batch_of_another_producer_with_a_sound_checksum_holds_other_records(yard: Yard, field: str) -> None:
    """The latest timestamp is no part of what was written: cleaning makes it anew."""
    log, start = broken(yard), position(LOG, 40)
    content = bytearray(log.read_bytes())
    end = start + 12 + int.from_bytes(content[start + 8 : start + 12], "big")
    content[start + OF_A_BATCH[field]] ^= 0x80 if field == "attributes" else 1
    content[start + 17 : start + 21] = google_crc32c.value(bytes(content[start + 21 : end])).to_bytes(4, "big")
    log.write_bytes(bytes(content))
    differs = [("LOG003", "critical", (1, 3), 40, 50), ("LOG003", "critical", (2, 3), 40, 50)]
    assert [told for told in yard.told() if told[0] == "LOG003"] == ([] if field == "latest timestamp" else differs)


@pytest.mark.parametrize("named", [1, 50, 1 << 40])
def test_a_segment_that_begins_below_its_name_leaves_the_verdict_open(yard: Yard, named: int) -> None:
    log = broken(yard)
    log.rename(log.with_name(f"{named:020d}.log"))
    (refusal,) = [refusal for refusal in yard.report().refusals if refusal.blocking]
    assert (refusal.expected, refusal.found) == (f"a first batch at offset {named} or behind it", "one at offset 0")
    assert yard.report().verdict != "clean"


def test_without_a_good_copy_committed_records_are_lost(yard: Yard) -> None:
    change(segment(yard.broker(1, LOG)), position(LOG, 40) + 70, lambda byte: byte ^ 4)
    assert yard.told() == [("SEG001", "critical", (1,), 40, 50)]


def test_a_flipped_last_offset_is_told_as_damage_of_its_batch_alone(yard: Yard) -> None:
    change(broken(yard), position(LOG, 40) + FIELDS["last delta"], lambda byte: byte ^ 64)
    assert yard.told() == [("SEG001", "medium", (3,), 40, 50)]


OUTSIDE_THE_CHECKSUM = [("base offset", bit) for bit in (0, 3, 6, 20, 62, 63)] + [
    ("leader epoch", bit) for bit in (1, 3, 30, 31)
]  # fmt: skip


@pytest.mark.parametrize(("field", "bit"), OUTSIDE_THE_CHECKSUM)
@pytest.mark.parametrize("base", fast_if((50,).__contains__, [0, 10, 40, 50, 60, 70, 90]))
def test_one_flipped_bit_outside_the_checksum_is_one_finding(yard: Yard, field: str, bit: int, base: int) -> None:
    end = {"base offset": 7, "leader epoch": 15}[field]
    change(broken(yard), position(LOG, base) + end - bit // 8, lambda byte: byte ^ 1 << bit % 8)
    assert yard.told(least=Severity.INFO) == [("SEG006", "high", (3,), base, base + 10)]


@pytest.mark.parametrize("bit", [3, 6, 40])
@pytest.mark.parametrize("base", fast_if((30,).__contains__, [10, 30, 60, 90]))
def test_holes_of_a_compacted_log_do_not_hide_a_flipped_base_offset(yard: Yard, base: int, bit: int) -> None:
    log = [one for one in LOG if one.base not in (20, 50, 70)]
    for broker in (1, 2, 3):
        yard.broker(broker, log, cleaner=80)
    folder = next(yard.root.rglob("broker-3/data/t-0"))
    change(segment(folder), position(log, base) + 7 - bit // 8, lambda byte: byte ^ 1 << bit % 8)
    ((rule, severity, brokers, start, end),) = yard.told(least=Severity.INFO)
    assert (rule, severity, brokers) == ("SEG006", "high", (3,))
    assert (start or 0) <= base < base + 10 <= (end or 0)


@pytest.mark.parametrize("base", fast_if((40,).__contains__, [0, 40, 90]))
@pytest.mark.parametrize("byte", [23, 25, 26])
def test_a_last_offset_under_a_failing_checksum_proves_nothing(yard: Yard, base: int, byte: int) -> None:
    change(broken(yard), position(LOG, base) + byte, lambda value: value ^ 64)
    assert yard.told(least=Severity.INFO) == [("SEG001", "medium", (3,), base, base + 10)]


@pytest.mark.parametrize(("more", "told"), [(15, "SEG006"), (70, "SEG001")])
def test_a_foreign_epoch_in_a_log_of_one_batch_claims_no_leadership(yard: Yard, more: int, told: str) -> None:
    for broker in (1, 2, 3):
        yard.broker(broker, wrote(2, 0, 10), clean=False)
    path = segment(next(yard.root.rglob("broker-3/data/t-0")))
    change(path, 15, lambda byte: byte ^ 32)
    change(path, more, lambda byte: byte ^ 1)
    assert [(rule, brokers) for rule, _, brokers, *_ in yard.told(least=Severity.INFO)] == [(told, (3,))]


def test_without_an_orderly_stop_neighbours_and_the_same_batch_elsewhere_testify(yard: Yard) -> None:
    for broker in (1, 2, 3):
        yard.broker(broker, LOG, clean=False, hw=60, recovery=0)
    path = segment(next(yard.root.rglob("broker-3/data/t-0")))
    change(path, position(LOG, 90) + 7, lambda byte: byte ^ 8)
    assert yard.told()[0] == ("SEG006", "high", (3,), 90, 100)


def test_a_single_log_that_no_cleaner_touched_has_no_offsets_without_records(yard: Yard) -> None:
    forged = [*LOG[:-1], batch(1, 90, 100, last=150)]
    yard.broker(1, forged, clean=False, hw=60, recovery=0)
    assert yard.told() == [("SEG006", "high", (1,), 90, 100)]


@pytest.mark.parametrize("base", [0, 40, 90])
@pytest.mark.parametrize("last", [12, 1_000, 2**31 - 1])
def test_a_last_offset_that_no_record_reaches_moves_no_log_end(yard: Yard, base: int, last: int) -> None:
    forged = [batch(one.epoch, base, base + 10, last=base + last + 1) if one.base == base else one for one in LOG]
    yard.healthy(LOG, 1, 2)
    yard.broker(3, forged, hw=100, recovery=100, epochs=chain(LOG))
    assert yard.told(least=Severity.INFO) == [("SEG006", "high", (3,), base, base + 10)]
    ends = {placed.replica.log_end_offset for placed in yard.report().replicas}
    assert ends == {100}


@pytest.mark.parametrize("base", [0, 40, 90])
def test_a_base_offset_that_leaves_no_room_for_its_records_is_told_within_what_offsets_can_be(
    yard: Yard, base: int
) -> None:
    path, start, highest = broken(yard), position(LOG, base), 2**63 - 1
    data = path.read_bytes()
    path.write_bytes(data[:start] + highest.to_bytes(8) + data[start + 8 :])
    (finding,) = yard.report().violations
    assert (finding.rule, finding.start_offset, finding.end_offset) == ("SEG006", highest, highest)
    assert f"a batch at offset {highest} whose header contradicts" in finding.message


@pytest.mark.parametrize("field", ["length", "magic"])
def test_a_header_that_breaks_the_chain_swallows_its_offsets(yard: Yard, field: str) -> None:
    change(broken(yard), position(LOG, 40) + FIELDS[field], lambda byte: byte ^ 64)
    assert yard.told()[0] == ("SEG002", "high", (3,), 40, 50)
    assert {rule for rule, *_ in yard.told()} == {"SEG002"}


def test_zeros_in_the_middle(yard: Yard) -> None:
    path = broken(yard)
    start, end = position(LOG, 20), position(LOG, 40)
    data = path.read_bytes()
    path.write_bytes(data[:start] + bytes(end - start) + data[end:])
    assert yard.told() == [("SEG002", "high", (3,), 20, 40)]


def test_bytes_between_two_batches_that_follow_each_other_swallow_nothing(yard: Yard) -> None:
    path, start = broken(yard), position(LOG, 20)
    data = path.read_bytes()
    path.write_bytes(data[:start] + b"\xa5" * 40 + data[start:])
    (finding,) = yard.report().violations
    assert finding.message == "Broker 3 has 40 unreadable bytes inside its log, at offset 20."
    (line,) = yard.report().refusals
    assert (line.expected, line.found.count("expected")) == ("a record batch at offset 20", 0)


# --- tails ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("recovery", "meaning"),
    [
        (90, "Only data that broker 3 had not yet flushed to its disk can be missing there."),
        (None, "No recovery point here tells whether data that was flushed to the disk is missing there."),
    ],
)
def test_a_torn_tail_above_the_recovery_point_is_everyday(yard: Yard, recovery: int | None, meaning: str) -> None:
    path = broken(yard, recovery=recovery, clean=False, hw=90)
    path.write_bytes(path.read_bytes()[:-7])
    assert yard.told(least=Severity.INFO) == [("SEG003", "info", (3,), 90, None)]
    (finding,) = yard.report().violations
    assert finding.message.endswith(f"from offset 90 on, are not a complete, valid batch. {meaning}")


def test_a_torn_tail_below_the_recovery_point_lost_flushed_records(yard: Yard) -> None:
    path = broken(yard, hw=90)
    path.write_bytes(path.read_bytes()[:-7])
    assert yard.told() == [("SEG003", "high", (3,), 90, 100), ("SEG008", "high", (3,), 90, 100)]


def test_a_cut_at_a_batch_after_an_orderly_stop(yard: Yard) -> None:
    path = broken(yard)
    path.write_bytes(path.read_bytes()[: position(LOG, 80)])
    assert yard.told() == [("HW001", "high", (3,), 80, 100), ("SEG008", "high", (3,), 80, 100)]


# --- segments -------------------------------------------------------------------------------------------------------


def test_a_deleted_middle_segment(yard: Yard) -> None:
    yard.healthy(LOG, 1, 2)
    segment(yard.broker(3, LOG, segments=[30, 60]), 30).unlink()
    assert yard.told() == [("SEG005", "high", (3,), 30, 60)]
    (finding,) = [finding for finding in yard.report().violations if finding.rule == "SEG005"]
    assert fact(finding, "holders") == [1, 2]


def test_two_segments_that_overlap(yard: Yard) -> None:
    yard.healthy(LOG, 1, 2)
    folder = yard.broker(3, LOG, segments=[60])
    with segment(folder).open("ab") as file:
        file.writelines(one.content for one in LOG if 60 <= one.base < 80)
    assert yard.told() == [("SEG004", "critical", (3,), 60, 80)]


def test_an_empty_middle_segment_is_a_hole(yard: Yard) -> None:
    yard.healthy(LOG, 1, 2)
    segment(yard.broker(3, LOG, segments=[30, 60]), 30).write_bytes(b"")
    assert yard.told() == [("SEG005", "high", (3,), 30, 60)]


# --- the epoch checkpoint -------------------------------------------------------------------------------------------


def test_an_epoch_checkpoint_that_is_not_there_was_not_copied(yard: Yard) -> None:
    path = broken(yard)
    (path.parent / "leader-epoch-checkpoint").unlink()
    assert yard.told() == []
    assert yard.undecided() == [("EPOCH003", (3,))]


@pytest.mark.parametrize(("recovery", "alone"), [(100, True), (None, False)])
def test_a_high_watermark_that_nothing_bears_out_may_be_wrong_itself(
    yard: Yard, recovery: int | None, alone: bool
) -> None:
    broken(yard, hw=130, recovery=recovery)
    (found,) = yard.report().violations
    assert (found.rule, found.start_offset, found.end_offset) == ("HW001", 100, 130)
    assert ("The end of its log" in found.message) is not alone
    assert "he checkpoint alone is wrong" in found.message


def test_a_copy_that_left_every_checkpoint_out_says_nothing_of_one(yard: Yard) -> None:
    directory = broken(yard).parent
    for file in [*directory.parent.glob("*checkpoint*"), *directory.glob("*checkpoint*")]:
        file.unlink()
    assert yard.told() == []
    assert ("EPOCH003", (3,)) in yard.undecided()


def test_the_epoch_checkpoint_emptied(yard: Yard) -> None:
    (broken(yard).parent / "leader-epoch-checkpoint").write_bytes(b"")
    assert yard.told() == [("EPOCH003", "high", (3,), 0, 60), ("EPOCH003", "high", (3,), 60, 100)]


def test_the_epoch_checkpoint_begun_again_in_the_middle_is_told_up_to_where_it_begins(yard: Yard) -> None:
    broken(yard, epochs=[(1, 80)])
    assert yard.told() == [("EPOCH003", "high", (3,), 0, 60), ("EPOCH003", "high", (3,), 60, 80)]


def test_an_epoch_checkpoint_may_begin_late_where_nobody_tells_log_starts(yard: Yard) -> None:
    directory = broken(yard, epochs=[(1, 80)]).parent
    (directory.parent / "log-start-offset-checkpoint").unlink()
    assert yard.told() == []
    assert ("EPOCH003", (3,)) in yard.undecided()
    (directory / "leader-epoch-checkpoint").write_bytes(b"0\n1\n0 0\n")
    assert ("EPOCH003", "high", (3,), 60, 100) in yard.told()


def test_an_epoch_checkpoint_without_entries_may_be_cut_at_the_log_end_where_nobody_tells_log_starts(
    yard: Yard,
) -> None:
    directory = broken(yard).parent
    (directory / "leader-epoch-checkpoint").write_bytes(b"0\n0\n")
    assert yard.told() == [("EPOCH003", "high", (3,), 0, 60), ("EPOCH003", "high", (3,), 60, 100)]
    (directory.parent / "log-start-offset-checkpoint").unlink()
    assert yard.told() == []
    assert ("EPOCH003", (3,)) in yard.undecided()


@pytest.mark.parametrize("brokers", [(3,), (1, 2, 3)])
def test_an_epoch_checkpoint_that_begins_late_everywhere_may_be_cut_where_the_log_started_before_a_crash(
    yard: Yard, brokers: tuple[int, ...]
) -> None:
    for broker in brokers:
        yard.broker(broker, LOG, epochs=[(1, 80)])
    assert {(rule, severity) for rule, severity, *_ in yard.told()} == {("EPOCH003", "low")}


UNREAD = (b"0\n1\nt zero 0\n", b"7\n0\n", b"\0" * 20)
"""Checkpoints that no broker would load: what they claimed is not known."""


@pytest.mark.parametrize("content", UNREAD)
def test_an_epoch_checkpoint_may_begin_late_where_log_starts_cannot_be_read(yard: Yard, content: bytes) -> None:
    directory = broken(yard, epochs=[(1, 80)]).parent
    (directory.parent / "log-start-offset-checkpoint").write_bytes(content)
    assert yard.told() == []
    assert ("EPOCH003", (3,)) in yard.undecided()
    (directory / "leader-epoch-checkpoint").write_bytes(b"0\n1\n0 0\n")
    assert ("EPOCH003", "high", (3,), 60, 100) in yard.told()


@pytest.mark.parametrize("content", [None, *UNREAD])
def test_a_hole_may_be_the_cleaners_where_nothing_tells_what_it_cleaned(yard: Yard, content: bytes | None) -> None:
    yard.healthy(LOG, 1, 2)
    directory = yard.broker(3, LOG, segments=[30, 60])
    segment(directory, 30).unlink()
    assert yard.told() == [("SEG005", "high", (3,), 30, 60)]
    claims = directory.parent / "cleaner-offset-checkpoint"
    claims.unlink() if content is None else claims.write_bytes(content)
    assert yard.told() == [("SEG005", "low", (3,), 30, 60)]


@pytest.mark.parametrize("content", [b"0\n3\n0 0\n1 60\n", b"zero\n1\n0 0\n", b"0\n1\n\n0 0\n", b"\0" * 20])
def test_the_epoch_checkpoint_malformed(yard: Yard, content: bytes) -> None:
    (broken(yard).parent / "leader-epoch-checkpoint").write_bytes(content)
    assert yard.told() == [("EPOCH004", "high", (3,), None, None)]


def test_the_epoch_checkpoint_out_of_order(yard: Yard) -> None:
    broken(yard, epochs=[(1, 60), (0, 0)])
    assert yard.told()[0] == ("EPOCH004", "high", (3,), None, None)


@pytest.mark.parametrize(
    ("start", "expected"),
    [(50, ("EPOCH002", "high", (3,), 50, 60)), (70, ("EPOCH002", "high", (3,), 60, 70))],
)
def test_an_entry_with_a_wrong_start(yard: Yard, start: int, expected: tuple[object, ...]) -> None:
    broken(yard, epochs=[(0, 0), (1, start)])
    assert yard.told() == [expected]


@pytest.mark.parametrize(("clean", "severity"), [(True, "medium"), (False, "info")])
def test_an_entry_beyond_the_log_end(yard: Yard, clean: bool, severity: str) -> None:
    broken(yard, epochs=[(0, 0), (1, 60), (2, 120)], clean=clean)
    assert yard.told(least=Severity.INFO) == [("EPOCH009", severity, (3,), 100, 120)]


def test_an_epoch_that_falls(yard: Yard) -> None:
    log = wrote(0, 0, 20) + wrote(2, 20, 60) + wrote(1, 60, 100)
    for broker in (1, 2):
        yard.broker(broker, log, epochs=[(0, 0), (2, 20)])
    assert ("EPOCH001", "critical", (1,), 60, 100) in yard.told()


def test_an_epoch_that_begins_at_two_offsets(yard: Yard) -> None:
    yard.broker(1, wrote(0, 0, 60) + wrote(1, 60, 100))
    yard.broker(2, wrote(0, 0, 80) + wrote(1, 80, 100))
    assert ("EPOCH005", "critical", (1, 2), 60, 80) in yard.told()


def test_an_epoch_of_which_a_checkpoint_alone_tells_where_it_begins_is_a_question(yard: Yard) -> None:
    """With the log beside it, its batches would deny the entry: that is EPOCH002, of one broker."""
    log, entries = wrote(0, 0, 60) + wrote(1, 60, 100), [(0, 0), (1, 80)]
    yard.broker(1, log)
    segment = yard.broker(2, log, epochs=entries) / f"{0:020d}.log"
    assert {rule for rule, *_ in yard.told()} == {"EPOCH002"}
    segment.unlink()
    assert yard.told() == []
    asked = [(f.brokers, f.start_offset, f.end_offset) for f in yard.report().findings if f.rule == "EPOCH005"]
    assert asked == [((2,), 60, 80)]


# --- the high watermark ---------------------------------------------------------------------------------------------

SHORT = wrote(0, 0, 60) + wrote(1, 60, 80)


def test_a_high_watermark_beyond_the_log_after_an_orderly_stop(yard: Yard) -> None:
    yard.healthy(LOG, 1, 2)
    yard.broker(3, SHORT, hw=100)
    assert yard.told() == [("HW001", "high", (3,), 80, 100)]
    assert message(yard, "HW001").endswith(" Brokers 1 and 2 hold all of the missing records (offsets 80–99).")


def test_a_log_that_goes_as_far_with_a_hole_does_not_hold_all_that_another_lacks(yard: Yard) -> None:
    yard.broker(1, [*LOG[:-2], LOG[-1]])
    yard.broker(2, LOG)
    yard.broker(3, SHORT, hw=100)
    assert message(yard, "HW001").endswith(" Broker 2 holds all of the missing records (offsets 80–99).")


def test_a_high_watermark_beyond_the_log_after_a_crash_is_copied_back(yard: Yard) -> None:
    yard.healthy(LOG, 1, 2)
    yard.broker(3, SHORT, hw=100, clean=False, recovery=60)
    assert yard.told() == [("HW001", "low", (3,), 80, 100)]


def test_a_high_watermark_beyond_every_log(yard: Yard) -> None:
    yard.healthy(SHORT, 1, 2)
    yard.broker(3, SHORT, hw=100, clean=False, recovery=60)
    assert yard.told() == [("HW001", "medium", (3,), 80, 100)]
    assert message(yard, "HW001").endswith(" No broker in this dump holds all of the missing records (offsets 80–99).")


def test_a_high_watermark_beyond_a_log_copied_live(yard: Yard) -> None:
    for broker in (1, 2):
        yard.broker(broker, LOG, clean=False)
    yard.broker(3, SHORT, hw=100, clean=False, recovery=60)
    assert (yard.told(), yard.undecided()) == ([], [("HW001", (3,))])
    (advised,) = yard.report().advice
    going = {gate.action: gate.going for gate in advised.advice.gates}
    assert (going["elect broker 1"], going["elect broker 3"], going["restart broker 3"]) == ("go", "unknown", "unknown")
    crashed = audit(yard.root, AuditConfig(engine="local", copied="crashed")).advice[0].advice.gates
    assert [gate.going for gate in crashed if gate.action == "elect broker 3"] == ["no-go"]
    said = audit(yard.root, AuditConfig(engine="local", copied="live"))
    assert [(f.rule, Severity(f.severity).label, f.brokers) for f in said.violations] == [("HW001", "low", (3,))]
    assert (said.verdict, said.advice) == ("clean", ())


def test_a_high_watermark_beyond_the_only_log_copied_live(yard: Yard) -> None:
    yard.broker(3, SHORT, hw=100, clean=False, recovery=60)
    assert ("HW001", (3,)) in yard.undecided()


def test_a_high_watermark_below_the_log_start(yard: Yard) -> None:
    yard.broker(1, LOG)
    yard.broker(2, [one for one in LOG if one.base >= 60], hw=20, start=60)
    assert yard.told() == [("HW005", "medium", (2,), 20, 60)]


# --- divergence -----------------------------------------------------------------------------------------------------


def test_a_log_of_another_replica_restored(yard: Yard) -> None:
    yard.healthy(LOG, 1, 2)
    yard.broker(3, wrote(0, 0, 30) + wrote(0, 30, 50, "restored") + wrote(0, 50, 60) + wrote(1, 60, 100))
    assert yard.told() == [
        ("LOG001", "critical", (1, 2, 3), 30, 50),
        ("LOG003", "critical", (1, 3), 30, 50),
        ("LOG003", "critical", (2, 3), 30, 50),
    ]
    (finding,) = [finding for finding in yard.report().violations if finding.rule == "LOG001"]
    assert fact(finding, "deviating") == [3]
    assert "Broker 3 differs from all others. Brokers 1 and 2 agree" in finding.message
    assert finding.implied_by == ("LOG003",)


def test_of_replicas_at_odds_only_the_one_that_deviates_is_critical(yard: Yard) -> None:
    yard.healthy(LOG, 1, 2)
    yard.broker(3, wrote(0, 0, 30) + wrote(0, 30, 50, "restored") + wrote(0, 50, 60) + wrote(1, 60, 100))
    assert [line.replica.verdict for line in yard.report().replicas] == ["sound", "sound", "critical"]


def test_a_directory_of_another_topic(yard: Yard) -> None:
    yard.healthy(LOG, 1, 2)
    yard.broker(3, wrote(0, 0, 60, "other"), topic_id=OTHER_TOPIC_ID)
    yard.topic = "other"
    for broker in (1, 2):
        yard.broker(broker, wrote(0, 0, 60, "other"), topic_id=OTHER_TOPIC_ID)
    assert yard.told(least=Severity.INFO) == [("LOG007", "medium", (3,), None, None)]
    (finding,) = yard.report().violations
    assert "which is that of topic 'other'" in finding.message


def test_an_unclean_election_before_the_old_leader_returns(yard: Yard) -> None:
    yard.broker(1, wrote(0, 0, 150))
    yard.broker(2, wrote(0, 0, 100) + wrote(1, 100, 130))
    assert yard.told() == [
        ("LEAD001", "critical", (), 100, 150),
        ("LOG001", "critical", (1, 2), 100, 130),
        ("TRUNC004", "critical", (1,), 100, 150),
        ("CONS003", "high", (), 100, 130),
    ]
    lost, apart = (finding for finding in yard.report().violations if finding.rule in ("LEAD001", "LOG001"))
    assert (lost.confidence, fact(apart, "deviating")) == ("likely", [1])
    (loss,) = yard.report().histories[0].losses
    assert (loss.start_offset, loss.end_offset, loss.committed_end) == (100, 150, 150)
    assert [(copy.broker, copy.start_offset, copy.end_offset) for copy in loss.survivors] == [(1, 100, 150)]


def test_a_tail_that_was_never_committed(yard: Yard) -> None:
    yard.broker(1, wrote(0, 0, 150), hw=100)
    yard.broker(2, wrote(0, 0, 100) + wrote(1, 100, 130))
    assert yard.told(least=Severity.INFO) == [
        ("LOG002", "info", (1, 2), 100, 130),
        ("TRUNC004", "info", (1,), 100, 150),
    ]


@pytest.mark.parametrize(("size", "differing"), [(15, 5), (20, 10), (25, 15)])
def test_two_quick_fail_overs(yard: Yard, size: int, differing: int) -> None:
    """The KIP-279 schedule: 10 shared records, then two leaders that wrote alone, the first of them again."""
    yard.broker(1, wrote(0, 0, 10) + wrote(1, 10, size, size=5), hw=size)
    yard.broker(2, wrote(0, 0, 10) + wrote(2, 10, 20, size=5) + wrote(3, 20, 30), hw=30)
    end = 10 + differing
    assert ("LOG001", "critical", (1, 2), 10, end) in yard.told()
    assert ("TRUNC004", "critical", (1,), 10, size) in yard.told()


def test_a_cut_inside_a_batch_leaves_a_hole(yard: Yard) -> None:
    yard.broker(1, wrote(0, 0, 20) + wrote(1, 20, 40))
    yard.broker(2, wrote(0, 0, 20) + wrote(1, 30, 40), epochs=[(0, 0), (1, 20)])
    assert ("SEG005", "high", (2,), 20, 30) in yard.told()


# --- disks, clusters, incarnations ----------------------------------------------------------------------------------


def test_a_zeroed_log_dir_is_one_incident(yard: Yard) -> None:
    for partition in range(5):
        for broker in (1, 2, 3):
            folder = yard.broker(broker, LOG, partition=partition)
            if broker == 3:
                segment(folder).write_bytes(bytes(segment(folder).stat().st_size))
    told = yard.told()
    assert {brokers for _, _, brokers, _, _ in told} == {(3,)}
    assert {rule for rule, *_ in told} >= {"SEG003", "HW001"}
    (incident,) = yard.report().incidents
    assert (incident.partitions, incident.brokers, incident.scope) == (5, (3,), "broker")


def test_a_removed_log_dir_is_missing_from_the_coverage(yard: Yard) -> None:
    for partition in range(3):
        for broker in (1, 2, 3):
            folder = yard.broker(broker, LOG, partition=partition)
            if broker == 3:
                for file in folder.iterdir():
                    file.unlink()
                folder.rmdir()
    report = yard.report()
    assert yard.told() == []
    assert report.coverage.replicas_seen == 6
    assert report.coverage.replicas_missing == 3


def test_clusters_are_never_compared(yard: Yard) -> None:
    yard.healthy(LOG, 1, 2)
    other = Yard(yard.root, cluster="CCCCCCCCCCCCCCCCCCCCCC")
    other.healthy(wrote(0, 0, 60, "other") + wrote(1, 60, 100, "other"), 1, 2)
    assert yard.told(least=Severity.INFO) == []


def test_undecodable_records_under_a_good_checksum(yard: Yard) -> None:
    wrong = batch_bytes(base_offset=100, leader_epoch=1, payload=b"\x07" * 40, record_count=10, last_offset_delta=9)
    for broker in (1, 2):
        path = segment(yard.broker(broker, LOG, hw=110, recovery=110))
        path.write_bytes(path.read_bytes() + wrong)
    assert yard.told("full") == []
    assert [told[:3] for told in yard.told("deep")] == [("SEG007", "high", (1,)), ("SEG007", "high", (2,))]


def test_levels_read_what_they_promise(yard: Yard) -> None:
    change(broken(yard), position(LOG, 40) + 70, lambda byte: byte ^ 4)
    batches = 3 * len(LOG)
    quick, full, deep = (yard.report(level) for level in ("quick", "full", "deep"))
    assert [report.coverage.checksums_verified for report in (quick, full, deep)] == [0, batches, batches]
    assert quick.violations == ()
    assert [point.rule for point in full.coverage.undecided] == ["SEG007"]
    assert deep.coverage.undecided == ()


# --- what stands in a file's place and is none ----------------------------------------------------------------------


def _folder(place: Path) -> None:
    place.mkdir()


def _leads_nowhere(place: Path) -> None:
    place.symlink_to("nowhere")


def _leads_outside(place: Path) -> None:
    place.symlink_to("/")


@pytest.mark.parametrize("impostor", [_folder, os.mkfifo, _leads_nowhere, _leads_outside])
@pytest.mark.parametrize("base", [0, 30, 60])
def test_a_segment_that_is_no_file_leaves_the_log_open(yard: Yard, impostor: Callable[[Path], None], base: int) -> None:
    yard.healthy(LOG, 1, 2)
    place = segment(yard.broker(3, LOG, segments=[30, 60]), base)
    place.unlink()
    impostor(place)
    report = yard.report()
    assert report.verdict == "unknown"
    assert yard.told(least=Severity.INFO) == []
    assert yard.undecided() == [("SEG003", (3,))]
    assert [(refusal.path, refusal.blocking) for refusal in report.refusals] == [
        (place.relative_to(yard.root).as_posix(), True)
    ]
    replica = next(placed.replica for placed in report.replicas if placed.replica.broker == 3)
    # In a clean shutdown it wrote what it held; nothing else bounds it.
    assert (replica.expected_low, replica.expected_high) == (100, 100)


@pytest.mark.parametrize("name", ["leader-epoch-checkpoint", "../replication-offset-checkpoint", "partition.metadata"])
def test_a_small_file_that_is_a_folder_is_refused_by_name(yard: Yard, name: str) -> None:
    place = (broken(yard).parent / name).resolve()
    place.unlink()
    place.mkdir()
    report = yard.report()
    assert (report.verdict, yard.told(least=Severity.INFO)) == ("unknown", [])
    assert [(r.path, r.found) for r in report.refusals] == [(place.relative_to(yard.root).as_posix(), "a folder")]


def test_a_folder_may_bear_any_name_where_kafka_writes_no_such_file(yard: Yard) -> None:
    folder = broken(yard).parent
    for place in (folder.parent / "00000000000000000005.log", folder / "server.log", yard.root / "meta.properties"):
        place.mkdir()
    assert (yard.report().verdict, yard.report().refusals) == ("clean", ())


@pytest.mark.parametrize("base", [0, 40, 90])
def test_a_negative_count_of_records_is_counted_by_nobody(yard: Yard, base: int) -> None:
    path, start = broken(yard), position(LOG, base)
    data = bytearray(path.read_bytes())
    data[start + 57 : start + 61] = (-100_000).to_bytes(4, signed=True)
    end = start + 12 + int.from_bytes(data[start + 8 : start + 12])
    data[start + 17 : start + 21] = google_crc32c.value(bytes(data[start + 21 : end])).to_bytes(4)
    path.write_bytes(bytes(data))
    report = document(yard.report())
    jsonschema.validate(report, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert {replica["records"] for replica in report["replicas"]} == {100, 90}
    assert ("SEG006", (3,)) in [(rule, brokers) for rule, _, brokers, *_ in yard.told()]


@pytest.mark.parametrize(("hw", "undecided"), [(100, []), (60, [("SEG005", (3,))])])
def test_a_hole_of_a_compacted_log_beyond_its_high_watermark_is_left_open(
    yard: Yard, hw: int, undecided: list[tuple[str, tuple[int, ...]]]
) -> None:
    """Cleaning stays below the high watermark; one on disk may be older than the log."""
    log = wrote(0, 0, 60, key=b"k") + wrote(1, 60, 100, key=b"k")
    for broker in (1, 2):
        yard.broker(broker, log, cleaner=90)
    yard.broker(3, [one for one in log if one.base not in {70, 80}], cleaner=90, hw=hw)
    assert [told for told in yard.undecided() if told[0] == "SEG005"] == undecided
    assert [told for told in yard.told() if told[0] == "SEG005"] == []


ROTTEN = """
    broker 1 00!00|
    {others}
    t1 leader 1 epoch 0 isr 1,2 of 1,2
"""


@pytest.mark.parametrize(
    ("others", "severity"),
    [
        ("broker 2 00!00|", Severity.CRITICAL),
        ("broker 2 0|", Severity.CRITICAL),
        ("broker 2 0000|", Severity.MEDIUM),
        # The other assigned replica is not here: it may be sound.
        ("", Severity.MEDIUM),
    ],
)
def test_a_damaged_batch_is_lost_where_every_assigned_replica_is_here(others: str, severity: Severity) -> None:
    found = judge(read_sketch(ROTTEN.format(others=others)).evidence, RULES).findings
    assert {f.severity for f in found if f.rule == "SEG001"} == {severity}


@pytest.mark.parametrize(
    ("release", "recovery", "told", "said"),
    [
        ("1.1.1", 2, "", (Severity.LOW, "possible")),
        # Its server.log would tell of a cut, a cut takes the recovery point back, and since 2.4 the watermark too.
        ("1.1.1", 2, "t1 loads 1 at 4\n", (Severity.MEDIUM, "certain")),
        ("1.1.1", 4, "", (Severity.HIGH, "certain")),
        ("2.4.1", 2, "", (Severity.MEDIUM, "certain")),
    ],
)
def test_an_old_release_may_have_left_a_high_watermark_when_it_cut_the_log(
    release: str, recovery: int, told: str, said: tuple[Severity, str]
) -> None:
    drawing = f"kafka 1 {release}\nbroker 1 00| ; hw 4, recovery {recovery}\nbroker 2 00|\n{told}"
    (found,) = (v for v in BY_ID["HW001"].check(read_sketch(drawing).evidence) if isinstance(v, Violation))
    assert (found.severity, found.confidence) == said
