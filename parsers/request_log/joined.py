"""Columns of lines that were gathered a few at a time, as one, in the order of the lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from parsers.request_log.call import CONSUMER
from parsers.request_log.fetch_columns import TIMES, Columns, Integers
from parsers.request_log.gathered import Gathered, NamedSide
from parsers.request_log.line_times import microseconds, times_of
from parsers.request_log.typed import NULL


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
