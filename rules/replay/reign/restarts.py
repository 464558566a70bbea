"""Restarts that no line tells of, from what they left behind."""

from __future__ import annotations

from collections.abc import Sequence

from rules.history.moments import ROLE_KINDS, Moment


def with_restarts(moments: Sequence[Moment]) -> tuple[Moment, ...]:
    """The statements, with every restart that only a role taken as if it were the first tells of."""
    found: list[Moment] = []
    loaded: set[str] = set()
    for moment in moments:
        if moment.kind == "log-loaded":
            loaded.add(moment.clock)
        elif moment.kind in ROLE_KINDS:
            if moment.fresh and moment.clock not in loaded:
                found.append(Moment(
                    kind="log-loaded", clock=moment.clock, witness=moment.witness, broker=moment.broker,
                    time=moment.time, term=moment.term, doubtful=True, span=moment.span,
                ))  # fmt: skip
            loaded.discard(moment.clock)
        found.append(moment)
    return tuple(found)
