"""Who led each epoch, by the best word that is told."""

from __future__ import annotations

from collections.abc import Iterable

from rules.history.moments import Moment


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
