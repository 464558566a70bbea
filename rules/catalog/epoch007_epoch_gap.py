"""EPOCH007: leader epochs that left no trace on any replica."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final

from parsers.tables import BatchHeader, EpochEntry
from rules.evidence import PartitionEvidence, Replica
from rules.evidence.absent_segments import unread_files
from rules.finding import Exhibit, Severity, Undecided, Violation, capital
from rules.rule import rule
from rules.words import numbered

TOLD: Final = 100
"""Missing epochs named one by one behind a known one."""
_WHERE_THEY_ARE: Final = (
    "These records are lost, or on a disk that is not in this dump. ACK001 is the rule that judges whether they are lost"
)


@rule(
    id="EPOCH007",
    severity=Severity.INFO,
    needs=(BatchHeader, EpochEntry),
    law="EpochGap",
    message="No replica in this dump has a record or a checkpoint entry of leader {epochs:+epoch}{fate}.",
)
def epoch_gap(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Leader epochs between known ones left no batch and no entry.

    Every leader change raises the epoch, so epochs without records are everyday: a leader that wrote nothing, a
    restart. Only the replicas of one topic id are looked at together, and only what lies above the highest log start.

    Proves
    ------
    Nothing by itself. Where logs or metadata show that such an epoch's leader wrote, those records are gone.

    Undecided when
    --------------
    Neither broker logs, traces nor metadata are at hand to tell whether the missing epochs wrote. A segment or a
    leader-epoch-checkpoint could not be read: it may hold them.

    Upheld
    ------
    broker 1 000111|
    broker 2 000111|

    Violated
    --------
    broker 1 000333|
    broker 2 000333|
    """
    for replicas in evidence.incarnations:
        if not all(replica.end_known and replica.epoch_file.state != "unreadable" for replica in replicas):
            yield Undecided(
                reason=f"it is not known whether an epoch is missing, because not all files could be read: {unread_files(replicas)}",
                missing="a readable copy of each of these files",
                brokers=tuple(replica.broker for replica in replicas),
                blocking=False,
            )
            continue
        yield from _gaps(evidence, tuple(replica for replica in replicas if replica.log.epochs), replicas)


def _fate(evidence: PartitionEvidence, missing: tuple[int, ...], held: int) -> str:
    """What became of their records, as far as answers to producers or their leaders' log ends tell that there were any."""
    brokers: dict[int, int | None] = {}
    for m in evidence.moments:
        opening = evidence.openings.get(-1 if m.term is None else m.term)
        if m.kind != "produced" or m.error != 0 or m.acks == 0 or opening is None or opening.clock != m.clock:
            continue
        if opening.epoch in missing and (m.offset or 0) >= (opening.offset or 0):
            brokers.setdefault(opening.epoch, opening.broker)
    ends = {epoch: evidence.epoch_ends[epoch].offset for epoch in missing if epoch in evidence.epoch_ends}
    if not brokers and max(ends.values(), default=0) > held:
        epoch = max(ends, key=lambda each: ends[each])
        return f". The leader of epoch {epoch} had log end offset {ends[epoch]}. The last records of that log are not in this dump"
    if not brokers:
        return _if_nobody_wrote(missing, evidence.chronicle.led_by_nobody)
    leads = (f"broker {broker} acknowledged records of epoch {epoch}" for epoch, broker in brokers.items())
    quiet = [epoch for epoch in missing if epoch not in brokers and ends.get(epoch, 0) <= held]
    rest = f". Nothing here tells of records of {numbered('epoch', quiet)}" if quiet else ""
    return f". {capital(' and '.join(leads))}. {_WHERE_THEY_ARE}{rest}"


def _if_nobody_wrote(missing: Sequence[int], leaderless: Collection[int]) -> str:
    """In an epoch without a leader nothing is written; of others it is to be supposed."""
    unled, led = [e for e in missing if e in leaderless], [e for e in missing if e not in leaderless]
    nobody = f"nobody led in {numbered('epoch', unled)}, as the controllers tell"
    if not led:
        return f". That is harmless: {nobody}"
    supposed = ". That is harmless if no record was written then"
    return f"{supposed}. {capital(nobody)}" if unled else supposed


def _gaps(
    evidence: PartitionEvidence, holding: tuple[Replica, ...], replicas: tuple[Replica, ...]
) -> Iterator[Violation]:
    low = max((replica.log_start_offset for replica in holding), default=0)
    runs = [run for r in holding for run in r.log.epochs if run.epoch >= 0 and run.end_offset > low]
    runs.sort(key=lambda run: (run.epoch, run.first.source, run.first.start))
    known = {run.epoch for replica in holding for run in replica.log.epochs}
    known |= {entry.epoch for replica in replicas for entry in replica.epoch_file.entries}
    for before, behind in pairwise(runs):
        missing = tuple(e for e in range(before.epoch + 1, min(behind.epoch, before.epoch + TOLD)) if e not in known)
        if missing:
            yield Violation(
                brokers=tuple(sorted({replica.broker for replica in holding})),
                start_offset=before.end_offset,
                end_offset=max(before.end_offset, behind.start_offset),
                facts={"epochs": missing, "fate": _fate(evidence, missing, before.end_offset)},
                exhibits=(
                    Exhibit(span=before.last, role="the last batch of the epoch before"),
                    Exhibit(span=behind.first, role="the first batch of the epoch behind"),
                ),
            )
