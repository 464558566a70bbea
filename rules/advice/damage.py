"""What is known or feared to be wrong with a replica's log, by which it should not lead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rules.evidence import PartitionEvidence, Replica
from rules.evidence.lacked_markers import lacked_markers, transactional_pairs
from rules.evidence.lost_ends import lost_ends
from rules.evidence.starts import known_starts, why_without_entry
from rules.facts.stretch import UNOPENED
from rules.finding import offsets_told
from rules.loss.held_by_none import held_by_none
from rules.loss.written_up_to import reach_untold
from rules.protocol.offsets import without
from rules.replicas.claims import UNREAD_EPOCHS
from rules.words import listed, numbered

MARKERS_NAMED: Final = 3
NOT_WHOLE: Final = "its log is not here whole"
"""What is not seen of a log is no damage of it."""
UNTOLD: Final = "no replication-offset-checkpoint here tells which records it knew as committed"


def damage(replica: Replica, evidence: PartitionEvidence) -> Iterator[str]:
    """What is known or likely, in words."""
    yield from _own(replica, evidence)
    yield from _missing(replica, evidence)
    yield from _wrong_keys(replica, evidence)
    yield from _wrong_markers(replica, evidence)
    yield from _never_ended(replica, evidence)


def doubts(replica: Replica, evidence: PartitionEvidence) -> Iterator[str]:
    """What no evidence decides: of keys that some kept and others did not, either side may be wrong."""
    if perhaps := [epoch for epoch, sure in _epochs_forgotten(replica, evidence) if not sure]:
        yield f"its leader-epoch-checkpoint may have lost {_epochs(perhaps)}, unless its log began later once"
    yield from _perhaps_lost_below(replica, evidence)
    if reach_untold(evidence, replica):
        yield f"its log may have lost its end in a crash: {UNTOLD}"
    for gap in evidence.keys_apart:
        if gap.outlived and gap.confidence == "possible":
            if replica.broker in gap.holders:
                yield f"it may serve {gap.words} that {'was' if gap.keys == 1 else 'were'} deleted"
            if replica.broker in gap.lacking:
                yield f"it may lack the last record of {gap.words}, which {numbered('broker', gap.holders)} kept"


def _perhaps_lost_below(replica: Replica, evidence: PartitionEvidence) -> Iterator[str]:
    """What stands elsewhere below its log start, where no epoch file and nobody's word shows that it was deleted.

    A leader hands its log start on, so its followers would delete that too.
    """
    start, known = replica.log_start_offset, [*known_starts(replica, evidence)]
    if replica.loaded_chain or known or evidence.deleted.highest >= start:
        return
    below = [r for r in evidence.followers_of(replica) if r.holds(r.log_start_offset, min(start, r.log_end_offset))]
    if below:
        lowest, last = min(r.log_start_offset for r in below), max(min(start, r.log_end_offset) for r in below)
        others = f"but {numbered('broker', [r.broker for r in below], 'holds')} {offsets_told(lowest, last)}"
        yield f"its log begins at offset {start}, {others}. No file here tells whether retention removed those"


def _never_ended(replica: Replica, evidence: PartitionEvidence) -> Iterator[str]:
    for end in lost_ends(evidence):
        if end.broker == replica.broker and end.proved:
            yield f"it lacks the end of a transaction: consumers with read_committed stop at {end.begun.offset}"


def _missing(replica: Replica, evidence: PartitionEvidence) -> Iterator[str]:
    """Offsets that its log lacks, but for those that no copy here holds and that may only not have been copied."""
    log = replica.log
    if evidence.compacted or not log.gap_count:
        return
    doubted = [(found.start_offset, found.end_offset) for found in held_by_none(evidence) if found.doubt]
    holes = [(step.expected, step.found) for step in log.gaps]
    open_ones = sum(end - start for start, end in holes) - sum(
        high - low for start, end in holes for low, high in without(start, end, doubted)
    )
    if log.gap_offsets > open_ones:
        yield _count(log.gap_offsets - open_ones, "offset is missing", "offsets are missing")


def _own(replica: Replica, evidence: PartitionEvidence) -> Iterator[str]:
    log = replica.log
    yield from _epoch_damage(replica, evidence)
    if log.checksum_fault_count:
        yield _count(log.checksum_fault_count, "batch fails its checksum", "batches fail their checksum")
    if replica.unopened:
        names = listed([*dict.fromkeys(unread.span.source for unread in replica.unopened)])
        yield f"{NOT_WHOLE} ({names} missing)"
    holes = sum(unread.kind not in ("zero_tail", "torn_tail", *UNOPENED) for unread in log.unread)
    if holes:
        yield _count(holes, "stretch of its log cannot be read", "stretches of its log cannot be read")
    if log.header_fault_count:
        yield _count(log.header_fault_count, "batch header contradicts itself", "batch headers contradict themselves")
    if replica.strays:
        yield _count(len(replica.strays), "batch header is not believed", "batch headers are not believed")
    if log.overlap_count:
        yield f"offsets overlap in {_count(log.overlap_count, 'place', 'places')}"
    if log.undecodable_count:
        yield _count(log.undecodable_count, "batch cannot be decoded", "batches cannot be decoded")


def _wrong_keys(replica: Replica, evidence: PartitionEvidence) -> Iterator[str]:
    """Keys of which readers would get an older value, none, or one that was deleted."""
    for gap in evidence.keys_apart:
        if replica.broker in gap.lacking and gap.remains in ("stale", "gone"):
            yield f"it lacks the last record of {gap.words}, which {numbered('broker', gap.holders)} kept"
        if replica.broker in gap.holders and gap.outlived and gap.confidence != "possible":
            probably = "" if gap.confidence == "certain" else "probably "
            yield f"it {probably}serves {gap.words} that {'was' if gap.keys == 1 else 'were'} deleted"


def _wrong_markers(replica: Replica, evidence: PartitionEvidence) -> Iterator[str]:
    """Transactions that readers would get decided otherwise, or not at all."""
    lacked = {
        (missing.producer_id, missing.marker_offset): missing
        for pair in transactional_pairs(evidence) if replica in pair and evidence.level != "quick"
        for missing in lacked_markers(evidence, *pair) if missing.lacking == replica.broker
    }  # fmt: skip
    for missing in [*lacked.values()][:MARKERS_NAMED]:
        where = f"producer {missing.producer_id}'s marker at offset {missing.marker_offset}"
        yield f"it lacks {where}, so that {missing.costs}"
    if len(lacked) > MARKERS_NAMED:
        yield _count(len(lacked) - MARKERS_NAMED, "more marker is missing", "more markers are missing")


def _epoch_damage(replica: Replica, evidence: PartitionEvidence) -> Iterator[str]:
    unknown = [epoch for epoch, sure in _epochs_forgotten(replica, evidence) if sure]
    if unknown:
        yield f"its leader-epoch-checkpoint lacks {_epochs(unknown)}, so it answers followers wrongly"
    if replica.epoch_file.state in UNREAD_EPOCHS:
        yield "its leader-epoch-checkpoint cannot be read, so it may not start, or answers followers wrongly"


def _epochs_forgotten(replica: Replica, evidence: PartitionEvidence) -> Iterator[tuple[int, bool]]:
    """Epochs of its records that its broker does not know after its next start, and whether its file surely lost them.

    Nothing is told of a copy without its file.
    """
    if replica.epoch_file.state not in ("entries", "empty"):
        return
    known = {entry.epoch for entry in replica.loaded_chain}
    # Of a broker that ran the file may be newer than the log start on disk.
    oldest = replica.file_chain[0].epoch if replica.file_chain and replica.clean_shutdown is None else -1
    for entry in replica.log_chain:
        if entry.epoch not in known:
            runs = replica.runs_by_epoch.get(entry.epoch, ())
            explained = any(why_without_entry(replica, run, evidence) for run in runs)
            yield entry.epoch, entry.epoch > oldest and not explained


def _epochs(epochs: Sequence[int]) -> str:
    return numbered("epoch", epochs)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
