"""Lines of fetches and produces, gathered and put into columns while what they were read from is still at hand.

A block of lines at a time becomes columns: what stands in the processor's memory is read in half the time.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from msgspec import UNSET

from parsers.request_log.call import CONSUMER
from parsers.request_log.columns import ANSWERED, ASKED, TIMES, Codes, Columns, Integers
from parsers.request_log.typed import (
    NULL,
    Answered,
    AnsweredOld,
    AnsweredTopic,
    Asked,
    Diverging,
    FetchAnswered,
    FetchAsked,
    FetchLine,
    Leader,
    Line,
    ProduceAnswered,
    ProduceAsked,
    ProduceLine,
    Written,
)

_UNANSWERED: Final = FetchAnswered()
_NOT_WRITTEN: Final = ProduceAnswered()
_UNDIVERGED, _UNLED = Diverging(), Leader()
_SECOND: Final = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,")
_WIDTH: Final = 23
"""Letters of a time as Kafka writes it."""
_LONGEST_MS: Final = 1e15

Of = TypeVar("Of", bound=Line)


Names: TypeAlias = Codes[tuple[str, str]]
"""Topics by name and id."""


class Named(NamedTuple):
    """Partitions that one side of lines names: by line, topic and number, and what is said of each."""

    line: Integers
    name: Integers
    partition: Integers
    values: Integers


class Gathered(NamedTuple):
    """Lines of one kind in columns: what each tells for itself, and the partitions that it names, by side."""

    heads: Columns
    time_texts: Sequence[bytes]
    connections: Sequence[str]
    sides: Sequence[Named]


class Taken(NamedTuple, Generic[Of]):
    """Lines of one kind, in columns."""

    lines: Sequence[Of]
    starts: Sequence[int]
    ends: Sequence[int]
    time_texts: Sequence[bytes]

    def heads(self, texts: Codes[str | None], *, whole: bool) -> dict[str, Integers]:
        """What all lines tell, whatever they are about; `whole` with what only tables show."""
        times = _microseconds(
            [(line.totalTimeMs, line.requestQueueTimeMs, line.localTimeMs, line.remoteTimeMs) for line in self.lines], 4
        )
        told = {
            "span_start": integers(self.starts),
            "span_end": integers(self.ends),
            "time": times_of(self.time_texts),
            "client_id": integers([texts[line.requestHeader.clientId] for line in self.lines]),
        }
        if whole:
            last = _microseconds([(line.responseQueueTimeMs, line.sendTimeMs) for line in self.lines], 2)
            times, headers = np.concatenate([times, last], axis=1), [line.requestHeader for line in self.lines]
            told["correlation_id"] = integers([header.correlationId for header in headers])
            told["api_version"] = integers([header.requestApiVersion for header in headers])
        return told | dict(zip(TIMES, times.T, strict=False))


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


def table(rows: Iterable[Sequence[int]], width: int) -> Integers:
    """Rows of so many numbers."""
    return np.frombuffer(array("q", [*chain.from_iterable(rows)]), np.int64).reshape(-1, width)


def _microseconds(rows: Iterable[Sequence[float]], width: int) -> Integers:
    told = np.frombuffer(array("d", [*chain.from_iterable(rows)]), np.float64).reshape(-1, width)
    known = (told >= 0) & (told < _LONGEST_MS)
    return np.where(known, np.rint(np.where(known, told, 0) * 1000).astype(np.int64), NULL)


class _Known(dict[str, int]):
    """The numbers of topics that are told by their names alone."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def __missing__(self, topic: str) -> int:
        code = self[topic] = self._names[topic, ""]
        return code


def _named(
    topics_of: Sequence[Sequence[Any]], names: Names, lists_of: Callable[[Sequence[Any]], Sequence[Sequence[Any]]],
    values: Callable[[Sequence[Any]], Integers],
) -> Named:  # fmt: skip
    """Partitions of the topics of each line; each one's number is the first of what is said of it."""
    topics = [*chain.from_iterable(topics_of)]
    # A name that is told already has its hash: of names alone a number is found four times as soon as of pairs.
    known = _Known(names)
    codes = integers([names[topic.topic, topic.topicId] if topic.topicId else known[topic.topic] for topic in topics])
    lists = lists_of(topics)
    sizes, told = integers(map(len, lists)), values([*chain.from_iterable(lists)])
    lines = np.repeat(np.arange(len(topics_of)), integers(map(len, topics_of)))
    return Named(np.repeat(lines, sizes), np.repeat(codes, sizes), told[:, 0], told[:, 1:])


def _partitions(topics: Sequence[Any]) -> Sequence[Sequence[Any]]:
    return [topic.partitions for topic in topics]


def fetches_in(lines: Taken[FetchLine], texts: Codes[str | None], names: Names, whole: bool) -> Gathered:
    """Fetches in columns: what is asked, what is given up, what is answered."""
    requests = [line.request for line in lines.lines]
    answers = [line.response or _UNANSWERED for line in lines.lines]
    heads = lines.heads(texts, whole=whole) | _of_sessions(requests, answers, whole=whole)
    forgotten = [
        told.forgettenTopicsData if told.forgottenTopicsData is UNSET else told.forgottenTopicsData
        for told in requests
    ]
    sides = (
        _named([told.topics for told in requests], names, _partitions, _questions),
        _named(forgotten, names, _partitions, lambda parts: integers(parts)[:, None]),
        _named([told.responses for told in answers], names, _answered, _answers),
    )
    return Gathered(heads, lines.time_texts, [line.connection for line in lines.lines], sides)


def _of_sessions(asked: Sequence[FetchAsked], answers: Sequence[FetchAnswered], *, whole: bool) -> dict[str, Integers]:
    replica, epoch = integers([told.replicaId for told in asked]), integers([told.sessionEpoch for told in asked])
    if NULL in epoch:
        epoch = np.where(epoch == NULL, integers([told.epoch for told in asked]), epoch)
    states = [told.replicaState for told in asked]
    if any(states):
        stated = integers([NULL if state is None else state.replicaId for state in states])
        replica = np.where([state is None for state in states], replica, stated)
    told = {
        "replica": np.where(replica == NULL, CONSUMER, replica),
        "min_bytes": integers([told.minBytes for told in asked]),
        "session_id": integers([told.sessionId for told in asked]),
        "session_epoch": epoch,
        "answer_session_id": integers([answer.sessionId for answer in answers]),
        "session_error": integers([answer.errorCode for answer in answers]),
        "answered": integers([answer is not _UNANSWERED for answer in answers]),
    }
    if whole:
        told["replica_epoch"] = integers([NULL if state is None else state.replicaEpoch for state in states])
    return told


def _answered(topics: Sequence[AnsweredTopic]) -> Sequence[Sequence[Answered | AnsweredOld]]:
    return [topic.partitionResponses if topic.partitions is UNSET else topic.partitions for topic in topics]


def _questions(parts: Sequence[Asked]) -> Integers:
    rows = [
        (p.partition, p.fetchOffset, p.lastFetchedEpoch, p.currentLeaderEpoch, p.logStartOffset, p.highWatermark)
        for p in parts
    ]
    return table(rows, 1 + len(ASKED))


def _answers(parts: Sequence[Answered | AnsweredOld]) -> Integers:
    rows = [
        (
            part.partitionIndex, part.errorCode, part.highWatermark, part.lastStableOffset, part.logStartOffset,
            diverging.epoch, diverging.endOffset, leader.leaderId, leader.leaderEpoch, part.recordsSizeInBytes,
        )
        for part in parts
        for diverging in (part.divergingEpoch or _UNDIVERGED,)
        for leader in (part.currentLeader or _UNLED,)
    ]  # fmt: skip
    return table(rows, 1 + len(ANSWERED))


def produces_in(lines: Taken[ProduceLine], texts: Codes[str | None], names: Names, whole: bool) -> Gathered:
    """Produces in columns: what is sent, what is written."""
    requests = [line.request for line in lines.lines]
    answers = [(line.response or _NOT_WRITTEN).responses for line in lines.lines]
    heads = lines.heads(texts, whole=whole) | {
        "acks": integers([request.acks for request in requests]),
        "transactional": integers(map(_transactional, requests)),
    }
    sent = _named(
        [told.topicData for told in requests], names, lambda topics: [topic.partitionData for topic in topics],
        lambda parts: table([(part.index, part.recordsSizeInBytes) for part in parts], 2),
    )  # fmt: skip
    written = _named(
        answers, names, lambda topics: [topic.partitionResponses for topic in topics],
        _written,
    )  # fmt: skip
    return Gathered(heads, lines.time_texts, (), (sent, written))


def _written(parts: Sequence[Written]) -> Integers:
    return table([(part.index, part.errorCode, part.baseOffset, part.logStartOffset) for part in parts], 4)


def _transactional(request: ProduceAsked) -> int:
    return NULL if request.transactionalId is UNSET else request.transactionalId is not None


def joined(parts: Sequence[Gathered]) -> Gathered:
    """Parts that follow each other, as one."""
    starts = np.cumsum([0, *(len(part.time_texts) for part in parts[:-1])])
    sides = [
        Named(*map(np.concatenate, zip(*(
            side._replace(line=side.line + start) for side, start in zip(own, starts, strict=True)
        ), strict=True)))
        for own in zip(*(part.sides for part in parts), strict=True)
    ]  # fmt: skip
    return Gathered(
        {name: np.concatenate([part.heads[name] for part in parts]) for name in parts[0].heads},
        [*chain.from_iterable(part.time_texts for part in parts)],
        [*chain.from_iterable(part.connections for part in parts)],
        sides,
    )


class Lines(Generic[Of]):
    """Lines of one kind, each with its place and its time as written, and what columns were made of those before."""

    __slots__ = ("_columns", "_lines", "_told", "add")

    def __init__(self, columns: Callable[[Taken[Of], Codes[str | None], Names, bool], Gathered]) -> None:
        self._columns, self._told = columns, list[Gathered]()
        self._lines: list[tuple[Of, int, int, bytes]] = []
        self.add: Callable[[tuple[Of, int, int, bytes]], None] = self._lines.append

    def gather(self, texts: Codes[str | None], names: Names, *, whole: bool, least: int = 1) -> None:
        """Puts lines into columns, if there are so many."""
        if len(self._lines) >= least:
            self._told.append(self._columns(Taken(*zip(*self._lines, strict=True)), texts, names, whole))
            self._lines.clear()

    def taken(self) -> Iterator[Gathered]:
        """All columns so far as one, which are forgotten here; none where there were no lines."""
        if self._told:
            told, self._told = self._told, []
            yield joined(told)
