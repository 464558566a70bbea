"""CONS002: the last record that a consumer group read was cut, and another stands in its place."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from parsers.tables import BatchHeader, GroupOffset
from rules.evidence import EpochRun, GroupCommit, PartitionEvidence, Replica
from rules.finding import Bearing, Exhibit, Severity, Violation
from rules.rule import rule
from rules.words import numbered


@rule(
    id="CONS002",
    severity=Severity.HIGH,
    needs=(BatchHeader, GroupOffset),
    law="ConsistentRead",
    message="{groups:+Group} read records of leader epoch {epoch} and committed offset {end_offset}. The leader's log now has "
    "other records at {offsets}, of {instead}. The group has not read these.",
    implied_by=("LEAD001", "ACK001", "TRUNC001", "LOG001"),
    bearing=Bearing(
        calls_for="These groups have not read the records that are there now. To read them, stop their clients, and set their offset to "
        "the first of these offsets (kafka-consumer-groups --reset-offsets). Java clients since 2.3 may go back by "
        "themselves, or stop where auto.offset.reset is none. Others read on.",
        of_groups=True,
    ),
)
def committed_offset_in_cut_epoch(evidence: PartitionEvidence) -> Iterator[Violation]:
    """A group committed in a leader epoch that ends below its offset.

    A commit carries the leader epoch of the last record that was read. Java clients since 2.3, with brokers since
    2.3, ask where that epoch ends before they go on (KIP-320). If it ends below their offset they go back there, or
    stop with a LogTruncationException where no reset is set. Others go on, and never read what stands there now.

    Proves
    ------
    The group read records that were cut later. Others stand in their place, which it has not read. No log holds
    records of a newer epoch below those of an older one. So all records of newer epochs below the committed offset
    came after the cut.

    Undecided when
    --------------
    Never: a commit without a leader epoch, or of an offset that the log no longer holds, proves nothing here.

    Upheld
    ------
    broker 1* 000011|
    group g 5 epoch 1

    Violated
    --------
    broker 1* 000011|
    group g 5 epoch 0
    """
    leader = evidence.leader_at_the_end
    if leader is None or evidence.epochs_used_twice:
        return
    found: dict[tuple[int, int], list[GroupCommit]] = {}
    for commit in evidence.group_offsets:
        if commit.leader_epoch is not None and _cut(commit, leader) is not None:
            found.setdefault((commit.offset, commit.leader_epoch), []).append(commit)
    for (offset, epoch), commits in sorted(found.items()):
        runs = list(_instead(offset, epoch, leader))
        yield Violation(
            brokers=(),  # whose log leads may be told otherwise by more evidence, and nobody did wrong by leading
            start_offset=max(runs[0].start_offset, leader.log_start_offset),
            end_offset=offset,
            confidence="likely",
            facts={
                "groups": tuple(sorted({commit.group for commit in commits})),
                "epoch": epoch,
                "held": runs[-1].epoch,
                "instead": numbered("epoch", sorted({run.epoch for run in runs})),
                "leader": leader.broker,
                "subject": f"{offset} {epoch}",
            },
            exhibits=tuple(Exhibit(span=commit.span, role=f"what {commit.group} committed") for commit in commits[:8]),
        )


def _cut(commit: GroupCommit, leader: Replica) -> EpochRun | None:
    """The run of another epoch that holds what the group read last; a commit older than the log may be of another life."""
    epoch, oldest = commit.leader_epoch, leader.log.min_timestamp
    older = commit.commit_time is not None and oldest is not None and commit.commit_time < oldest
    if epoch is None or epoch < 0 or older or commit.offset <= leader.log_start_offset:
        return None
    runs = list(leader.runs_within(commit.offset - 1, commit.offset))
    return runs[0] if runs and all(run.epoch >= 0 and run.epoch != epoch for run in runs) else None


def _instead(offset: int, epoch: int, leader: Replica) -> Iterator[EpochRun]:
    """What stands in place of what was read: all of newer epochs below the offset, or the last record alone."""
    (last, *_) = leader.runs_within(offset - 1, offset)
    if last.epoch < epoch:
        yield replace(last, start_offset=offset - 1, end_offset=offset)
        return
    below = [run for run in leader.runs_within(leader.log_start_offset, offset) if run.epoch <= epoch]
    since = max((run.end_offset for run in below), default=leader.log_start_offset)
    for run in leader.runs_within(since, offset):
        yield replace(run, start_offset=max(run.start_offset, since))
