"""Changes of the ISR that a leader makes: proposed, then committed or rejected by the controller."""

from __future__ import annotations

from msgspec.structs import replace

from rules.protocol.isr import Brokers, lag_kind
from rules.protocol.offsets import BrokerId, Epoch
from rules.simulator.decision import succeeding, written
from rules.simulator.leading import advance, may_join, remote, view
from rules.simulator.notes import CommittedIsr, ProposedIsr, RefusedIsr
from rules.simulator.reassignment import elected, settle, tell_of
from rules.simulator.state import Broker, Cluster, Leading, note, put, say


def shrink(cluster: Cluster, leader: Broker, member: BrokerId, *, only_proposed: bool = False) -> Cluster:
    """A leader takes a follower out of its ISR; a change in flight must be settled first."""
    held = leader.leading
    if held is None or member == leader.id or member not in held.committed_isr:
        return say(cluster, f"broker {member} is not for broker {leader.id} to take out of the ISR")
    return _change(cluster, leader, held.committed_isr - {member}, only_proposed=only_proposed)


def expand(cluster: Cluster, leader: Broker, member: BrokerId, *, only_proposed: bool = False) -> Cluster:
    """A leader takes a follower into its ISR, if its version finds that it may enter."""
    known = remote(leader, member)
    if leader.leading is None or known is None:
        return say(cluster, f"broker {leader.id} knows no follower {member}")
    seen = view(cluster, leader)
    if not leader.generation.expands(known, seen):
        place = f"log end {known.log_end_offset} as fetched, high watermark {seen.high_watermark}"
        return say(cluster, f"broker {member} may not enter: {place}, epoch begun at {seen.epoch_start_offset}")
    return _change(cluster, leader, leader.leading.committed_isr | {member}, only_proposed=only_proposed)


def check_lag(cluster: Cluster, leader: Broker) -> Cluster:
    """A leader's regular look at the clock: who lags too long leaves the ISR; of the others it says how they stand."""
    if leader.leading is None:
        return say(cluster, f"broker {leader.id} does not lead")
    seen = view(cluster, leader)
    lagging: list[BrokerId] = []
    for known in leader.leading.followers:
        since = f"{cluster.time_ms - known.last_caught_up_time_ms} ms ago" if known.last_caught_up_time_ms else "never"
        kind = lag_kind(known, seen)
        cluster = say(cluster, f"broker {known.broker} {kind}: caught up {since}, limit {seen.lag_time_max_ms} ms")
        if known.broker in leader.leading.committed_isr and leader.generation.shrinks(known, seen):
            lagging.append(known.broker)
    if not lagging:
        return cluster
    return _change(cluster, leader, leader.leading.committed_isr.difference(lagging), only_proposed=False)


def _change(cluster: Cluster, leader: Broker, isr: Brokers, *, only_proposed: bool) -> Cluster:
    held = leader.leading
    if held is None:
        return cluster
    if held.proposed_isr is not None:
        return say(cluster, "an ISR change is in flight already")
    cluster = note(cluster, _proposal(leader, held, isr))
    if not leader.generation.asynchronous_isr:
        return _written(cluster, leader, isr)
    lives = tuple(
        (known.broker, known.broker_epoch) for known in held.followers if known.broker in isr - held.committed_isr
    )
    proposed = put(cluster, replace(leader, leading=replace(held, proposed_isr=isr, proposed_lives=lives)))
    proposed = advance(proposed, leader.id)
    return proposed if only_proposed else commit(proposed, proposed.broker(leader.id))


def _proposal(leader: Broker, held: Leading, isr: Brokers) -> ProposedIsr:
    ends = {known.broker: known.log_end_offset for known in held.followers}
    return ProposedIsr(
        broker=leader.id,
        epoch=leader.heard.epoch if leader.heard else Epoch(-1),
        before=held.committed_isr,
        isr=isr,
        high_watermark=leader.high_watermark,
        log_end_offset=leader.log.end_offset,
        remote_ends=tuple((member, ends.get(member, -1)) for member in sorted(held.committed_isr - isr)),
    )


def commit(cluster: Cluster, leader: Broker) -> Cluster:
    """The controller accepts the change that a leader proposed, or rejects that of a deposed one."""
    held = leader.leading
    if held is None or held.proposed_isr is None:
        return say(cluster, "no ISR change is in flight")
    if not is_true_leader(cluster, leader):
        return say(cluster, f"broker {leader.id} was deposed: its ISR change is refused, and stays in flight")
    refused = [m for m, life in held.proposed_lives if not may_join(cluster, leader, m, life)]
    if leader.generation.kraft and refused:
        return reject(
            say(cluster, f"broker {refused[0]} is fenced, or lives another life than the one that fetched"), leader
        )
    return _written(cluster, leader, held.proposed_isr)


def reject(cluster: Cluster, leader: Broker) -> Cluster:
    """A proposed change falls; the leader goes on with what was committed."""
    if leader.leading is None or leader.leading.proposed_isr is None:
        return say(cluster, "no ISR change is in flight")
    after = put(cluster, replace(leader, leading=replace(leader.leading, proposed_isr=None)))
    return say(after, f"the ISR change of broker {leader.id} is rejected")


def is_true_leader(cluster: Cluster, leader: Broker) -> bool:
    """Whether the controller holds this broker for the leader, in the epoch that it leads."""
    decided = cluster.in_force
    return leader.heard is not None and decided.leader == leader.id and decided.epoch == leader.heard.epoch


def _written(cluster: Cluster, leader: Broker, isr: Brokers) -> Cluster:
    held, heard = leader.leading, leader.heard
    if held is None or heard is None or not is_true_leader(cluster, leader):
        cluster = note(cluster, RefusedIsr(broker=leader.id, version=heard.version)) if heard else cluster
        return say(cluster, f"the ISR change of broker {leader.id} is refused: it was deposed")
    decided = succeeding(cluster, epoch=heard.epoch, leader=leader.id, isr=isr)
    if decided.epoch != heard.epoch:  # it ended a reassignment; the leader goes by what it will be told
        words = (*elected(heard, decided), "the reassignment is over")
        return tell_of(say(written(cluster, decided), *words), decided)
    leader = replace(leader, heard=decided, leading=replace(held, committed_isr=isr, proposed_isr=None))
    after = put(written(cluster, decided), leader)
    after = note(after, CommittedIsr(broker=leader.id, decided=decided))
    members = ", ".join(map(str, sorted(isr)))
    after = say(after, f"ISR is {members}")
    # a leader that learns of the commit by an answer looked at its high watermark only since KAFKA-13091
    after = advance(after, leader.id) if leader.generation.moves_at_commit else after
    return after if leader.generation.kraft else settle(after)
