"""LOG007: a directory bears the name of the partition and the id of another topic."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import MetadataChange, SourceRow
from rules.evidence import PartitionEvidence
from rules.finding import Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="LOG007",
    severity=Severity.MEDIUM,
    needs=(SourceRow, MetadataChange),
    law="ConsistentTopicId",
    message="Broker {broker}'s folder of this partition bears topic id {topic_id}, {whose}. Its broker will not use "
    "it as a replica of this partition. It was compared with no other.",
)
def directory_of_another_topic(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A directory names a topic id that is not this topic's.

    Proves
    ------
    The directory was renamed or restored from another topic's, or its `partition.metadata` was. The broker refuses
    it as inconsistent, or puts it aside as stray. It has no replica of the partition then.

    Undecided when
    --------------
    Nothing else in the dump tells of the id, nor of the topic's own: the topic may have been created again
    (LOG006). Where logs give the topic other ids alone it is of low severity. A metadata log whose beginning was
    deleted forgets the lives of a topic before it.

    Upheld
    ------
    ids a b
    broker 1 000| ; topic-id a
    broker 2 000| ; topic-id a
    broker 3 111| ; topic-id b

    Violated
    --------
    ids a
    broker 1 000| ; topic-id a
    broker 2 000| ; topic-id a
    broker 3 111| ; topic-id b
    """
    for other in (*evidence.strangers, *evidence.other_ids):
        if other.standing in ("another topic's", "unknown to the logs"):
            proved = other.standing == "another topic's"
            for broker in other.brokers:
                yield Violation(
                    brokers=(broker,),
                    severity=Severity.MEDIUM if proved else Severity.LOW,
                    confidence="certain" if proved else "likely",
                    facts={
                        "broker": broker,
                        "topic_id": other.topic_id,
                        "whose": f"which is topic {other.of_topic}'s"
                        if proved
                        else "which no log gives to this topic",
                    },
                )
