"""Known defects of what lies on disk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rules.evidence import PartitionEvidence, Replica, Span, same_topic
from rules.evidence.starts import why_without_entry
from rules.evidence.without_entry import rebuilt_without_zero
from rules.finding import Exhibit, Severity
from rules.signatures.signature import Hit, Signature


def _epoch_zero_forgotten(evidence: PartitionEvidence) -> Iterator[Hit]:
    for replica in evidence.current:
        entries, runs = replica.epoch_file.entries, replica.log.epochs
        if rebuilt_without_zero(replica) and not why_without_entry(replica, runs[0], evidence):
            yield Hit(
                broker=replica.broker,
                says=f"broker {replica.broker} holds records of epoch 0, its epoch file begins with epoch"
                f" {entries[0].epoch}: recovery leaves epoch 0 out",
                exhibits=(
                    Exhibit(span=entries[0].span, role="the first entry"),
                    Exhibit(span=runs[0].first, role="the first batch of epoch 0"),
                ),
                start_offset=max(runs[0].start_offset, replica.log_start_offset),
                end_offset=runs[0].end_offset,
            )


def _epoch_file_torn(evidence: PartitionEvidence) -> Iterator[Hit]:
    for replica in evidence.current:
        torn = replica.epoch_file.state in ("malformed", "empty") and replica.last_epoch >= 0
        if torn and replica.epoch_file.span is not None:
            yield Hit(
                broker=replica.broker,
                says=f"broker {replica.broker}'s epoch file is {replica.epoch_file.state}, as after a crash of the"
                " machine before the renamed file was flushed",
                exhibits=(Exhibit(span=replica.epoch_file.span, role="the epoch file"),),
            )


def _cleaned_above_high_watermark(evidence: PartitionEvidence) -> Iterator[Hit]:
    for replica in evidence.current:
        cleaned, watermark = replica.cleaner_offset, replica.high_watermark
        stopped = replica.clean_shutdown is not None
        if stopped and cleaned is not None and watermark is not None and cleaned.offset > watermark.offset:
            yield Hit(
                broker=replica.broker,
                says=f"broker {replica.broker} compacted up to {cleaned.offset}, beyond its high watermark"
                f" {watermark.offset}",
                exhibits=(
                    Exhibit(span=cleaned.span, role="how far it compacted"),
                    Exhibit(span=watermark.span, role="its high watermark"),
                ),
                start_offset=watermark.offset,
                end_offset=cleaned.offset,
            )


def _nothing_in_place_of_a_stray(evidence: PartitionEvidence) -> Iterator[Hit]:
    ids = {replica.topic_id for replica in evidence.current if replica.topic_id is not None}
    serving = {replica.broker for replica in evidence.current}
    states = [m for m in evidence.chronicle.states if m.replicas is not None and m.topic_id in (None, *ids)]
    for replica in evidence.replicas if states and ids else ():
        missing = replica.broker in (states[-1].replicas or ()) and replica.broker not in serving
        older = replica.state in ("stray", "deleted") and replica.topic_id not in (None, *ids)
        if missing and older:
            yield Hit(
                broker=replica.broker,
                says=f"broker {replica.broker} put aside its replica of the deleted topic, and holds none of the new"
                " topic of that name, which is assigned to it",
                exhibits=(Exhibit(span=states[-1].span, role="the assignment"),),
            )


def _made_anew_in_another_dir(evidence: PartitionEvidence) -> Iterator[Hit]:
    for index, replica in enumerate(evidence.current):
        for other in evidence.current[index + 1 :]:
            if other.broker == replica.broker and other.log_dir != replica.log_dir and same_topic(replica, other):
                yield Hit(
                    broker=replica.broker,
                    says=f"broker {replica.broker} holds the partition twice, up to {replica.log_end_offset} in"
                    f" {replica.log_dir} and up to {other.log_end_offset} in {other.log_dir}",
                    exhibits=tuple(Exhibit(span=_end_of(held), role=f"in {held.log_dir}") for held in (replica, other)),
                )


def _end_of(replica: Replica) -> Span:
    last = replica.segments[-1]
    return Span(source=last.source, start=0, end=last.size)


def _moved_but_not_swapped(evidence: PartitionEvidence) -> Iterator[Hit]:
    current = {replica.broker: replica for replica in evidence.current if replica.segments}
    for future in evidence.replicas:
        here = current.get(future.broker)
        if future.state != "future" or here is None or not future.segments or future.clean_shutdown is None:
            continue
        whole = future.log_end_offset == here.log_end_offset > here.log_start_offset
        if whole and future.segments[-1].base_offset != here.segments[-1].base_offset:
            yield Hit(
                broker=here.broker,
                says=f"broker {here.broker}'s moved replica has reached log end {here.log_end_offset} and has not taken"
                " its place: their last segments begin at"
                f" {here.segments[-1].base_offset} and {future.segments[-1].base_offset}",
                exhibits=(
                    Exhibit(span=_end_of(here), role="the last segment in place"),
                    Exhibit(span=_end_of(future), role="the last segment that was moved"),
                ),
                start_offset=here.log_end_offset,
            )


def _marker_written_twice(evidence: PartitionEvidence) -> Iterator[Hit]:
    for replica in evidence.current:
        for step in replica.log.overlaps if replica.log.control_batches else ():
            same = step.found == step.base_before and step.records_before == 1
            if same and step.epoch_before == step.epoch_after and step.expected == step.found + 1:
                yield Hit(
                    broker=replica.broker,
                    says=f"broker {replica.broker} wrote offset {step.found} twice in epoch {step.epoch_after}, in a"
                    " log with transactions",
                    exhibits=(
                        Exhibit(span=step.before, role="the first batch"),
                        Exhibit(span=step.after, role="the second batch"),
                    ),
                    start_offset=step.found,
                    end_offset=step.expected,
                )


def _went_on_after_a_failed_write(evidence: PartitionEvidence) -> Iterator[Hit]:
    for replica in evidence.current:
        for unread in replica.log.unread:
            went_on = unread.next_offset is not None and unread.next_offset == unread.expected_offset
            if went_on and unread.kind in ("damage", "torn_tail"):
                yield Hit(
                    broker=replica.broker,
                    says=f"broker {replica.broker} has {unread.span.end - unread.span.start} unreadable bytes before"
                    f" offset {unread.next_offset} which take the place of no record, as a failed write leaves them",
                    exhibits=(Exhibit(span=unread.span, role="what the write left"),),
                    start_offset=unread.next_offset,
                )


STORING: Final = (
    Signature(
        defect="KAFKA-10432",
        title="recovery leaves out epoch 0",
        costs="the next cut may be made at a wrong offset",
        releases=(((2, 2), (2, 6, 1)),),
        severity=Severity.LOW,
        confidence="likely",
        find=_epoch_zero_forgotten,
        drawing="""
            kafka 1 2.5.0
            broker 1 000111| ; epochs 1@3
            broker 2 000111|
        """,
    ),
    Signature(
        defect="KAFKA-16541",
        title="the epoch file does not survive a crash of the machine",
        costs="the broker may not start, or cut at a wrong offset",
        releases=(((3, 7), (3, 8)),),
        severity=Severity.LOW,
        confidence="likely",
        find=_epoch_file_torn,
        drawing="""
            kafka 1 3.7.0
            broker 1 000111| ; epochs malformed
            broker 2 000111|
        """,
    ),
    Signature(
        defect="KAFKA-13194",
        title="compaction beyond the high watermark",
        costs="records that were not committed may have replaced committed ones",
        releases=(((0, 11), (3, 1)),),
        severity=Severity.LOW,
        confidence="likely",
        find=_cleaned_above_high_watermark,
        drawing="""
            kafka 1 3.0.0
            broker 1 0.00|0 ; cleaner 5
        """,
    ),
    Signature(
        defect="KAFKA-14616",
        title="a topic that was created again gets no replica where the old one lay",
        costs="the replica is missing until the broker is started again",
        releases=(((2, 8), (3, 7)),),
        severity=Severity.MEDIUM,
        confidence="likely",
        find=_nothing_in_place_of_a_stray,
        drawing="""
            kafka 2 3.6.1
            broker 1 00| ; topic-id x
            broker 2 0000| ; stray, topic-id y
            t1 leader 1 epoch 0 isr 1 of 1,2
        """,
    ),
    Signature(
        defect="KAFKA-16234",
        title="a failed log dir makes a broker create its replicas again in another",
        costs="the records in the failed dir are left behind, and the broker does not start with both",
        releases=(((3, 7), (3, 7, 1)),),
        severity=Severity.HIGH,
        confidence="likely",
        find=_made_anew_in_another_dir,
        drawing="""
            kafka 1 3.7.0
            broker 1 0000| ; log-dir d1
            broker 1 00| ; log-dir d2
        """,
    ),
    Signature(
        defect="KAFKA-8002",
        title="a move between log dirs does not end",
        costs="both copies take space and the move has to be asked for again",
        releases=(((1, 1), (2, 2)),),
        severity=Severity.LOW,
        confidence="likely",
        find=_moved_but_not_swapped,
        drawing="""
            kafka 1 2.1.1
            broker 1 00/00|
            broker 1 0000| ; future, log-dir d2
        """,
    ),
    Signature(
        defect="KAFKA-7866",
        title="a marker is written twice where the transaction index fails",
        costs="two batches bear the same offset, and consumers with isolation.level=read_committed may stop there",
        releases=(((0, 11), (2, 2, 1)),),
        severity=Severity.MEDIUM,
        confidence="likely",
        find=_marker_written_twice,
        drawing="""
            kafka 1 2.2.0
            broker 1 000 @2:00| ; markers
            broker 2 0000| ; markers
        """,
    ),
    Signature(
        defect="KAFKA-10778",
        title="a log is written on after a failed write",
        costs="consumers fail at the damage, and what stands behind it may be cut at the next start",
        releases=(((1, 0), (2, 8)),),
        severity=Severity.MEDIUM,
        confidence="likely",
        find=_went_on_after_a_failed_write,
        drawing="""
            kafka 1 2.7.2
            broker 1 00#x0 00|
            broker 2 0000|
        """,
    ),
)
