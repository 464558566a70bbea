"""LEO002: a fetcher gave a partition up, and nobody took it up again."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BrokerEvent, Fetch
from rules.evidence import STOPPING, Moment, PartitionEvidence, Replica
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule

ROLES = ("leader-starts", "follower-starts", "log-loaded")


@rule(
    id="LEO002",
    severity=Severity.MEDIUM,
    needs=(BrokerEvent, Fetch),
    law="liveness of replication",
    message="Broker {broker} marked the partition as failed and never fetched it again. Its log ends at "
    "{start_offset}, while broker {leader}'s goes on to {end_offset}.",
)
def replica_stopped_fetching(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A replica stopped fetching after a failure, and its log fell behind.

    A failed partition is not fetched until the next leader epoch. The line is everyday noise of a change of
    leaders. What counts is that neither a new role nor a fetch came after it, and that the leader went on. A broker
    that was stopping by then is not meant: its fetchers end with it.

    Proves
    ------
    From then on this replica was no copy of what was written.

    Undecided when
    --------------
    No other replica of the topic is in the dump, so nothing shows that the leader went on.

    Upheld
    ------
    broker 1 0000|
    broker 2 0000|
    t1 follows 2 epoch 0 at 2 hw 2
    t2 fails 2
    t3 follows 2 epoch 1 at 2 hw 2

    Violated
    --------
    broker 1 0000|
    broker 2 00|
    t1 follows 2 epoch 0 at 2 hw 2
    t2 fails 2
    """
    for replica in evidence.current:
        own = [m for m in evidence.moments if m.clock == f"broker {replica.broker}"]
        failed = next((i for i in reversed(range(len(own))) if own[i].kind == "marked-as-failed"), None)
        if failed is None or any(m.kind in ROLES for m in own[failed + 1 :]):
            continue
        if _fetched_after(evidence, replica, own[failed]) or _was_stopping(evidence, replica, own[failed]):
            continue
        others = evidence.followers_of(replica)
        furthest = max(others, key=lambda other: other.log_end_offset, default=None)
        if furthest is None:
            reason = f"broker {replica.broker} marked the partition as failed and never took it up again"
            yield Undecided(reason=reason, missing="another replica", brokers=(replica.broker,), blocking=False)
        elif replica.end_known and furthest.log_end_offset > replica.log_end_offset:
            yield _violation(replica, furthest, own[failed])


def _fetched_after(evidence: PartitionEvidence, replica: Replica, failed: Moment) -> bool:
    """Whether any leader saw a fetch that cannot have been before the failure: of a later term, or beyond the log."""
    fetches = [m for m in evidence.moments if m.kind == "fetched" and m.broker == replica.broker and m.error == 0]
    return any(m.term is not None and failed.term is not None and m.term > failed.term for m in fetches)


def _was_stopping(evidence: PartitionEvidence, replica: Replica, failed: Moment) -> bool:
    """Whether the broker was stopping by then: it hands its leaderships over, and its fetchers end soon after."""
    states = evidence.settings.states(replica.broker)
    before = [state for state in states if (state.since or 0) <= (failed.time or 0)]
    return bool(before) and before[-1].value == STOPPING


def _violation(replica: Replica, furthest: Replica, failed: Moment) -> Violation:
    return Violation(
        brokers=(replica.broker,),
        start_offset=replica.log_end_offset,
        end_offset=furthest.log_end_offset,
        facts={"broker": replica.broker, "leader": furthest.broker},
        exhibits=(Exhibit(span=failed.span, role="the fetcher gives the partition up"),),
    )
