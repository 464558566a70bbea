"""Fetches and produces of one log, gathered and folded to columns; the sessions before them, and then those after."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Final

import numpy as np
from msgspec import UNSET

from parsers.request_log.call import CONSUMER, PartitionKey
from parsers.request_log.columns import Codes, Columns, Integers, Rows, Told
from parsers.request_log.entries import KEYS, Entries, Flags
from parsers.request_log.fold import fold
from parsers.request_log.gathered import (
    Lines,
    Named,
    Taken,
    answered_in,
    asked_in,
    forgotten_in,
    integers,
    sent_in,
    written_in,
)
from parsers.request_log.known import Calls, Side, touched_by
from parsers.request_log.lives import REFUSED, Lives
from parsers.request_log.resting import ANSWERED_ONLY
from parsers.request_log.sessions import NOTHING, Base, Cached, Session, SessionState
from parsers.request_log.typed import (
    NULL,
    Answered,
    AnsweredOld,
    Asked,
    FetchLine,
    ProduceAsked,
    ProduceLine,
    Sent,
    Written,
)

TOGETHER: Final = 1 << 21
"""Bytes of lines that are folded at once."""
_WORN: Final = 1 << 16
"""Texts and topics from which on those of no use any more are forgotten."""
_PARTITIONS: Final = 1 << 31
_NESTED: Final = {"divergingEpoch": ("epoch", "endOffset"), "currentLeader": ("leaderId", "leaderEpoch")}
_WRITTEN: Final = ("error_code", "base_offset", "log_start_offset")
_SESSION: Final = attrgetter(
    "request.replicaId", "request.minBytes", "request.sessionId", "request.sessionEpoch", "request.epoch",
    "request.replicaState", "response",
)  # fmt: skip


class _Endpoints(dict[str, str]):
    """The serving end of `host:port-host:port-index`: brokers that write into one file are told apart by it."""

    def __missing__(self, connection: str) -> str:
        if len(self) > _WORN:
            self.clear()
        endpoint = self[connection] = connection.partition("-")[0]
        return endpoint


class Folded:
    """Folds what is added in the order of the lines; a partition that rests is told once, or `runs` False each time."""

    __slots__ = (
        "_endpoints", "_entries", "_keys", "_lives", "_names", "_runs", "_texts", "fetches", "produces",
    )  # fmt: skip

    def __init__(self, before: SessionState = NOTHING, *, runs: bool = True) -> None:
        self.fetches, self.produces = Lines[FetchLine](), Lines[ProduceLine]()
        self._lives, self._entries, self._runs = Lives(), Entries(), runs
        self._texts, self._names = Codes[str | None](), Codes[tuple[str, str]]()
        self._keys = Codes[int]()
        """Topics and partitions, each by one number."""
        self._endpoints = _Endpoints()
        self._restore(before)

    def rest(self) -> Iterator[Told]:
        """What the lines tell that were added."""
        produces, fetches = self.produces.taken(), self.fetches.taken()
        if produces.lines:
            yield Told(produces=self._written(produces), texts=self._texts, names=self._names)
        if fetches.lines:
            yield from self._fetched(fetches)
        self._renew()

    def _fetched(self, lines: Taken[FetchLine]) -> Iterator[Told]:
        heads = lines.heads(self._texts, whole=not self._runs) | self._of_sessions(lines)
        calls, gaps = self._steps(lines, heads)
        sides = self._sides(lines, calls.life == REFUSED)
        if gaps:
            number, reason, lost = (integers(column) for column in zip(*gaps, strict=True))
            holes = {"line": number, "reason": reason, "lost": lost, "last": np.full(len(gaps), -1)}
            told = Rows(lines=heads, time_texts=lines.time_texts, rows=holes)
            yield Told(gaps=told, texts=self._texts, names=self._names)
        for rows in fold(calls, *sides, self._entries, None if self._runs else self._ranks()):
            yield Told(fetches=self._rows(lines, heads, rows), texts=self._texts, names=self._names)

    def _of_sessions(self, lines: Taken[FetchLine]) -> dict[str, Integers]:
        told_of_each = (list(column) for column in zip(*map(_SESSION, lines.lines), strict=True))
        replicas, least, sessions, epochs, older, states, answers = told_of_each
        if any(states):
            asking = zip(replicas, states, strict=True)
            replicas = [alone if state is None else state.replicaId for alone, state in asking]
        if UNSET in epochs:
            epochs = [other if epoch is UNSET else epoch for epoch, other in zip(epochs, older, strict=True)]
        replica = integers(replicas)
        told = {
            "replica": np.where(replica == NULL, CONSUMER, replica),
            "min_bytes": integers(least),
            "session_id": integers(sessions),
            "session_epoch": integers(epochs),
            "answer_session_id": integers([answer.sessionId if answer else NULL for answer in answers]),
            "session_error": integers([answer.errorCode if answer else NULL for answer in answers]),
            "answered": integers([1 if answer else 0 for answer in answers]),
        }
        if not self._runs:
            told["replica_epoch"] = integers(NULL if state is None else state.replicaEpoch for state in states)
        return told

    def _steps(self, lines: Taken[FetchLine], heads: Columns) -> tuple[Calls, list[tuple[int, int, int]]]:
        told = ("session_id", "session_epoch", "session_error", "answer_session_id", "answered")
        endpoints = [self._endpoints[line.connection] for line in lines.lines]
        began, steps = self._lives.steps(zip(endpoints, *(heads[name].tolist() for name in told), strict=True))
        asker = ("answered", "replica", "client_id", "min_bytes")
        calls = Calls(
            life=integers(steps.life),
            opens=np.array(steps.opens),
            doubted=integers(steps.doubted),
            unseen=np.array(steps.unseen),
            inherited=np.array(steps.inherited),
            answered=heads["answered"] == 1,
            waited=heads["remote_time_us"] > 0,
            asker=np.stack([heads[name] for name in asker], axis=1),
            began=began,
        )
        return calls, steps.gaps

    def _sides(self, lines: Taken[FetchLine], refused: Flags) -> tuple[Side, Side, Side]:
        sides = (
            self._side(asked_in(lines.lines, self._names), "partition", _questions),
            self._side(forgotten_in(lines.lines, self._names), None, lambda parts: integers(parts)[:, None]),
            self._side(answered_in(lines.lines, self._names), "partitionIndex", _answers),
        )
        if not refused.any():
            return sides
        told = [~refused[side.line] for side in sides]
        return tuple(Side(*(c[kept] for c in side)) for side, kept in zip(sides, told, strict=True))  # type: ignore[return-value]

    def _side(self, named: Named, number: str | None, values: Callable[[Sequence[Any]], Integers]) -> Side:
        """Partitions by their numbers here, and what is said of each."""
        parts = named.parts
        partition = integers(parts if number is None else [getattr(part, number) for part in parts])
        unique, place = np.unique(named.name * _PARTITIONS + partition, return_inverse=True)
        keys = integers(map(self._keys.__getitem__, unique.tolist()))
        return Side(named.line, keys[place], values(parts))

    def _ranks(self) -> Integers:
        """How partitions are ordered by their names, so that rows of one line stand as they do wherever it is read."""
        spelt = list(self._names)
        named = [(*spelt[key // _PARTITIONS], key % _PARTITIONS) for key in self._keys]
        ranks = np.empty(len(named), dtype=np.int64)
        ranks[sorted(range(len(named)), key=named.__getitem__)] = np.arange(len(named))
        return ranks

    def _rows(self, lines: Taken[Any], heads: Columns, rows: dict[str, Integers]) -> Rows:
        keys = integers(self._keys)[rows.pop("key")]
        named = {"name": keys // _PARTITIONS, "partition": keys % _PARTITIONS}
        return Rows(lines=heads, time_texts=lines.time_texts, rows=rows | named)

    def _written(self, lines: Taken[ProduceLine]) -> Rows:
        """Rows of produces: partitions in the order in which they are first named, the last word about each."""
        asked = [line.request for line in lines.lines]
        heads = lines.heads(self._texts, whole=not self._runs) | {
            "acks": integers(request.acks for request in asked),
            "transactional": integers(_transactional(request) for request in asked),
        }
        sent = self._side(sent_in(lines.lines, self._names), "index", _sent)
        written = self._side(written_in(lines.lines, self._names), "index", _written)
        rows = touched_by(sent, Side(*np.empty((3, 0), dtype=np.int64)), written)
        order = np.argsort(
            rows.line * 2 * ANSWERED_ONLY + np.where(rows.asked < 0, ANSWERED_ONLY + rows.answered, rows.asked)
        )
        asked_at, answered_at = rows.asked[order], rows.answered[order]
        told = {"line": rows.line[order], "last": np.full(len(order), -1), "key": rows.key[order]}
        told["records_size"] = np.append(sent.values[:, 0], NULL)[asked_at]
        for name, column in zip(_WRITTEN, written.values.T, strict=True):
            told[name] = np.append(column, NULL)[answered_at]
        return self._rows(lines, heads, told)

    def sessions(self) -> SessionState:
        """What has become of every session, once all is told."""
        spelt, keys = list(self._names), list(self._keys)
        named = [PartitionKey(*spelt[key // _PARTITIONS], key % _PARTITIONS) for key in keys]
        return SessionState(
            sessions={
                key: Session(
                    base=life.base, first_epoch=life.first_epoch, next_epoch=life.next_epoch, broken=life.broken,
                    partitions=dict(self._entries.of(life.number, named, life.doubted)),
                )
                for key, life in self._lives.open.items()
            }
        )  # fmt: skip

    def _restore(self, before: SessionState) -> None:
        partitions: dict[int, Cached | None] = {}
        for of, session in before.sessions.items():
            life = self._lives.new(of, session.base, session.first_epoch, session.next_epoch)
            life.broken = session.broken
            for key, cached in session.partitions.items():
                number = self._keys[self._names[key.topic, key.topic_id] * _PARTITIONS + key.partition]
                partitions[life.number * KEYS + number] = cached
        self._entries.restore(partitions)

    def _renew(self) -> None:
        """Forgets partitions, names and texts that are of no use any more, so that memory is bounded by what is."""
        entries = self._entries
        if self._lives.ended or not entries.present.all():
            self._lives.ended = False
            lives = [life for life in self._lives.open.values() if life.base is not Base.CLOSED]
            inherited = [life.number for life in lives if life.base is Base.INHERITED]
            life = entries.code // KEYS
            alive = np.isin(life, [each.number for each in lives])
            entries.keep(np.flatnonzero(alive & (entries.present | np.isin(life, inherited))))
        if len(self._texts) > _WORN:
            self._texts = Codes[str | None]()
        if len(self._keys) > _WORN + 2 * len(entries.code):
            self._rename()

    def _rename(self) -> None:
        spelt, keys = list(self._names), list(self._keys)
        self._names, self._keys = Codes[tuple[str, str]](), Codes[int]()
        used, place = np.unique(self._entries.code % KEYS, return_inverse=True)
        old = (keys[number] for number in used.tolist())
        new = [self._keys[self._names[spelt[key // _PARTITIONS]] * _PARTITIONS + key % _PARTITIONS] for key in old]
        self._entries.code = self._entries.code // KEYS * KEYS + integers(new)[place]
        self._entries.keep(np.argsort(self._entries.code))


def _transactional(request: ProduceAsked) -> int:
    return NULL if request.transactionalId is UNSET else request.transactionalId is not None


def _questions(parts: Sequence[Asked]) -> Integers:
    columns = (
        [part.fetchOffset for part in parts], [part.lastFetchedEpoch for part in parts],
        [part.currentLeaderEpoch for part in parts], [part.logStartOffset for part in parts],
        [part.highWatermark for part in parts],
    )  # fmt: skip
    return np.stack([*map(integers, columns)], axis=1)


def _answers(parts: Sequence[Answered | AnsweredOld]) -> Integers:
    """What answers say of partitions; few say where logs part, or who leads instead."""
    columns = [
        [part.errorCode for part in parts], [part.highWatermark for part in parts],
        [part.lastStableOffset for part in parts], [part.logStartOffset for part in parts],
    ]  # fmt: skip
    nothing = [NULL] * len(parts)
    for struct, fields in _NESTED.items():
        told = [getattr(part, struct) for part in parts]
        columns += (
            [NULL if each is None else getattr(each, field) for each in told] if any(told) else nothing
            for field in fields
        )
    columns.append([part.recordsSizeInBytes for part in parts])
    return np.stack([*map(integers, columns)], axis=1)


def _sent(parts: Sequence[Sent]) -> Integers:
    return integers([part.recordsSizeInBytes for part in parts])[:, None]


def _written(parts: Sequence[Written]) -> Integers:
    columns = ([part.errorCode for part in parts], [part.baseOffset for part in parts])
    return np.stack([*map(integers, (*columns, [part.logStartOffset for part in parts]))], axis=1)
