"""IDX003: A transaction index tells of other aborts than its log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from parsers.tables import BatchHeader, IndexEntry
from rules.evidence import PartitionEvidence, Unindexed
from rules.evidence.index_judgements import aborts_unindexed, aborts_unjudged
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.index_verdicts import index_verdicts
from rules.rule import rule


@rule(
    id="IDX003",
    severity=Severity.LOW,
    needs=(BatchHeader, IndexEntry),
    law="TypeOk",
    message="Broker {broker}'s transaction index contradicts its log in {entries:place}. {first:.}{rebuilt}",
    implied_by=("SEG001", "SEG002", "SEG004", "SEG006", "SEG008"),
)
def transaction_index_contradicts_log(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A transaction index tells of other aborts than its log.

    An entry names an aborted transaction by its producer, its first offset and the offset of its marker, in the
    segment that holds the marker. The log must have a marker of that producer there, which aborts. Where the segment
    holds the first offset, a batch of that producer must begin there. Entries rise. Each abort of records in the log has
    an entry. Entries are of version 0.

    An entry keeps the last stable offset of the moment when its marker came. That is the first offset of the oldest other
    transaction that was open then, else the offset behind the marker.

    Part of an entry at the end is no entry. Brokers pass over it, write the next entry behind it, and then read askew.

    Lawful is a missing index, as the first abort makes it. So is in cleaned logs whatever the cleaner took. After a
    crash, or in a live copy, the newest aborts may be missing. A last stable offset may be where the next transaction
    begins, for followers take several batches in one step. It may be older than a log whose beginning was deleted.
    Where a transaction without records is aborted, old releases write an entry that begins at its marker.

    Proves
    ------
    The index is damaged, or its segment is not what it was. Consumers that read committed records skip what the index
    calls aborted, and read what it leaves out. So they can see other records than the log decides. Kafka builds a
    deleted index again when it recovers the log.

    Undecided when
    --------------
    An index cannot be opened, or a segment with aborts has none here. Readers of it may see what was aborted, but no
    index comes from the segment unless its broker recovers it. Or a log has more than 4096 transactions: of its oldest
    ones it is not known which need an entry. These questions leave the verdict as it is. Nothing is said where the log's
    own offsets go back (SEG004).

    Upheld
    ------
    broker 1 0000| ; markers
    broker 2 0000|

    Violated
    --------
    broker 1 0000| ; index-fault transaction
    broker 2 0000|
    """
    yield from index_verdicts(evidence, "transaction")
    for replica in evidence.current:
        without = aborts_unindexed(replica)
        if without:
            yield _without_index(replica.broker, without)
        if aborts_unjudged(replica):
            reason = f"broker {replica.broker}'s log has too many transactions to tell which aborts need an entry"
            missing = "a copy with fewer segments"
            yield Undecided(reason=reason, missing=missing, brokers=(replica.broker,), blocking=False)


def _without_index(broker: int, found: Sequence[Unindexed]) -> Undecided:
    return Undecided(
        reason=f"no transaction index is here of segments in which broker {broker}'s log aborts transactions",
        missing="the .txnindex files of these segments",
        brokers=(broker,),
        start_offset=found[0].marker_offset,
        end_offset=found[-1].marker_offset + 1,
        blocking=False,
        exhibits=(Exhibit(span=found[0].span, role="the first such abort"),),
    )
