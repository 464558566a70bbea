"""EPOCH004: the leader-epoch-checkpoint breaks its grammar or its order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from parsers.tables import EpochEntry, Refusal
from rules.evidence import PartitionEvidence, Replica
from rules.finding import COPY_AGAIN, Bearing, Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="EPOCH004",
    severity=Severity.HIGH,
    needs=(EpochEntry, Refusal),
    law="TypeOk",
    message="Broker {broker}'s leader-epoch-checkpoint is malformed: {problem}. When broker {broker} loads "
    "this file, it {effect}.",
    bearing=Bearing(calls_for=f"Do not start this broker with that file: it would refuse the log dir or forget epochs. {COPY_AGAIN}"),
)
def checkpoint_malformed(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """The leader-epoch-checkpoint breaks its grammar or does not rise.

    A file of zero bytes is lawful (the broker creates it so), and so is one of no entries. Two entries of one start
    offset were written up to 2.0.0.

    Proves
    ------
    The broker will refuse the whole log dir when it loads this file, or will silently drop the entries out of order.

    Undecided when
    --------------
    The file could not be read, or something else stands in its place. It is missing (EPOCH003 speaks of that where the
    log has epochs).

    Upheld
    ------
    broker 1 000111|
    broker 2 000111|

    Violated
    --------
    broker 1 000111| ; epochs 0@0 2@3 1@5
    broker 2 000111|
    """
    for replica in evidence.current:
        if replica.epoch_file.state == "unreadable":
            yield _unread(replica)
            continue
        problem = _problem(replica)
        if problem is not None and replica.epoch_file.span is not None:
            yield Violation(
                brokers=(replica.broker,),
                facts={"broker": replica.broker, "problem": problem, "effect": _effect(replica)},
                exhibits=(Exhibit(span=replica.epoch_file.span, role="the leader-epoch-checkpoint"),),
            )


def _unread(replica: Replica) -> Undecided:
    return Undecided(
        reason=f"broker {replica.broker}'s leader-epoch-checkpoint could not be read",
        missing="a readable leader-epoch-checkpoint",
        brokers=(replica.broker,),
        exhibits=tuple(Exhibit(span=r.span, role="the file that could not be read") for r in replica.refusals[:1]),
    )


def _effect(replica: Replica) -> str:
    """A line that cannot be read fails the load; of entries out of order the earlier ones give way."""
    if replica.epoch_file.state == "malformed":
        return "takes the whole log dir that holds it offline"
    return "drops the entries that contradict later ones"


def _problem(replica: Replica) -> str | None:
    if replica.epoch_file.state == "malformed":
        source = replica.epoch_file.span.source if replica.epoch_file.span else None
        own = (refusal for refusal in replica.refusals if refusal.span.source == source)
        return next((f"expected {r.expected}, found {r.found}" for r in own), "it could not be read")
    for before, behind in pairwise(replica.epoch_file.entries):
        if behind.epoch <= before.epoch:
            return f"epoch {behind.epoch} comes after epoch {before.epoch}"
        if behind.start_offset < before.start_offset:
            return f"epoch {behind.epoch} begins at {behind.start_offset}, before epoch {before.epoch}"
    return None
