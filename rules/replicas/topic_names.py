"""Which topic an id is of, by all who tell both; an id that several names are given to is of none of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct


class TopicName(Struct, frozen=True, kw_only=True):
    """A topic id and the name it bears."""

    topic_id: str
    topic: str


class Nameless(Struct, frozen=True, kw_only=True):
    """Statements about a partition of a topic whose id they tell and not its name."""

    topic_id: str
    partition: int
    statements: int


class UnnamedTopicId(Struct, frozen=True, kw_only=True):
    """A topic id of which requests or logs tell, and whose name nobody does; or several tell several."""

    topic_id: str
    partitions: tuple[int, ...]
    statements: int
    names: tuple[str, ...]


class TopicIds:
    """The names that are told of ids."""

    def __init__(self, names: Iterable[TopicName]) -> None:
        self._names: dict[str, set[str]] = {}
        for each in names:
            self._names.setdefault(each.topic_id, set()).add(each.topic)

    def names(self, topic_id: str) -> tuple[str, ...]:
        """Every name that is given to an id."""
        return tuple(sorted(self._names.get(topic_id, ())))


def without_one_name(nameless: Iterable[Nameless], names: Mapping[str, tuple[str, ...]]) -> tuple[UnnamedTopicId, ...]:
    """The ids among statements that do not bear just one name."""
    left: dict[str, list[Nameless]] = {}
    for each in nameless:
        if len(names[each.topic_id]) != 1:
            left.setdefault(each.topic_id, []).append(each)
    return tuple(
        UnnamedTopicId(
            topic_id=topic_id,
            partitions=tuple(sorted({each.partition for each in own})),
            statements=sum(each.statements for each in own),
            names=names[topic_id],
        )
        for topic_id, own in sorted(left.items())
    )
