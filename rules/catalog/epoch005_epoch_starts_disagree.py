"""EPOCH005: two replicas let one epoch begin at different offsets."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, EpochEntry
from rules.evidence import PartitionEvidence, Replica
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="EPOCH005",
    severity=Severity.CRITICAL,
    needs=(EpochEntry, BatchHeader),
    law="EpochStartUnique",
    message="brokers {brokers} let epoch {epoch} begin at different offsets: {left_start} and {right_start}",
    implied_by=("EPOCH001", "EPOCH002", "EPOCH004", "SEG006"),
)
def epoch_starts_disagree(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Two replicas let one leader epoch begin at different offsets.

    One leader opens an epoch, at its log end. Each replica's first entry is passed over: it is clipped to that
    replica's own log start. Compaction may lawfully remove the first batches of an epoch before they are copied.

    Proves
    ------
    The replicas did not follow the same leader in that epoch, or one of them rewrote its history.

    Undecided when
    --------------
    Only one replica knows the epoch, or the partition is compacted.

    Upheld
    ------
    broker 1 000111|
    broker 2 @2:<0111|

    Violated
    --------
    broker 1 000111|
    broker 2 000011|
    """
    if evidence.compacted:
        return
    for left, right in evidence.pairs:
        ours, theirs = _starts(left), _starts(right)
        for epoch in sorted(ours.keys() & theirs.keys()):
            if ours[epoch] != theirs[epoch]:
                low, high = sorted((ours[epoch], theirs[epoch]))
                yield Violation(
                    brokers=(left.broker, right.broker),
                    start_offset=low,
                    end_offset=high,
                    facts={"epoch": epoch, "left_start": ours[epoch], "right_start": theirs[epoch]},
                    exhibits=tuple(_exhibits(left, epoch)) + tuple(_exhibits(right, epoch)),
                )


def _starts(replica: Replica) -> dict[int, int]:
    """Where each epoch begins, by the file where it has entries, else by the batches; without the clipped first one."""
    chain = replica.file_chain or replica.log_chain
    return {entry.epoch: entry.start_offset for entry in chain[1:]}


def _exhibits(replica: Replica, epoch: int) -> Iterator[Exhibit]:
    for entry in replica.epoch_file.entries:
        if entry.epoch == epoch:
            yield Exhibit(span=entry.span, role=f"broker {replica.broker}'s entry")
    for run in replica.log.epochs:
        if run.epoch == epoch:
            yield Exhibit(span=run.first, role=f"broker {replica.broker}'s first batch of the epoch")
            return
