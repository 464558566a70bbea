"""Cuts that no log tells of, inferred from what they left on the disk, each with its proof and when it can have been.

There are three proofs. Segments that wait for their deletion hold what the log has no more. A producer snapshot knows
records where the log holds other ones. A producer goes on in a new epoch with a sequence that its records in the log
do not lead to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from parsers.provenance import Span
from rules.chronicle.chronicle import NOTHING_TOLD, Chronicle
from rules.facts.join import KEEP_RUNS
from rules.facts.producing import ProducerRun, SequenceStep
from rules.facts.stretch import EpochRun
from rules.history.log_cuts import Cut
from rules.history.moments import Moment, own_log_end
from rules.replicas.claims import OffsetClaim, ProducerClaim
from rules.replicas.replica import Leftover, Replica

Proof = Literal["segments put aside", "a producer snapshot", "a sequence jump"]


class InferredCut(Struct, frozen=True, kw_only=True):
    """A cut at or below an offset, by what it left."""

    broker: int | None
    """Whose log was cut; null where the records are missed and nothing tells who had them."""
    offset: int
    """The log was cut here or below: segments go as a whole, the one that is cut inside is not put aside."""
    log_end_offset: int
    """The log had reached this far at least."""
    epoch: int | None
    """The epoch of the records that went, where it is known."""
    next_epoch: int | None
    """The epoch of what stands there now; null where nothing does."""
    runs: tuple[EpochRun, ...] = ()
    """What went, as far as the segments put aside hold it."""
    regrown: bool
    """Whether the log has gone on since: its high watermark on disk may then be of records that came later."""
    high_watermark: OffsetClaim | None = None
    """The one on disk where it is above the cut, and none of records that came later."""
    sound: bool = True
    """Whether nothing of what was put aside failed its checksum."""
    proof: Proof
    left: str
    """What stands at the span."""
    span: Span
    because: str
    after: str
    """What the log still held its records by: the cut came later."""
    before: str
    """What the log did when they were gone: the cut came earlier."""

    @property
    def brokers(self) -> tuple[int, ...]:
        """Whose log was cut, where that is known."""
        return () if self.broker is None else (self.broker,)

    @property
    def words(self) -> str:
        """What was cut, where and when."""
        what = f"a log with epoch {self.epoch} was" if self.broker is None else f"broker {self.broker}'s log was"
        when = f"after {self.after} and before {self.before}"
        down = f"truncated from log end offset {self.log_end_offset} to {self.offset} or lower"
        return f"{what} {down}. That was {when}"

    @property
    def told_by(self) -> str:
        """What would tell of it."""
        if self.broker is None:
            return f"the logs of the broker that led epoch {self.epoch}, or its disk as it was"
        return "its server.log, which tells the cut and the high watermark before it"


def may_be_cut(replica: Replica, leftover: Leftover) -> bool:
    """Whether a segment put aside can have been cut off: neither retention nor the cleaner explains it."""
    lawful = replica.state != "current" or replica.cleaned or leftover.base_offset < replica.log_start_offset
    return not lawful and leftover.size > 0


def inferred_cuts(replicas: Sequence[Replica], chronicle: Chronicle = NOTHING_TOLD) -> tuple[InferredCut, ...]:
    """One cut for every replica that shows one, and one for every jump of a producer; none that a log tells of."""
    logged = chronicle.cuts
    of_replicas = (next(_of_replica(replica, chronicle.moments), None) for replica in replicas)
    found = [cut for cut in of_replicas if cut is not None and not any(_is_told(cut, known) for known in logged)]
    taken: list[tuple[int, int | None]] = [(cut.offset, cut.log_end_offset) for cut in found]
    taken += [(cut.offset, cut.log_end_offset) for cut in logged]
    for jump in _jumps(replicas):
        if not any(at <= jump.offset and (end is None or jump.offset < end) for at, end in taken):
            found.append(jump)
            taken.append((jump.offset, jump.log_end_offset))
    return tuple(found)


def _is_told(cut: InferredCut, logged: Cut) -> bool:
    """Whether a log tells of a cut of these offsets on the same broker."""
    return logged.broker == cut.broker and logged.offset < cut.log_end_offset


def _of_replica(replica: Replica, moments: Sequence[Moment]) -> Iterator[InferredCut]:
    """The cuts that the replica shows, the one with the best proof first."""
    gone = [left for left in replica.leftovers if may_be_cut(replica, left) and _was_cut(replica, left)]
    if gone:
        yield _by_segments(replica, sorted(gone, key=lambda left: left.base_offset), moments)
    known = [claim for claim in replica.producer_claims if _is_contradicted(replica, claim)]
    if known:
        yield _by_snapshot(replica, known, moments)


def _was_cut(replica: Replica, leftover: Leftover) -> bool:
    """Whether the log ends before what the segment holds, or holds another epoch's records at its first offset."""
    if not leftover.epochs:
        return False
    first = leftover.epochs[0]
    if first.start_offset >= replica.log_end_offset:
        return replica.end_known
    held = _run_at(replica, first.start_offset)
    return held is not None and held.epoch != first.epoch


def _by_segments(replica: Replica, gone: Sequence[Leftover], moments: Sequence[Moment]) -> InferredCut:
    runs = tuple(run for left in gone for run in left.epochs)
    end, offset = max(run.end_offset for run in runs), min(runs[0].start_offset, replica.log_end_offset)
    held = _run_at(replica, offset)
    regrown, watermark = replica.log_end_offset > runs[0].start_offset, replica.high_watermark
    return InferredCut(
        broker=replica.broker,
        offset=offset,
        log_end_offset=end,
        epoch=runs[0].epoch if runs[0].epoch >= 0 else None,
        next_epoch=None if held is None else held.epoch,
        runs=runs,
        regrown=regrown,
        high_watermark=watermark if watermark and watermark.offset > offset and not regrown else None,
        sound=all(left.sound for left in gone),
        proof="segments put aside",
        left="what was put aside",
        span=runs[0].first,
        because=f"its directory holds {', '.join(left.source.rpartition('/')[2] for left in gone)}",
        after=_last_word(replica.broker, end, moments) or f"epoch {runs[-1].epoch}'s records up to {end} were written",
        before=_first_word(offset, held),
    )


def _is_contradicted(replica: Replica, claim: ProducerClaim) -> bool:
    """Whether the log holds sound batches of others where the snapshot knows the producer's last records.

    A snapshot is deleted with the records that it covers: only a log whose end was lost or replaced keeps it.
    """
    if replica.state != "current" or replica.cleaned or claim.last_sequence < 0 or len(replica.log.magics) != 1:
        return False
    if claim.first_offset < replica.log_start_offset or not replica.holds(claim.first_offset, claim.last_offset + 1):
        return False
    if len(replica.log.producers) + len(replica.log.fences) >= KEEP_RUNS:  # facts may leave the producer out
        return False
    runs = {(run.producer_id, run.producer_epoch): run for run in replica.log.producers}
    own = runs.get((claim.producer_id, claim.producer_epoch))
    return own is None or own.end_offset <= claim.first_offset


def _by_snapshot(replica: Replica, known: Sequence[ProducerClaim], moments: Sequence[Moment]) -> InferredCut:
    first = min(known, key=lambda claim: claim.first_offset)
    end = max(claim.last_offset + 1 for claim in known)
    held = _run_at(replica, first.first_offset)
    return InferredCut(
        broker=replica.broker,
        offset=first.first_offset,
        log_end_offset=end,
        epoch=None,
        next_epoch=None if held is None else held.epoch,
        regrown=True,
        proof="a producer snapshot",
        left="the producer snapshot",
        span=first.span,
        because=f"its snapshot at {first.snapshot_offset} knows producer {first.producer_id}'s records up to offset"
        f" {first.last_offset}, where its log holds others",
        after=_last_word(replica.broker, end, moments) or f"it wrote the snapshot at {first.snapshot_offset}",
        before=_first_word(first.first_offset, held),
    )


def _last_word(broker: int, end: int, moments: Sequence[Moment]) -> str | None:
    """The last thing by which the log was still as long."""
    reaching = [m for m in moments if m.broker == broker and m.kind in _ENDS and (_reached(m) or 0) >= end]
    return f"{_ENDS[reaching[-1].kind]} {_reached(reaching[-1])}, in epoch {reaching[-1].term}," if reaching else None


_ENDS = {
    "fetched": "it asked for offset",
    "leader-starts": "it led with a log up to",
    "follower-starts": "it followed with a log up to",
    "log-loaded": "it loaded its log up to",
}


def _reached(moment: Moment) -> int | None:
    return moment.offset if moment.kind == "fetched" else own_log_end(moment)


def _first_word(offset: int, held: EpochRun | None) -> str:
    if held is None:
        return "it was copied"
    return f"it held epoch {held.epoch}'s records from {max(offset, held.start_offset)} on"


def _run_at(replica: Replica, offset: int) -> EpochRun | None:
    return next((run for run in replica.log.epochs if run.start_offset <= offset < run.end_offset), None)


def _jumps(replicas: Iterable[Replica]) -> Iterator[InferredCut]:
    """Where a new epoch begins a producer's records at a sequence ahead of the one that was due, each once.

    No leader that knows the producer takes such a batch, and none leaves out a sequence: between the two stood records
    that the leader of the new epoch never had. A log with holes, or a cleaned one, shows no such thing.
    """
    seen: set[tuple[int, int, int]] = set()
    for replica in replicas:
        for run in replica.log.producers:
            cut = _jump(replica, run)
            if cut is not None and (run.producer_id, run.producer_epoch, cut.offset) not in seen:
                seen.add((run.producer_id, run.producer_epoch, cut.offset))
                yield cut


def _jump(replica: Replica, run: ProducerRun) -> InferredCut | None:
    step = run.step or _entrance(replica, run)
    if step is None or step.found <= step.expected or step.epoch_after <= step.epoch_before or replica.cleaned:
        return None
    new = _run_at(replica, step.offset)
    since = 0 if step.expected == 0 else run.first_offset
    if new is None or not replica.holds(since, step.offset + 1):
        return None
    missed = step.found - step.expected
    return InferredCut(
        broker=None,
        offset=new.start_offset,
        log_end_offset=new.start_offset + missed,
        epoch=step.epoch_before,
        next_epoch=step.epoch_after,
        regrown=True,
        proof="a sequence jump",
        left="the batch whose sequence is ahead",
        span=step.span,
        because=f"producer {run.producer_id} of epoch {run.producer_epoch} goes on with sequence {step.found} at offset"
        f" {step.offset}, where sequence {step.expected} was due",
        after=f"epoch {step.epoch_before} had written {missed} more of its records",
        before=f"epoch {step.epoch_after} began at {new.start_offset}",
    )


def _entrance(replica: Replica, run: ProducerRun) -> SequenceStep | None:
    """The first batch of a producer that a later epoch than the log's first took: nothing was due but sequence 0.

    Of a log whose beginning was deleted, or that begins with the batch, the records before may have been deleted too.
    """
    before = _run_at(replica, 0)
    if before is None or replica.log_start_offset > 0 or run.first_sequence == 0 or run.first_epoch <= before.epoch:
        return None
    return SequenceStep(
        expected=0,
        found=run.first_sequence,
        offset=run.first_offset,
        epoch_before=max(
            r.epoch for r in replica.log.epochs if r.start_offset < run.first_offset and r.epoch < run.first_epoch
        ),
        epoch_after=run.first_epoch,
        span=run.first,
    )
