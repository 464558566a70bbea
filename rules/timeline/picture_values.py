"""The values that a picture over time is drawn from: small enough to travel with a verdict."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from parsers.provenance import Span

EventKind = Literal["cut", "load", "reset", "unclean", "outside"]


class DrawnPoint(Struct, frozen=True, kw_only=True):
    """A replica from one event on, until its next point: bounds are null where nothing tells them."""

    time: int
    """On the reference clock, never before the point before it: clocks err."""
    end_low: int | None
    end_high: int | None
    watermark_low: int | None
    watermark_high: int | None
    told_end: int | None
    told_watermark: int | None
    """What this very event tells."""
    outside: bool
    """Whether the told high watermark is none that it can have been."""


class DrawnReplica(Struct, frozen=True, kw_only=True):
    """One broker's replica over time."""

    broker: int
    points: tuple[DrawnPoint, ...]
    points_told: int
    """How many there were before they were thinned out."""


class DrawnEvent(Struct, frozen=True, kw_only=True):
    """Something that befell a log or was told against all else."""

    time: int
    broker: int | None
    kind: EventKind
    offset: int | None
    text: str
    span: Span


class DrawnReign(Struct, frozen=True, kw_only=True):
    """One broker's lead in one epoch."""

    broker: int
    epoch: int
    since: int
    """On the reference clock."""
    until: int | None
    """When its broker told of another role or was started again; null where it tells of neither."""
    start_offset: int | None
    own: bool
    """Whether its broker's own log tells of it; else the controller's word alone does."""
    text: str
    span: Span


class DrawnHistory(Struct, frozen=True, kw_only=True):
    """What a picture over time is drawn from."""

    reference: str
    """Whose clock the times are of."""
    first_time: int
    last_time: int
    replicas: tuple[DrawnReplica, ...]
    reigns: tuple[DrawnReign, ...]
    events: tuple[DrawnEvent, ...]
    statements: int
    """How many dated statements it rests on."""
    silences: tuple[str, ...]
    """What is not told, and what that leaves open."""
