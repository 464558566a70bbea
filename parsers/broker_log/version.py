"""Releases of Kafka, by which the wording of its logs differs."""

from __future__ import annotations

from msgspec import Struct


class KafkaRelease(Struct, frozen=True, order=True):
    """A Kafka release; before 1.0 the first number is 0 (0.11.0.2 is 0, 11, 0)."""

    major: int
    minor: int
    patch: int = 0

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"
