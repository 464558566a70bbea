"""Clocks that were set back amid their logs: what was written since is told as if they had gone on.

Lines of a log stand in the order in which they were written. Where roles, ISRs or the epochs of requests fall back in
it and rise in the order of times, parts of it were put together in another order. A file in which the change does
not show is of the time before or after it. Where that leaves more than one order, the times are left, and marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise, product
from typing import Final

from msgspec import structs

from rules.history.falling_times import MOST_FALLS, Falls, TimesFall, dated_lines, falls_of_files
from rules.history.moments import ROLE_KINDS, Moment, falls, gives_role, ordered
from rules.history.sources_disagree import sources_disagree
from rules.history.statements import times_of

_FEW: Final = 4
"""Lines, or files, that do not show the change; of more it is not asked where each belongs."""
_LONG_MS: Final = 60_000
"""So far back a clock goes over no file that is written before and after, and does not show it."""
_SILENT_MS: Final = 5_000
"""How long before a fall, and behind it, other files may have been written while the one that shows it was not."""
_ENDING: Final = ("log-loaded", "log-created", "log-deleted")
"""After these a replica has no role any more."""

Lines = Sequence[Moment]


def going_on(moments: Sequence[Moment], falling: Falls, apart: AbstractSet[str] = frozenset()) -> list[Moment]:
    """The statements, with what brokers wrote after their clock was set back shifted behind all that is before.

    `falling` is where times fall in the brokers' logs, and `apart` are clocks whose files disagree, by the lines of all
    partitions. Of a clock whose files tell one role at times that cannot both be true, all is marked.
    """
    own: dict[str, list[Moment]] = {}
    for moment in moments:
        if dated_lines(moment):
            own.setdefault(moment.clock, []).append(moment)
    shifted: dict[int, Moment] = {}
    for clock, lines in own.items():
        later = _shifted(lines, drops) if (drops := falling.get(clock)) else {}
        disagree = (clock in apart and not drops) or sources_disagree([later.get(id(line), line) for line in lines])
        shifted |= _marked(lines) if disagree else later
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


def _shifted(own: Lines, drops: Sequence[TimesFall]) -> Mapping[int, Moment]:
    """By identity what was written after the one change of a clock; all of it, marked, where that stays open."""
    by_file, since = falls_of_files(drops), min(fall.after for fall in drops)
    if max((line.last_time or line.time or 0) for line in own) < since - _SILENT_MS:
        return {}  # nothing is told of the partition since
    most = max(map(len, by_file.values()))
    found = list(_orders(own, _Change(by_file, since))) if most == 1 and _of_one_time(drops, own) else []
    if len(found) == 1:
        return found[0]
    if not found and most <= MOST_FALLS and _put_together(own, by_file):
        return {}
    return _marked(own)


def _of_one_time(drops: Sequence[TimesFall], own: Lines) -> bool:
    """Whether a file shows all of the one change by which each file would have to be explained.

    Where none does, every file was silent around it for longer than ever, or each shows a change of its own.
    """
    until, since = max(fall.before for fall in drops), min(fall.after for fall in drops)
    pauses = _pauses(own)
    silent = ((fall, max(_SILENT_MS, pauses.get(fall.line.source, 0))) for fall in drops)
    return any(until - fall.before <= most and fall.after - since <= most for fall, most in silent)


def _pauses(own: Lines) -> Mapping[str, int]:
    """The longest time between two lines of each file."""
    found: dict[str, int] = {}
    for before, after in pairwise(sorted(own, key=lambda line: (line.span.source, line.span.start))):
        if before.span.source == after.span.source:
            pause = (after.time or 0) - (before.last_time or before.time or 0)
            found[after.span.source] = max(pause, found.get(after.span.source, 0))
    return found


def _put_together(own: Lines, falling: Mapping[str, object]) -> bool:
    """Whether parts of a log stand in another order: roles fall in that of its lines, and in that of times none do."""
    files: dict[str, list[Moment]] = {}
    for line in own:
        if line.span.source in falling:
            files.setdefault(line.span.source, []).append(structs.replace(line, time=line.span.start, last_time=None))
    return any(map(_falls_back, files.values())) and not _falls_back(own)


def _marked(own: Lines) -> Mapping[int, Moment]:
    return {id(line): structs.replace(line, set_back=None) for line in own}


class _Change:
    """Which lines are of the time after a clock was set back; lives only inside `_shifted`."""

    def __init__(self, falling: Mapping[str, Sequence[TimesFall]], since: int) -> None:
        self._places = {source: falls[0].line.start for source, falls in falling.items()}
        self._since = since - _SILENT_MS
        first = [falls[0] for falls in falling.values()]
        self.unhidden = len(first) > 1 and all(fall.before - fall.after > _LONG_MS for fall in first)
        """Whether several files show that it was the clock, and so far that each file is of one side or shows it."""
        self.until = max(fall.before for fall in first)
        """No time before the change is known to be later."""

    def late(self, line: Moment) -> bool | None:
        """Whether a line was written after it; None where its file does not show it, and the time may be of both."""
        place = self._places.get(line.span.source)
        if place is not None:
            return line.span.start >= place
        return None if (line.last_time or line.time or 0) >= self._since else False


def _orders(own: Lines, change: _Change) -> Iterator[Mapping[int, Moment]]:
    """What is later, for every order in which the files that do not show the change may be, and nothing falls back."""
    said = {id(line): change.late(line) for line in own}
    certain = [line for line in own if said[id(line)]]
    open_lines: dict[str, list[Moment]] = {}
    for line in sorted(own, key=lambda line: line.span.start):
        if said[id(line)] is None:
            open_lines.setdefault(line.span.source, []).append(line)
    if sum(1 if change.unhidden else len(lines) for lines in open_lines.values()) > _FEW:
        yield from ({}, {})  # more than one, whatever they are
        return
    known: set[tuple[tuple[str, int], ...]] = set()
    ends = [[lines, []] if change.unhidden else _ends(lines) for lines in open_lines.values()]
    for behind in product(*ends):
        late = _moved(own, [*certain, *(line for lines in behind for line in lines)], change.until)
        now = [late.get(id(line), line) for line in own]
        order = tuple((line.span.source, line.span.start) for line in ordered(now))
        if order not in known and not _falls_back(now):
            known.add(order)
            yield late


def _ends(lines: Lines) -> list[Lines]:
    return [lines[place:] for place in range(len(lines) + 1)]


def _moved(own: Lines, late: Lines, until: int) -> Mapping[int, Moment]:
    ids = {id(line) for line in late}
    until = max([until, *(m.last_time or m.time or 0 for m in own if id(m) not in ids)])
    by = max(1, until - min((line.time or 0 for line in late), default=until) + 1)
    return {id(line): shifted_by(line, by) for line in late}


def shifted_by(moment: Moment, by: int) -> Moment:
    """The same so much later on its clock, with the amount beside it."""
    return structs.replace(moment, set_back=by, **{name: time + by for name, time in times_of(moment).items()})
