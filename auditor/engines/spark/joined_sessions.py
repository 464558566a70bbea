"""Fetch sessions across the stretches of a request log that are read at once: folded apart, joined in order."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence

from auditor.engines.plan.units import ReadUnit
from auditor.engines.reading import Stretch, stretch_of
from auditor.engines.witnesses.log_statements import sessions_of
from parsers.request_log import NOTHING, SessionState, join


def followed(units: Sequence[ReadUnit]) -> list[ReadUnit]:
    """The stretches of request logs that another stretch follows, whose sessions it goes on with."""
    last = {unit.chain: unit for unit in units if unit.chain is not None}
    return [unit for unit in units if unit.chain is not None and unit is not last[unit.chain]]


def folded(unit: ReadUnit) -> bytes:
    """What a stretch does to sessions, as bytes that travel between workers and driver.

    One that cannot be read, as whoever reads its lines will tell, leaves no session known.
    """
    try:
        left = sessions_of(unit)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - it is told with the lines of the stretch
        left = NOTHING
    return pickle.dumps(left, protocol=pickle.HIGHEST_PROTOCOL)


def joined(units: Iterable[ReadUnit], done: Mapping[Stretch, bytes]) -> Iterator[tuple[Stretch, SessionState]]:
    """The sessions before every stretch that follows another."""
    sessions: dict[str, SessionState] = {}
    for unit in units:
        if unit.chain is None:
            continue
        before = sessions.get(unit.chain)
        if before is not None:
            yield stretch_of(unit), before
        effect = done.get(stretch_of(unit))
        if effect is not None:
            # Written by this program's own workers a moment ago.
            sessions[unit.chain] = join(before or NOTHING, pickle.loads(effect))  # noqa: S301
