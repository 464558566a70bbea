"""The values of an account of availability: small enough to travel with a verdict, each with its address."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from parsers.provenance import Span

Condition = Literal["below-min-isr", "one-copy", "no-leader"]
CONDITIONS: Final[tuple[Condition, ...]] = ("no-leader", "one-copy", "below-min-isr")
"""The worst one first."""


class StateRow(Struct, frozen=True, kw_only=True):
    """One state of a partition: who led and who was in sync, from when until when on one witness's own clock."""

    epoch: int
    partition_epoch: int
    leader: int | None
    """Null where nobody led."""
    isr: tuple[int, ...]
    assigned: tuple[int, ...] | None
    """Null where nothing tells the assignment of this state."""
    eligible: tuple[int, ...] | None
    """Eligible leaders outside the ISR; null where the controller has none or does not tell."""
    clock: str
    time: int | None
    """As the witness wrote it; null where the state was there before anybody wrote of it."""
    until: int | None
    """When the same witness told of the very next state; null where it does not."""
    milliseconds: int | None
    next_told: bool
    """Whether the very next state is told; that of the last one never is."""
    min_in_sync: int | None
    """min.insync.replicas in force then; null where it is not told, or several values may have been in force."""
    min_in_sync_sure: bool
    """Whether no topic's own setting, read by nobody, can stand in its place."""
    conditions: tuple[Condition, ...]
    span: Span

    @property
    def out_of_sync(self) -> tuple[int, ...] | None:
        """The assigned replicas outside the ISR; null where the assignment is not told."""
        return None if self.assigned is None else tuple(sorted(set(self.assigned) - set(self.isr)))


class Exposure(Struct, frozen=True, kw_only=True):
    """How long, and over which offsets, a partition was in one condition, as far as it is told."""

    condition: Condition
    states: int
    milliseconds: int | None
    """The sum over the states whose length is told; null where none is."""
    untimed: int
    """States whose length nobody tells."""
    lasting: bool
    """Whether the newest state that is told is in this condition."""
    sure: bool
    """False where a topic's own min.insync.replicas may have been another one, and nobody read it."""
    offsets: tuple[tuple[int, int], ...]
    """Ranges surely written meanwhile; others may have been."""
    ranges: int
    """How many ranges there are, those left out included."""


class Safeguard(Struct, frozen=True, kw_only=True):
    """One setting that keeps records or a leader: as it was in force, what that allowed here, and what it would not."""

    name: str
    value: str | None
    """Null where it is not told, or several values may have been in force."""
    whose: str
    certain: bool
    allowed: str
    """What happened under it that another value would have prevented; empty where nothing is seen to have."""
    instead: str
    """What another value would have done then."""
    set_at: Span | None


class Availability(Struct, frozen=True, kw_only=True):
    """The account of one partition."""

    rows: tuple[StateRow, ...]
    rows_told: int
    """How many states were told; the rows are the newest of them, or of the exposed ones."""
    exposures: tuple[Exposure, ...]
    safeguards: tuple[Safeguard, ...]
    silences: tuple[str, ...]
    """What is not told, in sentences."""
