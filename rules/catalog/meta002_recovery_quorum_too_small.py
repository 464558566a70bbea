"""META002: a partition without in-sync replicas can be recovered from too few of those that held its records."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import ConfigChange, MetadataChange
from rules.evidence import MIN_IN_SYNC, PartitionEvidence, PartitionState
from rules.finding import Bearing, Exhibit, Severity, Undecided, Violation
from rules.rule import rule
from rules.words import any_of, counted, numbered


@rule(
    id="META002",
    severity=Severity.MEDIUM,
    needs=(MetadataChange, ConfigChange),
    law="MinIsrRecoveryQuorum",
    message="The partition is offline in epoch {epoch}: its ISR and its eligible leader replicas (ELR) are empty. "
    "{recovery:.} {wanted:.}",
    implied_by=("BUG001",),
    bearing=Bearing(
        calls_for="Before the last known leader starts, copy and compare the logs of all assigned brokers. The log with the"
        " newest epoch, or the longest of these, loses least.",
        needless="compared",
    ),
)
def recovery_quorum_too_small(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Too few replicas are known from which a partition could be recovered.

    Since 4.0 a partition may be left without in-sync replicas. Its eligible leaders (ELR) hold all that is committed
    then. If they come back from an unclean shutdown they are struck off too. What is left are the last known leaders.
    A record was committed by at least `min.insync.replicas` brokers, so that many must be asked to find all of them.

    Lawful are eligible leaders beside an empty ISR, and any state that was followed by another.

    Proves
    ------
    Whoever is elected next is elected uncleanly, from fewer replicas than hold each committed record. Kafka keeps one
    last known leader, and elects it as soon as it is back, even if the others' logs are longer. Where the logs of all
    assigned brokers are here, the message says whether that one lacks anything.

    Undecided when
    --------------
    Nothing tells `min.insync.replicas`. Without a metadata log the rule does not apply.

    Upheld
    ------
    set min.insync.replicas 2
    broker 1 0011|
    broker 2 0011|
    t1 leader 1 epoch 0 isr 1,2 of 1,2
    t2 leader -1 epoch 1 isr of 1,2 elr 1,2 known 1

    Violated
    --------
    set min.insync.replicas 2
    broker 1 0011|
    broker 2 0011|
    t1 leader 1 epoch 0 isr 1,2 of 1,2
    t2 leader -1 epoch 1 isr of 1,2 elr none known 1
    """
    states = [state for state in evidence.chronicle.states if state.kind == "leadership"]
    last = states[-1] if states else None
    if last is None or last.isr != () or last.elr != () or last.doubtful:
        return
    known = last.last_known_elr or ()
    needed = _needed(evidence, last)
    if known and needed is None:
        yield Undecided(
            reason=f"no broker is in sync or eligible in epoch {last.epoch}, and {len(known)} may be too few to recover",
            missing="min.insync.replicas, as the metadata log or a broker's settings tell it",
            brokers=known,
            blocking=False,
            exhibits=(Exhibit(span=last.span, role="the partition state"),),
        )
    elif len(known) < (needed or 1):
        yield _violation(last, known, needed, compared=_lacks_nothing(evidence, known))


def _needed(evidence: PartitionEvidence, last: PartitionState) -> int | None:
    """How many brokers a record must have been on to be committed, by whatever broker may be asked."""
    broker = next(iter((*(last.last_known_elr or ()), *(last.replicas or ()))), None)
    setting = evidence.setting(broker, MIN_IN_SYNC, last) or evidence.setting(broker, MIN_IN_SYNC)
    value = "" if setting is None else setting.value or ""
    return int(value) if value.isdecimal() else None


def _lacks_nothing(evidence: PartitionEvidence, known: tuple[int, ...]) -> bool:
    """Whether the logs of all assigned brokers are here whole, and each last known leader has what the others have."""
    here = {replica.broker: replica for replica in evidence.current if replica.end_known}
    apart = {broker for each in evidence.differences for broker in (each.left.broker, each.right.broker)}
    if not known or apart.intersection(known) or not {*known, *evidence.assignment} <= {*here}:
        return False
    return all(
        here[broker].holds(max(here[broker].log_start_offset, other.log_start_offset), other.log_end_offset)
        for broker in known
        for other in here.values()
        if other.log_end_offset > other.log_start_offset
    )


def _violation(
    last: PartitionState, known: tuple[int, ...], needed: int | None, *, compared: bool
) -> Violation:
    wanted = "at least one broker is needed"
    if compared:
        wanted = (
            "the logs of all assigned brokers are in this dump;"
            f" {numbered('broker', known, 'lacks')} no record that another of them has"
        )
    elif needed is not None:
        lacking = f"{numbered('broker', known)} may lack committed records; " if known else ""
        held = f"each committed record was once on at least {counted(needed, 'broker')} (min.insync.replicas is {needed})"
        wanted = f"{lacking}{held}{', so another broker may still have them' * bool(known)}"
    return Violation(
        brokers=known,
        facts={
            "epoch": last.epoch,
            "known": known,
            "recovery": f"the controller elects {any_of('broker', known)}, the last known leader, as soon as it is back"
            if known
            else "the controller knows no broker to elect",
            "wanted": wanted,
            "needed": needed,
            "compared": compared,
            "assigned": last.replicas,
            "subject": str(last.epoch),
        },
        exhibits=(Exhibit(span=last.span, role="the partition state"),),
    )
