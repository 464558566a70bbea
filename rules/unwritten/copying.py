"""How a log grew between two turns: by what its broker wrote as a leader, or by what it copied of its leader's log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rules.unwritten.epoch_log import FAR, PossibleLog
from rules.unwritten.log_turns import OwnLead
from rules.unwritten.places import At, GrowsFrom, Growth
from rules.unwritten.served_copies import Traces
from rules.unwritten.ways import ROLES, TRACES, Open, Ways, copied, each, longer, written_on


class Copying:
    """All leads, as far as their logs are known; `doubted` are growths of which too much is in doubt."""

    def __init__(
        self,
        leads: Mapping[int, tuple[OwnLead, ...]],
        traces: Traces,
        doubted: frozenset[tuple[int, int]],
        untold: frozenset[int],
    ) -> None:
        """Of the brokers that are untold no role is here: each may have led as well as followed."""
        self.leads, self.traces, self._doubted, self._untold = leads, traces, doubted, untold
        self.led: dict[tuple[int, int], dict[int, list[Ways]]] = {}
        """By lead and epoch the log when the epoch was opened, and whenever its start moved in it."""
        self.growths: list[Growth] = []

    def note(self, broker: int, at: At) -> None:
        """Keep a leader's log as it is at a turn of its lead."""
        lead = next(lead for lead in self.leads[broker] if lead.first <= at.place < lead.last)
        epoch = at.source.epochs[-1] if at.source else -1
        self.led.setdefault((broker, lead.first), {}).setdefault(epoch, []).append(at.ways)

    def as_source(self, lead: OwnLead) -> Ways | None:
        """What could be copied of a lead; null while its broker has not been taken so far."""
        known = self.led.get((lead.broker, lead.first), {}).get(lead.epochs[-1])
        if known is None:
            return None
        ways = known[-1]  # where its start moved, whoever was below it began anew
        end = FAR if lead.end_offset is None else lead.end_offset
        return ways if isinstance(ways, Open) else tuple(held.wrote(lead.epochs[-1], end) for held in ways)

    def grown(self, broker: int, at: At, ways: tuple[PossibleLog, ...], end: int) -> Ways | None:
        """A log that was shorter than an end, taken there; null where its leader's log is not known yet."""
        source = at.growing
        if source is None or broker in self._untold:
            return Open(f"nothing tells whom broker {broker} followed when its log grew to {end}", ROLES)
        if self.traces.dismissed(broker, max(source.epochs, default=-1)):
            return Open(f"broker {broker} was of the assignment no more, and nothing tells when it heard of it", ROLES)
        if source.leads:
            return each(ways, lambda held: held.wrote(source.epochs[-1], end))
        sources = self._offered(broker, at, source, (min(held.log_end_offset for held in ways), end))
        return sources if sources is None or isinstance(sources, Open) else copied(ways, sources, end)

    def reach(self, broker: int, at: At, cut: int) -> tuple[Ways, bool] | None:
        """A log before it was cut, and whether its end is told: it was longer than what is left.

        Null where its leader's log is not known yet.
        """
        if isinstance(at.ways, Open):
            return at.ways, False
        source, ends = at.growing, [held.log_end_offset for held in at.ways]
        if (source is None or at.stands) and min(ends) > cut:
            return at.ways, True
        least = max(cut + 1, self._wrote_to(broker, source), *ends)
        known = self.grown(broker, at, at.ways, least) if min(ends) < least else at.ways
        if known is None:
            return None
        farther = known if isinstance(known, Open) else self._farther(broker, at, known, (min(ends), least))
        return None if farther is None else (farther, False)

    def _farther(self, broker: int, at: At, known: tuple[PossibleLog, ...], ends: tuple[int, int]) -> Ways | None:
        """A log at its least end, and at those beyond which it may have reached."""
        source = at.growing
        if source is None:
            return known
        if source.leads:
            return written_on(known, source.epochs[-1])
        sources = self._offered(broker, at, source, (ends[0], FAR))
        return sources if sources is None or isinstance(sources, Open) else longer(known, sources, ends[1])

    def _wrote_to(self, broker: int, source: GrowsFrom | None) -> int:
        """How far a leader's own request log tells that it had written; 0 of a follower."""
        if source is None or not source.leads:
            return 0
        lead = next(lead for lead in self.leads[broker] if lead.epochs[0] == source.epochs[0])
        return self.traces.wrote_to(lead, source.epochs)

    def _offered(self, broker: int, at: At, source: GrowsFrom, offsets: tuple[int, int]) -> list[Ways] | Open | None:
        """The logs of which a follower can have copied some offsets; null where one of them is not known yet."""
        leads, named = self._leads_of(broker, source, *offsets), self._named(source)
        known = [self.as_source(lead) for lead in (*leads, *named)]
        if None in known:
            return None
        if not leads:
            return Open(f"nothing tells of the lead in which broker {source.leader} served broker {broker}", ROLES)
        if (broker, at.place) in self._doubted:
            return Open(f"broker {broker} may have copied from offset {offsets[0]} on in one lead or another", TRACES)
        if self._began_anew(broker, (*leads, *named), offsets[0]):
            return Open(f"broker {broker} may have begun again where its leader's log started then", TRACES)
        start, end = offsets
        self.growths.append(Growth(broker=broker, place=at.place, leads=leads, start=start, end=end))
        return [ways for ways in known[: len(leads)] if ways is not None]

    def _named(self, source: GrowsFrom) -> list[OwnLead]:
        """The leads that a follower's roles name."""
        return [lead for lead in self.leads.get(source.leader, ()) if set(lead.epochs) & set(source.epochs)]

    def _leads_of(self, broker: int, source: GrowsFrom, start: int, end: int) -> tuple[OwnLead, ...]:
        """The same, without those in which the follower asked for nothing; else those in which it asked."""
        served = {lead: self.traces.served(broker, lead, start, end) for lead in self.leads.get(source.leader, ())}
        serving = tuple(lead for lead in self._named(source) if served[lead] is not False)
        return serving or tuple(lead for lead, answered in served.items() if answered)

    def _began_anew(self, broker: int, leads: Sequence[OwnLead], end: int) -> bool:
        """Whether a follower may have dropped all it had, because its leader's log started beyond its end."""
        for lead in leads:
            ways = self.as_source(lead)
            starts = () if ways is None or isinstance(ways, Open) else [held.log_start_offset for held in ways]
            if max(starts, default=0) > end and not self.traces.in_range(broker, lead):
                return True
        return False
