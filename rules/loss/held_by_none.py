"""Records that somebody was told are written and that stand readable in no replica here: lost, or open why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from rules.chronicle.extents import Extents
from rules.evidence import CRASHED, METADATA_TOPIC, PartitionEvidence, Replica
from rules.evidence.asked_once import asked_once
from rules.evidence.shortened import stopped_by_its_log
from rules.facts.stretch import UNOPENED
from rules.loss.left_out import left_out
from rules.loss.lost_stretch import LeftOut
from rules.loss.readable import Ranges, readable, whole_copies
from rules.loss.written_up_to import UNCOMMITTED, Word, as_it_stopped, words
from rules.protocol.offsets import UNDEFINED_EPOCH
from rules.replicas.unread_copies import owners
from rules.words import numbered


class HeldByNone(Struct, frozen=True, kw_only=True):
    """A stretch of offsets that no replica here holds readable."""

    start_offset: int
    end_offset: int
    committed_end: int
    """Offsets from the start up to here were certainly committed."""
    claims: tuple[Word, ...]
    """Who tells that there were records, the surest and furthest first."""
    doubt: str
    """What else may explain it; empty where the records are lost."""
    missing: str
    """What would tell; empty where the records are lost."""
    copied_live: bool = False
    """Whether they lie behind the ends of logs that were copied while brokers ran, by somebody's word."""

    @property
    def sure(self) -> bool:
        """Whether the records are lost."""
        return not self.doubt

    @property
    def because(self) -> str:
        """What tells that there were records, in words."""
        return self.claims[0].because if self.claims else "batches behind them stand in the logs"


def held_by_none(evidence: PartitionEvidence) -> tuple[HeldByNone, ...]:
    """Every stretch, in order; what a later leader left out is told by its epoch, and not here."""
    return tuple(found for found in _missing(evidence) if not found.copied_live)


def ends_of_a_live_copy(evidence: PartitionEvidence) -> tuple[HeldByNone, ...]:
    """What logs lack at their ends because the files were copied while brokers ran, by somebody's word."""
    return tuple(found for found in _missing(evidence) if found.copied_live)


@asked_once
def _missing(evidence: PartitionEvidence) -> tuple[HeldByNone, ...]:
    if evidence.topic == METADATA_TOPIC or not evidence.current:
        return ()
    logs = own_logs(evidence)
    by_path = _readable(evidence)
    held = Extents.of(part for replica in logs for part in by_path[replica.path])
    begun = _begun(evidence)
    end = max([end for _, end in held.parts], default=begun)
    claims = sorted(words(evidence), key=lambda word: (not word.sure, word.worth != "committed", -word.end_offset))
    furthest = max([end, *(word.end_offset for word in claims)])
    missing = Extents.of([(begun, furthest)]) - held
    if missing:
        missing -= Extents.of((max(part.start, _written_since(part, claims)), part.end) for part in left_out(evidence))
    return tuple(found for low, high in missing.parts for found in _judged(evidence, (low, high), end, claims))


def _written_since(part: LeftOut, claims: Sequence[Word]) -> int:
    """How far the epochs after a loss surely wrote: what they wrote at its offsets are other records.

    Of an epoch that was opened once more a word may be of what it lost.
    """
    newer = part.next_epoch + (part.reopening is not None)
    sure = (word.end_offset for word in claims if word.sure and word.epoch >= newer)
    return min(part.end, max(sure, default=0))


def own_logs(evidence: PartitionEvidence) -> list[Replica]:
    """The logs in use, but for those of another topic."""
    return [replica for replica in evidence.own_logs if replica.state == "current"]


def whole_beside(evidence: PartitionEvidence, replica: Replica, missed: tuple[int, int]) -> tuple[int, ...]:
    """Brokers with a whole copy, from which a replica that misses something may be made anew."""
    return tuple(whole_copies(replica, own_logs(evidence), missed, _readable(evidence)))


@asked_once
def _readable(evidence: PartitionEvidence) -> Mapping[str, Ranges]:
    """By their paths what every log holds readable."""
    return {replica.path: readable(replica, compacted=evidence.compacted) for replica in evidence.current}


def _begun(evidence: PartitionEvidence) -> int:
    """Where every log begins at least: what retention or a client deleted below is nothing that went."""
    epoch, leader = evidence.chronicle.last_leader
    below = evidence.deleted.below(leader, epoch)
    return max([below, *(replica.log_start_offset for replica in own_logs(evidence))])


def _judged(
    evidence: PartitionEvidence, stretch: tuple[int, int], end: int, claims: Sequence[Word]
) -> Iterator[HeldByNone]:
    """What is certain of the stretch, and what is not."""
    start, last = stretch
    inside = last <= end
    committed = max([start, _held_by_all(evidence, claims), *_ends(claims, "committed")])
    known = min(last, max([committed, *_ends(claims, "acknowledged")]))
    if all(replica.unseen(*stretch) for replica in own_logs(evidence)):
        return  # no copy has the files: the question is what they hold
    by_word = evidence.copied == "live" and not inside
    doubt, missing = _of_another_moment(evidence) if by_word else _doubt(evidence, stretch, inside=inside)
    for low, high, certain in ((start, known, not doubt), (known, last, False)):
        if low >= high:
            continue
        own = tuple(word for word in claims if word.end_offset > low)
        yield HeldByNone(
            start_offset=low,
            end_offset=high,
            committed_end=min(high, max(low, committed)),
            claims=own,
            doubt="" if certain else doubt or next((word.doubt for word in own if not word.sure), UNCOMMITTED),
            missing="" if certain else missing or "a log that tells how far records were committed",
            copied_live=doubt == COPIED_LIVE,
        )


def _ends(claims: Sequence[Word], worth: str) -> Iterator[int]:
    return (word.end_offset for word in claims if word.sure and word.worth == worth)


def _held_by_all(evidence: PartitionEvidence, claims: Sequence[Word]) -> int:
    """How far every assigned replica had reached: what all of them had written is committed."""
    reached = {replica.broker: replica.log.end_offset or 0 for replica in own_logs(evidence)}
    for word in claims:
        if word.sure and word.broker in reached:
            reached[word.broker] = max(reached[word.broker], word.end_offset)
    return min((reached.get(broker, 0) for broker in evidence.assignment), default=0)


COPIED_LIVE: Final = "the files were copied while brokers ran, as --copied live says"
UNCOPIED: Final = (
    "files may not have been copied, or it was compacted",
    "the files of these offsets, or a record that the topic was compacted once",
)


def _doubt(evidence: PartitionEvidence, stretch: tuple[int, int], *, inside: bool) -> tuple[str, str]:
    """What else may explain that nobody holds them, and what would tell; empty where nothing can."""
    here = {replica.broker for replica in own_logs(evidence)}
    away = sorted(set(evidence.assignment or evidence.chronicle.taking_part) - here)
    unread = owners(evidence.unread_copies, evidence.assignment, [*here])
    if away or unread or evidence.unread_copies:
        whose = numbered("broker", sorted({*away, *unread})) if away or unread else "a broker that nothing names"
        return f"{whose} may hold them, whose copy was not read", f"the disk of {whose}"
    absent = [replica for replica in own_logs(evidence) if replica.unseen(*stretch)]
    if absent:
        names = ", ".join(dict.fromkeys(u.span.source for replica in absent for u in replica.unopened))
        return "files may only not have been copied", names
    if not evidence.assignment:
        return "nothing tells whether another broker has a replica", "metadata, or an output of kafka-topics --describe"
    if not inside:
        return _of_another_moment(evidence)
    return ("", "") if _once_there(evidence, stretch) else UNCOPIED


def _of_another_moment(evidence: PartitionEvidence) -> tuple[str, str]:
    """Whether log ends may lie further, as brokers ran while files were copied: by word, or for all one knows."""
    logs = own_logs(evidence)
    running = [r.broker for r in logs if not as_it_stopped(evidence, r) and r.may_be_live]
    if evidence.copied in CRASHED or not running:
        return "", ""
    word = "the option --copied stopped" if evidence.copied else "the option --copied live, stopped or crashed"
    if all(stopped_by_its_log(evidence, replica) for replica in logs):
        stopped = f"{numbered('broker', running)} shut down cleanly, as server.log tells"
        return f"{stopped}, and no .kafka_cleanshutdown tells that the files were copied after that", word
    if evidence.copied:
        return COPIED_LIVE, "a copy of stopped brokers"
    return f"{numbered('broker', running)} may have run while the files were copied", word


def _once_there(evidence: PartitionEvidence, stretch: tuple[int, int]) -> bool:
    """Whether something in place of the records shows that they were there: bytes, or an index that leads to them."""
    start, end = stretch
    for replica in own_logs(evidence):
        log = replica.log
        there = [(u.expected_offset or 0, u.next_offset or 0) for u in log.unread if u.kind not in UNOPENED]
        there += [(fault.base_offset, fault.end_offset) for fault in log.checksum_faults]
        named = (fault.offset for fault in replica.indexes.of_kind("offset") if fault.flaw == "beyond the log")
        there += [(offset, offset + 1) for offset in named if offset is not None and not evidence.compacted]
        if any(low < end and start < high for low, high in there):
            return True
    return False


def as_left_out(evidence: PartitionEvidence, found: HeldByNone) -> Iterator[LeftOut]:
    """A lost stretch for the bill, in the parts of the epochs that wrote it."""
    files = [replica.epoch_file.entries for replica in own_logs(evidence) if replica.epoch_file.entries]
    newest_file = max(files, key=lambda entries: entries[-1].epoch, default=())
    begun = {entry.epoch: entry.start_offset for entry in newest_file}
    begun |= {epoch: opening.offset for epoch, opening in evidence.openings.items() if opening.offset is not None}
    starts = sorted((offset, epoch) for epoch, offset in begun.items())
    newest = max([*begun, *evidence.chronicle.leaders], default=UNDEFINED_EPOCH)
    borders = [offset for offset, _ in starts if found.start_offset < offset < found.end_offset]
    for low, high in zip([found.start_offset, *borders], [*borders, found.end_offset], strict=True):
        epoch = max((e for offset, e in starts if offset <= low), default=UNDEFINED_EPOCH)
        yield LeftOut(
            epoch=epoch,
            leader=evidence.chronicle.leaders.get(epoch),
            next_epoch=newest + 1,
            next_leader=None,
            start=low,
            end=high,
            because=found.because,
            known_end=found.committed_end,
            held_by_none=True,
        )
