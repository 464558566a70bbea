"""FETCH and PRODUCE lines as structs that msgspec fills: the fields that are read, in every version that has them.

Fields stand in the order in which Kafka writes them, since that is where they are sought first.

What a release adds is passed over, what it lacks is null. A line that fits none of this is read by the grammar instead,
which says why it is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Generic, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

NULL: Final = -(1 << 63)
"""Stands in columns for what is not told; no field of Kafka's holds it."""

I16: TypeAlias = Annotated[int, Meta(ge=-(1 << 15), lt=1 << 15)]
I32: TypeAlias = Annotated[int, Meta(ge=-(1 << 31), lt=1 << 31)]
I64: TypeAlias = Annotated[int, Meta(ge=NULL + 1, le=(1 << 63) - 2)]
Index: TypeAlias = Annotated[int, Meta(ge=0, lt=1 << 31)]
Version: TypeAlias = Annotated[int, Meta(ge=0, lt=1 << 15)]
Odd: TypeAlias = Annotated[int, Meta(ge=1, le=0)]
"""A field whose value no line has: where it stands, the grammar says what is meant."""
UNKNOWN: Final = float("nan")


class Header(Struct, gc=False):
    """Who asked."""

    requestApiVersion: Version
    requestApiKeyName: str
    correlationId: I32 = NULL
    clientId: str | None = None


class FetchHeader(Header, gc=False):
    """Who fetched."""

    requestApiKeyName: Literal["FETCH"]


class ProduceHeader(Header, gc=False):
    """Who produced."""

    requestApiKeyName: Literal["PRODUCE"]


class Unread(Struct, gc=False):
    """Of which nothing is read but that it is there."""


class RequestLine(Struct, gc=False):
    """What lines of all requests tell."""

    requestHeader: Header
    connection: str = ""
    totalTimeMs: float = UNKNOWN
    requestQueueTimeMs: float = UNKNOWN
    localTimeMs: float = UNKNOWN
    remoteTimeMs: float = UNKNOWN
    responseQueueTimeMs: float = UNKNOWN
    sendTimeMs: float = UNKNOWN


class FetchPartition(Struct, gc=False):
    """A partition named in a fetch request."""

    partition: Index
    currentLeaderEpoch: I32 = NULL
    fetchOffset: I64 = NULL
    lastFetchedEpoch: I32 = NULL
    logStartOffset: I64 = NULL
    highWatermark: I64 = NULL


class AskedTopic(Struct, gc=False):
    """Its topic, by name or by id."""

    topic: str = ""
    partitions: Sequence[FetchPartition] = ()
    topicId: str = ""


class ForgottenTopic(Struct, gc=False):
    """Partitions that leave a session."""

    topic: str = ""
    topicId: str = ""
    partitions: Sequence[I32] = ()


class ReplicaState(Struct, gc=False):
    """The asking replica, since FETCH 15."""

    replicaId: I32 = NULL
    replicaEpoch: I64 = NULL


class FetchAsked(Struct, gc=False):
    """A fetch request."""

    replicaId: I32 = NULL
    minBytes: I32 = NULL
    sessionId: I32 = NULL
    sessionEpoch: I32 = NULL
    topics: Sequence[AskedTopic] = ()
    forgottenTopicsData: Sequence[ForgottenTopic] | UnsetType = UNSET
    replicaState: ReplicaState | None = None
    epoch: I32 = NULL
    forgettenTopicsData: Sequence[ForgottenTopic] = ()


class Diverging(Struct, frozen=True, gc=False):
    """Where the asker's log parts from the leader's."""

    epoch: I32 = NULL
    endOffset: I64 = NULL


class Leader(Struct, frozen=True, gc=False):
    """Who leads instead."""

    leaderId: I32 = NULL
    leaderEpoch: I32 = NULL


UNDIVERGED, UNLED = Diverging(), Leader()


class FetchedPartition(Struct, gc=False):
    """A partition named in a fetch answer, since 3.0."""

    partitionIndex: Index
    errorCode: I16 = NULL
    highWatermark: I64 = NULL
    lastStableOffset: I64 = NULL
    logStartOffset: I64 = NULL
    recordsSizeInBytes: I64 = NULL
    divergingEpoch: Diverging = UNDIVERGED
    currentLeader: Leader = UNLED
    records: Odd | UnsetType = UNSET
    recordSet: Odd | UnsetType = UNSET
    recordSetSizeInBytes: Odd | UnsetType = UNSET
    partitionHeader: Odd | UnsetType = UNSET


class OldFetchedPartition(Struct, gc=False):
    """The same in 2.8."""

    partitionIndex: Index = field(name="partition")
    errorCode: I16 = NULL
    highWatermark: I64 = NULL
    lastStableOffset: I64 = NULL
    logStartOffset: I64 = NULL
    recordsSizeInBytes: I64 = field(default=NULL, name="recordSetSizeInBytes")
    divergingEpoch: Diverging = UNDIVERGED
    currentLeader: Leader = UNLED
    records: Odd | UnsetType = UNSET
    recordSet: Odd | UnsetType = UNSET
    size: Odd | UnsetType = field(default=UNSET, name="recordsSizeInBytes")
    partitionHeader: Odd | UnsetType = UNSET
    index: Odd | UnsetType = field(default=UNSET, name="partitionIndex")


class AnsweredTopic(Struct, gc=False):
    """Its topic."""

    topic: str = ""
    partitionResponses: Sequence[OldFetchedPartition] = ()
    topicId: str = ""
    partitions: Sequence[FetchedPartition] | UnsetType = UNSET


class FetchAnswered(Struct, gc=False):
    """A fetch answer."""

    errorCode: I16 = NULL
    sessionId: I32 = NULL
    responses: Sequence[AnsweredTopic] = ()
    nodeEndpoints: Sequence[Unread] = ()


class FetchLine(RequestLine, gc=False, kw_only=True):
    """A fetch and its answer."""

    requestHeader: FetchHeader
    clientInformation: Unread | None = None
    request: FetchAsked
    response: FetchAnswered | Literal[""] | None = None


class SentPartition(Struct, gc=False):
    """A partition named in a produce request."""

    index: Index
    recordsSizeInBytes: I64 = NULL
    records: Odd | UnsetType = UNSET
    partitionIndex: Odd | UnsetType = UNSET


class SentTopic(Struct, gc=False):
    """Its topic."""

    topic: str = field(default="", name="name")
    topicId: str = ""
    partitionData: Sequence[SentPartition] = ()
    topicName: Odd | UnsetType = UNSET
    older: Odd | UnsetType = field(default=UNSET, name="topic")


class ProduceAsked(Struct, gc=False):
    """A produce request; `transactionalId` null where the producer has none."""

    acks: I16 = NULL
    transactionalId: str | UnsetType | None = UNSET
    topicData: Sequence[SentTopic] = ()


class WrittenPartition(Struct, gc=False):
    """A partition named in a produce answer."""

    index: Index
    errorCode: I16 = NULL
    baseOffset: I64 = NULL
    logStartOffset: I64 = NULL
    partitionIndex: Odd | UnsetType = UNSET


class WrittenTopic(Struct, gc=False):
    """Its topic."""

    topic: str = field(default="", name="name")
    topicId: str = ""
    partitionResponses: Sequence[WrittenPartition] = ()
    topicName: Odd | UnsetType = UNSET
    older: Odd | UnsetType = field(default=UNSET, name="topic")


class ProduceAnswered(Struct, gc=False):
    """A produce answer."""

    responses: Sequence[WrittenTopic] = ()
    nodeEndpoints: Sequence[Unread] = ()


class ProduceLine(RequestLine, gc=False, kw_only=True):
    """A produce and its answer; none was sent where nobody waits for it."""

    requestHeader: ProduceHeader
    clientInformation: Unread | None = None
    request: ProduceAsked
    response: ProduceAnswered | Literal[""] | None = None


UNFIT: Final = (msgspec.MsgspecError, ValueError, RecursionError)
"""What is raised for lines that fit no struct."""
Of = TypeVar("Of", bound=Struct)


class Reader(Generic[Of]):
    """Reads texts as structs of one kind."""

    __slots__ = ("_many", "_one")

    def __init__(self, kind: type[Of]) -> None:
        decoder = msgspec.json.Decoder(kind)
        self._one, self._many = decoder.decode, decoder.decode_lines

    def structs(self, joined: bytes, size: int) -> Sequence[Of | None]:
        """What each of so many texts holds, which line feeds join; None of one that fits no struct."""
        try:
            read = self._many(joined)
        except UNFIT:
            read = []
        return read if len(read) == size else [self._if_fit(text) for text in joined.split(b"\n")]

    def _if_fit(self, text: bytes) -> Of | None:
        try:
            return self._one(text)
        except UNFIT:
            return None


FETCHES: Final = Reader(FetchLine)
PRODUCES: Final = Reader(ProduceLine)
