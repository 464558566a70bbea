"""SEG006: a header field outside the checksum contradicts the batches around it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from parsers.tables import BatchHeader
from rules.evidence import PartitionEvidence, Replica
from rules.facts import OffsetStep
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="SEG006",
    severity=Severity.HIGH,
    needs=(BatchHeader,),
    law="TypeOk",
    message="broker {broker} holds a batch at offsets [{start_offset}, {end_offset}) whose {field} contradicts"
    " the batches around it",
)
def header_contradicts_chain(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A header contradicts its neighbours in a field outside the checksum.

    Base offset, length, leader epoch and format byte lie outside the checksum: a flipped bit there passes every
    verification. The neighbours tell: a single batch whose base offset leaves the chain that its neighbours continue,
    a single batch of a foreign epoch between batches of one epoch, an epoch or offset that no leader writes.

    Proves
    ------
    The header was changed after it was written. (A damaged length breaks the chain itself: see SEG002.)

    Undecided when
    --------------
    The odd batch is the first or the last of the log, so that only one neighbour can testify.

    Upheld
    ------
    broker 1 00122|
    broker 2 00122|

    Violated
    --------
    broker 1 00200| ; epochs 0@0
    broker 2 00000|
    """
    for replica in evidence.current:
        yield from _impossible(replica)
        yield from _strayed_offsets(replica)
        yield from _strayed_epochs(replica)


def _impossible(replica: Replica) -> Iterator[Violation]:
    for fault in replica.log.header_faults:
        if fault.span not in replica.distrusted:
            exhibit = Exhibit(span=fault.span, role="the header that no broker writes")
            yield _violation(replica, fault.base_offset, max(fault.end_offset, fault.base_offset), "header", exhibit)


def _strayed_offsets(replica: Replica) -> Iterator[Violation]:
    """Two steps around one batch that cancel each other out: its neighbours continue without it."""
    steps = sorted((*replica.log.gaps, *replica.log.overlaps), key=lambda s: (s.after.source, s.after.start))
    for first, second in pairwise(steps):
        if first.after == second.before and _cancels(first, second):
            exhibit = Exhibit(span=first.after, role="the batch whose base offset strays")
            yield _violation(replica, first.expected, second.found, "base offset", exhibit)


def _cancels(first: OffsetStep, second: OffsetStep) -> bool:
    length = second.expected - first.found
    return length > 0 and first.expected + length == second.found


def _strayed_epochs(replica: Replica) -> Iterator[Violation]:
    runs = replica.log.epochs
    known = {entry.epoch for entry in replica.epoch_file.entries}
    for before, odd, behind in zip(runs, runs[1:], runs[2:], strict=False):
        if odd.batches == 1 and before.epoch == behind.epoch >= 0 and odd.epoch not in known - {before.epoch}:
            exhibit = Exhibit(span=odd.first, role="the batch of a foreign epoch")
            yield _violation(replica, odd.start_offset, odd.end_offset, "leader epoch", exhibit)


def _violation(replica: Replica, start: int, end: int, field: str, exhibit: Exhibit) -> Violation:
    return Violation(
        brokers=(replica.broker,),
        start_offset=start,
        end_offset=end,
        facts={"broker": replica.broker, "field": field},
        exhibits=(exhibit,),
    )
