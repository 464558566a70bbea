"""Logs that their brokers could not read to the end when they loaded them, and with which they led next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from rules.history.moments import BEGUN_ANEW, Moment
from rules.history.statements import RoleTaken


class DamagedEnd(Struct, frozen=True, kw_only=True):
    """A log that went on from where its loading had cut it: how far the part that was cut off had gone is not told."""

    broker: int
    offset: int
    """Where it was cut, and where its broker's lead began."""
    before: int | None
    """The newest epoch before of which a leader is told: what was cut off is of it, or older. Null where none is."""
    after: int
    """This epoch began without the part that was cut off."""
    cut: Moment
    leads: RoleTaken


def damaged_ends(own: Iterable[Sequence[Moment]], leaders: Mapping[int, int]) -> Iterator[DamagedEnd]:
    """Every such log; one that was fetched again to beyond the cut had another leader, who was asked for the rest.

    A broker may have led in the same epoch before. Where nobody is told to have led before, somebody did all the same.
    """
    for story in own:
        cut: Moment | None = None
        led: set[int | None] = set()
        for moment in story:
            if moment.kind == "damaged-end-cut":
                cut = moment
            elif moment.kind in BEGUN_ANEW:
                cut = None
            elif isinstance(moment, RoleTaken) and moment.kind == "leader-starts":
                if cut is not None:
                    yield from _led_with(cut, moment, leaders, again=moment.epoch in led)
                cut, led = None, led | {moment.epoch}


def _led_with(cut: Moment, leads: RoleTaken, leaders: Mapping[int, int], *, again: bool) -> Iterator[DamagedEnd]:
    epoch, begun, broker = leads.epoch, leads.offset, leads.broker
    if epoch is None or broker is None or begun is None or not 0 < begun <= (cut.offset or 0):
        return
    before = epoch if again else max((each for each in leaders if each < epoch), default=None)
    yield DamagedEnd(broker=broker, offset=begun, before=before, after=epoch, cut=cut, leads=leads)
