"""Since 3.7 an ISR below `min.insync.replicas` holds the high watermark: where it surely does, and where surely not."""

from __future__ import annotations

from collections.abc import Sequence

from rules.replay.leads.rank import Rank
from rules.settings import MIN_IN_SYNC


class MinIsrGate:
    """What one lead's leader asked to be in sync, as told and as proved; lives only inside the walk over the lead."""

    def __init__(self, rank: Rank) -> None:
        self.rank = rank
        self.proved: int | None = None
        self.proved_since: int | None = None

    def acknowledged(self, sizes: Sequence[int], time: int | None) -> None:
        """A record was acknowledged for all replicas under one of these ISR sizes: the setting is no larger."""
        if not sizes:
            return
        if self.proved is None or not self.rank.min_in_sync.steady(self.proved_since, time):
            self.proved, self.proved_since = max(sizes), time
        self.proved = min(self.proved, max(sizes))

    def surely_open(self, sizes: Sequence[int], since: int | None, until: int | None) -> bool:
        """Whether the high watermark may surely advance at any of these ISR sizes, all the time between two."""
        if not self.rank.everyone_known:
            return False
        if self.rank.gated is False:
            return True
        bounds = (self._most(since, until), self._proved(since, until), len(self.rank.replicas))
        return bool(sizes) and min(sizes) >= min(n for n in bounds if n is not None)

    def enough(self, since: int | None, until: int | None) -> int | None:
        """The ISR size below which it surely rested all the time between two; null where none is known."""
        rank, values = self.rank, self.rank.min_in_sync.between(since, until)
        return min(*values, rank.assigned) if rank.gated and rank.assigned is not None and values else None

    def relied_on(self, sizes: Sequence[int], since: int | None, until: int | None) -> str | None:
        """The setting without which it would not be surely open."""
        everyone, most = len(self.rank.replicas), self._most(since, until)
        enough = min(self._proved(since, until) or everyone, everyone)
        return f"{MIN_IN_SYNC} is {most}" if self.rank.gated is not False and most and min(sizes) < enough else None

    def _most(self, since: int | None, until: int | None) -> int | None:
        return max(self.rank.min_in_sync.between(since, until), default=None)

    def _proved(self, since: int | None, until: int | None) -> int | None:
        """The proof, where no other value is told between it and the times that are asked about."""
        if since is None or self.proved_since is None:
            return self.proved if self.rank.min_in_sync.steady(None, until) else None
        return self.proved if self.rank.min_in_sync.steady(min(since, self.proved_since), until) else None
