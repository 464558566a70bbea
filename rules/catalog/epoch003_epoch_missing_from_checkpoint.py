"""EPOCH003: batches carry an epoch that the leader-epoch-checkpoint does not give them."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, EpochEntry
from rules.evidence import PartitionEvidence, Replica
from rules.facts import EpochRun
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="EPOCH003",
    severity=Severity.HIGH,
    needs=(BatchHeader, EpochEntry),
    law="CacheAgreesWithLog",
    message="broker {broker}'s leader-epoch-checkpoint does not know epoch {epoch} of offsets [{start_offset}, {end_offset});"
    " {signature}",
)
def epoch_missing_from_checkpoint(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Batches of an epoch have no entry in the leader-epoch-checkpoint.

    An entry is flushed before the batch that opens its epoch, so a missing one was lost later: the file was deleted,
    overwritten or left behind by a crash. Kafka does not rebuild it from the log except after an unclean stop, and then
    only what is newer than all that is left.

    Proves
    ------
    This replica cannot tell where the epoch ended; as a follower it falls back to its high watermark, as a leader it
    answers with a wrong epoch.

    Undecided when
    --------------
    The directory is an incomplete copy that brought no small files at all, or the file is malformed (EPOCH004).

    Upheld
    ------
    broker 1 000111|
    broker 2 000111|

    Violated
    --------
    broker 1 000111| ; epochs 1@5
    broker 2 000111|
    """
    for replica in evidence.current:
        missing = [run for run in replica.log.epochs if _lacks(replica, run)]
        if not missing or replica.epoch_file.state == "malformed":
            continue
        if replica.epoch_file.state == "missing" and not replica.snapshot_offsets and replica.topic_id is None:
            yield Undecided(
                reason=f"broker {replica.broker}'s directory holds segments only",
                missing="its leader-epoch-checkpoint",
                brokers=(replica.broker,),
            )
            continue
        for run in missing:
            yield _violation(evidence, replica, run)


def _lacks(replica: Replica, run: EpochRun) -> bool:
    """Whether the run's first served offset is given to no entry, or to one of an older epoch."""
    if run.epoch < 0 or run.end_offset <= replica.log_start_offset:
        return False
    first = max(run.start_offset, replica.log_start_offset)
    known = [entry.epoch for entry in replica.epoch_file.entries if entry.start_offset <= first]
    return not known or max(known) < run.epoch


def _violation(evidence: PartitionEvidence, replica: Replica, run: EpochRun) -> Violation:
    file = replica.epoch_file
    newest = evidence.copied_live and run is replica.log.epochs[-1]
    role = "the leader-epoch-checkpoint that lacks the epoch"
    return Violation(
        brokers=(replica.broker,),
        start_offset=max(run.start_offset, replica.log_start_offset),
        end_offset=run.end_offset,
        severity=Severity.LOW if newest else Severity.HIGH,
        confidence="possible" if newest else "certain",
        facts={
            "broker": replica.broker,
            "epoch": run.epoch,
            "file": file.state,
            "signature": _signature(replica, run),
            "known_epochs": tuple(entry.epoch for entry in file.entries),
        },
        exhibits=(
            *((Exhibit(span=file.span, role=role),) if file.span else ()),
            Exhibit(span=run.first, role="the first batch of the epoch"),
        ),
    )


def _signature(replica: Replica, run: EpochRun) -> str:
    """The known defect that leaves such a file, where one fits."""
    file = replica.epoch_file
    if file.state != "entries":
        return f"the file is {file.state}"
    if run.epoch == 0 and replica.clean_shutdown is None:
        return "as KAFKA-10432 leaves it after an unclean restart of 2.2 to 2.6.0"
    if file.entries and file.entries[0].start_offset > run.start_offset:
        return "the file begins in the middle of the log, as after its deletion"
    return "as KAFKA-16541 leaves it after a power loss on 3.7"
