"""Which kinds of evidence were read of which brokers, and so how far a verdict reaches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from auditor.engines.plan.units import ReadUnit
from auditor.report.model import AbsentLogs
from parsers.inventory import LogWitness
from rules.replicas.log_reach import LogReach
from rules.verdict import KIND_WORDS, FilesLacking, ReplicaVerdict, Scope

LOGS: Final = tuple(kind for kind in KIND_WORDS if kind != "disk")
CHANGES: Final = "state-change-log"
OF_REPLICAS: Final = ("server-log",)
"""Logs in which every release tells what brokers did with their replicas, unless their level leaves that out."""
ANY: Final = -1
"""A log of several brokers may be any broker's."""


class LogsRead(Struct, frozen=True, kw_only=True):
    """The kinds of logs that were read, each with the broker of whom, and the brokers that must have them."""

    read: frozenset[tuple[str, int]]
    brokers: tuple[int, ...]
    silent: frozenset[tuple[str, int]] = frozenset()
    """What was read and tells of no partition but warnings at most, as of none does: their level may be WARN."""

    def is_silent(self, kind: str, broker: int) -> bool:
        """Whether a broker's logs of a kind were read, and tell nothing."""
        return not self.silent.isdisjoint({(kind, broker), (kind, ANY)})

    def lacking(self, broker: int) -> Iterator[str]:
        """Kinds of which nothing was read of a broker."""
        return (kind for kind in LOGS if not {(kind, broker), (kind, ANY)} & self.read)

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of which something was read."""
        return frozenset(kind for kind, _ in self.read)


class Telling(Struct, frozen=True, kw_only=True):
    """Which logs tell something of a partition; warnings alone are nothing."""

    roles: frozenset[str]
    anything: frozenset[str]
    whole: bool
    """Whether every partition was judged: of others they may tell all that they do not tell of these."""


class Copies(Struct, frozen=True, kw_only=True):
    """How many copies are here, and how many there must be."""

    replicas: tuple[int, int]
    voters: tuple[int, int]
    """Of the metadata log."""


def logs_of(
    units: Sequence[ReadUnit], brokers: Collection[int], telling: Telling, words: Sequence[LogWitness]
) -> LogsRead:
    """What units read; metadata is one log for all, and before KRaft the controller's log tells it.

    A log in which no broker speaks is nobody's, as ZooKeeper's own is: it stands in for none. Nor do server logs
    of which none tells more of any partition than warnings.

    Up to 2.5 a log of state changes tells roles at level TRACE alone. Where none tells any, and some broker wrote no
    line in it, the dump has none.
    """
    speaking = {word.span.source for word in words}
    own = [unit for unit in units if unit.broker != ANY or unit.kind != "broker-log" or _source(unit) in speaking]
    kinds_read = {(kind, ANY if kind == "metadata" else unit.broker) for unit in own for kind in _kinds(unit)}
    telling_units = (unit for unit in units if telling.anything.intersection(piece.source for piece in unit.pieces))
    heard = {kind for unit in telling_units for kind in _kinds(unit)}
    unheard = {kind for kind in OF_REPLICAS if kind not in heard} if telling.whole else set()
    silent = {(kind, broker) for kind, broker in kinds_read if kind in unheard}
    kinds_read -= silent
    read = LogsRead(read=frozenset(kinds_read), brokers=tuple(sorted(brokers)), silent=frozenset(silent))
    changes = [unit for unit in units if unit.kind == "broker-log" and CHANGES in _kinds(unit)]
    roles_told = any(piece.source in telling.roles for unit in changes for piece in unit.pieces)
    if roles_told or not any(CHANGES in read.lacking(broker) for broker in read.brokers):
        return read
    return replace(read, read=frozenset((kind, broker) for kind, broker in kinds_read if kind != CHANGES))


def _kinds(unit: ReadUnit) -> Iterator[str]:
    """A log that is named otherwise than Kafka names it may be all of a broker's in one; an empty one tells nothing."""
    if not unit.bytes:
        return
    if unit.kind in ("request-log", "trace-table"):
        yield "request-log"
    elif unit.kind in ("metadata", "znodes"):
        yield "metadata"
    elif unit.kind == "broker-log":
        name = _source(unit).rpartition("/")[2]
        named = {"server.": "server-log", "state-change.": "state-change-log", "controller.": "metadata"}
        yield from (kind for start, kind in named.items() if name.startswith(start) or not name.startswith((*named,)))


def _source(unit: ReadUnit) -> str:
    return unit.pieces[0].source if unit.pieces else ""


def absent_logs(logs: LogsRead) -> Iterator[AbsentLogs]:
    """Of every broker with replicas the kinds that no unit read, or that are silent; alike ones together."""
    by_kinds: dict[tuple[bool, tuple[str, ...]], list[int]] = {}
    for broker in logs.brokers:
        for silent in (False, True):
            if lacking := tuple(kind for kind in logs.lacking(broker) if logs.is_silent(kind, broker) is silent):
                by_kinds.setdefault((silent, lacking), []).append(broker)
    for (silent, lacking), own in sorted(by_kinds.items(), key=lambda each: (each[1], each[0])):
        yield AbsentLogs(kinds=lacking, brokers=tuple(own), silent=silent)


def scope_of(
    logs: LogsRead,
    replicas: Sequence[ReplicaVerdict],
    *,
    copies: Copies,
    reaches: Sequence[LogReach],
    metadata_untold: int = 0,
    files: Sequence[FilesLacking] = (),
    partial: bool,
) -> Scope:
    """How far a verdict on all this reaches."""
    here = {"disk": bool(replicas), **{kind: kind in logs.kinds for kind in LOGS}}
    lacked = {kind for broker in logs.brokers for kind in logs.lacking(broker)}
    late = _brokers(reach.begun_late for reach in reaches)
    return Scope(
        kinds=tuple(kind for kind in KIND_WORDS if here[kind]),
        absent=tuple(kind for kind in KIND_WORDS if not here[kind]),
        partly=tuple(kind for kind in LOGS if here[kind] and kind in lacked),
        cut_short=_brokers(reach.cut_short for reach in reaches),
        begun_late=tuple(broker for broker in late if "server-log" not in logs.lacking(broker)),
        holed=_brokers(reach.holed for reach in reaches),
        requests_holed=_brokers(reach.requests_holed for reach in reaches),
        requests_of=tuple(sorted(broker for kind, broker in logs.read if kind == "request-log")),
        before_logs=sum(reach.before_roles for reach in reaches) if here["server-log"] or here[CHANGES] else 0,
        metadata_untold=metadata_untold,
        files=tuple(files),
        replicas_here=copies.replicas[0],
        replicas_assigned=copies.replicas[1],
        voters=copies.voters,
        partial=partial,
    )


def _brokers(named: Iterable[Collection[int]]) -> tuple[int, ...]:
    return tuple(sorted({broker for brokers in named for broker in brokers}))
