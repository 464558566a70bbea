"""TXN002: replicas decide a transaction differently."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from parsers.tables import BatchHeader, RecordRow
from rules.evidence import MarkerMissing, MarkersApart, PartitionEvidence, markers_apart
from rules.evidence.lacked_markers import committed_by_all, lacked_markers, transactional_pairs
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule
from rules.words import numbered

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
    At level quick nothing vouches for the headers. Which way markers decide is read only where batches differ. Of more
    than 4096 producers in one log nothing is told.

    Upheld
    ------
    broker 1* 0{7:0t}0{7c}0{7:1t}0{7a}00|
    broker 2  0{7:0t}0{7c}0{7:1t}|

    Violated
    --------
    broker 1* 0{7:0t}0{7c}0{7:1t}0{7a}00|
    broker 2  0{7:0t}00{7:1t}0{7a}00|
    """
    untold = [replica.broker for replica in evidence.current if replica.log.transactions.untold]
    if untold and len(evidence.current) > 1:
        yield _too_many(untold)
    pairs = transactional_pairs(evidence)
    if evidence.level == "quick":
        yield from (_unverified(each) for pair in pairs for each in lacked_markers(evidence, *pair)[:1])
        return
    for left, right in pairs:
        found = lacked_markers(evidence, left, right)
        yield from (_missing_marker(each, len(found)) for each in found[:SHOWN])
        apart = [*markers_apart(left, right, committed_by_all(evidence, left, right))]
        yield from (_apart(each, len(apart)) for each in apart[:SHOWN])


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
            "costs": "consumers with isolation.level=read_committed get its records from one of them only",
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


def _too_many(brokers: list[int]) -> Undecided:
    return Undecided(
        reason=f"too many producers wrote transactions into the logs of {numbered('broker', brokers)} to compare their"
        " markers",
        missing="a dump with fewer segments of them",
        brokers=tuple(brokers),
        blocking=False,
    )


def _unverified(found: MarkerMissing) -> Undecided:
    return Undecided(
        reason=f"broker {found.lacking} seems to lack the marker at offset {found.marker_offset}, by headers whose"
        " checksums were not recomputed",
        missing="audit again at level full",
        blocking=False,
        asked_at_level="full",
    )
