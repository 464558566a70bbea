"""LOG004: compaction left the last record of a key on one replica and not on another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from parsers.tables import BatchHeader, OffsetCheckpoint, RecordRow
from rules.evidence import KeysApart, PartitionEvidence
from rules.finding import Exhibit, Severity, Undecided, Violation, offsets_told
from rules.rule import rule
from rules.words import it_or_them, numbered

_JUDGED: Final = ("stale", "gone")


@rule(
    id="LOG004",
    severity=Severity.HIGH,
    needs=(BatchHeader, RecordRow, OffsetCheckpoint),
    law="StateMachineSafety",
    message="{lacks} the last record of {what}, which {holders:+broker} kept at {offsets}. "
    "{judgement:.}",
    implied_by=("LOG001", "SEG005"),
)
def compacted_survivors_disagree(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A compacted replica lacks the last record of a key.

    Compaction drops only records that a later one of the same key replaces, and deletes whose time has passed. So
    replicas that were cleaned at different times hold different records, but the same last record of every key. What is
    not committed on a replica is not compared: the protocol may cut it.

    Proves
    ------
    A reader of this replica misses keys, or gets older values, which others serve as they were last written. They
    were lost, or a cleaner took them for a later record that was cut off since. The message says what is known of it.

    Undecided when
    --------------
    A log cannot be read to every key, or nothing tells how far a replica's records are committed. Or a log has no last
    record of any key in common with the others: it may be another partition's (LOG007).

    Upheld
    ------
    broker 1* ..0a0b|0c ; cleaner 4
    broker 2  0a0b0a0b|0c

    Violated
    --------
    broker 1* .0b0b0b|0c ; cleaner 4
    broker 2  0a0b0b0b|0c
    """
    yield from (
        Undecided(reason=point.reason, missing=point.missing, brokers=point.brokers, blocking=True)
        for point in evidence.keys_uncompared
    )
    for gap in evidence.keys_apart:
        if gap.remains in _JUDGED:
            yield _violation(gap)


def _violation(gap: KeysApart) -> Violation:
    return Violation(
        brokers=gap.lacking,
        start_offset=gap.start_offset,
        end_offset=gap.end_offset,
        confidence="certain",
        facts={
            "lacks": numbered("Broker", gap.lacking, "lacks"),
            "what": gap.words,
            "keys": gap.keys,
            "holders": gap.holders,
            "judgement": _judgement(gap),
        },
        exhibits=tuple(Exhibit(span=span, role=f"broker {broker}'s first such record") for broker, span in gap.spans),
    )


def _judgement(gap: KeysApart) -> str:
    them = it_or_them(gap.keys)
    if gap.remains == "stale":
        return f"what it holds of {them} is older"
    if gap.cut_off is not None:
        was = "was" if gap.cut_off[1] - gap.cut_off[0] == 1 else "were"
        return f"a later record of {them} must have been at {offsets_told(*gap.cut_off)}, which {was} cut off"
    if gap.perhaps_cut is not None:
        epoch, start = gap.perhaps_cut
        return (
            f"it holds nothing of {them}; either a later record of {them} was at offset {start} or behind and was"
            f" cut off when epoch {epoch} began, or what must stay was lost"
        )
    return f"it holds nothing of {them}, and no delete explains that"
