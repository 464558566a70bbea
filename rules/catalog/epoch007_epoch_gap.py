"""EPOCH007: leader epochs that left no trace on any replica."""

from __future__ import annotations

from collections.abc import Iterator

from itertools import pairwise

from parsers.tables import BatchHeader, EpochEntry
from rules.evidence import PartitionEvidence
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="EPOCH007",
    severity=Severity.INFO,
    needs=(BatchHeader, EpochEntry),
    law="EpochGap",
    message="epochs {epochs} left no trace on any replica: harmless if their leaders wrote nothing",
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
    Neither broker logs, traces nor metadata are at hand to tell whether the missing epochs wrote.

    Upheld
    ------
    broker 1 000111|
    broker 2 000111|

    Violated
    --------
    broker 1 000333|
    broker 2 000333|
    """
    replicas = [replica for replica in evidence.current if replica.log.epochs]
    runs = sorted(
        ((run.epoch, run) for replica in replicas for run in replica.log.epochs if run.epoch >= 0),
        key=lambda pair: (pair[0], pair[1].first.source, pair[1].first.start),
    )
    known = {epoch for epoch, _ in runs} | {e.epoch for r in evidence.current for e in r.epoch_file.entries}
    for (low, before), (high, behind) in pairwise(runs):
        missing = tuple(epoch for epoch in range(low + 1, min(high, low + 1000)) if epoch not in known)
        if missing:
            yield Violation(
                brokers=tuple(sorted({replica.broker for replica in replicas})),
                start_offset=before.end_offset,
                end_offset=behind.start_offset if behind.start_offset > before.end_offset else before.end_offset,
                facts={"epochs": missing},
                exhibits=(
                    Exhibit(span=before.last, role="the last batch of the epoch before"),
                    Exhibit(span=behind.first, role="the first batch of the epoch behind"),
                ),
            )
