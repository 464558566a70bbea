"""Logs that their brokers could not read to the end when they loaded them, and with which they led next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from operator import is_not

from msgspec import Struct

from rules.chronicle.reigns import Reign
from rules.history.moments import BEGUN_ANEW, Moment
from rules.history.statements import Role


class DamagedEnd(Struct, frozen=True, kw_only=True):
    """A log that went on from where its loading had cut it: how far the part that was cut off had gone is not told."""

    broker: int
    offset: int
    """Where it was cut, and where its broker's lead began."""
    before: int
    """The newest epoch before in which somebody led: what was cut off is of it, or of an older one."""
    after: int
    """This epoch began without the part that was cut off."""
    cut: Moment
    leads: Role


def damaged_ends(
    reigns: Sequence[Reign], own: Mapping[str, Sequence[Moment]], leaders: Mapping[int, int]
) -> Iterator[DamagedEnd]:
    """Every such log; one that was fetched again to beyond the cut had another leader, who was asked for the rest."""
    for reign in reigns:
        opening, before = reign.opening, max((epoch for epoch in leaders if epoch < reign.epoch), default=None)
        cut = _cut_before(opening, own[opening.clock])
        if cut is not None and cut.offset is not None and cut.offset == reign.start_offset and before is not None:
            yield DamagedEnd(
                broker=reign.broker, offset=cut.offset, before=before, after=reign.epoch, cut=cut, leads=opening
            )


def _cut_before(opening: Role, own: Sequence[Moment]) -> Moment | None:
    """The last such cut that a broker tells since it led last, of the log with which it leads."""
    for moment in reversed([*takewhile(partial(is_not, opening), own)]):
        if moment.kind == "damaged-end-cut":
            return moment
        if moment.kind == "leader-starts" or moment.kind in BEGUN_ANEW:
            return None
    return None
