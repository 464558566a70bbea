"""EPOCH003: batches carry an epoch that the leader-epoch-checkpoint does not give them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from parsers.tables import BatchHeader, EpochEntry
from rules.evidence import EpochRun, PartitionEvidence, Replica
from rules.evidence.starts import why_without_entry
from rules.evidence.without_entry import covered_from, perhaps_before_the_file, rebuilt_without_zero, runs_without_entry
from rules.finding import COPY_AGAIN, Bearing, Exhibit, Severity, Undecided, Violation
from rules.protocol.versions import KafkaVersion
from rules.rule import rule
from rules.words import numbered


@rule(
    id="EPOCH003",
    severity=Severity.HIGH,
    needs=(BatchHeader, EpochEntry),
    law="CacheAgreesWithLog",
    message="Broker {broker}'s leader-epoch-checkpoint lacks epoch {epoch}, the epoch of {offsets}. {signature:.} "
    "If broker {broker} leads, it can tell followers a wrong end of epoch {epoch}. Followers can then truncate at a wrong offset.",
    implied_by=("SEG006",),
    bearing=Bearing(calls_for=f"Keep this broker from leading: it misleads followers. {COPY_AGAIN}"),
)
def epoch_missing_from_checkpoint(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Batches of an epoch have no entry in the leader-epoch-checkpoint.

    An entry is flushed before the batch that opens its epoch, so a missing one was lost later. The file was
    deleted, overwritten or left behind by a crash. Kafka does not rebuild it from the log except after an unclean
    stop, and then only what is newer than all that is left. A follower makes no entries until it hears that the format
    was raised, so the first records with epochs may have none.

    Proves
    ------
    This replica cannot tell where the epoch ended. As a follower it falls back to its high watermark. As a leader
    it answers with a wrong epoch.

    Undecided when
    --------------
    There is no such file. Brokers make one with the log, so the copy left it out. Or it is malformed or could not
    be read (EPOCH004). Or the log-start-offset-checkpoint was left out or could not be read, and the file begins
    late: where the log starts as late, nothing is missing. Without a clean shutdown, a file that lacks only the
    newest epochs may be of an earlier moment than the log. One that begins late may be newer than the log start
    offset on disk. After a crash a log may start again below where a client had deleted records, and the file stays
    cut there. All of these are reported with low severity.

    Upheld
    ------
    broker 1 000111|
    broker 2 000111|

    Violated
    --------
    broker 1 000111| ; epochs 1@5
    broker 2 000111|
    """
    absent = tuple(sorted(r.broker for r in evidence.current if r.epoch_file.state == "missing" and runs_without_entry(r)))
    if absent:
        yield Undecided(
            reason=f"it is not known whether an epoch is missing from the leader-epoch-checkpoint of {numbered('broker', absent)}. "
            "This dump does not have that file",
            missing=f"the leader-epoch-checkpoint of {numbered('broker', absent)}",
            brokers=absent,
        )
    for replica in evidence.current:
        if replica.epoch_file.state in ("missing", "malformed", "unreadable"):
            continue
        missing = runs_without_entry(replica)
        untold = "log-start-offset-checkpoint" in replica.untold
        if untold and (early := [run for run in missing if perhaps_before_the_file(replica, run)]):
            missing = [run for run in missing if run not in early]
            yield Undecided(
                reason=f"broker {replica.broker}'s leader-epoch-checkpoint has no entry for the first records on disk. Whether these lie below the log start offset, and need no entry, is not known",
                missing=f"broker {replica.broker}'s log-start-offset-checkpoint",
                brokers=(replica.broker,),
            )
        for run in missing:
            signature = _signature(replica, run, evidence.release_of(replica.broker), anew=evidence.epochs_used_twice)
            yield _violation(replica, run, signature, why_without_entry(replica, run, evidence))


def _violation(replica: Replica, run: EpochRun, signature: str, doubt: str) -> Violation:
    file = replica.epoch_file
    start = max(run.start_offset, replica.log_start_offset)
    covered = covered_from(replica, run)
    role = "the leader-epoch-checkpoint that lacks the epoch"
    return Violation(
        brokers=(replica.broker,),
        start_offset=start,
        end_offset=covered if start < covered < run.end_offset else run.end_offset,
        severity=Severity.LOW if doubt else Severity.HIGH,
        confidence="possible" if doubt else "certain",
        facts={
            "broker": replica.broker,
            "epoch": run.epoch,
            "file": file.state,
            "signature": doubt or signature,
            "known_epochs": tuple(entry.epoch for entry in file.entries),
        },
        exhibits=(
            *((Exhibit(span=file.span, role=role),) if file.span else ()),
            Exhibit(span=run.first, role="the first batch of the epoch"),
        ),
    )


_DELETED: Final = "probably someone deleted the file, and the broker began a new one"


def _signature(replica: Replica, run: EpochRun, release: KafkaVersion | None, *, anew: bool) -> str:
    """The known defect that leaves such a file, where one fits what the broker ran, or may have run.

    Where leader epochs began again, one below those that the file knows takes their entries away.
    """
    file = replica.epoch_file
    if file.state != "entries":
        return f"the file is {file.state}"
    if file.entries and file.entries[0].start_offset > run.start_offset:
        cause = "that happens when leader epochs go back to lower numbers, as they did here" if anew else _DELETED
        middle = f"its first entry begins at offset {file.entries[0].start_offset}, inside the log; {cause}"
        zero = "; where only epoch 0 is gone, an unclean restart of 2.2 to 2.6.0 does so too (KAFKA-10432)"
        fits = rebuilt_without_zero(replica) and run.epoch == 0 and _may_be(release, (2, 2), (2, 6, 1))
        return middle + (zero if fits else "")
    missing = "the file misses an epoch between those it knows"
    return missing + (", as after a power loss on 3.7 (KAFKA-16541)" if _may_be(release, (3, 7), (3, 8)) else "")


def _may_be(release: KafkaVersion | None, since: tuple[int, ...], before: tuple[int, ...]) -> bool:
    return release is None or (release.at_least(*since) and not release.at_least(*before))
