"""Lines of fetches and produces, gathered until there are enough to be worth columns."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from msgspec import UNSET

from parsers.request_log.columns import TIMES, Codes, Integers
from parsers.request_log.typed import (
    NULL,
    Answered,
    AnsweredOld,
    AnsweredTopic,
    FetchAsked,
    FetchLine,
    ForgottenTopic,
    Line,
    ProduceLine,
)

_HEAD: Final = attrgetter(
    "requestHeader.clientId", "totalTimeMs", "requestQueueTimeMs", "localTimeMs", "remoteTimeMs"
)
_REST: Final = attrgetter(
    "requestHeader.correlationId", "requestHeader.requestApiVersion", "responseQueueTimeMs", "sendTimeMs"
)
_SECOND: Final = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,")
_WIDTH: Final = 23
"""Letters of a time as Kafka writes it."""
_LONGEST_MS: Final = 1e15

Of = TypeVar("Of", bound=Line)


Names: TypeAlias = Codes[tuple[str, str]]
"""Topics by name and id."""


class Named(NamedTuple):
    """Partitions that lines name: by line, topic, and what is said of each."""

    line: Integers
    name: Integers
    parts: Sequence[Any]


class Lines(Generic[Of]):
    """Lines of one kind, each with its place and its time as written."""

    __slots__ = ("_lines", "add")

    def __init__(self) -> None:
        self._lines: list[tuple[Of, int, int, bytes]] = []
        self.add: Callable[[tuple[Of, int, int, bytes]], None] = self._lines.append

    def taken(self) -> Taken[Of]:
        """All so far, which are forgotten here."""
        lines, starts, ends, time_texts = zip(*self._lines, strict=True) if self._lines else ((), (), (), ())
        self._lines.clear()
        return Taken(lines, starts, ends, time_texts)


class Taken(NamedTuple, Generic[Of]):
    """Lines of one kind, in columns."""

    lines: Sequence[Of]
    starts: Sequence[int]
    ends: Sequence[int]
    time_texts: Sequence[bytes]

    def heads(self, texts: Codes[str | None], *, whole: bool) -> dict[str, Integers]:
        """What all lines tell, whatever they are about; `whole` with what only tables show."""
        client, *times = zip(*map(_HEAD, self.lines), strict=True)
        told = {
            "span_start": integers(self.starts),
            "span_end": integers(self.ends),
            "time": times_of(self.time_texts),
            "client_id": integers(map(texts.__getitem__, client)),
        }
        if whole:
            correlation, version, *rest = zip(*map(_REST, self.lines), strict=True)
            told |= {"correlation_id": integers(correlation), "api_version": integers(version)}
            times += rest
        return told | {name: _microseconds(each) for name, each in zip(TIMES, times, strict=False)}


def times_of(texts: Sequence[bytes]) -> Integers:
    """Milliseconds on the writer's clock, of times as Kafka writes them; NULL for others."""
    written = b"".join(texts)
    if len(written) != _WIDTH * len(texts) or set(map(len, texts)) != {_WIDTH}:
        return integers(times_of((text,))[0] if len(text) == _WIDTH else NULL for text in texts)
    letters = np.frombuffer(written, np.uint8).reshape(-1, _WIDTH)
    seconds, digits = letters[:, : _WIDTH - 3], letters[:, _WIDTH - 3 :].astype(np.int64) - ord("0")
    begins = np.ones(len(texts), dtype=np.bool_)
    begins[1:] = (seconds[1:] != seconds[:-1]).any(axis=1)
    starts = np.flatnonzero(begins)
    whole = integers(_second(texts[start][: _WIDTH - 3]) for start in starts.tolist())[np.cumsum(begins) - 1]
    known = (whole != NULL) & ((digits >= 0) & (digits <= 9)).all(axis=1)
    return np.where(known, np.where(known, whole, 0) + digits @ np.array([100, 10, 1]), NULL)


@lru_cache(maxsize=4096)
def _second(text: bytes) -> int:
    if _SECOND.fullmatch(text) is None:
        return NULL
    try:
        return int(datetime.fromisoformat(text[:19].decode()).replace(tzinfo=UTC).timestamp()) * 1000
    except ValueError:
        return NULL


def integers(numbers: Iterable[int]) -> Integers:
    """Numbers as a column."""
    return np.frombuffer(array("q", numbers if isinstance(numbers, list) else list(numbers)), np.int64)


def _microseconds(times: Sequence[float]) -> Integers:
    told = np.array(times, dtype=np.float64)
    known = (told >= 0) & (told < _LONGEST_MS)
    return np.where(known, np.rint(np.where(known, told, 0) * 1000).astype(np.int64), NULL)


class _Known(dict[str, int]):
    """The numbers of topics that are told by their names alone."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def __missing__(self, topic: str) -> int:
        code = self[topic] = self._names[topic, ""]
        return code


def _named(topics_of: Iterable[Sequence[Any]], names: Names, partitions: Callable[[Any], Sequence[Any]]) -> Named:
    """Partitions of the topics of each line."""
    lists = list(topics_of)
    topics = [*chain.from_iterable(lists)]
    # A name that is told already has its hash: of names alone a number is found four times as soon as of pairs.
    known = _Known(names)
    codes = integers([names[topic.topic, topic.topicId] if topic.topicId else known[topic.topic] for topic in topics])
    parts = [*map(partitions, topics)]
    sizes = integers(map(len, parts))
    lines = np.repeat(np.arange(len(lists)), integers(map(len, lists)))
    return Named(np.repeat(lines, sizes), np.repeat(codes, sizes), [*chain.from_iterable(parts)])


def asked_in(lines: Sequence[FetchLine], names: Names) -> Named:
    """Partitions that fetch requests name."""
    return _named((told.request.topics for told in lines), names, attrgetter("partitions"))


def forgotten_in(lines: Sequence[FetchLine], names: Names) -> Named:
    """Partitions that they give up."""

    def given_up(request: FetchAsked) -> Sequence[ForgottenTopic]:
        some = request.forgottenTopicsData
        return request.forgettenTopicsData if some is UNSET else some

    asked = [told.request for told in lines]
    if not any(request.forgottenTopicsData or request.forgettenTopicsData for request in asked):
        return _named((), names, list)
    return _named(map(given_up, asked), names, attrgetter("partitions"))


def answered_in(lines: Sequence[FetchLine], names: Names) -> Named:
    """Partitions that fetch answers name."""

    def told(topic: AnsweredTopic) -> Sequence[Answered | AnsweredOld]:
        return topic.partitionResponses if topic.partitions is UNSET else topic.partitions

    return _named((line.response.responses if line.response else () for line in lines), names, told)


def sent_in(lines: Sequence[ProduceLine], names: Names) -> Named:
    """Partitions that produce requests name."""
    return _named((told.request.topicData for told in lines), names, attrgetter("partitionData"))


def written_in(lines: Sequence[ProduceLine], names: Names) -> Named:
    """Partitions that produce answers name."""
    answers = (told.response.responses if told.response else () for told in lines)
    return _named(answers, names, attrgetter("partitionResponses"))
