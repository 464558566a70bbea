"""Who led each epoch, who followed how far, and who was no replica for a while, by the best word that is told."""

from __future__ import annotations

from collections.abc import Iterable

from rules.history.moments import Moment
from rules.history.statements import Fetched


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


def _name(leaders: dict[int, int], epoch: int, leader: int | None) -> None:
    if leader is not None and leader >= 0:
        leaders.setdefault(epoch, leader)


def furthest_fetches(moments: Iterable[Moment]) -> dict[tuple[int, int | None], Fetched]:
    """The furthest fetch of each broker in each term that its leader counted: no error, and nothing to cut."""
    furthest: dict[tuple[int, int | None], Fetched] = {}
    for m in moments:
        if m.kind != "fetched" or m.error != 0 or m.doubtful or m.answered_epoch is not None:
            continue
        if m.broker is not None and m.offset is not None:
            known = furthest.get((m.broker, m.term))
            if known is None or m.offset > (known.offset or 0):
                furthest[m.broker, m.term] = m
    return furthest


def once_unassigned(moments: Iterable[Moment]) -> frozenset[int]:
    """Brokers that some assignment names, and another does not."""
    told = [frozenset(m.replicas) for m in moments if m.kind == "leadership" and m.replicas]
    return frozenset().union(*told) - told[0].intersection(*told) if told else frozenset()
