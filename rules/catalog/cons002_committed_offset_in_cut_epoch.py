"""CONS002: the last record that a consumer group read was cut, and another stands in its place."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, GroupOffset
from rules.evidence import GroupCommit, PartitionEvidence, Replica
from rules.facts.stretch import EpochRun
from rules.finding import Exhibit, Severity, Violation
from rules.rule import rule


@rule(
    id="CONS002",
    severity=Severity.HIGH,
    needs=(BatchHeader, GroupOffset),
    law="ConsistentRead",
    message="{groups:+Group} read offset {start_offset} in leader epoch {epoch}. Broker {leader}, which leads, holds "
    "a record of epoch {held} there. What was read is not what stands in the log.",
    implied_by=("LEAD001", "ACK001", "TRUNC001", "LOG001"),
)
def committed_offset_in_cut_epoch(evidence: PartitionEvidence) -> Iterator[Violation]:
    """A group committed in a leader epoch that ends below its offset.

    A commit carries the leader epoch of the last record that was read. Clients since 2.1 compare it with the
    leader's epochs before they go on (KIP-320). They go back to where the epoch ended, or stop with a
    LogTruncationException. Older clients go on, and never read what stands below their offset now.

    Proves
    ------
    The group read records that were cut later. Others stand in their place, which it has not read.

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
    found: dict[tuple[int, int, int], list[GroupCommit]] = {}
    for commit in evidence.group_offsets:
        run = _cut(commit, leader)
        if run is not None and commit.leader_epoch is not None:
            found.setdefault((commit.offset, commit.leader_epoch, run.epoch), []).append(commit)
    for (offset, epoch, held), commits in sorted(found.items()):
        yield Violation(
            brokers=(leader.broker,),
            start_offset=offset - 1,
            end_offset=offset,
            confidence="likely",
            facts={
                "groups": tuple(sorted({commit.group for commit in commits})),
                "epoch": epoch,
                "held": held,
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
