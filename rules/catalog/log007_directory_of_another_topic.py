"""LOG007: a directory bears the name of the partition and holds what is another's."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import MetadataChange, SourceRow
from rules.evidence import PartitionEvidence
from rules.finding import Severity, Undecided, Violation
from rules.rule import rule
from rules.words import numbered


@rule(
    id="LOG007",
    severity=Severity.MEDIUM,
    needs=(SourceRow, MetadataChange),
    law="ConsistentTopicId",
    message="Broker {broker}'s folder of this partition {holds}. It was compared with no other.",
)
def directory_of_another_topic(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A folder of this partition is another topic's, or another partition's.

    Proves
    ------
    The directory was renamed or restored from another topic's, or its `partition.metadata` was. The broker refuses
    it as inconsistent, or puts it aside as stray. It has no replica of the partition then. Or folders of one broker
    changed places: each begins with the batch that other brokers hold of the next one. That is likely.

    Undecided when
    --------------
    Nothing else in the dump tells of the id, nor of the topic's own: the topic may have been created again
    (LOG006). Where logs give the topic other ids alone it is of low severity. A metadata log whose beginning was
    deleted forgets the lives of a topic before it. Folders of two partitions seem exchanged between two brokers of
    which only these hold them: either broker's folders may be the wrong ones.

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
    yield from _exchanged(evidence)
    for other in evidence.foreign.ids:
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
                        "holds": f"bears topic id {other.topic_id}, which is topic {other.of_topic}'s. Its broker will not"
                        " use it as a replica of this partition"
                        if proved
                        else f"bears topic id {other.topic_id}, which no log gives to this topic. Its broker will not use"
                        " it as a replica of this partition",
                    },
                )


def _exchanged(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    for each in evidence.foreign.exchanged:
        other = f"{each.holds[0]}-{each.holds[1]}"
        if each.sure:
            yield Violation(
                brokers=(each.broker,),
                confidence="likely",
                facts={
                    "broker": each.broker,
                    "topic_id": None,
                    "holds": f"holds the log of {other}: it begins with the batch with which that partition begins on"
                    f" {numbered('broker', each.holders)}, and no other folder of this partition does",
                },
            )
        else:
            yield Undecided(
                reason=f"broker {each.broker}'s folder of this partition begins as the folder of {other} on"
                f" {numbered('broker', each.holders)} does: folders of one of these brokers were exchanged, and nothing here tells whose",
                missing="another broker's copy of either partition",
                brokers=(each.broker, *each.holders),
            )
