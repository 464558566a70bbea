"""META001: nodes of the cluster hold different metadata, below what all of them know as committed."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, MetadataChange, RecordRow
from rules.evidence import METADATA_TOPIC, Difference, PartitionEvidence, SnapshotSeen
from rules.evidence.committed_metadata import committed_by_both, contradict, distrusted, held_by_a_majority, left_unread
from rules.finding import Bearing, Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="META001",
    severity=Severity.CRITICAL,
    needs=(BatchHeader, RecordRow, MetadataChange),
    law="NoLogDivergence",
    scope="cluster",
    message="{says:.} {costs:.}",
    implied_by=("LOG003", "SEG006"),
    bearing=Bearing(calls_for="Change nothing yet. Find out which nodes hold the true metadata."),
)
def metadata_logs_diverge(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Nodes of one cluster hold different metadata.

    Controllers and brokers copy one log, `__cluster_metadata`. A snapshot's name says how far the log was committed
    when it was written, and in which epoch. So two logs agree below the ends of both nodes' snapshots, and in one epoch
    everywhere. A snapshot says what the records before its end add up to. Its epoch is that of the last one.
    Lawful are ends of logs that most voters lack: they are cut when the node returns.

    Proves
    ------
    Nodes act on different leaders, ISRs or settings, or will once they start from such a snapshot. A torn snapshot is
    damage to one node's file.

    Undecided when
    --------------
    Logs differ in different epochs, beyond the snapshots of both nodes, and no majority of voters holds either log. Or
    the only log that reaches a snapshot may end in records that were never committed. Of each node's snapshots only the
    oldest and the two newest are read; that leaves no verdict open.

    Upheld
    ------
    topic __cluster_metadata
    broker 7 0022 ; voters 7 8 9
    broker 8 0022 ; voters 7 8 9
    broker 9 001 ; voters 7 8 9
    snapshot 7 at 4 epoch 2 is alike

    Violated
    --------
    topic __cluster_metadata
    broker 7 0022 ; voters 7 8 9
    broker 8 0022 ; voters 7 8 9
    broker 9 001 ; voters 7 8 9
    snapshot 7 at 4 epoch 2 is alike
    snapshot 9 at 3 epoch 1 is open
    """
    if evidence.topic != METADATA_TOPIC:
        return
    for difference in evidence.differences:
        if contradict(evidence.metadata_snapshots, difference):
            yield _logs(difference, committed_by_both(evidence.metadata_snapshots, difference))
        elif not held_by_a_majority(evidence.current, evidence.differences, difference):
            yield _open_logs(difference)
    for seen in evidence.metadata_snapshots:
        yield from _snapshot(evidence, seen)
    unread = left_unread(evidence.metadata_snapshots)
    if unread is not None:
        yield Undecided(
            reason=f"the audit did not compare {unread.words} with the log. Of each node, it takes the oldest snapshot and the two newest ones",
            missing="audit a copy of this dump that holds only three snapshots of each node. Repeat that with the next three",
            brokers=unread.brokers,
            blocking=False,
        )


def _open_logs(difference: Difference) -> Undecided:
    left, right = difference.left.broker, difference.right.broker
    start, end = difference.start_offset, difference.end_offset
    return Undecided(
        reason=f"the metadata logs of nodes {left} and {right} differ at offsets [{start}, {end}), and whether that was"
        " committed is not known",
        missing="the metadata logs of most voters, with quorum-state and snapshots",
        brokers=(left, right),
        start_offset=start,
        end_offset=end,
    )


def _logs(difference: Difference, committed: int) -> Violation:
    left, right, first = difference.left.broker, difference.right.broker, difference.first_batches
    end = difference.end_offset if difference.same_epoch else min(difference.end_offset, committed)
    known = "both nodes have records of the same epoch there" if difference.same_epoch else "snapshots of both nodes say that these offsets were committed"
    return Violation(
        brokers=(left, right),
        start_offset=difference.start_offset,
        end_offset=end,
        confidence="certain" if difference.verified else "likely",
        facts={
            "says": f"the metadata logs of nodes {left} and {right} differ at offsets"
            f" [{difference.start_offset}, {end}), and {known}",
            "costs": "so these nodes act on different leaders, ISRs or settings",
            "subject": "logs",
        },
        exhibits=tuple(Exhibit(span=at, role=f"node {node}'s first differing batch") for node, at in first),
    )


def _snapshot(evidence: PartitionEvidence, seen: SnapshotSeen) -> Iterator[Violation | Undecided]:
    """Records of one epoch at one offset have the same ones before them; those of another epoch may be cut."""
    other_epoch = seen.log_epoch is not None and seen.log_epoch != seen.epoch
    if not distrusted(evidence.metadata_snapshots, seen):
        yield from [_open(seen)] if other_epoch else ()
    elif seen.standing == "torn":
        yield _flaw(seen, "cannot be read whole", Severity.MEDIUM)
    elif other_epoch:
        yield _flaw(seen, f"is of epoch {seen.epoch}, but the log's last record before it is of epoch {seen.log_epoch}")
    else:
        yield _flaw(seen, f"contradicts node {seen.log_broker}'s log before that offset; {seen.words}")


def _flaw(seen: SnapshotSeen, what: str, severity: Severity = Severity.CRITICAL) -> Violation:
    return Violation(
        brokers=(seen.broker,),
        end_offset=seen.end_offset,
        severity=severity,
        facts={
            "says": f"node {seen.broker}'s snapshot at offset {seen.end_offset} {what}",
            "costs": "a node that starts from this snapshot acts on metadata that differs from the log, or does not start",
            "differences": seen.differences,
            "subject": f"snapshot {seen.epoch}",
        },
        exhibits=(Exhibit(span=seen.span, role="the snapshot"),),
    )


def _open(seen: SnapshotSeen) -> Undecided:
    return Undecided(
        reason=f"node {seen.broker}'s snapshot at offset {seen.end_offset} is of epoch {seen.epoch}, but the log that"
        f" reaches it has epoch {seen.log_epoch} there; that may never have been committed",
        missing="the metadata logs of the other voters",
        brokers=(seen.broker,),
        end_offset=seen.end_offset,
        exhibits=(Exhibit(span=seen.span, role="the snapshot"),),
    )
