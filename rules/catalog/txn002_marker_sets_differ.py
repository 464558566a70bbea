"""TXN002: replicas decide a transaction differently."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Final

from parsers.tables import BatchHeader, RecordRow
from rules.evidence import PartitionEvidence, Replica
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.replicas.markers import MarkerMissing, MarkersApart, markers_apart, missing_markers
from rules.rule import rule

SHOWN: Final = 32
"""Findings of one pair of replicas; the rest is counted in the last one's facts."""


@rule(
    id="TXN002",
    severity=Severity.HIGH,
    needs=(BatchHeader, RecordRow),
    law="StateMachineSafety",
    message="{says:.} {costs:.}",
    implied_by=("LOG001", "LOG003", "LOG005", "SEG002", "SEG005"),
)
def marker_sets_differ(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Replicas decide a transaction differently.

    A marker ends a producer's transaction in a partition: it commits or aborts all records since the producer's last
    marker. Replicas copy markers as they copy records. Compaction takes a marker only behind all records that it
    decides.

    So a replica that holds such records, and whose log goes on behind the marker, has the marker. At one offset,
    markers say the same.

    Lawful is a marker above the high watermark of either replica, and one whose records the cleaner took.

    Proves
    ------
    Readers of committed records get something else as soon as another replica leads. Without the marker the
    transaction is open there, or the producer's next marker decides its records too. Where logs are compacted,
    the marker may have been compacted away before this replica copied it (LOG005).

    Undecided when
    --------------
    At level quick nothing vouches for the headers. Which way markers decide is read only where batches differ.

    Upheld
    ------
    broker 1* 0{7:0t}0{7c}0{7:1t}0{7a}00|
    broker 2  0{7:0t}0{7c}0{7:1t}|

    Violated
    --------
    broker 1* 0{7:0t}0{7c}0{7:1t}0{7a}00|
    broker 2  0{7:0t}00{7:1t}0{7a}00|
    """
    pairs = [pair for pair in evidence.pairs if _transactions(*pair)]
    if evidence.level == "quick":
        yield from (_unverified(each) for pair in pairs for each in [*_missing(evidence, *pair)][:1])
        return
    for left, right in pairs:
        found = [*_missing(evidence, left, right)]
        yield from (_missing_marker(each, len(found)) for each in found[:SHOWN])
        apart = [*markers_apart(left, right, _committed(evidence, left, right))]
        yield from (_apart(each, len(apart)) for each in apart[:SHOWN])


def _transactions(left: Replica, right: Replica) -> bool:
    return bool(left.log.transactions.open and right.log.transactions.open)


def _missing(evidence: PartitionEvidence, left: Replica, right: Replica) -> Iterator[MarkerMissing]:
    committed = _committed(evidence, left, right)
    for holding, lacking in permutations((left, right)):
        yield from missing_markers(holding, lacking, committed)


def _committed(evidence: PartitionEvidence, *replicas: Replica) -> int:
    """How far both know that records are committed; 0 where one of them does not tell."""
    claims = ((r.high_watermark.offset if r.high_watermark else 0, r) for r in replicas)
    return min(max(min(claim, r.log_end_offset), evidence.told_committed(r)) for claim, r in claims)


def _missing_marker(found: MarkerMissing, count: int) -> Violation:
    where = f"on broker {found.lacking}"
    after = f"{where} it is open" if found.next_marker is None else f"{where} the marker at {found.next_marker} decides it"
    return Violation(
        brokers=tuple(sorted((found.holding, found.lacking))),
        start_offset=found.start_offset,
        end_offset=found.marker_offset + 1,
        facts={
            "says": f"broker {found.lacking} lacks producer {found.producer_id}'s marker at offset"
            f" {found.marker_offset}, which broker {found.holding} has",
            "costs": f"the transaction begins at offset {found.start_offset}, and {after}",
            "producer": found.producer_id,
            "marker": found.marker_offset,
            "lacking": found.lacking,
            "holding": found.holding,
            "like_it": count,
            "subject": f"{found.producer_id} lacked by {found.lacking}",
        },
        exhibits=tuple(Exhibit(span=span, role=f"broker {broker}'s batch") for broker, span in found.spans),
    )


def _apart(found: MarkersApart, count: int) -> Violation:
    return Violation(
        brokers=tuple(sorted((found.committing, found.aborting))),
        start_offset=found.offset,
        end_offset=found.offset + 1,
        facts={
            "says": f"at offset {found.offset} broker {found.committing} commits producer {found.producer_id}'s"
            f" transaction, and broker {found.aborting} aborts it",
            "costs": "readers of committed records get its records from one of them only",
            "producer": found.producer_id,
            "marker": found.offset,
            "like_it": count,
            "subject": f"{found.producer_id} decided twice",
        },
        exhibits=(
            Exhibit(span=found.spans[0], role="the marker that commits"),
            Exhibit(span=found.spans[1], role="the marker that aborts"),
        ),
    )


def _unverified(found: MarkerMissing) -> Undecided:
    return Undecided(
        reason=f"broker {found.lacking} seems to lack the marker at offset {found.marker_offset}, by headers whose"
        " checksums were not recomputed",
        missing="an audit at level full",
        blocking=False,
        asked_at_level="full",
    )
