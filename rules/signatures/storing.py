"""Known defects of what lies on disk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rules.evidence import PartitionEvidence, partition_states
from rules.finding import Exhibit, Severity
from rules.signatures.signature import Hit, Signature


def _epoch_zero_forgotten(evidence: PartitionEvidence) -> Iterator[Hit]:
    for replica in evidence.current:
        entries, runs = replica.epoch_file.entries, replica.log.epochs
        if not entries or not runs or runs[0].epoch != 0 or runs[0].end_offset <= replica.log_start_offset:
            continue
        if min(entry.epoch for entry in entries) == 1 and entries[0].start_offset >= runs[0].end_offset:
            yield Hit(
                broker=replica.broker,
                says=f"broker {replica.broker} holds records of epoch 0, its epoch file begins with epoch 1: recovery"
                " leaves epoch 0 out",
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
                f" {watermark.offset}: records that were not committed may have replaced committed ones",
                exhibits=(
                    Exhibit(span=cleaned.span, role="how far it compacted"),
                    Exhibit(span=watermark.span, role="its high watermark"),
                ),
                start_offset=watermark.offset,
                end_offset=cleaned.offset,
            )


def _stray_of_the_assignment(evidence: PartitionEvidence) -> Iterator[Hit]:
    states = [m for m in partition_states(evidence.moments) if m.replicas is not None]
    ids = {replica.topic_id for replica in evidence.current} - {None}
    for replica in evidence.replicas:
        serves = any(other.broker == replica.broker for other in evidence.current)
        assigned = states and not serves and replica.broker in (states[-1].replicas or ())
        same = replica.topic_id is None or not ids or replica.topic_id in ids
        if replica.state == "stray" and assigned and same:
            yield Hit(
                broker=replica.broker,
                says=f"broker {replica.broker} put its replica aside as stray although it is assigned to it",
                exhibits=(Exhibit(span=states[-1].span, role="the assignment"),),
                start_offset=replica.log_start_offset,
                end_offset=replica.log_end_offset,
            )


STORING: Final = (
    Signature(
        defect="KAFKA-10432",
        title="recovery leaves out epoch 0",
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
        title="a live replica is taken for a stray",
        releases=(((2, 8), (3, 7, 1)),),
        severity=Severity.MEDIUM,
        confidence="likely",
        find=_stray_of_the_assignment,
        drawing="""
            kafka 2 3.6.1
            broker 1 0000|
            broker 2 0000| ; stray
            t1 leader 1 epoch 0 isr 1,2 of 1,2
        """,
    ),
)
