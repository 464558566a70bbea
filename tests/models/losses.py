"""What may be lost of the evidence of a walk: whole files, their beginnings, their ends, and stretches in between."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping

from rules.history.moments import Moment
from rules.history.statements import Fetched
from rules.history.terms import in_terms
from tests.models.witnessed import Witnessed, without_files
from tests.replaced import replace

TRACE = "kafka-request.log"


def losses(found: Witnessed, moments: tuple[Moment, ...], seed: int) -> Mapping[str, tuple[Moment, ...]]:
    """The evidence without some files, and without what some files held at first."""
    rng = random.Random(seed)  # noqa: S311 - the same losses of the same walk
    files = sorted({moment.span.source for moment in moments})
    times = sorted(moment.time for moment in moments if moment.time is not None)
    gone = set(rng.sample(files, rng.randint(1, max(1, len(files) // 2))))
    from_then_on = rng.choice(times)
    traces = {file for file in rng.sample(files, rng.randint(1, len(files))) if file.endswith(TRACE)}
    late = [m for m in moments if m.span.source not in traces or (m.time or 0) >= from_then_on]
    found.begins = dict.fromkeys(traces, from_then_on)
    return {"files": without_files(moments, gone), "beginnings": in_terms(late), **holes(moments, files, times, rng)}


def holes(
    moments: tuple[Moment, ...], files: list[str], times: list[int], rng: random.Random
) -> Mapping[str, tuple[Moment, ...]]:
    """The evidence without the ends of some files, and without a stretch of them of which nothing tells."""
    cut = set(rng.sample(files, rng.randint(1, len(files))))
    start, end = sorted(rng.choice(times) for _ in range(2))
    return {
        "ends": in_terms(list(outside_of(moments, cut, end, times[-1] + 1))),
        "stretches": in_terms(list(outside_of(moments, cut, start, end))),
    }


def outside_of(moments: Iterable[Moment], files: set[str], start: int, end: int) -> Iterator[Moment]:
    """The statements without those that some files held from one time to another.

    A session goes on behind such a hole: what it does not name again is stale.
    """
    stale: set[tuple[str, int | None, int | None]] = set()
    for moment in moments:
        source, time = moment.span.source, moment.time or 0
        if source not in files:
            yield moment
            continue
        asker = (source, moment.broker, moment.session if isinstance(moment, Fetched) else None)
        if start <= time < end:
            stale.add(asker)
        elif time < start:
            until = moment.last_time or time
            yield moment if until < start else replace(moment, count=1, last_time=None)
            if until >= start:
                stale.add(asker)
        else:
            if not (isinstance(moment, Fetched) and moment.implied):
                stale.discard(asker)
            yield replace(moment, doubtful=True) if asker in stale and moment.kind == "fetched" else moment
