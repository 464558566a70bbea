"""EPOCH002: the leader-epoch-checkpoint gives an offset to another epoch than its batch carries."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, EpochEntry
from rules.evidence import EpochClaim, EpochRun, PartitionEvidence, Replica
from rules.finding import COPY_AGAIN, Bearing, Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="EPOCH002",
    severity=Severity.HIGH,
    needs=(BatchHeader, EpochEntry),
    law="CacheAgreesWithLog",
    message="In broker {broker}'s leader-epoch-checkpoint epoch {claimed_epoch} begins at offset {claimed_start}, but "
    "broker {broker}'s log {contradiction}. If broker {broker} leads, it can tell followers a wrong end of an epoch.",
    implied_by=("EPOCH001", "SEG006"),
    bearing=Bearing(calls_for=f"Keep this broker from leading: it misleads followers. {COPY_AGAIN}"),
)
def checkpoint_contradicts_log(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """The checkpoint gives an offset to another epoch than its batch carries.

    It lets an epoch begin before batches of an older one, or after the epoch's own first record. Then an older
    epoch gets what is not its own. An entry without any batch is lawful: a leader that wrote nothing. Batches
    wholly below the log start offset need no entry. Epochs of which the file says nothing are told by EPOCH003.

    Proves
    ------
    Followers that ask this replica where an epoch ended are told a wrong offset, and cut too much or too little.

    Undecided when
    --------------
    The file is malformed (EPOCH004), or the log is of a format without epochs. Without a clean shutdown the file may
    be newer than the log, by a truncation that the log does not show yet. That is reported with low severity.

    Upheld
    ------
    broker 1 000111|1 ; epochs 0@0 1@3 2@7
    broker 2 000111|1

    Violated
    --------
    broker 1 000111|1 ; epochs 0@0 1@2
    broker 2 000111|1
    """
    for replica in evidence.current:
        if replica.epoch_file.state != "entries":
            continue
        for run in replica.log.epochs:
            early, late = _early(replica, run), _late(replica, run)
            first = max(run.start_offset, replica.log_start_offset)
            if early is not None:
                said = f"goes on in epoch {run.epoch} up to offset {run.end_offset - 1}"
                yield _violation(replica, run, early, max(first, early.start_offset), run.end_offset, said)
            if late is not None:
                said = f"has records of that epoch from offset {first} on"
                yield _violation(replica, run, late, first, min(late.start_offset, run.end_offset), said)


def _violation(replica: Replica, run: EpochRun, claim: EpochClaim, start: int, end: int, said: str) -> Violation:
    newer = replica.clean_shutdown is None and claim.epoch > replica.last_epoch
    return Violation(
        brokers=(replica.broker,),
        start_offset=start,
        end_offset=end,
        severity=Severity.LOW if newer else Severity.HIGH,
        confidence="possible" if newer else "certain",
        facts={
            "broker": replica.broker,
            "epoch": run.epoch,
            "claimed_epoch": claim.epoch,
            "claimed_start": claim.start_offset,
            "contradiction": said,
        },
        exhibits=(
            Exhibit(span=claim.span, role="the entry"),
            Exhibit(span=run.first, role="the first batch of the epoch that the log shows"),
        ),
    )


def _early(replica: Replica, run: EpochRun) -> EpochClaim | None:
    """The first entry of a newer epoch that begins before the end of this run."""
    if run.epoch < 0 or run.end_offset <= replica.log_start_offset:
        return None
    newer = (entry for entry in replica.epoch_file.entries if entry.epoch > run.epoch)
    return next((entry for entry in newer if max(entry.start_offset, replica.log_start_offset) < run.end_offset), None)


def _late(replica: Replica, run: EpochRun) -> EpochClaim | None:
    """The entry of this run's epoch, where it leaves the run's first served offset to an older epoch's entry."""
    if run.epoch < 0 or run.end_offset <= replica.log_start_offset:
        return None
    first = max(run.start_offset, replica.log_start_offset)
    covering = [entry.epoch for entry in replica.epoch_file.entries if entry.start_offset <= first]
    if not covering or max(covering) >= run.epoch:
        return None
    return next((entry for entry in replica.epoch_file.entries if entry.epoch == run.epoch), None)
