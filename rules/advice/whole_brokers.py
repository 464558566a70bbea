"""A broker starts with all its partitions: what bars its start in one of them bars it, whatever the others allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from rules.advice.gates import ROLLING
from rules.advice.weighed import Advice, Going

_GRAVER: Final[tuple[Going, ...]] = ("no-go", "unknown", "go")
Starts = Mapping[str, Going]
"""Of each action that restarts brokers the gravest word of any partition."""


def starts(several: Sequence[Advice]) -> Starts:
    """What restarts come to over the partitions of one cluster."""
    found: dict[str, Going] = {}
    for gate in (gate for advice in several for gate in advice.gates if _restarts(gate.action)):
        found[gate.action] = min(found.get(gate.action, "go"), gate.going, key=_GRAVER.index)
    return found


def where_gravest(advice: Advice, known: Starts) -> Advice:
    """The advice on a partition without what it says of restarts of which another one says graver things."""
    kept = (gate for gate in advice.gates if not _restarts(gate.action) or gate.going == known.get(gate.action))
    return replace(advice, gates=tuple(kept))


def _restarts(action: str) -> bool:
    return action == ROLLING or action.startswith("restart broker ")
