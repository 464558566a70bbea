"""What a broker's start removes: copies that wait for their deletion, with records that no log has any more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rules.advice.cuts import stretch_of
from rules.advice.lacking import copy_of, perhaps_words
from rules.advice.weighed import DELETE, Gate, Stretch, named
from rules.chronicle.extents import Extents
from rules.evidence import PartitionEvidence, Replica
from rules.loss.incurred import Loss
from rules.loss.survivors import FADING, CopyKind, Survivor
from rules.protocol.offsets import without
from rules.replicas.inferred import may_be_cut
from rules.replicas.led_last import stop_told

DELETED_AFTER_MS: Final = 60_000
"""How long a broker that runs keeps a file that it put aside, as it is set up by default."""
WAITING: Final = ("deleted", "stray")
"""States of folders that are a broker's log no more."""


class LastCopy(Struct, frozen=True):
    """Records that no log has any more, in what was put aside."""

    kind: CopyKind
    path: str
    stretch: Stretch


def removes_lost(broker: int, losses: Sequence[Loss]) -> Gate | None:
    """A start that removes copies of records that a bill names."""
    copies = [copy for copy in _billed(losses) if copy.broker == broker and copy.kind in FADING]
    if not copies:
        return None
    noun = _noun(copies[0].kind)
    paths = dict.fromkeys(copy.path for copy in copies)
    what = f"removes copies of lost records: {named(copies)}. They are in {_aside(noun, len(paths))}."
    return Gate(action=f"restart broker {broker}", going="no-go", because=what, first=copy_of(broker, paths, noun))


def removed_beside(
    replicas: Sequence[Replica], losses: Sequence[Loss], evidence: PartitionEvidence
) -> Iterator[Gate]:
    """Starts of brokers that have no replica any more: the folder that waits for its deletion is all they have."""
    own = {replica.broker for replica in replicas}
    brokers = {log.broker for log in evidence.own_logs if log.state in WAITING} | {c.broker for c in _billed(losses)}
    for broker in sorted(brokers - own):
        gate = removes_lost(broker, losses) or removes_unbilled(broker, evidence)
        yield from () if gate is None else (gate,)


def deletions(losses: Sequence[Loss], evidence: PartitionEvidence) -> Iterator[Gate]:
    """Stray folders that nothing removes but people, as long as no log holds what somebody may miss of them."""
    last: dict[str, list[Survivor]] = {}
    for loss in (loss for loss in losses if loss.matters and not loss.restored):
        kept = Extents.of((copy.start_offset, copy.end_offset) for copy in loss.survivors if copy.kind == "replica")
        for copy in loss.survivors:
            if copy.kind == "stray dir" and Extents.of([(copy.start_offset, copy.end_offset)]) - kept:
                last.setdefault(copy.path, []).append(copy)
    for path, own in last.items():
        because = f"destroys lost records that no log here holds: {named(own)}."
        yield Gate(action=f"{DELETE}{path}", going="no-go", because=because, first=copy_of(own[0].broker, [path]))
    for stray in (log for log in evidence.own_logs if log.state == "stray" and log.path not in last):
        if found := [each for each in _perhaps_missed(stray.broker, evidence) if each.path == stray.path]:
            what = perhaps_words([each.stretch for each in found])
            because = f"cannot be judged. It has {what}. No log here has them."
            first = copy_of(stray.broker, [stray.path])
            yield Gate(action=f"{DELETE}{stray.path}", going="unknown", because=because, first=first)


def _billed(losses: Sequence[Loss]) -> Iterator[Survivor]:
    return (copy for loss in losses if loss.matters and not loss.restored for copy in loss.survivors)


def removes_unbilled(broker: int, evidence: PartitionEvidence) -> Gate | None:
    """A start that removes the last copy of records of which it is not known whether anybody was told."""
    found = [each for each in _perhaps_missed(broker, evidence) if each.kind in FADING]
    if not found:
        return None
    paths, what = dict.fromkeys(each.path for each in found), perhaps_words([each.stretch for each in found])
    noun = _noun(found[0].kind)
    because = f"cannot be judged. It removes {_aside(noun, len(paths))}, with {what}. No log here has them."
    return Gate(action=f"restart broker {broker}", going="unknown", because=because, first=copy_of(broker, paths, noun))


def removes_unseen(replica: Replica, losses: Sequence[Loss], evidence: PartitionEvidence) -> Gate | None:
    """A start that may remove files that are not here: a broker that runs deletes what it put aside after a minute."""
    stopped = stop_told(evidence.settings.states(replica.broker))
    ran = _last_word(replica.broker, evidence) if stopped is None else stopped
    if replica.leftovers:
        return None
    for cut in (cut for cut in evidence.chronicle.cuts if cut.broker == replica.broker):
        end, time = cut.log_end_offset or 0, cut.moment.time
        soon = time is not None and time <= ran < time + DELETED_AFTER_MS
        lost = any(loss.for_good and loss.start_offset < end and cut.offset < loss.end_offset for loss in losses)
        bases = (segment.base_offset for log in evidence.own_logs for segment in log.segments)
        if soon and lost and any(cut.offset < base < end for base in bases):
            tells = "It stopped" if stopped is not None else "It may have been killed"
            why = f"{tells} less than a minute after it had cut its log from {end} to {cut.offset}"
            because = f"cannot be judged. {why}. Its start removes what it put aside then, perhaps with lost records."
            first = copy_of(replica.broker, [replica.path])
            return Gate(action=f"restart broker {replica.broker}", going="unknown", because=because, first=first)
    return None


def _last_word(broker: int, evidence: PartitionEvidence) -> int:
    """When a broker that tells of no stop told anything last: it was killed after that, or runs."""
    own = [m.last_time or m.time or 0 for m in evidence.chronicle.told_by(broker)]
    own += [end for _, end in evidence.steady.get(f"broker {broker}", ())]  # of lines about any partition
    states = (state.since or 0 for state in evidence.settings.states(broker))
    return max([evidence.request_log(broker).until, *own, *states])


def _perhaps_missed(broker: int, evidence: PartitionEvidence) -> Iterator[LastCopy]:
    """The last copies of a broker of which somebody was told, or may have been."""
    return (each for each in _last_copies(broker, evidence) if each.stretch.told_of or each.stretch.perhaps_told_of)


def _last_copies(broker: int, evidence: PartitionEvidence) -> Iterator[LastCopy]:
    """In files of its log that were put aside, and in its folders that wait; what was deleted in order is none.

    A log that begins later than its leader's lacks records that nobody has deleted; where nobody is known to lead, the
    one that begins first tells what was.
    """
    lasting = [log for log in evidence.own_logs if log.state == "current"]
    begun = min((log.log_start_offset for log in evidence.leaders_at_the_end or lasting), default=0)
    for log in (log for log in evidence.own_logs if log.broker == broker):
        # Its high watermark is of the log that it has now.
        aside = replace(log, high_watermark=None)
        cut = [(left.source, run) for left in log.leftovers if may_be_cut(log, left) for run in left.epochs]
        aside_too = (run for left in log.leftovers for run in left.epochs)
        whole = [(log.path, run) for run in (*log.log.epochs, *aside_too) if log.state in WAITING]
        for path, run in cut or whole:
            kind: CopyKind = "deleted file" if cut else "deleted dir" if log.state == "deleted" else "stray dir"
            others = (other for held in lasting for other in held.runs_by_epoch.get(run.epoch, ()))
            held = sorted((other.start_offset, other.end_offset) for other in others)
            for low, high in without(run.start_offset if cut else max(begun, run.start_offset), run.end_offset, held):
                yield LastCopy(kind, path, stretch_of(aside, run.epoch, low, high, evidence))


def _noun(kind: CopyKind) -> str:
    return "folder" if kind == "deleted dir" else "file"


def _aside(noun: str, count: int) -> str:
    """What waits for its deletion, by what people see of it in a listing."""
    ending = ".deleted" if noun == "file" else "-delete"
    return f"{f'a {noun}' if count == 1 else f'{count} {noun}s'} set aside for deletion ({ending})"
