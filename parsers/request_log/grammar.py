"""What the compiled loops know of FETCH and PRODUCE lines: contexts, the fields they keep, and where they go.

A name or shape that does not stand here is passed over if it is new, and left to the plain parser if it is odd.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

NULL: Final = -(1 << 63)

# Contexts: structs are even, lists are odd. SENT and WRITTEN are of PRODUCE; OLD is the text of 1.0 to 2.7.
ROOT, HEADER, REQUEST, STATE, RESPONSE, SKIPPED = 0, 2, 4, 6, 8, 10
ASKED_TOPIC, ASKED, FORGOTTEN_TOPIC, ANSWERED_TOPIC, ANSWERED, DIVERGING, LEADER = 12, 14, 16, 18, 20, 22, 24
SENT_ROOT, SENT_REQUEST, SENT_RESPONSE, SENT_TOPIC, SENT, WRITTEN_TOPIC, WRITTEN = 26, 28, 30, 32, 34, 36, 38
OLD_RESPONSE, OLD_TOPIC, OLD_ANSWERED, OLD_HEADER, API = 40, 42, 44, 46, 48
SKIPPED_LIST, ASKED_TOPICS, ASKED_LIST, FORGOTTEN_TOPICS, FORGOTTEN_LIST, ANSWERED_TOPICS, ANSWERED_LIST = (
    11, 13, 15, 17, 19, 21, 23,
)  # fmt: skip
SENT_TOPICS, SENT_LIST, WRITTEN_TOPICS, WRITTEN_LIST, OLD_TOPICS, OLD_LIST = 25, 27, 29, 31, 33, 35
CONTEXTS: Final = 50

# Columns of a line.
VERSION, CORRELATION, CLIENT, NAME, CONNECTION, REPLICA = 0, 1, 2, 4, 6, 8
STATE_REPLICA, STATE_EPOCH, SESSION, EPOCH, ANSWER_SESSION, ERROR = 9, 10, 11, 12, 13, 14
TOTAL, QUEUE, LOCAL, REMOTE, RESPONSE_QUEUE, SEND, SEEN = 15, 16, 17, 18, 19, 20, 21
ASKED_TO, FORGOTTEN_TO, ANSWERED_TO = 22, 23, 24
START, END, STATUS, ACKS, TRANSACTIONAL, TIME_START, TIME_END = 25, 26, 27, 28, 29, 30, 31
MIN_BYTES: Final = 32
LINE_WIDTH: Final = 33

# Columns of a partition; its topic's row comes first. A topic is the span of its name and the span of its id.
TOPIC_ROW, PARTITION = 0, 1
PARTITION_WIDTH: Final = 12
SENT_SIZE, WRITTEN_ERROR, WRITTEN_BASE, WRITTEN_START, RECORDS_SIZE = 2, 2, 3, 4, 10
TOPIC_WIDTH: Final = 4
FORGOTTEN_WIDTH: Final = 2

# What becomes of a field: passed over, a number of some width, a text's span, a time, a nested context, too odd,
# whether a text stands there, or the records of an answer in text.
SKIP, TEXT, TIME, NEST, ODD, TOLD, RECORDS = 0, 1000, 2000, 3000, 4000, 5000, 6000
I16, I32, I64 = 100, 200, 300

_ASKED_FETCH: Final = {
    "partition": I32 + PARTITION, "fetchOffset": I64 + 2, "lastFetchedEpoch": I32 + 3, "currentLeaderEpoch": I32 + 4,
    "logStartOffset": I64 + 5, "highWatermark": I64 + 6,
}  # fmt: skip
_ANSWERED_FETCH: Final = {
    "partition": I32 + PARTITION, "partitionIndex": I32 + PARTITION, "errorCode": I16 + 2, "highWatermark": I64 + 3,
    "lastStableOffset": I64 + 4, "logStartOffset": I64 + 5, "divergingEpoch": NEST + DIVERGING,
    "currentLeader": NEST + LEADER,
}  # fmt: skip
_SIZES: Final = {"recordsSizeInBytes": I64 + RECORDS_SIZE, "recordSetSizeInBytes": I64 + RECORDS_SIZE}
_TOPIC: Final = {"topic": TEXT, "topicId": TEXT + 2}
_SENT_TOPIC: Final = {"topicName": TEXT, "topic": TEXT, "name": TEXT, "topicId": TEXT + 2}
_NUMBERS: Final = {"partitionIndex": I32 + PARTITION, "index": I32 + PARTITION, "partition": I32 + PARTITION}
_ROOT: Final = {
    "requestHeader": NEST + HEADER, "connection": TEXT + CONNECTION, "totalTimeMs": TIME + TOTAL,
    "requestQueueTimeMs": TIME + QUEUE, "localTimeMs": TIME + LOCAL, "remoteTimeMs": TIME + REMOTE,
    "responseQueueTimeMs": TIME + RESPONSE_QUEUE, "sendTimeMs": TIME + SEND,
}  # fmt: skip

FIELDS: Final[dict[int, dict[str, int]]] = {
    ROOT: {**_ROOT, "request": NEST + REQUEST, "response": NEST + RESPONSE},
    HEADER: {
        "requestApiVersion": I16 + VERSION, "correlationId": I32 + CORRELATION, "clientId": TEXT + CLIENT,
        "requestApiKeyName": TEXT + NAME,
    },
    REQUEST: {
        "replicaId": I32 + REPLICA, "replicaState": NEST + STATE, "minBytes": I32 + MIN_BYTES,
        "sessionId": I32 + SESSION, "sessionEpoch": I32 + EPOCH, "epoch": I32 + EPOCH, "topics": NEST + ASKED_TOPICS,
        "forgottenTopicsData": NEST + FORGOTTEN_TOPICS, "forgettenTopicsData": NEST + FORGOTTEN_TOPICS,
    },
    STATE: {"replicaId": I32 + STATE_REPLICA, "replicaEpoch": I64 + STATE_EPOCH},
    RESPONSE: {"errorCode": I16 + ERROR, "sessionId": I32 + ANSWER_SESSION, "responses": NEST + ANSWERED_TOPICS},
    ASKED_TOPIC: {**_TOPIC, "partitions": NEST + ASKED_LIST},
    ASKED: _ASKED_FETCH,
    FORGOTTEN_TOPIC: {**_TOPIC, "partitions": NEST + FORGOTTEN_LIST},
    ANSWERED_TOPIC: {**_TOPIC, "partitions": NEST + ANSWERED_LIST, "partitionResponses": NEST + ANSWERED_LIST},
    ANSWERED: {**_ANSWERED_FETCH, **_SIZES, "partitionHeader": ODD, "recordSet": ODD, "records": ODD},
    DIVERGING: {"epoch": I32 + 6, "endOffset": I64 + 7},
    LEADER: {"leaderId": I32 + 8, "leaderEpoch": I32 + 9},
    SENT_ROOT: {**_ROOT, "request": NEST + SENT_REQUEST, "response": NEST + SENT_RESPONSE},
    SENT_REQUEST: {"acks": I16 + ACKS, "transactionalId": TOLD + TRANSACTIONAL, "topicData": NEST + SENT_TOPICS},
    SENT_RESPONSE: {"responses": NEST + WRITTEN_TOPICS},
    SENT_TOPIC: {**_SENT_TOPIC, "partitionData": NEST + SENT_LIST},
    SENT: {**_NUMBERS, "recordsSizeInBytes": I64 + SENT_SIZE, "records": ODD},
    WRITTEN_TOPIC: {**_SENT_TOPIC, "partitionResponses": NEST + WRITTEN_LIST},
    WRITTEN: {
        **_NUMBERS, "errorCode": I16 + WRITTEN_ERROR, "baseOffset": I64 + WRITTEN_BASE,
        "logStartOffset": I64 + WRITTEN_START,
    },
    OLD_RESPONSE: {"errorCode": I16 + ERROR, "sessionId": I32 + ANSWER_SESSION, "responses": NEST + OLD_TOPICS},
    OLD_TOPIC: {**_TOPIC, "partitions": NEST + OLD_LIST, "partitionResponses": NEST + OLD_LIST},
    OLD_ANSWERED: {
        **_ANSWERED_FETCH, **_SIZES, "partitionHeader": NEST + OLD_HEADER, "recordSet": RECORDS, "records": ODD,
    },
    OLD_HEADER: _ANSWERED_FETCH,
}  # fmt: skip
ELEMENTS: Final[dict[int, int]] = {
    ASKED_TOPICS: NEST + ASKED_TOPIC, ASKED_LIST: NEST + ASKED, FORGOTTEN_TOPICS: NEST + FORGOTTEN_TOPIC,
    FORGOTTEN_LIST: I32, ANSWERED_TOPICS: NEST + ANSWERED_TOPIC, ANSWERED_LIST: NEST + ANSWERED,
    SENT_TOPICS: NEST + SENT_TOPIC, SENT_LIST: NEST + SENT, WRITTEN_TOPICS: NEST + WRITTEN_TOPIC,
    WRITTEN_LIST: NEST + WRITTEN, OLD_TOPICS: NEST + OLD_TOPIC, OLD_LIST: NEST + OLD_ANSWERED,
}  # fmt: skip

# Which table the fields of a context go to, and what may stand again in the next element of a list.
OF_LINE, OF_TOPIC, OF_ASKED, OF_ANSWERED = 0, 1, 2, 3
_TABLES: Final[dict[int, tuple[int, ...]]] = {
    OF_TOPIC: (ASKED_TOPIC, FORGOTTEN_TOPIC, ANSWERED_TOPIC, SENT_TOPIC, WRITTEN_TOPIC, OLD_TOPIC),
    OF_ASKED: (ASKED, SENT),
    OF_ANSWERED: (ANSWERED, WRITTEN, OLD_ANSWERED, OLD_HEADER, DIVERGING, LEADER),
}
LISTS_OF_A_TOPIC: Final = sum(
    1 << context for context in (ASKED_LIST, FORGOTTEN_LIST, ANSWERED_LIST, SENT_LIST, WRITTEN_LIST, OLD_LIST)
)
STRUCTS_OF_A_PARTITION: Final = 1 << DIVERGING | 1 << LEADER | 1 << OLD_HEADER
PARTITIONS: Final = 1 << ASKED | 1 << ANSWERED | 1 << OLD_ANSWERED | 1 << SENT | 1 << WRITTEN
TOPIC_LISTS: Final = sum(
    1 << context for context in (ASKED_TOPICS, ANSWERED_TOPICS, SENT_TOPICS, WRITTEN_TOPICS, OLD_TOPICS)
)

# What becomes of a line: read as a FETCH here, of a kind that is not read, left to the plain parser, read as a PRODUCE,
# or left as what can be no fetch: no session waits for it.
READ, UNREAD, LEFT, READ_SENT, OTHER = 0, 1, 2, 3, 4

SLOTS: Final = 1024


def slot_of(length: int, first: int, middle: int, last: int) -> int:
    """Where a name is first looked for; the compiled loop computes the same."""
    return (length * 37 + first * 5 + middle * 131 + last * 17) % SLOTS


def _written_with_underscores(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


def known_names(apis: Mapping[str, int] | None) -> dict[int, dict[str, int]]:
    """The fields of every context: as JSON spells them, or as text does, with what to do with each kind of request."""
    if apis is None:
        return FIELDS
    spelt = {
        context: {spelt: action for name, action in fields.items() for spelt in (name, _written_with_underscores(name))}
        for context, fields in FIELDS.items()
    }
    return {**spelt, API: dict(apis)}


# The grammar travels to the loop as one array: its head, actions, slots, then the letters of all names.
WIDTH_AT, SLOTS_FROM, TABLE_AT = 0, 1, 2
ACTIONS_AT: Final = TABLE_AT + CONTEXTS


def grammar_table(apis: Mapping[str, int] | None = None) -> Integers:
    """Actions by context and name, a hash table of names (number, start, end; -1 where free), and their letters.

    The grammar of JSON, or with `apis` that of text: it says of each request's name if its lines are read here or left;
    those of others are passed over.
    """
    known = known_names(apis)
    names = sorted({name for fields in known.values() for name in fields})
    width = len(names) + 1
    actions = np.zeros((CONTEXTS, width), dtype=np.int64)
    for context, fields in known.items():
        for name, action in fields.items():
            actions[context, names.index(name)] = action
    for context, action in ELEMENTS.items():
        actions[context, len(names)] = action
    actions[API, len(names)] = UNREAD
    slots = np.full((SLOTS, 3), -1, dtype=np.int64)
    slots_from = ACTIONS_AT + CONTEXTS * width
    start = slots_from + 3 * SLOTS
    for number, name in enumerate(names):
        slot = slot_of(len(name), ord(name[0]), ord(name[len(name) // 2]), ord(name[-1]))
        while slots[slot, 0] >= 0:
            slot = (slot + 1) % SLOTS
        slots[slot] = number, start, start + len(name)
        start += len(name)
    head = np.zeros(ACTIONS_AT, dtype=np.int64)
    head[WIDTH_AT], head[SLOTS_FROM] = width, slots_from
    for table, contexts in _TABLES.items():
        head[[TABLE_AT + context for context in contexts]] = table
    letters = np.frombuffer("".join(names).encode(), dtype=np.uint8).astype(np.int64)
    return np.concatenate([head, actions.reshape(-1), slots.reshape(-1), letters])
