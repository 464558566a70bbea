"""What the prefix of a message tells: which component of which broker speaks, and of which partition."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

PREFIX: Final = r"\[[\x00-\x09\x0b-\x5c\x5e-\xff]{0,2048}+\]:?+\ |Partition\ \[[^\]\n]{1,300}+\]\ on\ broker\ [0-9]{1,10}+:\ "
"""As a pattern: `[Component key=value, …] `, `[Name]: `, and before 1.0 `Partition [t,0] on broker 1: `."""

_WORD: Final = re.compile(rb"\[([A-Za-z]{1,64})")
_WRITER: Final = re.compile(rb"(?:replicaId|broker|brokerId|nodeId|controllerId|id)=(\d{1,9})(?!\d)|on broker (\d{1,9})(?!\d)")
_PLACE: Final = re.compile(
    rb"\[(?:LeaderEpochCache|Partition) ([\w.\-]{1,249})-(\d{1,9})[\] ]|[\[ ]partition=([\w.\-]{1,249})-(\d{1,9})[,\]]"
    rb"|Partition \[([\w.\-]{1,249}),(\d{1,9})\]"
)
_LEADER: Final = re.compile(rb"leaderId=(\d{1,9})(?!\d)")
_DIRECTORY: Final = re.compile(rb" dir=([^\],]{1,2048})")


class Prefix(NamedTuple):
    """Who speaks, and of what, as far as the prefix tells."""

    component: str | None
    broker: int | None
    topic: str | None
    partition: int | None
    leader: int | None
    directory: str | None


@lru_cache(maxsize=4096)
def parse_prefix(prefix: bytes) -> Prefix:
    """The parts of a prefix; lines repeat the same few prefixes, so they are kept."""
    word, writer, place = _WORD.match(prefix), _WRITER.search(prefix), _PLACE.search(prefix)
    leader, directory = _LEADER.search(prefix), _DIRECTORY.search(prefix)
    topic, partition = _topic_partition(place)
    return Prefix(
        component=word[1].decode() if word else "Partition" if place else None,
        broker=int(writer[1] or writer[2]) if writer else None,
        topic=topic,
        partition=partition,
        leader=int(leader[1]) if leader else None,
        directory=directory[1].decode(errors="replace") if directory else None,
    )


def _topic_partition(place: re.Match[bytes] | None) -> tuple[str | None, int | None]:
    if place is None:
        return None, None
    topic, partition = (part for part in place.groups() if part is not None)
    return topic.decode(errors="replace"), int(partition)
