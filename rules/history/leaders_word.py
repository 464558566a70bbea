"""What a broker told as the leader before its log was loaded again: what that log must hold still."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rules.history.moments import Moment, gives_role, leads

_TOUCHED: Final = ("log-loaded", "log-created", "log-deleted", "log-reset", "truncated", "log-start-moved")
"""After these a log may end elsewhere than before, and who touched it may have had a role that is not told."""
_LED: Final = ("fetched", "consumed", "isr-shrinking")
"""What only a leader tells, with its high watermark."""


def told_as_leader(before: Sequence[Moment], term: int) -> Iterator[tuple[int, Moment]]:
    """How far a broker's log went by what it told as the leader of its last role, since its log was touched last."""
    for moment in reversed(before):
        if gives_role(moment):
            if moment.kind == "leader-starts" and moment.epoch == term and moment.offset and not moment.doubtful:
                yield moment.offset, moment
            if leads(moment):
                continue
            return
        if moment.kind in _TOUCHED:
            return
        sure = moment.term == term and moment.latest_term in (None, term) and not moment.doubtful
        if not sure or moment.error not in (None, 0):
            continue
        if moment.kind == "produced" and moment.offset is not None and moment.offset >= 0:
            yield moment.offset + 1, moment
        elif moment.kind in _LED and moment.high_watermark is not None:
            yield moment.high_watermark, moment


def watermark_told(before: Sequence[Moment], term: int) -> int:
    """Below this offset records were committed, by the high watermarks that the leader told or answered by."""
    return max((_committed(end, moment) for end, moment in told_as_leader(before, term)), default=0)


def _committed(end: int, moment: Moment) -> int:
    """An answer for all replicas waits until the high watermark has passed what it answers."""
    if moment.kind in _LED or (moment.kind == "produced" and moment.acks == -1):
        return end
    return (moment.high_watermark or 0) if moment.kind == "leader-starts" else 0


def in_words(moment: Moment, held: int) -> str:
    """What the leader told, as its broker's doing."""
    if moment.kind == "leader-starts":
        return f"began to lead epoch {moment.epoch} from offset {held}"
    named = f"acknowledged offset {held - 1}" if moment.kind == "produced" else f"reported high watermark {held}"
    return f"{named} as the leader of epoch {moment.term}"
