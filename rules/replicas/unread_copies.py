"""Folders that bear a replica's name, or may, and are judged as none: not read, or with another log in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct, field

Unread = Literal["claimed twice", "unknown broker", "not listed", "another log", "perhaps another log"]


class UnreadCopy(Struct, frozen=True, kw_only=True):
    """Folders that were left out, and why."""

    broker: int | None
    """Whose replica it is; null where that is not known."""
    paths: tuple[str, ...]
    because: Unread
    holds: str = ""
    """What another log is, as the end of a sentence of which the folder is the subject."""
    instead: tuple[str, ...] = ()
    """The broker's folders of other partitions in which its own log seems to lie."""

    @property
    def misfiled(self) -> bool:
        """Whether the folder bears the replica's name and holds, or may hold, another log."""
        return self.because in ("another log", "perhaps another log")


class UnreadCopies(Struct, frozen=True, kw_only=True):
    """Those of one cluster."""

    by_partition: Mapping[tuple[str, int], tuple[UnreadCopy, ...]] = field(default_factory=dict)
    anywhere: tuple[UnreadCopy, ...] = ()
    """Folders that may hold replicas of any partition."""

    def of(self, topic: str, partition: int) -> tuple[UnreadCopy, ...]:
        """What may be a replica of a partition."""
        return (*self.by_partition.get((topic, partition), ()), *self.anywhere)


ALL_READ: Final = UnreadCopies()


def owners(copies: Sequence[UnreadCopy], assigned: Sequence[int], judged: Sequence[int]) -> frozenset[int]:
    """Brokers whose replica may lie in folders that were not read; where nobody is named, any that lacks one."""
    named = frozenset(copy.broker for copy in copies if copy.broker is not None)
    nobodys = any(copy.broker is None for copy in copies)
    return named | (frozenset(assigned).difference(judged) if nobodys else frozenset())
