"""EPOCH009: the leader-epoch-checkpoint knows epochs that begin beyond the log end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from parsers.tables import BatchHeader, EpochEntry
from rules.evidence import EpochClaim, PartitionEvidence, Replica
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule

SHOWN = 8


@rule(
    id="EPOCH009",
    severity=Severity.MEDIUM,
    needs=(BatchHeader, EpochEntry),
    law="CacheAgreesWithLog",
    message="In broker {broker}'s leader-epoch-checkpoint epoch {epoch} begins at offset {claimed}, but the broker's log end "
    "offset is {log_end_offset}.{more} {meaning:.}",
    implied_by=("SEG008", "SEG003", "SEG002", "SEG001"),
)
def checkpoint_beyond_log_end(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """The checkpoint knows an epoch that begins beyond the log end.

    A leader that was elected and wrote nothing leaves an entry exactly at the log end; that is everyday. After a crash
    the file may be newer than the log, or its truncation was not yet written (3.7 and later).

    Proves
    ------
    After a clean shutdown: the log was longer when the entry was written, or the file belongs to another log.

    Undecided when
    --------------
    The broker did not shut down cleanly, or the copy was taken while it ran: reported as information.

    Upheld
    ------
    broker 1 000111| ; epochs 0@0 1@3 2@6
    broker 2 000111|

    Violated
    --------
    broker 1 000111| ; epochs 0@0 1@3 2@9
    broker 2 000111|
    """
    for replica in evidence.current:
        beyond = [entry for entry in replica.epoch_file.entries if _beyond(replica, entry)]
        if beyond and replica.end_known:
            yield _violation(replica, beyond)


def _violation(replica: Replica, beyond: Sequence[EpochClaim]) -> Violation:
    """All entries of a file that are beyond its log's end, in one finding: the first of them, and how many follow."""
    first, clean = beyond[0], replica.clean_shutdown is not None
    return Violation(
        brokers=(replica.broker,),
        start_offset=replica.log_end_offset,
        end_offset=max(entry.start_offset for entry in beyond),
        severity=Severity.MEDIUM if clean else Severity.INFO,
        confidence="certain" if clean else "possible",
        facts={
            "broker": replica.broker,
            "epoch": first.epoch,
            "claimed": first.start_offset,
            "meaning": "either the log was longer when the entry was written, or the file belongs to another log"
            if clean
            else "after a crash, or in a copy of a running broker, this file may be newer than the log",
            "log_end_offset": replica.log_end_offset,
            "more": f" In all {len(beyond)} entries begin beyond it." if beyond[1:] else "",
        },
        exhibits=tuple(Exhibit(span=entry.span, role="the entry") for entry in beyond[:SHOWN]),
    )


def _beyond(replica: Replica, entry: EpochClaim) -> bool:
    """Entries of an empty log that begins at its log start offset are at the log end, not beyond it."""
    return entry.start_offset > max(replica.log_end_offset, replica.log_start_offset)
