"""EPOCH005: two replicas let one epoch begin at different offsets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from parsers.tables import BatchHeader, EpochEntry
from rules.evidence import PartitionEvidence, Replica
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule
from rules.words import numbered


@rule(
    id="EPOCH005",
    severity=Severity.CRITICAL,
    needs=(EpochEntry, BatchHeader),
    law="EpochStartUnique",
    message="Leader epoch {epoch} begins at offset {left_start} on broker {left}, but at offset {right_start} on "
    "broker {right}. So the two brokers did not follow the same leader in epoch {epoch}, or one of their logs was changed later.",
    implied_by=("EPOCH001", "EPOCH002", "EPOCH004", "SEG005", "SEG006"),
)
def epoch_starts_disagree(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Two replicas let one leader epoch begin at different offsets.

    One leader opens an epoch, at its log end. Batches testify where there are some, the leader-epoch-checkpoint
    elsewhere. What a replica knows first is passed over: it is clipped to that replica's own log start. Compaction may
    lawfully remove the first batches of an epoch before they are copied.

    Proves
    ------
    The replicas did not follow the same leader in that epoch, or one of them rewrote its history.

    Undecided when
    --------------
    Only one replica knows the epoch, or the partition is compacted. Or a checkpoint alone tells where the epoch begins,
    since the log beside it is not here. Its batches might deny the entry, as EPOCH002 tells it.

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
                alone = [r for r in (left, right) if not _borne_out(r, epoch, low, high)]
                if alone:
                    yield _undecided(epoch, alone, low, high)
                    continue
                yield Violation(
                    brokers=(left.broker, right.broker),
                    start_offset=low,
                    end_offset=high,
                    facts={
                        "epoch": epoch,
                        "left": left.broker,
                        "right": right.broker,
                        "left_start": ours[epoch],
                        "right_start": theirs[epoch],
                        "subject": str(epoch),
                    },
                    exhibits=tuple(_exhibits(left, epoch)) + tuple(_exhibits(right, epoch)),
                )


def _borne_out(replica: Replica, epoch: int, low: int, high: int) -> bool:
    """Whether its batches tell where the epoch begins, or the log is here in which there are none of it."""
    unread = replica.unseen(low, high) or (not replica.end_known and replica.log_end_offset < high)
    return not unread or epoch in {run.epoch for run in replica.log.epochs} - _bounded(replica)


def _undecided(epoch: int, alone: Sequence[Replica], low: int, high: int) -> Undecided:
    who = numbered("broker", [replica.broker for replica in alone])
    return Undecided(
        reason=f"the replicas let epoch {epoch} begin at {low} and {high}, and of {who} its checkpoint alone tells it",
        missing=f"the log of {who} at these offsets",
        brokers=tuple(replica.broker for replica in alone),
        start_offset=low,
        end_offset=high,
    )


def _starts(replica: Replica) -> dict[int, int]:
    """Where each epoch begins, the clipped first one left out; of entries that contradict the log EPOCH002 speaks."""
    clipped = {chain[0].epoch for chain in (replica.file_chain, replica.log_chain) if chain}
    bounded = _bounded(replica)
    entries = (*replica.file_chain, *(entry for entry in replica.log_chain if entry.epoch not in bounded))
    starts = {entry.epoch: entry.start_offset for entry in entries}
    return {epoch: start for epoch, start in starts.items() if epoch not in clipped}


def _bounded(replica: Replica) -> set[int]:
    """The epochs of which a batch behind a hole comes first: it is only an upper bound of where they began."""
    behind_holes = {step.after for step in replica.log.gaps}
    return {run.epoch for run in replica.log.epochs if run.first in behind_holes}


def _exhibits(replica: Replica, epoch: int) -> Iterator[Exhibit]:
    for entry in replica.epoch_file.entries:
        if entry.epoch == epoch:
            yield Exhibit(span=entry.span, role=f"broker {replica.broker}'s entry")
    for run in replica.log.epochs:
        if run.epoch == epoch:
            yield Exhibit(span=run.first, role=f"broker {replica.broker}'s first batch of the epoch")
            return
