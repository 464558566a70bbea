"""Fetches and produces of one log, gathered and folded to columns; the sessions before them, and then those after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

import numpy as np

from parsers.request_log.fetch_columns import TIMES, Codes, Columns, Integers, RequestColumns, Rows
from parsers.request_log.fetch_rows import fold
from parsers.request_log.gathered import Gathered, NamedSide, Taken, Topics, fetches_in, integers, produces_in
from parsers.request_log.known import Calls, KeyedSide, touched_by
from parsers.request_log.line_times import microseconds, times_of
from parsers.request_log.resting import ANSWERED_ONLY
from parsers.request_log.session_entries import KEYS, Entries, Flags
from parsers.request_log.session_lives import REFUSED, Lives
from parsers.request_log.sessions import CONSUMER, NOTHING, Base, Cached, PartitionKey, Session, SessionState
from parsers.request_log.typed import NULL, FetchLine, ProduceLine

TOGETHER: Final = 1 << 23
"""Bytes of lines that are folded at once: a fold makes some hundred calls, however few its lines."""
_WORN: Final = 1 << 16
"""Texts and topics from which on those of no use any more are forgotten."""
_PARTITIONS: Final = 1 << 31
_OF_SESSIONS: Final = ("session_id", "session_epoch", "session_error", "answer_session_id", "answered")
_WRITTEN: Final = ("error_code", "base_offset", "log_start_offset")


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
        "_endpoints",
        "_entries",
        "_keys",
        "_lives",
        "_runs",
        "_texts",
        "_topics",
        "fetches",
        "produces",
    )  # fmt: skip

    def __init__(self, before: SessionState = NOTHING, *, runs: bool = True) -> None:
        self.fetches, self.produces = list[Gathered](), list[Gathered]()
        self._lives, self._entries, self._runs = Lives(), Entries(), runs
        self._texts, self._topics = Codes[str | None](), Topics()
        self._keys = Codes[int]()
        """Topics and partitions, each by one number."""
        self._endpoints = _Endpoints()
        self._restore(before)

    def add_fetches(self, taken: Taken[FetchLine]) -> Gathered:
        """Fetches in columns, to be folded unless they are taken back."""
        self.fetches.append(fetches_in(taken, self._texts, self._topics))
        return self.fetches[-1]

    def add_produces(self, taken: Taken[ProduceLine]) -> Gathered:
        """The same of produces."""
        self.produces.append(produces_in(taken, self._texts, self._topics))
        return self.produces[-1]

    def rest(self) -> Iterator[RequestColumns]:
        """What the lines tell that were added."""
        if self.produces:
            yield RequestColumns(
                produces=self._of_produces(joined(self.produces)), texts=self._texts, names=self._topics.names
            )
        if self.fetches:
            yield from self._of_fetches(with_falls(joined(self.fetches)))
        self.produces.clear()
        self.fetches.clear()
        self._renew()

    def _of_fetches(self, lines: Joined) -> Iterator[RequestColumns]:
        heads = lines.heads
        calls, gaps = self._steps(lines)
        asked, forgotten, answered = map(self._side, self._unrefused(lines.sides, calls.life == REFUSED))
        if gaps:
            number, reason, lost = (integers(column) for column in zip(*gaps, strict=True))
            holes = {"line": number, "reason": reason, "lost": lost, "last": np.full(len(gaps), -1)}
            at_lines = Rows(lines=heads, time_texts=lines.time_texts, rows=holes)
            yield RequestColumns(gaps=at_lines, texts=self._texts, names=self._topics.names)
        ranks = None if self._runs else self._ranks()
        for rows in fold(calls, asked, forgotten, answered, self._entries, ranks):
            yield RequestColumns(fetches=self._rows(lines, rows), texts=self._texts, names=self._topics.names)

    def _steps(self, lines: Joined) -> tuple[Calls, list[tuple[int, int, int]]]:
        heads, endpoints = lines.heads, map(self._endpoints.__getitem__, lines.connections)
        session, *of_sessions = (heads[name].tolist() for name in _OF_SESSIONS)
        began, steps = self._lives.steps(zip(zip(endpoints, session, strict=True), *of_sessions, strict=True))
        life, inherited = integers(steps.life), [life for life, base in steps.based.items() if base is Base.INHERITED]
        asker = ("answered", "replica", "client_id", "min_bytes", "fallen")
        calls = Calls(
            life=life,
            opens=heads["session_epoch"] == 0,
            doubted=integers(steps.doubted),
            unseen=np.isin(life, list(steps.based)),
            inherited=np.isin(life, inherited),
            answered=heads["answered"] == 1,
            waited=heads["remote_time_us"] > 0,
            asker=np.stack([heads[name] for name in asker], axis=1),
            began=began,
        )
        return calls, steps.gaps

    def _unrefused(self, sides: Sequence[NamedPartitions], refused: Flags) -> Iterator[NamedPartitions]:
        for side in sides:
            kept = ~refused[side.line]
            yield side if kept.all() else NamedPartitions(*(column[kept] for column in side))

    def _side(self, named: NamedPartitions) -> KeyedSide:
        """Partitions by their numbers here, and what is said of each; a number below 0 names none."""
        if named.partition.size and named.partition.min() < 0:
            named = NamedPartitions(*(column[named.partition >= 0] for column in named))
        unique, place = np.unique(named.name * _PARTITIONS + named.partition, return_inverse=True)
        keys = integers(map(self._keys.__getitem__, unique.tolist()))
        return KeyedSide(named.line, keys[place], named.values)

    def _ranks(self) -> Integers:
        """How partitions are ordered by their names, so that rows of one line stand as they do wherever it is read."""
        spelt = list(self._topics.names)
        named = [(*spelt[key // _PARTITIONS], key % _PARTITIONS) for key in self._keys]
        ranks = np.empty(len(named), dtype=np.int64)
        ranks[sorted(range(len(named)), key=named.__getitem__)] = np.arange(len(named))
        return ranks

    def _rows(self, lines: Joined, rows: dict[str, Integers]) -> Rows:
        keys = integers(self._keys)[rows.pop("key")]
        named = {"name": keys // _PARTITIONS, "partition": keys % _PARTITIONS}
        return Rows(lines=lines.heads, time_texts=lines.time_texts, rows=rows | named)

    def _of_produces(self, lines: Joined) -> Rows:
        """Rows of produces: partitions in the order in which they are first named, the last word about each."""
        sent, written = map(self._side, lines.sides)
        rows = touched_by(sent, KeyedSide(*np.empty((3, 0), dtype=np.int64)), written)
        order = np.argsort(
            rows.line * 2 * ANSWERED_ONLY + np.where(rows.asked < 0, ANSWERED_ONLY + rows.answered, rows.asked)
        )
        asked_at, answered_at = rows.asked[order], rows.answered[order]
        columns = {"line": rows.line[order], "last": np.full(len(order), -1), "key": rows.key[order]}
        columns["records_size"] = np.append(sent.values[:, 0], NULL)[asked_at]
        for name, column in zip(_WRITTEN, written.values.T, strict=True):
            columns[name] = np.append(column, NULL)[answered_at]
        return self._rows(lines, columns)

    def sessions(self) -> SessionState:
        """What has become of every session, once all is told."""
        spelt, keys = list(self._topics.names), list(self._keys)
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
                number = self._keys[self._topics.names[key.topic, key.topic_id] * _PARTITIONS + key.partition]
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
        spelt, keys = list(self._topics.names), list(self._keys)
        self._topics, self._keys = Topics(), Codes[int]()
        used, place = np.unique(self._entries.code % KEYS, return_inverse=True)
        old = (keys[number] for number in used.tolist())
        names = self._topics.names
        new = [self._keys[names[spelt[key // _PARTITIONS]] * _PARTITIONS + key % _PARTITIONS] for key in old]
        self._entries.code = self._entries.code // KEYS * KEYS + integers(new)[place]
        self._entries.keep(np.argsort(self._entries.code))


class NamedPartitions(NamedTuple):
    """Partitions that one side of lines names: by line, topic and number, and what is said of each."""

    line: Integers
    name: Integers
    partition: Integers
    values: Integers


class Joined(NamedTuple):
    """All lines of one kind in columns, in their order."""

    heads: Columns
    time_texts: Sequence[bytes]
    connections: Sequence[str]
    sides: Sequence[NamedPartitions]


def joined(parts: Sequence[Gathered]) -> Joined:
    """All parts as one, with the times of their lines, in the order of these."""
    heads = dict(zip(parts[0].names, np.concatenate([part.heads for part in parts]).T, strict=False))
    heads |= zip(TIMES, microseconds(np.concatenate([part.durations for part in parts]).T), strict=True)
    if "replica" in heads:
        heads["replica"] = np.where(heads["replica"] == NULL, CONSUMER, heads["replica"])
    time_texts = [*chain.from_iterable(part.time_texts for part in parts)]
    connections = [*chain.from_iterable(part.connections for part in parts)]
    sides = [_named(own) for own in zip(*(part.sides for part in parts), strict=True)]
    heads["time"] = times_of(time_texts)
    starts = heads["span_start"]
    if (starts[1:] < starts[:-1]).any():
        return _in_order(Joined(heads, time_texts, connections, sides), np.argsort(starts, kind="stable"))
    heads = {name: np.ascontiguousarray(column) for name, column in heads.items()}
    return Joined(heads, time_texts, connections, sides)


def _named(parts: Sequence[NamedSide]) -> NamedPartitions:
    sizes = np.concatenate([side.sizes for side in parts])
    topics = np.concatenate([side.topics for side in parts])
    values = np.concatenate([side.parts for side in parts])
    line = np.repeat(np.repeat(np.arange(len(sizes)), sizes), topics[:, 1])
    return NamedPartitions(line, np.repeat(topics[:, 0], topics[:, 1]), values[:, 0], values[:, 1:])


def _in_order(lines: Joined, order: Integers) -> Joined:
    """The same with the lines in some order: what the grammar has read stands behind the others of its block."""
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    sides = list[NamedPartitions]()
    for side in lines.sides:
        line = place[side.line]
        own = np.argsort(line, kind="stable")
        sides.append(NamedPartitions(line[own], side.name[own], side.partition[own], side.values[own]))
    places, heads = order.tolist(), {name: column[order] for name, column in lines.heads.items()}
    connections = [lines.connections[place] for place in places] if lines.connections else ()
    return Joined(heads, [lines.time_texts[place] for place in places], connections, sides)


def with_falls(lines: Joined) -> Joined:
    """The lines, each with how often a time before it fell: what is told on both sides of a fall is not one run."""
    times = lines.heads["time"]
    return lines._replace(heads={**lines.heads, "fallen": np.cumsum(np.diff(times, prepend=times[:1]) < 0)})
