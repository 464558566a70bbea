"""Who led each epoch, who followed how far, and who was no replica for a while, by the best word that is told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rules.history.moments import Moment, agreed
from rules.history.statements import Fetched

Follower = tuple[int, int | None]
"""A broker, and the term in which it fetched."""
Fall = tuple[Fetched, Fetched]
"""A fetch, and the follower's next one, which asked for less."""


def leaders_by_epoch(moments: Iterable[Moment]) -> dict[int, int]:
    """Who led each epoch: by the leader's own word, else the controller's, else by whoever answered fetches in it."""
    own, ordered, answered = dict[int, int](), dict[int, int](), dict[int, int]()
    for moment in moments:
        epoch, kind = moment.epoch, moment.kind
        if epoch is None:
            continue
        if kind == "fetched":
            if epoch not in answered and epoch >= 0 and moment.error == 0:
                _name(answered, epoch, moment.witness)
        elif kind == "leader-starts":
            _name(own, epoch, moment.broker)
        elif kind in ("leadership", "unclean-election"):
            _name(ordered, epoch, moment.leader)
    for other in (ordered, answered):
        for epoch, leader in other.items():
            own.setdefault(epoch, leader)
    return own


def followed(moments: Iterable[Moment]) -> dict[int, int]:
    """Whom followers took for the leader of each epoch: elected, but it may never have taken its role."""
    leaders: dict[int, int] = {}
    for moment in moments:
        if moment.kind == "follower-starts" and moment.epoch is not None:
            _name(leaders, moment.epoch, moment.leader)
    return leaders


def _name(leaders: dict[int, int], epoch: int, leader: int | None) -> None:
    if leader is not None and leader >= 0:
        leaders.setdefault(epoch, leader)


def furthest_fetches(moments: Iterable[Moment]) -> dict[Follower, Fetched]:
    """The furthest fetch of each broker in each term that its leader counted."""
    furthest: dict[Follower, Fetched] = {}
    for m in moments:
        if isinstance(m, Fetched) and m.kind == "fetched" and m.broker is not None and agreed(m):
            known = furthest.get((m.broker, m.term))
            if known is None or (m.offset or 0) > (known.offset or 0):
                furthest[m.broker, m.term] = m
    return furthest


def falls(moments: Iterable[Moment]) -> dict[Follower, list[Fall]]:
    """Where a follower asked for less than just before, in the order of its leader: its log had got shorter.

    After a fetch that was not counted it may have cut its log as it was told: what it asks for next is no such fall.
    """
    found: dict[Follower, list[Fall]] = {}
    latest: dict[Follower, Fetched | None] = {}
    for m in moments:
        if not isinstance(m, Fetched) or m.kind != "fetched" or m.broker is None:
            continue
        follower = m.broker, m.term
        former = latest.get(follower)
        latest[follower] = m if agreed(m) else None
        if former is not None and former.clock == m.clock and agreed(m) and (m.offset or 0) < (former.offset or 0):
            found.setdefault(follower, []).append((former, m))
    return found


def once_unassigned(moments: Iterable[Moment]) -> frozenset[int]:
    """Brokers that some assignment names, and another does not."""
    assignments = [frozenset(m.replicas) for m in moments if m.kind == "leadership" and m.replicas]
    return frozenset().union(*assignments) - assignments[0].intersection(*assignments) if assignments else frozenset()


def led_by_nobody(moments: Sequence[Moment]) -> frozenset[int]:
    """Epochs that the controllers gave to nobody: there is no leader to follow, and nothing to be cut for."""
    roles = [m for m in moments if m.kind in ("leadership", "leader-starts") and m.epoch is not None]
    led = {m.epoch for m in roles if m.kind == "leader-starts" or m.leader is None or m.leader >= 0}
    return frozenset(m.epoch for m in roles if m.epoch is not None and m.epoch not in led)
