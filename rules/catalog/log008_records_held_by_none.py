"""LOG008: records that were committed or acknowledged stand readable in no replica."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from parsers.tables import (
    BatchHeader,
    BrokerEvent,
    EpochEntry,
    Fetch,
    GroupOffset,
    IndexEntry,
    OffsetCheckpoint,
    Produce,
)
from rules.evidence import PartitionEvidence
from rules.finding import Bearing, Exhibit, RecordsMeant, Severity, Undecided, Violation, capital
from rules.loss.held_by_none import HeldByNone, ends_of_a_live_copy, held_by_none, own_logs
from rules.loss.written_up_to import Word
from rules.rule import rule

SHOWN = 8
"""Witnesses that are shown."""


@rule(
    id="LOG008",
    severity=Severity.CRITICAL,
    needs=(BatchHeader, OffsetCheckpoint, EpochEntry, IndexEntry, Produce, Fetch, BrokerEvent, GroupOffset),
    law="LeaderCandidateCompleteness",
    order="of epochs",
    message="No replica here has readable records at {offsets}. What was written there was {worth}. {because:.}",
    implied_by=("SEG001", "SEG002", "SEG003", "LEO001", "SEG008", "SEG005", "HW001"),
    bearing=Bearing(
        records=RecordsMeant(),
        calls_for="No copy here is whole. Delete none and move none away. First look for these records in backups, "
        "mirrors and remote storage.",
    ),
)
def records_held_by_none(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Records that somebody was told are written stand readable in no replica.

    Other rules say what one replica lost. This one asks whether any copy is left. Where none is, no election, no copy
    and no restart brings the records back.

    Proves
    ------
    Every assigned replica is here, and none holds the offsets in batches that can be read. A high watermark, an answer
    to a producer, or the files of all replicas together tell that they were committed. Of what a later leader left out,
    LEAD001 and ACK001 tell.

    Undecided when
    --------------
    An assigned replica or a file is not here, or nothing tells which brokers are assigned. A broker may have run while
    its files were copied. Where nothing stands in place of the offsets, the files may not have been copied, or the
    topic was compacted once. Or nothing tells that what was written there was committed. A cleaner's checkpoint may
    be of an earlier topic of that name.

    Upheld
    ------
    broker 1 0000|
    broker 2 00#0|
    t1 leader 1 epoch 0 isr 1,2 of 1,2

    Violated
    --------
    broker 1 00#0|
    broker 2 00#0|
    t1 leader 1 epoch 0 isr 1,2 of 1,2
    """
    brokers = tuple(sorted({replica.broker for replica in own_logs(evidence)}))
    alike: dict[tuple[str, str], list[HeldByNone]] = {}
    for found in held_by_none(evidence):
        if found.sure:
            yield _violation(found, brokers)
        else:
            alike.setdefault((found.doubt, found.missing), []).append(found)
    yield from (_question(asked, brokers) for asked in alike.values())
    behind = ends_of_a_live_copy(evidence)
    if behind:
        yield replace(_question(behind, brokers), blocking=False)


def _question(asked: Sequence[HeldByNone], brokers: tuple[int, ...]) -> Undecided:
    """One question of all stretches that the same would explain: a topic that was compacted once has very many."""
    first, more = asked[0], len(asked) - 1
    also = f" and {more} more {'stretches' if more > 1 else 'stretch'}" if more else ""
    return Undecided(
        reason=f"it is not known whether records at offsets [{first.start_offset}, {first.end_offset}){also} are lost. No replica here holds readable records there. "
        f"{capital(first.because)}, which tells of such records. {capital(first.doubt)}",
        missing=first.missing,
        brokers=brokers,
        start_offset=first.start_offset,
        end_offset=first.end_offset,
        exhibits=tuple(_exhibits(first.claims)),
    )


def _violation(found: HeldByNone, brokers: tuple[int, ...]) -> Violation:
    committed = found.committed_end >= found.end_offset
    some = "committed" if found.committed_end > found.start_offset else "acknowledged"
    return Violation(
        brokers=brokers,
        start_offset=found.start_offset,
        end_offset=found.end_offset,
        severity=None if some == "committed" else Severity.HIGH,
        facts={
            "worth": "committed" if committed else some,
            "because": found.because,
            "committed_end": found.committed_end,
        },
        exhibits=tuple(_exhibits(found.claims)),
    )


def _exhibits(words: Sequence[Word]) -> Iterator[Exhibit]:
    yield from (Exhibit(span=word.span, role=f"what tells that they were {word.worth}") for word in words[:SHOWN])
