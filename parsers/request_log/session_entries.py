"""What sessions know of their partitions, in columns: what was last asked and answered, and at which moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from parsers.request_log.fetch_columns import ANSWERED, ASKED, Integers
from parsers.request_log.sessions import AnsweredPartition, AskedPartition, Cached, PartitionKey
from parsers.request_log.typed import NULL

KEYS: Final = 1 << 30
"""A session's number and a partition's make one number, by which entries are found."""
_STALE, _SURE = -2, 0
"""Moments of what was known before the first line: a doubt of then lies between them."""
Flags = npt.NDArray[np.bool_]


class Entries:
    """The partitions of all sessions that are open, by session and partition."""

    __slots__ = ("answered", "answered_at", "answered_before", "asked", "asked_at", "asked_before", "code", "present")

    def __init__(self) -> None:
        self.code: Integers = np.empty(0, dtype=np.int64)
        self.asked: Integers = np.empty((0, len(ASKED)), dtype=np.int64)
        self.asked_at: Integers = self.code
        """When it was asked for; NULL where it was not, or an error was answered."""
        self.answered: Integers = np.empty((0, len(ANSWERED)), dtype=np.int64)
        self.answered_at: Integers = self.code
        self.present: Flags = np.empty(0, dtype=np.bool_)
        self.asked_before: Flags = self.present
        """Whether what was asked before the first line may still stand, in a session that began before."""
        self.answered_before: Flags = self.present

    def places(self, codes: Integers, inherited: Flags) -> Integers:
        """Where some entries stand, all different and in order; those that are new are made."""
        found = np.searchsorted(self.code, codes)
        known = found < len(self.code)
        known[known] = self.code[found[known]] == codes[known]
        new = np.flatnonzero(~known)
        if not len(new):
            return found
        order = np.argsort(np.concatenate([self.code, codes[new]]), kind="stable")
        more, nothing = len(new), inherited[new]
        for name, added in (
            ("code", codes[new]),
            ("asked", np.full((more, len(ASKED)), NULL)),
            ("asked_at", np.full(more, NULL)),
            ("answered", np.full((more, len(ANSWERED)), NULL)),
            ("answered_at", np.full(more, NULL)),
            ("present", np.zeros(more, dtype=np.bool_)),
            ("asked_before", nothing),
            ("answered_before", nothing),
        ):
            setattr(self, name, np.concatenate([getattr(self, name), added])[order])
        return np.searchsorted(self.code, codes)

    def keep(self, kept: Integers) -> None:
        """Forgets all but those at some places, in their order."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name)[kept])

    def of(self, life: int, keys: Sequence[PartitionKey], doubted: int) -> Iterator[tuple[PartitionKey, Cached | None]]:
        """The partitions of one session, as a value; None for one that was forgotten."""
        first, last = np.searchsorted(self.code, [life * KEYS, (life + 1) * KEYS])
        for place in range(first, last):
            key = keys[int(self.code[place]) % KEYS]
            if not self.present[place]:
                yield key, None
                continue
            asked_at, answered_at = int(self.asked_at[place]), int(self.answered_at[place])
            asked = None if asked_at == NULL else AskedPartition(key, *_none_for_null(self.asked[place]))
            answered = None if answered_at == NULL else AnsweredPartition(key, *_none_for_null(self.answered[place]))
            yield key, Cached(
                asked, asked is not None and doubted > asked_at, bool(self.asked_before[place]),
                answered, answered is not None and doubted > answered_at, bool(self.answered_before[place]),
            )  # fmt: skip

    def restore(self, partitions: Mapping[int, Cached | None]) -> None:
        """Partitions as they were before the first line."""
        in_order = sorted(partitions.items(), key=lambda one: one[0])
        places = self.places(
            np.array([code for code, _ in in_order], dtype=np.int64), np.zeros(len(in_order), dtype=np.bool_)
        )
        for place, (_, cached) in zip(places.tolist(), in_order, strict=True):
            if cached is None:
                continue
            self.present[place] = True
            self.asked_before[place], self.answered_before[place] = cached.asked_before, cached.answered_before
            if cached.asked is not None:
                self.asked[place] = [NULL if value is None else value for value in cached.asked[1:]]
                self.asked_at[place] = _STALE if cached.asked_stale else _SURE
            if cached.answered is not None:
                self.answered[place] = [NULL if value is None else value for value in cached.answered[1:]]
                self.answered_at[place] = _STALE if cached.answered_stale else _SURE


def _none_for_null(values: Integers) -> Iterator[int | None]:
    return (None if value == NULL else value for value in values.tolist())
