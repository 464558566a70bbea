"""Kafka versions as logs print them, distributors' own numbers mapped to the Kafka they contain."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

_PRINTED: Final = re.compile(r"(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?:\.(\d{1,4}))?([^\s]{0,64})")
_CONFLUENT: Final = re.compile(r"-(?:ccs|ce|cp|hotfix)")
_CONFLUENT_KAFKA: Final[dict[tuple[int, int], tuple[int, int]]] = {
    (3, 0): (0, 10), (3, 1): (0, 10), (3, 2): (0, 10), (3, 3): (0, 11), (4, 0): (1, 0), (4, 1): (1, 1),
}  # fmt: skip
_FIRST_CONFLUENT_TO_KAFKA: Final = ((5, 0, 2, 0), (6, 0, 2, 6), (7, 0, 3, 0), (8, 0, 4, 0))
"""Confluent 5.n contains Kafka 2.n, 6.n contains 2.(6+n), 7.n contains 3.n, 8.n contains 4.n."""


class KafkaRelease(Struct, frozen=True, order=True):
    """A Kafka release; before 1.0 the first number is 0 (0.11.0.2 is 0, 11, 0)."""

    major: int
    minor: int
    patch: int = 0

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


def parse_version(printed: str) -> KafkaRelease | None:
    """The Kafka release behind a printed version; None where the text is no version or the distribution is unknown."""
    match = _PRINTED.match(printed.strip())
    if match is None:
        return None
    first, second, third, _, rest = match.groups()
    major, minor, patch = int(first), int(second), int(third or 0)
    if _CONFLUENT.match(rest):
        return _from_confluent(major, minor, patch)
    return KafkaRelease(major, minor, patch)


def _from_confluent(major: int, minor: int, patch: int) -> KafkaRelease | None:
    """Confluent's own numbers; since 2.8 their patch numbers follow Kafka's closely enough to be kept."""
    if (major, minor) in _CONFLUENT_KAFKA:
        return KafkaRelease(*_CONFLUENT_KAFKA[major, minor], 0)
    for theirs, first_minor, kafka_major, kafka_minor in _FIRST_CONFLUENT_TO_KAFKA:
        if major == theirs:
            return KafkaRelease(kafka_major, kafka_minor + minor - first_minor, patch)
    return None
