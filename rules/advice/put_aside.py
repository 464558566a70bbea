"""What a broker's start removes: copies that wait for their deletion, with records that no log has any more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from rules.advice.cuts import stretch_of
from rules.advice.lacking import named, perhaps_words
from rules.advice.weighed import DELETE, Gate, Stretch
from rules.chronicle.extents import Extents
from rules.evidence import PartitionEvidence, Replica
from rules.loss.incurred import Loss
from rules.loss.survivors import FADING, Survivor
from rules.protocol.offsets import without
from rules.replicas.inferred import may_be_cut
from rules.replicas.led_last import stop_told
from rules.replicas.replica import Leftover

DELETED_AFTER_MS: Final = 60_000
"""How long a broker that runs keeps a file that it put aside, as it is set up by default."""
Found = tuple[Leftover, Stretch]
"""A file that was put aside, and records of it."""


def removes_lost(broker: int, losses: Sequence[Loss]) -> Gate | None:
    """A start that removes copies of records that a bill names."""
    copies = [copy for copy in _billed(losses) if copy.broker == broker and copy.kind in FADING]
    if not copies:
        return None
    paths = dict.fromkeys(copy.path for copy in copies)
    what = f"removes {_counted(copies[0].kind, len(paths))} with lost records: {named(copies)}."
    return Gate(action=f"restart broker {broker}", going="no-go", because=what, first=_copy(paths))


def removed_beside(replicas: Sequence[Replica], losses: Sequence[Loss]) -> Iterator[Gate]:
    """The same of brokers that have no replica any more: the folder that waits for its deletion is all they have."""
    own = {replica.broker for replica in replicas}
    for broker in sorted({copy.broker for copy in _billed(losses)} - own):
        gate = removes_lost(broker, losses)
        yield from () if gate is None else (gate,)


def deletions(losses: Sequence[Loss]) -> Iterator[Gate]:
    """Stray folders that nothing removes but people, as long as no log holds their lost records."""
    lost = [loss for loss in losses if loss.matters and not loss.restored]
    strays = [copy for copy in _billed(lost) if copy.kind == "stray dir"]
    kept = Extents.of((copy.start_offset, copy.end_offset) for copy in _billed(lost) if copy.kind == "replica")
    for path in dict.fromkeys(copy.path for copy in strays):
        last = [c for c in strays if c.path == path and Extents.of([(c.start_offset, c.end_offset)]) - kept]
        if last:
            because = f"destroys lost records that no log here holds: {named(last)}."
            yield Gate(action=f"{DELETE}{path}", going="no-go", because=because, first=_copy((path,)))


def _billed(losses: Sequence[Loss]) -> Iterator[Survivor]:
    return (copy for loss in losses if loss.matters and not loss.restored for copy in loss.survivors)


def removes_unbilled(replica: Replica, evidence: PartitionEvidence) -> Gate | None:
    """A start that removes the last copy of records of which it is not known whether anybody was told."""
    found = [each for each in _last_copies(replica, evidence) if each[1].told_of or each[1].perhaps_told_of]
    if not found:
        return None
    paths, what = dict.fromkeys(left.source for left, _ in found), perhaps_words([part for _, part in found])
    files = _counted("deleted file", len(paths))
    because = f"cannot be judged. It removes {files} with {what}. No log here has them."
    return Gate(action=f"restart broker {replica.broker}", going="unknown", because=because, first=_copy(paths))


def removes_unseen(replica: Replica, losses: Sequence[Loss], evidence: PartitionEvidence) -> Gate | None:
    """A start that may remove files that are not here: a broker that runs deletes what it put aside after a minute."""
    stopped = stop_told(evidence.settings.states(replica.broker))
    if stopped is None or replica.leftovers:
        return None
    for cut in (cut for cut in evidence.chronicle.cuts if cut.broker == replica.broker):
        end, time = cut.log_end_offset or 0, cut.moment.time
        soon = time is not None and time <= stopped < time + DELETED_AFTER_MS
        lost = any(loss.for_good and loss.start_offset < end and cut.offset < loss.end_offset for loss in losses)
        bases = (segment.base_offset for log in evidence.own_logs for segment in log.segments)
        if soon and lost and any(cut.offset < base < end for base in bases):
            why = f"It stopped less than a minute after it had cut its log from {end} to {cut.offset}"
            because = f"cannot be judged. {why}. Its start removes what it put aside then, perhaps with lost records."
            first = _copy((replica.path,))
            return Gate(action=f"restart broker {replica.broker}", going="unknown", because=because, first=first)
    return None


def _last_copies(replica: Replica, evidence: PartitionEvidence) -> Iterator[Found]:
    # Its high watermark is of the log that it has now.
    aside = replace(replica, high_watermark=None)
    for left in (left for left in replica.leftovers if may_be_cut(replica, left)):
        for run in left.epochs:
            others = (other for log in evidence.own_logs for other in log.runs_by_epoch.get(run.epoch, ()))
            held = sorted((other.start_offset, other.end_offset) for other in others)
            for low, high in without(run.start_offset, run.end_offset, held):
                yield left, stretch_of(aside, run.epoch, low, high, evidence)


def _counted(kind: str, count: int) -> str:
    return f"a {kind}" if count == 1 else f"{count} {kind}s"


def _copy(paths: Iterable[str]) -> str:
    return f"copy {', '.join(paths)}"
