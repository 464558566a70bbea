"""What an acknowledgement for all replicas proves: that whoever was counted had asked for more than its record.

That holds of records that were appended in the same lead: one that is sent again may have been committed before it,
when the leader's memory of its followers was another.
"""

from __future__ import annotations

from collections.abc import Mapping

from rules.protocol.watermarks import Bound
from rules.replay.leading.bounds import at_least
from rules.replay.leading.tracks import Track
from rules.replay.leads.by_clock_and_epoch import Served
from rules.replay.leads.served_leads import ServedLead


def acknowledged_end(row: Served) -> int | None:
    """Behind the record that an answer names and acknowledges for all replicas; its batch may be longer."""
    if row.kind != "produced" or row.acks != -1 or row.error != 0 or row.offset is None or row.offset < 0:
        return None
    return row.offset + 1


def taken(
    row: Served, lead: ServedLead, tracks: Mapping[int, Track], in_sync: frozenset[int], end_low: Bound
) -> Bound:
    """Have the tracks of all who are surely in sync take it in; how far the leader's own log must reach then."""
    end = acknowledged_end(row)
    if end is None or not _appended_in(lead, end):
        return end_low
    for broker in sorted(in_sync & tracks.keys()):
        tracks[broker].take_acknowledged(end)
        if tracks[broker].low > end_low.offset:
            end_low = at_least(tracks[broker].low, f"broker {broker} asked for offset {tracks[broker].low}, in range")
    return end_low


def committed(end: int, lead: ServedLead, tracks: Mapping[int, Track], end_low: Bound) -> Bound:
    """How far the high watermark must have come; `tracks` are of everybody who can have been counted, if any."""
    because = f"offset {end - 1} was acknowledged with acks=all"
    held = min((track.acknowledged(end) for track in tracks.values()), default=end)
    reached = min(held, end_low.offset)
    if not _appended_in(lead, end) or reached <= end:
        return at_least(end, because)
    return at_least(reached, f"{because}, and whoever was counted next asked for offset {reached} or beyond")


def _appended_in(lead: ServedLead, end: int) -> bool:
    return lead.start_offset is not None and end > lead.start_offset
