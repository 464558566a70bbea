"""A fetch that the plain parser read, in the tables that a scan writes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from parsers.request_log import grammar as g
from parsers.request_log import tables as t
from parsers.request_log.call import FetchCall
from parsers.request_log.grammar import NULL, Bytes
from parsers.request_log.tables import Tables, tables_of


def call_tables(call: FetchCall) -> tuple[Bytes, Tables]:
    """The texts of a call one behind the other, and tables of one line whose spans lie in them."""
    sides = (len(call.asked), len(call.forgotten), len(call.answered))
    tables = tables_of((sum(sides) + 1, sides[0] + 1, sides[1] + 1, sides[2] + 1, 1), {})
    texts = bytearray()
    topics = [key for side in (call.asked, call.answered) for key in (told.key for told in side)] + [*call.forgotten]
    for row, key in enumerate(topics):
        tables.topics[row] = [*_span(key.topic or None, texts), *_span(key.topic_id or None, texts)]
    first_answer = sides[0]
    for row, asked in enumerate(call.asked):
        tables.asked[row, :7] = [row, *_numbers((asked.key.partition, *asked[1:]))]
    for row, answered in enumerate(call.answered):
        tables.answered[row, :11] = [first_answer + row, *_numbers((answered.key.partition, *answered[1:]))]
    for row, key in enumerate(call.forgotten):
        tables.forgotten[row] = [sides[0] + sides[2] + row, key.partition]
    tables.out[: t.BEFORE_AT] = [len(topics), *sides]
    _fill_line(tables, call, texts)
    # A byte behind the last text, so that an empty array never travels.
    return np.frombuffer(bytes(texts) + b"\n", dtype=np.uint8), tables


def _fill_line(tables: Tables, call: FetchCall, texts: bytearray) -> None:
    line = tables.lines[0]
    line[:] = NULL
    line[[g.VERSION, g.CORRELATION, g.REPLICA]] = _numbers((call.version, call.correlation_id, call.replica))
    line[[g.MIN_BYTES]] = _numbers((call.min_bytes,))
    line[g.CLIENT : g.CLIENT + 2] = _span(call.client_id, texts)
    line[g.CONNECTION : g.CONNECTION + 2] = _span(call.endpoint or None, texts)
    line[[g.STATE_REPLICA, g.STATE_EPOCH]] = _numbers((call.replica, call.replica_epoch))
    named = (call.session_id, call.session_epoch, call.answer_session_id, call.session_error)
    line[[g.SESSION, g.EPOCH, g.ANSWER_SESSION, g.ERROR]] = _numbers(named)
    line[g.TOTAL : g.SEND + 1] = _numbers(call.times)
    line[g.SEEN] = (call.answer_known << g.RESPONSE) | ((call.replica_epoch is not None) << g.STATE)
    line[[g.ASKED_TO, g.FORGOTTEN_TO, g.ANSWERED_TO]] = len(call.asked), len(call.forgotten), len(call.answered)
    line[[g.START, g.END, g.STATUS]] = call.start, call.end, g.READ
    line[g.TIME_START : g.TIME_END + 1] = _span(call.time_text, texts)


def _numbers(values: Iterable[int | None]) -> list[int]:
    return [NULL if value is None else value for value in values]


def _span(text: str | None, texts: bytearray) -> Sequence[int]:
    if text is None:
        return (NULL, NULL)
    start = len(texts)
    texts += text.encode()
    return (start, len(texts))


