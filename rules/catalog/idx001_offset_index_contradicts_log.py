"""IDX001: An offset index leads where its segment holds no such batch."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, IndexEntry
from rules.evidence import PartitionEvidence
from rules.finding import Severity, Undecided, Violation
from rules.index_verdicts import index_verdicts
from rules.rule import rule


@rule(
    id="IDX001",
    severity=Severity.LOW,
    needs=(BatchHeader, IndexEntry),
    law="TypeOk",
    message="Broker {broker}'s offset index contradicts its log in {entries:entry}. {first:.}{rebuilt}",
    implied_by=("SEG001", "SEG002", "SEG004", "SEG006", "SEG008"),
)
def offset_index_contradicts_log(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """An offset index leads where its segment holds no such batch.

    An entry names an offset and a byte. At that byte a batch must begin, and none above that offset: else a lookup
    would pass over records. Entries rise. Nothing is said of how many there are. Kafka writes one about every
    `index.interval.bytes`. It names the first offset of what was appended (to 1.1) or the last one. The file holds
    whole entries: a broker rejects any other length.

    Lawful are the zero tail of a preallocated file, an empty index, and one that lags behind its log. One ahead of its
    log is lawful where the next start recovers the segment, or where it was copied from a running broker.

    Proves
    ------
    The index is damaged, or its segment is not what it was when the index was written. Reads by offset can miss
    records or fail until the index is deleted; Kafka then builds it again. The records themselves are not in question.

    Undecided when
    --------------
    An index cannot be opened: that leaves the verdict as it is. Of missing ones nothing is said. Entries that lead
    into bytes that are no batch are passed over: what those bytes are other rules say. In segments whose indexes the
    next start builds again a contradiction is information only.

    Upheld
    ------
    broker 1 0000| ; recovery 4
    broker 2 0000|

    Violated
    --------
    broker 1 0000| ; index-fault offset
    broker 2 0000|
    """
    return index_verdicts(evidence, "offset")
