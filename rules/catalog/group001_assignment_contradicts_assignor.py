"""GROUP001: members of a group have other partitions than the group's assignor gives them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from parsers.tables import BatchHeader, GroupState, MetadataChange
from rules.evidence import PartitionEvidence, racks_told
from rules.evidence.group_assignments import BROKER, MOVED, Contradiction, Unjudged, contradictions
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule
from rules.words import it_or_them, numbered


@rule(
    id="GROUP001",
    severity=Severity.LOW,
    needs=(BatchHeader, GroupState, MetadataChange),
    law="GroupAssignment",
    scope="group",
    message="Group '{group}' uses {used}. In generation {generation}, {held}.{meaning}",
)
def assignment_contradicts_assignor(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Members have other partitions than their assignor gives them.

    The leader of a classic group runs the assignor that all members name, and the coordinator writes down what each
    member asked for and got. `range` and `roundrobin` depend on nothing else than the members and the numbers of
    partitions, and are computed again. Where members name racks, `range` depends on the racks of replicas too
    (KIP-881). All that the leader may have seen is tried, whichever brokers were down then. A leader may assign before
    it has heard of a topic: for ten minutes nobody has to have any partition of it. `sticky` and `cooperative-sticky`
    depend on the past, and are held to less. Each partition has one owner, and the owner reads its topic. Members who
    read the same topics differ by one at most. A partition that a cooperative member is giving up may have no owner for
    a while. In the newer protocol (KIP-848) the broker writes what each member should have and has, and the two are
    compared.

    Proves
    ------
    The member that led ran something else than the name says, or saw other partitions. Where members read different
    topics, the sticky assignors themselves give a partition to one that does not read it, if rarely. Partitions that
    nobody has are not read; those that two have are read twice.

    Undecided when
    --------------
    The number of a topic's partitions at that time is not told by the controller's record. Members name their racks, and
    those of the replicas are not known. That is so where a broker names none or has changed its own. It is so where a
    partition was moved, the topic was created again, or more than six brokers hold it. The assignor is not one of
    Kafka's. A group has static members: one that comes back to read other topics keeps what it had.

    Upheld
    ------
    topic __consumer_offsets
    broker 1* 00|
    partitions 5 of t
    group g by range
    member t has t 0 1 2
    member t has t 3 4

    Violated
    --------
    topic __consumer_offsets
    broker 1* 00|
    partitions 5 of t
    group g by range
    member t has t 0 1
    member t has t 2 3 4
    """
    racks = racks_told(evidence.settings)
    for group in evidence.placing.assignments:
        for said in contradictions(group, evidence.placing.counts, racks):
            if isinstance(said, Unjudged):
                yield Undecided(
                    reason=f"group '{group.group}': {said.reason}",
                    missing=said.missing,
                    blocking=False,
                    exhibits=(Exhibit(span=group.span, role=f"generation {group.generation} of group {group.group}"),),
                )
            else:
                yield _violation(group.group, group.generation, said)


def _violation(group: str, generation: int, said: Contradiction) -> Violation:
    return Violation(
        brokers=(),
        confidence="likely",
        facts={
            "group": group,
            "generation": generation,
            "assignor": said.assignor,
            "what": said.what,
            "partitions": said.partitions,
            "used": "the assignor of its broker" if said.assignor == BROKER else f"the {said.assignor} assignor",
            "held": _held(said),
            "meaning": _MOVED * (said.what == MOVED),
            "subject": f"{group} {said.what}",
        },
        exhibits=(Exhibit(span=said.span, role=f"generation {generation} of group {group}"),),
    )


def _held(said: Contradiction) -> str:
    """What is wrong, and where it shows."""
    if said.what != MOVED:
        return f"{said.what} ({', '.join(said.partitions)})"
    where, them = numbered("partition", said.partitions, "is"), it_or_them(len(said.partitions))
    return f"{where} not assigned to the member that the {said.assignor} assignor gives {them} to"


_MOVED: Final = (
    " Still, each partition is assigned to exactly one member, so the group reads all of them. Either the group's leader ran another assignor,"
    " or it computed with another list of partitions."
)
