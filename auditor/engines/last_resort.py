"""What nobody foresaw in a file, or in the evidence about a partition, is a refusal: one of them never ends an audit.

A file that a reader fails on may hold anything: it is told like one that the operating system did not give. Memory that
is not there is no file's fault, and goes through.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from auditor.engines.opened.opening import unread_file
from auditor.engines.opened.unit_facts import replica_fact, unread_fact
from auditor.engines.plan.pieces import Piece
from auditor.engines.plan.units import ReadUnit, UnitKind
from parsers.provenance import Span, row_span
from parsers.refusal import refuse
from parsers.tables import Refusal
from rules.evidence import EpochFile
from rules.facts.stretch import LogFacts, UnreadBytes
from rules.history.trace_ends import TraceGap
from rules.judging.giving_up import place_of
from rules.narrow.facts import Fact

FORESEEN: Final = "bytes that this reader is prepared for; please report this file's shape"
TOGETHER: Final[tuple[UnitKind, ...]] = ("dump-text", "log")
"""Units whose files go on with each other: what one does not tell of a replica, another one may."""
Reading = Callable[[ReadUnit], Sequence[Fact]]


def unforeseen(unit: ReadUnit, piece: Piece, error: Exception) -> Refusal:
    """The refusal of a stretch of a file that a reader failed on."""
    origin = unit.origin(piece.source)
    return refuse(origin, "unreadable", piece.start, piece.end, expected=FORESEEN, found=place_of(error))


def read_or_refused(read: Reading, unit: ReadUnit) -> Sequence[Fact]:
    """A unit's facts; where its reader fails, those of the pieces that can be read, and a refusal of the others."""
    try:
        return tuple(read(unit))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever went wrong, the other files can be read
        return _read_apart(read, unit, error)


def _read_apart(read: Reading, unit: ReadUnit, error: Exception) -> Sequence[Fact]:
    apart = () if unit.kind in TOGETHER else unit.pieces
    failed = {piece: reason for piece in apart if (reason := _failure(read, unit, piece)) is not None}
    failed = failed or dict.fromkeys(unit.pieces, error)
    refusals = [unforeseen(unit, piece, reason) for piece, reason in failed.items()]
    rest = replace(unit, pieces=tuple(piece for piece in unit.pieces if piece not in failed))
    facts = () if not rest.pieces and unit.kind != "directory" else read_or_refused(read, rest)
    epochs = next((piece for piece in failed if piece.kind == "leader-epoch-checkpoint"), None)
    return (*_with_refusals(unit, facts, refusals, epochs), *_gaps(unit, refusals))


def _failure(read: Reading, unit: ReadUnit, piece: Piece) -> Exception | None:
    """Why a piece alone cannot be read."""
    try:
        read(replace(unit, pieces=(piece,)))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - it is told by the caller
        return error
    return None


def _with_refusals(
    unit: ReadUnit, facts: Sequence[Fact], refusals: Sequence[Refusal], epochs: Piece | None
) -> Sequence[Fact]:
    """A replica's small files are told with it, all others for themselves."""
    if unit.kind == "log":
        log = LogFacts(unread=tuple(map(_unread_bytes, refusals)), unread_count=len(refusals))
        return (replica_fact(unit, log=log, bytes_seen=unit.bytes, bytes_read=unit.bytes),)
    if unit.kind != "directory" or not facts or facts[0].directory is None:
        return (*facts, unread_fact(unit, refusals))
    own = facts[0].directory
    unread = (*own.refusals, *(unread_file(refusal) for refusal in refusals))
    epoch_file = own.epoch_file
    if epochs is not None:
        epoch_file = EpochFile(state="unreadable", span=Span(source=epochs.source, start=0, end=epochs.size))
    return (replace(facts[0], directory=replace(own, refusals=unread, epoch_file=epoch_file)), *facts[1:])


def _gaps(unit: ReadUnit, refusals: Sequence[Refusal]) -> Sequence[Fact]:
    """What a log of requests does not tell where it was not read cannot be said not to have happened."""
    if unit.kind != "request-log":
        return ()
    spans = ((refusal.source, refusal.span_start, refusal.span_end) for refusal in refusals)
    gaps = tuple(TraceGap(broker=unit.broker, source=s, start=a, end=b, unread=True) for s, a, b in spans)
    return (replace(unread_fact(unit, ()), root=None, gaps=gaps),)


def _unread_bytes(refusal: Refusal) -> UnreadBytes:
    span = row_span(refusal)
    return UnreadBytes(
        kind=refusal.kind,
        expected_offset=None,
        next_offset=None,
        expected=refusal.expected,
        found=refusal.found,
        span=span,
    )
