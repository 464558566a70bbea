"""What each replica held at the end of the last role that its broker tells of: what it must have left on its disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from rules.history.moments import Moment, gives_role
from rules.protocol.watermarks import Bound, ExpectedHighWatermark
from rules.replay.leading.leader_walk import LeaderRow
from rules.replay.leads.served_leads import ServedLead

NOBODY: Final = -1


class RoleEnd(Struct, frozen=True, kw_only=True):
    """A replica when the lead of its last told role was over, or when it stopped in it."""

    epoch: int
    """Of its last role under a leader: one that follows nobody learns nothing."""
    lead: ServedLead
    start: ExpectedHighWatermark
    """The leader's own high watermark when the lead began: no answer of it was lower."""
    before: ExpectedHighWatermark
    """What the replica itself held then."""
    high_watermark: ExpectedHighWatermark
    appended: Bound | None
    """The furthest that a leader surely held; nothing of a follower."""
    estimated: bool
    """Whether a change of the ISR is placed by another clock."""


def last_roles(moments: Sequence[Moment], *, led: bool = False) -> dict[int, int]:
    """The highest epoch in which each broker says that it has a role, or was ordered to take; or one with a leader."""
    last: dict[int, int] = {}
    for moment in moments:
        if led and moment.kind != "leader-starts" and moment.leader == NOBODY:
            continue
        if gives_role(moment) and moment.witness is not None and moment.epoch is not None:
            last[moment.witness] = max(moment.epoch, last.get(moment.witness, moment.epoch))
    return last


def role_ends(
    lead: ServedLead,
    rows: Sequence[LeaderRow],
    start: ExpectedHighWatermark,
    last: Mapping[int, int],
    before: Mapping[int, ExpectedHighWatermark],
    held: Mapping[int, ExpectedHighWatermark],
    *,
    estimated: bool,
) -> Iterator[tuple[int, RoleEnd]]:
    """What the brokers held whose last role was in this lead."""
    for broker, epoch in last.items():
        if lead.covers(epoch) and broker in held:
            appended = rows[-1].log_end.low if rows and broker == lead.leader else None
            yield (
                broker,
                RoleEnd(
                    epoch=epoch,
                    lead=lead,
                    start=start,
                    before=before[broker],
                    high_watermark=held[broker],
                    appended=appended,
                    estimated=estimated,
                ),
            )
