"""LEO002: a fetcher gave a partition up, and nobody took it up again."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BrokerEvent, Fetch
from rules.chronicle.silence import Silence, would_tell
from rules.evidence import STOPPING, Moment, PartitionEvidence, Replica
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule

ROLES = ("leader-starts", "follower-starts", "log-loaded")


@rule(
    id="LEO002",
    severity=Severity.MEDIUM,
    needs=(BrokerEvent, Fetch),
    law="liveness of replication",
    message="Broker {broker} marked the partition as failed and never fetched it again. Its log end offset "
    "is {start_offset}, broker {leader}'s is {end_offset}.",
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
    No other replica of the topic is in the dump, so nothing shows that the leader went on. Or nothing shows that it
    did so in that epoch. In a later epoch the broker has a role again, which its log here may not tell.

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
            reason = f"broker {replica.broker} marked the partition as failed and never fetched it again. Whether others went on is not known"
            yield Undecided(reason=reason, missing="another replica", brokers=(replica.broker,), blocking=False)
        elif not replica.end_known or furthest.log_end_offset <= replica.log_end_offset:
            continue
        elif _epoch_went_on(evidence, replica, own[failed]):
            yield _violation(replica, furthest, own[failed])
        else:
            yield _role_untold(replica, own[failed])


def _fetched_after(evidence: PartitionEvidence, replica: Replica, failed: Moment) -> bool:
    """Whether any leader saw a fetch that cannot have been before the failure: of a later term, or beyond the log."""
    fetches = [m for m in evidence.moments if m.kind == "fetched" and m.broker == replica.broker and m.error == 0]
    return any(m.term is not None and failed.term is not None and m.term > failed.term for m in fetches)


def _epoch_went_on(evidence: PartitionEvidence, replica: Replica, failed: Moment) -> bool:
    """Whether the leader of that epoch surely wrote more than the replica has, which nobody saw the replica ask for.

    In a newer epoch the broker would have been given a role again: its own log may not tell it.
    """
    if failed.term is None or failed.latest_term is not None or evidence.epochs_used_twice:
        return False
    reach = evidence.epoch_ends.get(failed.term)
    had = evidence.chronicle.fetched_up_to(replica.broker, failed.term)
    return reach is not None and reach.offset > replica.log_end_offset >= had


def _role_untold(replica: Replica, failed: Moment) -> Undecided:
    since = None if failed.term is None else failed.term + 1
    return Undecided(
        reason=f"broker {replica.broker} marked the partition as failed, and its role in the next epoch is not told",
        missing=would_tell(Silence(broker=replica.broker, log="roles", window="whole", since_epoch=since)),
        brokers=(replica.broker,),
        blocking=False,
    )


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
