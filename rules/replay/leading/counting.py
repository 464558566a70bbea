"""For whom a leader may wait before it moves its high watermark, at any time of its lead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rules.replay.leading.tracks import IN_FLIGHT_MS, NEVER, Track
from rules.replay.leads.in_force import InForceOverTime, Isr
from rules.replay.leads.rank import Rank
from rules.replay.leads.served_leads import ServedLead
from rules.settings import LAG_TIME

LONGEST_LAG_MS: Final = 30_000
"""What no release's default for a follower's lag exceeds."""


class Counting:
    """Who is counted by one lead's leader, as far as is known; lives only inside the walk over the lead."""

    def __init__(self, lead: ServedLead, isr: InForceOverTime, rank: Rank, tracks: Mapping[int, Track]) -> None:
        self.lead, self.isr, self.rank, self.tracks = lead, isr, rank, tracks
        times = [row.last_time or row.time for row in lead.rows]
        self.end_time = max((time for time in times if time is not None), default=None)
        self.opened = None if lead.opening is None else lead.opening.time
        self.weighs_changes = True
        self._known: dict[tuple[Isr, ...], tuple[frozenset[int], frozenset[int]]] = {}

    def awaited(self, isrs: Sequence[Isr], time: int | None, evaluated: int | None) -> frozenset[int]:
        """Everybody for whom the leader may have waited when it weighed its high watermark last.

        The ISR, and whoever may have passed for caught up outside it.
        """
        if not isrs:
            return frozenset(self.tracks)
        members, outside = self._split(tuple(isrs))
        late = [broker for broker in outside if self._may_catch_up(broker, time, evaluated)]
        return members.union(late) if late else members

    def _split(self, isrs: tuple[Isr, ...]) -> tuple[frozenset[int], frozenset[int]]:
        """The followers in any of some ISRs, and the others; a lead has few ISRs and many answers."""
        if isrs not in self._known:
            everybody = frozenset(self.tracks)
            members = everybody.intersection(frozenset().union(*isrs)) - {self.lead.leader}
            self._known[isrs] = members, everybody - members
        return self._known[isrs]

    def _may_catch_up(self, broker: int, time: int | None, evaluated: int | None) -> bool:
        track, version, limit = self.tracks[broker], self.rank.version, self.rank.lag_limit_ms
        following, last = track.following, track.last
        soon = following is not None and _within(time, following.time, IN_FLIGHT_MS)
        if soon or version is None or limit is None or time is None or self.may_ask_unseen(track, time):
            return True
        if last is None:
            return self.lead.begun_unseen or broker in self.isr.opened_with()
        seen = last.last_time or last.time
        if seen is None or evaluated is None:
            return True
        # A change of the ISR that is weighed settles what was proposed before it.
        if version.at_least(2, 7) and not self.isr.settled_since(seen, time if self.weighs_changes else evaluated):
            return True  # the leader may have proposed to take it in, and may still wait for the controller's word
        if version.at_least(3, 6) and seen < evaluated - max(IN_FLIGHT_MS, limit):
            return False
        return evaluated - seen <= 2 * limit

    def may_ask_unseen(self, track: Track, time: int | None) -> bool:
        """Whether a fetch may be in flight that the trace does not tell of: the term ends without a word."""
        return self.lead.end_offset is None and track.exhausted and self.is_late(time)

    def asks_unseen(self, track: Track, time: int | None) -> bool:
        """Whether a follower that the trace tells no more of is silent for so long that no ISR would keep it.

        Where one does, the trace has a hole, and the follower may have asked for anything. So it may have where it was
        answered, and the trace goes on for that long without its next fetch.
        """
        if not track.exhausted:
            return False
        fetched = track.index >= 0 and self.silent_for(track, self.end_time) > self.limit
        return fetched or self.silent_for(track, time) > 2 * self.limit

    @property
    def limit(self) -> int:
        """How long a follower may lag at most."""
        return self.rank.lag_limit_ms or LONGEST_LAG_MS

    def silent_for(self, track: Track, time: int | None) -> int:
        """How long ago a follower was answered last, or its leader began; nothing where that is not known."""
        since = self.opened if track.answered is None else track.answered
        return 0 if time is None or since is None else time - since

    def is_late(self, time: int | None) -> bool:
        """Whether the trace ends so soon that a fetch in flight may never have been logged."""
        return time is None or self.end_time is None or self.end_time - time <= IN_FLIGHT_MS

    def counted_at(self, broker: int, low: int, time: int | None) -> int:
        """How far a follower is counted at least: one not seen in this term may ask for any offset, unseen."""
        track = self.tracks[broker]
        return NEVER if track.last is None and self.may_ask_unseen(track, time) else low

    def relied_on(self, awaited: frozenset[int], gate: str | None) -> str:
        """The settings without which the lower bound would not be so high; `gate` is one of them, or none."""
        lag = self.rank.lag_time_max_ms
        waits = f"{LAG_TIME} is {lag}" if awaited != self.tracks.keys() and lag is not None else None
        return "".join(f"; {setting}" for setting in (waits, gate) if setting)


def _within(time: int | None, later: int | None, limit: int) -> bool:
    return time is None or later is None or later - time <= limit
