"""What the compiled loop knows of a FETCH line in JSON: contexts, the fields it keeps, and where they go.

A name or shape that does not stand here is passed over if it is new, and left to the plain parser if it is odd.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

NULL: Final = -(1 << 63)

# Contexts: structs are even, lists are odd.
ROOT, HEADER, REQUEST, STATE, RESPONSE, SKIPPED = 0, 2, 4, 6, 8, 10
ASKED_TOPIC, ASKED, FORGOTTEN_TOPIC, ANSWERED_TOPIC, ANSWERED, DIVERGING, LEADER = 12, 14, 16, 18, 20, 22, 24
SKIPPED_LIST, ASKED_TOPICS, ASKED_LIST, FORGOTTEN_TOPICS, FORGOTTEN_LIST, ANSWERED_TOPICS, ANSWERED_LIST = (
    11, 13, 15, 17, 19, 21, 23,
)  # fmt: skip
CONTEXTS: Final = 26

# Columns of a line.
VERSION, CORRELATION, CLIENT, NAME, CONNECTION, REPLICA = 0, 1, 2, 4, 6, 8
STATE_REPLICA, STATE_EPOCH, SESSION, EPOCH, ANSWER_SESSION, ERROR = 9, 10, 11, 12, 13, 14
TOTAL, QUEUE, LOCAL, REMOTE, SEEN = 15, 16, 17, 18, 19
ASKED_TO, FORGOTTEN_TO, ANSWERED_TO = 20, 21, 22
START, END, STATUS = 23, 24, 25
LINE_WIDTH: Final = 26

# Columns of a partition; its topic's row comes first. A topic is the span of its name and the span of its id.
TOPIC_ROW, PARTITION = 0, 1
PARTITION_WIDTH: Final = 12
TOPIC_WIDTH: Final = 4
FORGOTTEN_WIDTH: Final = 2

# What becomes of a field: passed over, a number of some width, a text's span, a time, a nested context, or too odd.
SKIP, TEXT, TIME, NEST, ODD = 0, 1000, 2000, 3000, 4000
I16, I32, I64 = 100, 200, 300

FIELDS: Final[dict[int, dict[str, int]]] = {
    ROOT: {
        "requestHeader": NEST + HEADER, "request": NEST + REQUEST, "response": NEST + RESPONSE,
        "connection": TEXT + CONNECTION, "totalTimeMs": TIME + TOTAL, "requestQueueTimeMs": TIME + QUEUE,
        "localTimeMs": TIME + LOCAL, "remoteTimeMs": TIME + REMOTE,
    },
    HEADER: {
        "requestApiVersion": I16 + VERSION, "correlationId": I32 + CORRELATION, "clientId": TEXT + CLIENT,
        "requestApiKeyName": TEXT + NAME,
    },
    REQUEST: {
        "replicaId": I32 + REPLICA, "replicaState": NEST + STATE, "sessionId": I32 + SESSION,
        "sessionEpoch": I32 + EPOCH, "topics": NEST + ASKED_TOPICS, "forgottenTopicsData": NEST + FORGOTTEN_TOPICS,
        "epoch": ODD, "forgettenTopicsData": ODD,
    },
    STATE: {"replicaId": I32 + STATE_REPLICA, "replicaEpoch": I64 + STATE_EPOCH},
    RESPONSE: {"errorCode": I16 + ERROR, "sessionId": I32 + ANSWER_SESSION, "responses": NEST + ANSWERED_TOPICS},
    ASKED_TOPIC: {"topic": TEXT, "topicId": TEXT + 2, "partitions": NEST + ASKED_LIST},
    ASKED: {
        "partition": I32 + PARTITION, "fetchOffset": I64 + 2, "lastFetchedEpoch": I32 + 3,
        "currentLeaderEpoch": I32 + 4, "logStartOffset": I64 + 5, "highWatermark": I64 + 6,
    },
    FORGOTTEN_TOPIC: {"topic": TEXT, "topicId": TEXT + 2, "partitions": NEST + FORGOTTEN_LIST},
    ANSWERED_TOPIC: {
        "topic": TEXT, "topicId": TEXT + 2, "partitions": NEST + ANSWERED_LIST,
        "partitionResponses": NEST + ANSWERED_LIST,
    },
    ANSWERED: {
        "partition": I32 + PARTITION, "partitionIndex": I32 + PARTITION, "errorCode": I16 + 2, "highWatermark": I64 + 3,
        "lastStableOffset": I64 + 4, "logStartOffset": I64 + 5, "divergingEpoch": NEST + DIVERGING,
        "currentLeader": NEST + LEADER, "recordsSizeInBytes": I64 + 10, "recordSetSizeInBytes": I64 + 10,
        "partitionHeader": ODD, "recordSet": ODD, "records": ODD,
    },
    DIVERGING: {"epoch": I32 + 6, "endOffset": I64 + 7},
    LEADER: {"leaderId": I32 + 8, "leaderEpoch": I32 + 9},
}  # fmt: skip
ELEMENTS: Final[dict[int, int]] = {
    ASKED_TOPICS: NEST + ASKED_TOPIC, ASKED_LIST: NEST + ASKED, FORGOTTEN_TOPICS: NEST + FORGOTTEN_TOPIC,
    FORGOTTEN_LIST: I32, ANSWERED_TOPICS: NEST + ANSWERED_TOPIC, ANSWERED_LIST: NEST + ANSWERED,
}  # fmt: skip

SLOTS: Final = 512


def slot_of(length: int, first: int, middle: int, last: int) -> int:
    """Where a name is first looked for; the compiled loop computes the same."""
    return (length * 37 + first * 5 + middle * 131 + last * 17) % SLOTS


def _names() -> list[str]:
    return sorted({name for fields in FIELDS.values() for name in fields})


# The grammar travels to the loop as one array: actions, then slots, then the letters of all names.
NAMES_WIDTH: Final = len(_names()) + 1
SLOTS_AT: Final = CONTEXTS * NAMES_WIDTH
LETTERS_AT: Final = SLOTS_AT + 3 * SLOTS


def grammar_table() -> Integers:
    """Actions by context and name, a hash table of names (number, start, end; -1 where free), and their letters."""
    names = _names()
    actions = np.zeros((CONTEXTS, NAMES_WIDTH), dtype=np.int64)
    for context, fields in FIELDS.items():
        for name, action in fields.items():
            actions[context, names.index(name)] = action
    for context, action in ELEMENTS.items():
        actions[context, len(names)] = action
    slots = np.full((SLOTS, 3), -1, dtype=np.int64)
    start = LETTERS_AT
    for number, name in enumerate(names):
        slot = slot_of(len(name), ord(name[0]), ord(name[len(name) // 2]), ord(name[-1]))
        while slots[slot, 0] >= 0:
            slot = (slot + 1) % SLOTS
        slots[slot] = number, start, start + len(name)
        start += len(name)
    letters = np.frombuffer("".join(names).encode(), dtype=np.uint8).astype(np.int64)
    return np.concatenate([actions.reshape(-1), slots.reshape(-1), letters])


# What the loop writes is one array too. Its head: rows of each table so far and before the line, where each table
# begins, and the contexts that are open. `WANTED_AT` marks the numbers of requests that are read at all.
TOPICS, ASKED_ROWS, FORGOTTEN_ROWS, ANSWERED_ROWS = 0, 1, 2, 3
BEFORE_AT, TABLES_AT, LINES, STACK_AT, WANTED_AT = 4, 8, 12, 16, 32
WANTED: Final = 128
HEAD: Final = WANTED_AT + WANTED


class Tables(NamedTuple):
    """What the loop made of a block, as tables over the one array that it wrote."""

    out: Integers
    lines: Integers
    topics: Integers
    asked: Integers
    forgotten: Integers
    answered: Integers


def empty_tables(size: int, wanted: frozenset[int]) -> Tables:
    """Room for a block of `size` bytes: the shortest row of each kind bounds how many there can be."""
    rows = (size // 3 + 1, size // 15 + 1, size // 2 + 1, size // 15 + 1, size // 32 + 1)
    widths = (TOPIC_WIDTH, PARTITION_WIDTH, FORGOTTEN_WIDTH, PARTITION_WIDTH, LINE_WIDTH)
    starts = [HEAD]
    for count, width in zip(rows, widths, strict=True):
        starts.append(starts[-1] + count * width)
    out = np.empty(starts[-1], dtype=np.int64)
    out[:HEAD] = 0
    out[TABLES_AT : TABLES_AT + 5] = starts[:5]
    out[[WANTED_AT + number for number in wanted]] = 1
    topics, asked, forgotten, answered, lines = (
        out[start:end].reshape(-1, width) for start, end, width in zip(starts, starts[1:], widths, strict=False)
    )
    return Tables(out, lines, topics, asked, forgotten, answered)
