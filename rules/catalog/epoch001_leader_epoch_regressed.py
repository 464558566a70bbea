"""EPOCH001: leader epochs fall along a log."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader
from rules.evidence import PartitionEvidence, epoch_falls
from rules.finding import Bearing, Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="EPOCH001",
    severity=Severity.CRITICAL,
    needs=(BatchHeader,),
    law="MonotonicEpoch",
    message="In broker {broker}'s log, records of epoch {epoch} follow records of epoch {higher_epoch}, from offset "
    "{start_offset} on. In a sound log leader epochs never fall.",
    implied_by=("SEG006",),
    bearing=Bearing(
        calls_for="Copy this log before anything is changed. If the epochs of another replica never fall, keep this broker"
        " from leading: it can tell followers a wrong end of an epoch."
    ),
)
def leader_epoch_regressed(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Leader epochs fall along a log.

    Proves
    ------
    A deposed leader appended to this log, files of two histories were mixed, or epochs began again. They do so where
    ZooKeeper was put back to an older state. Then rules that order statements by epoch are undecided. Every answer
    about where an epoch ends that is computed from such a log is wrong, and so is every truncation that follows
    from it.

    Undecided when
    --------------
    The batches are of a format without epochs.

    Upheld
    ------
    broker 1 00112|
    broker 2 00112|

    Violated
    --------
    broker 1 00211|
    broker 2 00211|
    """
    for replica in evidence.current:
        for before, behind in epoch_falls(replica):
            yield Violation(
                brokers=(replica.broker,),
                start_offset=behind.start_offset,
                end_offset=behind.end_offset,
                facts={"broker": replica.broker, "epoch": behind.epoch, "higher_epoch": before.epoch},
                exhibits=(
                    Exhibit(span=before.last, role="the last batch of the higher epoch"),
                    Exhibit(span=behind.first, role="the first batch of the lower epoch behind it"),
                ),
            )
