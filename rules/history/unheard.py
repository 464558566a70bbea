"""Answers to producers that had gone: their connection was closed, which a broker shows by logging a request twice.

Kafka's network thread logs a request when it finds no open connection for the answer. Then it sends the answer all the
same, through the connection that is being closed. That fails, and it logs the request once more, as taking longer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from rules.history.moments import Moment, succeeded
from rules.history.rotated import log_of
from rules.history.statements import Produced

APART_MS: Final = 10
"""How far apart two lines of one request may have it come: times are written in milliseconds."""


def told_once(moments: Iterable[Moment]) -> list[Moment]:
    """The statements with a request that was logged twice told once, as an answer that nobody heard."""
    kept: list[Moment] = []
    known: dict[tuple[object, ...], int] = {}
    for moment in moments:
        if not succeeded(moment) or moment.request is None or moment.took is None:
            kept.append(moment)
            continue
        key = moment.clock, log_of(moment.span.source), moment.client_id, moment.request, moment.acks, moment.offset
        place = known.get(key)
        before = None if place is None else kept[place]
        if place is not None and isinstance(before, Produced) and _same_request(before, moment):
            kept[place] = replace(before, unheard=True)
        else:
            known[key] = len(kept)
            kept.append(moment)
    return kept


def _same_request(before: Produced, moment: Produced) -> bool:
    """Whether two lines tell of one request: it came at one time, and its second line came later.

    A line that an appender wrote twice tells the same duration twice.
    """
    if before.arrived is None or moment.arrived is None or moment.took == before.took:
        return False
    return abs(moment.arrived - before.arrived) <= APART_MS and moment.records_size == before.records_size
