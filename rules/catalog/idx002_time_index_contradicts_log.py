"""IDX002: A time index names times that its segment does not bear out."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, IndexEntry
from rules.evidence import PartitionEvidence
from rules.finding import Severity, Undecided, Violation
from rules.index_verdicts import index_verdicts
from rules.rule import rule


@rule(
    id="IDX002",
    severity=Severity.LOW,
    needs=(BatchHeader, IndexEntry),
    law="TypeOk",
    message="Broker {broker}'s time index contradicts its log in {entries:entry}. {first:.}{rebuilt}",
    implied_by=("SEG001", "SEG002", "SEG004", "SEG006", "SEG008"),
)
def time_index_contradicts_log(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A time index names times that its segment does not bear out.

    An entry names a timestamp and an offset: the latest timestamp of its segment up to there. The batch that holds the
    offset must have just that as its latest timestamp. Timestamps rise, and offsets do not fall. The file holds whole
    entries: a broker rejects any other length.

    Lawful are the zero tail of a preallocated file, an empty index, and segments of formats without timestamps. An
    index ahead of its log is lawful where the next start recovers the segment, or where it was copied from a running
    broker.

    Proves
    ------
    The index is damaged, or its segment is not what it was when the index was written. Lookups by time can begin
    behind the first record that they look for; retention by time can go by a wrong age. Kafka builds a deleted index
    again.

    Undecided when
    --------------
    An index cannot be opened: that leaves the verdict as it is. Nothing is said of missing ones, or of entries whose
    offset no batch holds. Nothing is said where the log's own offsets go back (SEG004).

    Upheld
    ------
    broker 1 0000| ; recovery 4
    broker 2 0000|

    Violated
    --------
    broker 1 0000| ; index-fault time
    broker 2 0000|
    """
    return index_verdicts(evidence, "time")
