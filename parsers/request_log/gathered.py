"""Lines of fetches and produces, put into columns a few at a time, while what they were read from is still at hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from struct import Struct as Packing
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from msgspec import UNSET

from parsers.request_log.fetch_columns import ANSWERED, ASKED, TIMES, Codes, Integers
from parsers.request_log.line_times import Floats
from parsers.request_log.typed import (
    NULL,
    UNDIVERGED,
    UNLED,
    FetchAnswered,
    FetchLine,
    ProduceAnswered,
    ProduceLine,
    RequestLine,
)

_UNANSWERED: Final = FetchAnswered()
_NOT_WRITTEN: Final = ProduceAnswered()
_ELSEWHERE: Final = [1 + ANSWERED.index(name) for name in ("diverging_epoch", "answer_leader")]
"""Where an answer that sends its asker elsewhere says so: behind what every answer says."""
_SAID: Final = min(_ELSEWHERE)
_HEAD: Final = ("span_start", "span_end", "client_id", "correlation_id", "api_version")
_OF_FETCHES: Final = (
    *_HEAD, "replica", "replica_epoch", "min_bytes", "session_id", "session_epoch", "answer_session_id",
    "session_error", "answered",
)  # fmt: skip
_OF_PRODUCES: Final = (*_HEAD, "acks", "transactional", "answered")
# Numbers are packed as they are met: made into tuples first, they would take twice as long to become columns.
_fetch: Final = Packing(f"{len(_OF_FETCHES) + 1}q{len(TIMES)}d").pack
_produce: Final = Packing(f"{len(_OF_PRODUCES) + 1}q{len(TIMES)}d").pack
_asked_of, _answered_of = Packing(f"{1 + len(ASKED)}q").pack, Packing(f"{_SAID}q").pack
_pair, _written_to = Packing("2q").pack, Packing("4q").pack

Of = TypeVar("Of", bound=RequestLine)
Names: TypeAlias = Codes[tuple[str, str]]
"""Topics by name and id."""


class Taken(NamedTuple, Generic[Of]):
    """Lines of one kind: each with its place, and its time as written."""

    lines: Sequence[Of]
    starts: Sequence[int]
    ends: Sequence[int]
    time_texts: Sequence[bytes]


class NamedSide(NamedTuple):
    """Partitions that one side of lines names, and what is said of each; lines have topics, and topics partitions."""

    sizes: Integers
    """Of each line, how many topics."""
    topics: Integers
    """Of each topic, its code and how many partitions."""
    parts: Integers
    """Of each partition, its number and what is said."""


class Gathered(NamedTuple):
    """Some lines of one kind: what each tells for itself, and the partitions that it names, by side."""

    names: Sequence[str]
    heads: Integers
    durations: Floats
    time_texts: Sequence[bytes]
    connections: Sequence[str]
    sides: Sequence[NamedSide]
    structs: int
    """How many structs all lines hold, as far as they are read."""


class _TopicNumbers(dict[str, int]):
    """The numbers of topics that are told by their names alone, or by their ids."""

    def __init__(self, names: Names, *, by_id: bool) -> None:
        self._names, self._by_id = names, by_id

    def __missing__(self, topic: str) -> int:
        code = self[topic] = self._names["", topic] if self._by_id else self._names[topic, ""]
        return code


class Topics:
    """Numbers of topics; of names or ids alone a number is found four times as soon as of pairs."""

    __slots__ = ("_by_id", "_by_name", "names")

    def __init__(self) -> None:
        self.names = Names()
        self._by_name, self._by_id = _TopicNumbers(self.names, by_id=False), _TopicNumbers(self.names, by_id=True)

    def codes(self, topics: Sequence[Any]) -> list[int]:
        """The number of each."""
        names, by_name, by_id = self.names, self._by_name, self._by_id
        return [
            by_name[topic.topic] if not topic.topicId
            else names[topic.topic, topic.topicId] if topic.topic else by_id[topic.topicId]
            for topic in topics
        ]  # fmt: skip


def integers(numbers: Iterable[int]) -> Integers:
    """Numbers as a column."""
    return np.fromiter(numbers, np.int64)


def table(rows: Iterable[bytes], width: int) -> Integers:
    """Packed rows of so many numbers."""
    return np.frombuffer(b"".join(rows), np.int64).reshape(-1, width)


def fetches_in(taken: Taken[FetchLine], texts: Codes[str | None], topics: Topics) -> Gathered:
    """Fetches in columns: what is asked, what is given up, what is answered."""
    lines = taken.lines
    requests = [line.request for line in lines]
    answers = [line.response or _UNANSWERED for line in lines]
    given_up = [
        ask.forgettenTopicsData if ask.forgottenTopicsData is UNSET else ask.forgottenTopicsData for ask in requests
    ]
    rows = [
        _fetch(
            start, end, texts[header.clientId], header.correlationId, header.requestApiVersion,
            ask.replicaId if state is None else state.replicaId, NULL if state is None else state.replicaEpoch,
            ask.minBytes, ask.sessionId, ask.epoch if ask.sessionEpoch == NULL else ask.sessionEpoch,
            answer.sessionId, answer.errorCode, answer is not _UNANSWERED,
            (state is not None) + (line.clientInformation is not None) + len(answer.nodeEndpoints),
            line.totalTimeMs, line.requestQueueTimeMs, line.localTimeMs, line.remoteTimeMs, line.responseQueueTimeMs,
            line.sendTimeMs,
        )
        for line, start, end, ask, answer in zip(lines, taken.starts, taken.ends, requests, answers, strict=True)
        for header in (line.requestHeader,)
        for state in (ask.replicaState,)
    ]  # fmt: skip
    asked = [ask.topics for ask in requests]
    answered = [answer.responses for answer in answers]
    sides = _asked(asked, topics), _given_up(given_up, topics), _answered(answered, topics)
    return _gathered(_OF_FETCHES, rows, taken, [line.connection for line in lines], sides)


def produces_in(taken: Taken[ProduceLine], texts: Codes[str | None], topics: Topics) -> Gathered:
    """Produces in columns: what is sent, what is written."""
    rows = [
        _produce(
            start, end, texts[header.clientId], header.correlationId, header.requestApiVersion, request.acks,
            NULL if request.transactionalId is UNSET else request.transactionalId is not None,
            answer is not _NOT_WRITTEN, (line.clientInformation is not None) + len(answer.nodeEndpoints),
            line.totalTimeMs, line.requestQueueTimeMs, line.localTimeMs, line.remoteTimeMs, line.responseQueueTimeMs,
            line.sendTimeMs,
        )
        for line, start, end in zip(taken.lines, taken.starts, taken.ends, strict=True)
        for header, request, answer in ((line.requestHeader, line.request, line.response or _NOT_WRITTEN),)
    ]  # fmt: skip
    sent = [line.request.topicData for line in taken.lines]
    written = [(line.response or _NOT_WRITTEN).responses for line in taken.lines]
    return _gathered(_OF_PRODUCES, rows, taken, (), (_sent(sent, topics), _written(written, topics)))


def _gathered(
    names: Sequence[str],
    rows: Sequence[bytes],
    taken: Taken[Of],
    connections: Sequence[str],
    sides: Sequence[NamedSide],
) -> Gathered:
    """Each row tells behind its names how many other structs there are, then durations."""
    columns, width = table(rows, len(names) + 1 + len(TIMES)), len(names) + 1
    # A line is a struct, and so are its header, its request and its answer.
    structs = 3 * len(rows) + int(columns[:, width - 2 : width].sum()) + sum(map(_structs, sides))
    durations = columns[:, width:].view(np.float64)
    return Gathered(names, columns[:, :width], durations, taken.time_texts, connections, sides, structs)


def _structs(side: NamedSide) -> int:
    """Topics are structs, and partitions are if anything is said of them."""
    parts = side.parts
    if parts.shape[1] == 1:
        return len(side.topics)
    elsewhere = np.count_nonzero(parts[:, _ELSEWHERE] != NULL) if parts.shape[1] > max(_ELSEWHERE) else 0
    return len(side.topics) + len(parts) + int(elsewhere)


def _side(
    topics_of: Sequence[Sequence[Any]], flat: Sequence[Any], lists: Sequence[Sequence[Any]], topics: Topics,
    parts: Integers,
) -> NamedSide:  # fmt: skip
    named = np.empty((len(flat), 2), np.int64)
    named[:, 0], named[:, 1] = topics.codes(flat), [*map(len, lists)]
    return NamedSide(integers(map(len, topics_of)), named, parts)


def _asked(topics_of: Sequence[Sequence[Any]], topics: Topics) -> NamedSide:
    flat = [*chain.from_iterable(topics_of)]
    lists = [topic.partitions for topic in flat]
    rows = [
        _asked_of(
            p.partition, p.fetchOffset, p.lastFetchedEpoch, p.currentLeaderEpoch, p.logStartOffset, p.highWatermark
        )
        for parts in lists
        for p in parts
    ]
    return _side(topics_of, flat, lists, topics, table(rows, 1 + len(ASKED)))


def _given_up(topics_of: Sequence[Sequence[Any]], topics: Topics) -> NamedSide:
    if not any(topics_of):
        return NamedSide(np.zeros(len(topics_of), np.int64), table((), 2), table((), 1))
    flat = [*chain.from_iterable(topics_of)]
    lists = [topic.partitions for topic in flat]
    return _side(topics_of, flat, lists, topics, integers(chain.from_iterable(lists))[:, None])


def _answered(topics_of: Sequence[Sequence[Any]], topics: Topics) -> NamedSide:
    flat = [*chain.from_iterable(topics_of)]
    lists = [topic.partitionResponses if topic.partitions is UNSET else topic.partitions for topic in flat]
    parts = [*chain.from_iterable(lists)]
    rows = [
        _answered_of(
            p.partitionIndex, p.errorCode, p.highWatermark, p.lastStableOffset, p.logStartOffset, p.recordsSizeInBytes
        )
        for p in parts
    ]
    said = np.full((len(parts), 1 + len(ANSWERED)), NULL)
    said[:, :_SAID] = table(rows, _SAID)
    # Few answers send their asker elsewhere.
    for place, part in enumerate(parts):
        if part.divergingEpoch is not UNDIVERGED or part.currentLeader is not UNLED:
            diverging, leader = part.divergingEpoch, part.currentLeader
            said[place, _SAID:] = diverging.epoch, diverging.endOffset, leader.leaderId, leader.leaderEpoch
    return _side(topics_of, flat, lists, topics, said)


def _sent(topics_of: Sequence[Sequence[Any]], topics: Topics) -> NamedSide:
    flat = [*chain.from_iterable(topics_of)]
    lists = [topic.partitionData for topic in flat]
    rows = [_pair(part.index, part.recordsSizeInBytes) for parts in lists for part in parts]
    return _side(topics_of, flat, lists, topics, table(rows, 2))


def _written(topics_of: Sequence[Sequence[Any]], topics: Topics) -> NamedSide:
    flat = [*chain.from_iterable(topics_of)]
    lists = [topic.partitionResponses for topic in flat]
    rows = [_written_to(p.index, p.errorCode, p.baseOffset, p.logStartOffset) for parts in lists for p in parts]
    return _side(topics_of, flat, lists, topics, table(rows, 4))
