"""When a leader weighed its high watermark last: what has changed since may not have moved it yet."""

from __future__ import annotations

from rules.history.moments import accepted
from rules.protocol.versions import KafkaVersion
from rules.replay.leading.tracks import IN_FLIGHT_MS, Track
from rules.replay.leads.by_clock_and_epoch import Served
from rules.replay.leads.isr_in_force import InForce


class Weighing:
    """The earliest time at which the last weighing can have been; lives only inside the walk over one lead.

    A leader weighs when it opens an epoch, appends, is asked, or changes its ISR. That a follower has lagged for too
    long, or that a proposed member was not taken in, moves nothing until it weighs again.
    """

    def __init__(self, version: KafkaVersion | None, opened: int | None) -> None:
        self.since = opened
        self.at_changes = version is not None and (not version.at_least(2, 7) or version.at_least(3, 1))
        """Whether every change of the ISR is weighed.

        From 2.7 to 3.0 the controller's word on a proposed ISR moves no high watermark (KAFKA-13091).
        """
        self.at_every_fetch = version is not None and not version.at_least(2, 5)
        """Since 2.5 a fetch that tells no other log end than before is not weighed."""

    def answer(self, row: Served, asker: Track | None, *, last: bool) -> None:
        """Take in an answer, before its asker's track does."""
        since: int | None = None
        if row.doubtful or row.error not in (None, 0):
            return
        if asker is not None and row.kind == "fetched" and accepted(row):
            if last:
                since = row.time if self.at_every_fetch else None
            elif self.at_every_fetch or asker.moves(row):
                since = asker.answered
        elif row.kind == "produced" and row.acks != -1 and row.offset is not None and row.offset >= 0:
            since = None if row.time is None else row.time - IN_FLIGHT_MS
        if since is not None and (self.since is None or since > self.since):
            self.since = since

    def last(self, sure: InForce | None) -> int | None:
        """When the last weighing can have been at the earliest, under an ISR that is surely in force."""
        if sure is None or sure.earliest is None:
            return self.since
        if not self.at_changes and sure.moment.kind not in ("leader-starts", "leadership"):
            return self.since
        return sure.earliest if self.since is None else max(self.since, sure.earliest)
