"""Where every row comes from: sources, spans in bytes, and what a file's rows repeat of its place."""

from __future__ import annotations

from typing import Final, Literal, Protocol, TypedDict

from msgspec import Struct

ReplicaState = Literal["current", "future", "deleted", "stray", "foreign"]
"""By the folder's name; foreign is one that holds something else than its name says."""
NOT_HERE: Final[tuple[ReplicaState, ...]] = ("deleted", "foreign")
"""States in which a copy is no word that its broker has a replica."""

FileKind = Literal[
    "segment",
    "offset-index",
    "time-index",
    "transaction-index",
    "producer-snapshot",
    "leader-epoch-checkpoint",
    "replication-offset-checkpoint",
    "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint",
    "cleaner-offset-checkpoint",
    "partition-metadata",
    "meta-properties",
    "clean-shutdown",
    "quorum-state",
    "kraft-snapshot",
    "dump-text",
    "request-log",
    "broker-log",
    "server-properties",
    "trace-table",
    "describe-text",
    "znode",
    "znode-text",
    "leftover",
    "unknown",
]
"""What a file is. `leftover` is a known remnant (.deleted .cleaned .tmp …) that is never the truth about a log."""

LOG_DIR_CHECKPOINTS: Final[tuple[FileKind, ...]] = (
    "replication-offset-checkpoint",
    "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint",
    "cleaner-offset-checkpoint",
)
"""What every broker keeps in each of its log dirs."""


class Span(Struct, frozen=True, kw_only=True):
    """A half-open range of bytes in one source; the address of a piece of evidence."""

    source: str
    start: int
    end: int


class Addressed(Protocol):
    """A row that tells which bytes of which source it was read from."""

    @property
    def source(self) -> str:
        """The file, as reports name it."""

    @property
    def span_start(self) -> int:
        """The first byte."""

    @property
    def span_end(self) -> int:
        """The byte behind the last."""


def row_span(row: Addressed) -> Span:
    """The address of a row."""
    return Span(source=row.source, start=row.span_start, end=row.span_end)


class OriginColumns(TypedDict):
    """What every row of a file repeats of its place, by the names of columns."""

    cluster_id: str | None
    broker: int | None
    log_dir: str | None
    topic: str | None
    topic_id: str | None
    partition: int | None
    source: str


class Origin(Struct, frozen=True, kw_only=True):
    """What all rows of one file share: the file and the replica (or log dir) that it belongs to.

    `source` is the path relative to the dump, with forward slashes, so a report reads the same wherever the dump lies.
    """

    source: str
    cluster_id: str | None = None
    broker: int | None = None
    log_dir: str | None = None
    topic: str | None = None
    topic_id: str | None = None
    partition: int | None = None
    state: ReplicaState = "current"

    @property
    def columns(self) -> OriginColumns:
        """The columns that its rows share."""
        return OriginColumns(
            cluster_id=self.cluster_id, broker=self.broker, log_dir=self.log_dir, topic=self.topic,
            topic_id=self.topic_id, partition=self.partition, source=self.source,
        )  # fmt: skip

    def span(self, start: int, end: int) -> Span:
        """The address of bytes `[start, end)` of this file."""
        return Span(source=self.source, start=start, end=end)


class Source(Struct, frozen=True, kw_only=True):
    """One file of a dump, as the inventory found it."""

    origin: Origin
    kind: FileKind
    size: int
    base_offset: int | None = None
    suffix: str = ""
    """`.deleted`, `.cleaned`, `.swap`, `.tmp` … when the file carries one; empty for a file in plain use."""


_HIGHEST_ID: Final = 2**31 - 1


def broker_id(text: str) -> int | None:
    """The id that a text is, if a broker can have it: Kafka counts brokers in 31 bits."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit()) or len(digits) > len(str(_HIGHEST_ID)):
        return None
    number = int(digits)
    return number if number <= _HIGHEST_ID else None
