"""Clocks that were set back amid their logs: what was written since is told as if they had gone on.

Lines of a log stand in the order in which they were written. Where roles, ISRs or the epochs of requests fall back in
it and rise in the order of times, parts of it were put together in another order. A file in which the change does
not show is of the time before or after it; where both are possible, its times are left as they are, and marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Final

from msgspec import structs

from rules.history.moments import ROLE_KINDS, Moment, falls, gives_role, ordered
from rules.history.statements import times_of

LEAST_MS: Final = 60_000
"""Lines that are older than those before them by less may be of threads that wrote at once."""
_FEW: Final = 4
"""Files of one clock in which the change does not show; of more it is not asked where it belongs in each."""

_TABLES: Final = (".csv", ".json", ".jsonl", ".ndjson")
"""Fetches as somebody else wrote them down, in whatever order."""

_ENDING: Final = ("log-loaded", "log-created", "log-deleted")
"""After these a replica has no role any more."""

Lines = Sequence[Moment]


def going_on(moments: Sequence[Moment]) -> list[Moment]:
    """The statements, with what brokers wrote after their clock was set back shifted behind all that is before."""
    by_clock: dict[str, list[Moment]] = {}
    for moment in moments:
        by_clock.setdefault(moment.clock, []).append(moment)
    shifted: dict[int, Moment] = {}
    for clock, own in by_clock.items():
        if clock.startswith("broker "):
            shifted |= _shifted(own)
    return [shifted.get(id(moment), moment) for moment in moments]


def _falls_back(moments: Iterable[Moment]) -> bool:
    """Whether roles, ISRs or the epochs that served requests name are older than before, in the order of times.

    Nor is the high watermark of a replica loaded that has a role, before its log is.
    """
    has_role = False
    in_order = ordered(moments)
    for m in in_order:
        has_role = m.kind in ROLE_KINDS or (has_role and m.kind not in _ENDING)
        if has_role and m.kind == "high-watermark-loaded":
            return True
    return falls(((what, m.topic_id), epoch) for m in in_order for what, epoch in _rising(m))


def _rising(moment: Moment) -> Iterator[tuple[str, int]]:
    """What never falls in the order in which a broker writes."""
    if moment.doubtful or moment.error not in (None, 0):
        return
    role = moment.kind in ROLE_KINDS or gives_role(moment)
    if moment.epoch is not None and (role or (moment.kind == "fetched" and moment.epoch >= 0)):
        yield ("role" if role else "served"), moment.epoch
    if moment.kind in ("isr", "leadership") and moment.partition_epoch is not None:
        yield "state", moment.partition_epoch


@dataclass(frozen=True, slots=True)
class _File:
    """A file's statements in the order of its lines, and where the first stands after its clock was set back."""

    lines: Lines
    place: int | None

    @property
    def first_after(self) -> int:
        """The first time that is written after it."""
        return 0 if self.place is None else self.lines[self.place].time or 0


def _shifted(own: Sequence[Moment]) -> Mapping[int, Moment]:
    """By identity what was written after the one change of a clock; all that may have been, where that stays open."""
    files = list(_files(own))
    falling = [file for file in files if file.place is not None]
    if not falling:
        return {}
    since = min(file.first_after for file in falling)
    certain = [line for file in falling for line in file.lines[file.place :]]
    steady = [[line for line in file.lines if (line.time or 0) >= since] for file in files if file.place is None]
    open_ones = [lines for lines in steady if lines]
    found = list(_orders(own, certain, open_ones)) if len(open_ones) <= _FEW else []
    if len(found) == 1:
        return found[0]
    if not found and not _falls_back(own):
        return {}  # it is the file that is out of order: parts of a log were put together in another one
    return {id(line): structs.replace(line, set_back=None) for lines in (certain, *open_ones) for line in lines}


def _orders(own: Sequence[Moment], certain: Lines, open_ones: Sequence[Lines]) -> Iterator[Mapping[int, Moment]]:
    """What is later, in every way of placing the files that do not show the change by which nothing falls back."""
    for after in product((False, True), repeat=len(open_ones)):
        late = [*certain, *(line for lines, put in zip(open_ones, after, strict=True) if put for line in lines)]
        ids = {id(line) for line in late}
        until = max(m.time or 0 for m in own if id(m) not in ids)
        by = until - min(line.time or 0 for line in late) + 1
        shifted = {id(line): shifted_by(line, by) for line in late}
        if not _falls_back(shifted.get(id(moment), moment) for moment in own):
            yield shifted


def _files(own: Sequence[Moment]) -> Iterator[_File]:
    """The files of a clock; none at all where one shows more than one change."""
    by_source: dict[str, list[Moment]] = {}
    for moment in own:
        table = moment.span.source.endswith(_TABLES)
        if moment.time is not None and moment.kind != "trace-begins" and not table:
            by_source.setdefault(moment.span.source, []).append(moment)
    found: list[_File] = []
    for lines in by_source.values():
        lines.sort(key=lambda line: line.span.start)
        falls = [n for n, (a, b) in enumerate(pairwise(lines), 1) if (a.time or 0) - (b.time or 0) > LEAST_MS]
        if len(falls) > 1:
            return
        found.append(_File(lines, falls[0] if falls else None))
    yield from found


def shifted_by(moment: Moment, by: int) -> Moment:
    """The same so much later on its clock, with the amount beside it."""
    return structs.replace(moment, set_back=by, **{name: time + by for name, time in times_of(moment).items()})
