"""Bounds of a high watermark or a log end, each with its reason."""

from __future__ import annotations

from collections.abc import Sequence

from rules.protocol.offsets import Offset
from rules.protocol.watermarks import Bound, ExpectedHighWatermark
from rules.replay.leading.tracks import NEVER, RemoteEndBounds
from rules.words import numbered


def between(low: Bound, high: Bound | None) -> ExpectedHighWatermark:
    """An interval with its reasons: one bound a side, so that there is nothing to compare."""
    return ExpectedHighWatermark(low=low, high=high)


def at_least(offset: int, because: str) -> Bound:
    """A lower bound."""
    return Bound(side="low", offset=Offset(offset), because=because)


def at_most(offset: int, because: str) -> Bound:
    """An upper bound."""
    return Bound(side="high", offset=Offset(offset), because=because)


def why_counted(counted: Sequence[int], reached: int) -> str:
    """Why a leader's high watermark is at least an offset, by the brokers that were counted."""
    if not counted:
        return f"nobody else was counted, and the leader held offset {reached - 1}"
    names = numbered("broker", counted)
    return f"every replica that counts ({names}) had asked for offset {reached} or beyond"


def why_resting(because: str, enough: int | None) -> str:
    """The same, where smaller ISRs that may have been in force let nothing advance."""
    rests = f", and the high watermark rests while fewer than {enough} are in sync"
    return because if because.endswith(rests) else f"{because}{rests}"


def why_in_sync(remote: RemoteEndBounds) -> str:
    """Why it is no more than what a member of the ISR asked for."""
    if remote.high == NEVER:
        return f"broker {remote.broker}, in sync, had not fetched yet"
    return f"broker {remote.broker}, in sync, had asked for no more than offset {remote.high}"
