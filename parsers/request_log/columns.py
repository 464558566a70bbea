"""The columns in which fetches and produces travel: what the compiled fold writes, and the arrays it works on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from parsers.request_log.grammar import Integers

# A row of a fetch; the numbers of its partition stand as a scan left them. SLOT, OPEN and LAST are of rows that stand
# for more than one fetch.
START, END, TIME, TIME_TEXT, CLIENT, CORRELATION, VERSION = range(7)
TOTAL, QUEUE, LOCAL, REMOTE, RESPONSE_QUEUE, SEND = range(7, 13)
TOPIC, TOPIC_ID, PARTITION = 13, 14, 15
REPLICA, REPLICA_EPOCH, SESSION, EPOCH, ANSWER_SESSION, ERROR, MIN_BYTES = range(16, 23)
ASKED_AT: Final = 23
FETCH_OFFSET, LAST_FETCHED_EPOCH, CURRENT_LEADER_EPOCH, LOG_START, REQUEST_WATERMARK = range(23, 28)
ANSWERED_AT: Final = 28
ERROR_CODE, WATERMARK, STABLE, LEADER_LOG_START, DIVERGING_EPOCH, DIVERGING_END, LEADER, LEADER_EPOCH, RECORDS = range(
    28, 37
)
FLAGS, COUNT, WAITS, LAST, LAST_TEXT, LAST_TOTAL, LAST_QUEUE, LAST_LOCAL, LAST_REMOTE, SLOT, ENTRY, OPEN = range(37, 49)
FETCH_WIDTH: Final = 49
ASKED_VALUES, ANSWERED_VALUES = 5, 9

IMPLIED, ANSWER_IMPLIED, STALE, BEGUN_UNSEEN = 1, 2, 4, 8

# A row of a produce goes on behind the partition with these.
ACKS, TRANSACTIONAL, SENT_ERROR, SENT_BASE, SENT_START, SENT_SIZE = range(16, 22)
PRODUCE_WIDTH: Final = 22

# A row of a gap: what is told of the line, then the reason's number and how many lines are lost.
GAP_REPLICA, GAP_SESSION, GAP_EPOCH, GAP_ERROR, GAP_REASON, GAP_LOST = range(16, 22)
GAP_WIDTH: Final = 22
REASONS: Final = ("session_start_missing", "lines_lost", "epoch_went_back", "session_refused", "answer_missing")
UNSEEN_GAP, LOST_GAP, BACK_GAP, REFUSED_GAP, ANSWER_GAP = range(5)

# Texts by code: where their letters stand. Keys, sessions and their partitions are found by their first three columns.
TEXT_WIDTH: Final = 2
KEY_ASKED, KEY_ASKED_ROW, KEY_ANSWERED, KEY_ANSWERED_ROW, KEY_FORGOTTEN, KEY_TOLD = 3, 4, 5, 6, 7, 8
KEY_WIDTH: Final = 9

SLOT_BASE, SLOT_FIRST, SLOT_NEXT, SLOT_BROKEN, SLOT_ENTRIES, SLOT_SIZE = 3, 4, 5, 6, 7, 8
SLOT_CALLS, SLOT_FRESH, SLOT_REPLICA, SLOT_KNOWN, SLOT_SURE, SLOT_CLIENT, SLOT_WAITS, SLOT_MIN_BYTES = range(9, 17)
SLOT_LAST, SLOT_LAST_TEXT = 17, 18
SLOT_WIDTH: Final = 23
TOLD_LAST: Final = 6
"""Columns of what is told of the last fetch that a row stands for, in a row and in a session alike."""
FULL, INHERITED, MISSING, CLOSED, NO_SESSION = range(5)

ENTRY_PRESENT, ENTRY_NEXT, ENTRY_NEXT_FRESH, ENTRY_IS_FRESH, ENTRY_REST = 3, 4, 5, 6, 7
ENTRY_ASKED, ENTRY_ASKED_STALE, ENTRY_ASKED_BEFORE = 8, 9, 10
ENTRY_ANSWERED, ENTRY_ANSWERED_STALE, ENTRY_ANSWERED_BEFORE = 11, 12, 13
ENTRY_LAST_ROW: Final = 14
ENTRY_ASKED_AT: Final = 15
ENTRY_ANSWERED_AT: Final = 20
ENTRY_WIDTH: Final = 29

# Counts: rows of every table, and what the fold is told.
TEXTS, LETTERS, KEYS, SLOTS, ENTRIES, FETCHES, PRODUCES, GAPS, CALL, RUNS, SEED, GARBAGE, TAKEN = range(13)
HEAD_AT: Final = 16
"""Where the columns that all rows of a line share are put together."""
COUNTS: Final = HEAD_AT + ASKED_AT

# The arrays of a fold, in the order in which they are handed to it.
SPANS, TEXT_INDEX, KEY_ROWS, KEY_INDEX, SLOT_ROWS, SLOT_INDEX, ENTRY_ROWS, ENTRY_INDEX = range(8)
FETCH_ROWS, PRODUCE_ROWS, GAP_ROWS, NUMBERS = 8, 9, 10, 11
ARRAYS: Final = 12
State = tuple[Integers, ...]


class Columns(NamedTuple):
    """Rows of fetches, produces and gaps, and the texts that their codes stand for."""

    fetches: Integers
    produces: Integers
    gaps: Integers
    texts: Sequence[str]
