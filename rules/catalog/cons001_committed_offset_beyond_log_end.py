"""CONS001: a consumer group has read records that no log holds any more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from parsers.tables import BatchHeader, GroupOffset
from rules.evidence import GroupCommit, PartitionEvidence, Replica
from rules.finding import Bearing, Exhibit, Severity, Undecided, Violation
from rules.rule import rule
from rules.words import numbered


@rule(
    id="CONS001",
    severity=Severity.HIGH,
    needs=(BatchHeader, GroupOffset),
    law="ConsistentRead",
    message="{groups:+Group} committed offset {end_offset}, but the highest log end offset is {start_offset}. No log has "
    "{offsets} any more. The next fetch is out of range, and auto.offset.reset decides where consumers read on.",
    implied_by=("LEAD001", "ACK001", "HW001", "LEO001", "TRUNC001"),
    bearing=Bearing(
        calls_for="Stop these groups, and set their offset to the first of these offsets (kafka-consumer-groups "
        "--reset-offsets). Else auto.offset.reset decides: with latest they skip what was written before their next "
        "fetch, with earliest they read everything again, with none they stop.",
        of_groups=True,
    ),
)
def committed_offset_beyond_log_end(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A group committed an offset beyond the end of every log.

    A group commits an offset after it has read the records below it. A client asks for the committed offset next.
    The leader answers that it is out of range. With `latest` the client skips what is written meanwhile. With
    `earliest` it reads everything again. With `none` it stops. A Java client since 2.3 that committed a leader epoch
    asks first where that epoch ends (KIP-320). It goes back there, or stops where no reset is set.

    Proves
    ------
    Somebody read records that are in no log here. Producers or the reader have to make up for them.

    Undecided when
    --------------
    A log is not here, or not whole, or it may have been copied before the group committed. Or nothing tells which
    brokers have a replica.

    Upheld
    ------
    broker 1* 0000|
    broker 2  0000|
    group g 4
    t1 leader 1 epoch 0 isr 1,2 of 1,2

    Violated
    --------
    broker 1* 0000|
    broker 2  0000|
    group g 6
    t1 leader 1 epoch 0 isr 1,2 of 1,2
    """
    logs = evidence.own_logs
    end = max((replica.log_end_offset for replica in logs), default=0)
    beyond = [c for c in evidence.group_offsets if c.told_by == "log" and c.offset > end]
    if not beyond or not logs:
        return
    whole = [commit for commit in beyond if _log_is_later(commit, logs)]
    absent = sorted({*evidence.assignment} - {replica.broker for replica in logs})
    if whole and evidence.assignment and not absent and all(replica.end_known for replica in logs):
        yield _violation(evidence, whole, end)
        return
    why, missing = "they are not whole or may be older copies", "whole logs, copied from stopped brokers"
    if absent:
        why, missing = f"no log of {numbered('broker', absent)} is here", f"the log of {numbered('broker', absent)}"
    elif not evidence.assignment:
        why, missing = "nothing tells whether another broker has a replica", TELL_REPLICAS
    yield Undecided(
        reason=f"a group committed an offset beyond the logs; {why}",
        missing=missing,
        start_offset=end,
        end_offset=max(commit.offset for commit in beyond),
        blocking=not all(replica.end_known for replica in logs),
        exhibits=tuple(Exhibit(span=commit.span, role=f"what {commit.group} committed") for commit in beyond[:8]),
    )


TELL_REPLICAS: Final = "metadata, or an output of kafka-topics --describe"
"""What tells which brokers have a replica."""


def _log_is_later(commit: GroupCommit, logs: tuple[Replica, ...]) -> bool:
    """Whether every log tells of a moment behind the commit: its broker shut down cleanly, or it holds newer records."""
    return all(replica.clean_shutdown is not None or _newer(replica, commit.commit_time) for replica in logs)


def _newer(replica: Replica, time: int | None) -> bool:
    newest = replica.log.max_timestamp
    return time is not None and newest is not None and newest > time


def _violation(evidence: PartitionEvidence, commits: list[GroupCommit], end: int) -> Violation:
    return Violation(
        brokers=(),
        start_offset=end,
        end_offset=max(commit.offset for commit in commits),
        confidence="certain" if all(r.clean_shutdown is not None for r in evidence.own_logs) else "likely",
        facts={"groups": tuple(sorted({commit.group for commit in commits}))},
        exhibits=tuple(Exhibit(span=commit.span, role=f"what {commit.group} committed") for commit in commits[:8]),
    )
