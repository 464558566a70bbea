"""LOG007: a directory bears the name of the partition and holds what is another's."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import MetadataChange, SourceRow
from rules.evidence import Belied, Exchanged, PartitionEvidence
from rules.finding import Exhibit, Severity, Undecided, Violation, capital
from rules.rule import rule
from rules.words import numbered, quoted


@rule(
    id="LOG007",
    severity=Severity.MEDIUM,
    needs=(SourceRow, MetadataChange),
    law="ConsistentTopicId",
    message="Broker {broker}'s folder of this partition {holds}. The audit compared that folder with no other replica.",
)
def directory_of_another_topic(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A folder of this partition is another topic's, or another partition's.

    Some exchanges cannot be told from healthy folders. An empty log is like any other one, and like one whose disk was
    emptied. Folders may have changed places on every broker here. Then topic ids, the ends of both logs or what brokers
    logged tell it. Without these, or where they are alike, nothing does. One partition's log on another broker is a
    replica like its own.

    Proves
    ------
    The directory was renamed or restored from another topic's, or its `partition.metadata` was. The broker refuses
    it as inconsistent, or puts it aside as stray. It has no replica of the partition then. Or folders of one broker
    changed places, whatever ids they bear. Each begins with the batch that other brokers hold of the next one. Or each
    ends where its broker told that the next one does. Or an epoch begins elsewhere in it than its leader told, and
    another folder of the broker has it so. That is likely.

    Undecided when
    --------------
    Nothing else in the dump tells of the id, nor of the topic's own: the topic may have been created again
    (LOG006). Where logs give the topic other ids alone it is of low severity. A metadata log whose beginning was
    deleted forgets the lives of a topic before it. Folders of two partitions were exchanged on some brokers and not on
    others, and no checkpoint tells on which. A folder begins as that of another partition and as none of its own.
    It may have been copied over. Or the logs parted and the partitions were written alike. Or an epoch begins elsewhere
    in it than its leader told, and no folder here has it so. Or its broker told what would have to be lost from it,
    and another folder has all of that.

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
    yield from map(_belied, evidence.foreign.belied)
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
                        "holds": f"bears topic id {other.topic_id}, which is that of topic {quoted(other.of_topic or '')}. The broker will not"
                        " use that folder as a replica of this partition"
                        if proved
                        else f"bears topic id {other.topic_id}, which no log gives to this topic. The broker will not use"
                        " that folder as a replica of this partition",
                    },
                )


def _exchanged(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    for each in evidence.foreign.exchanged:
        other = f"{each.holds[0]}-{each.holds[1]}"
        if each.sure:
            holds = f"holds the log of {other}. {_shown(each)}"
            facts = {"broker": each.broker, "topic_id": None, "holds": holds}
            yield Violation(brokers=(each.broker,), confidence="likely", facts=facts)
        else:
            yield _asked(each, other)


def _belied(each: Belied) -> Violation | Undecided:
    """A folder that does not hold the log of which its broker told."""
    exhibits = (Exhibit(span=each.span, role="what its broker told of its log"),)
    there = None if each.lies_in is None else f"{each.lies_in.of[0]}-{each.lies_in.of[1]}"
    if each.sure:
        holds = f"holds another log. {capital(each.because)}. The log in broker {each.broker}'s folder of {there} has it so"
        facts = {"broker": each.broker, "topic_id": None, "holds": holds, "subject": "its word"}
        return Violation(brokers=(each.broker,), confidence="likely", facts=facts, exhibits=exhibits)
    also = "" if there is None else f". The log in its folder of {there} has it as told"
    alike = "" if each.copy_of is None else f"It holds records of the log in broker {each.copy_of}'s folder. "
    return Undecided(
        reason=f"broker {each.broker}'s folder of this partition may hold another log. {alike}{capital(each.because)}{also}",
        missing="another broker's copy of this partition",
        brokers=(each.broker,),
        exhibits=exhibits,
    )


def _shown(each: Exchanged) -> str:
    """What shows whose log a folder holds, in sentences."""
    crossed = f"By broker {each.broker}'s own log, each of the two logs ends where the other folder's does"
    if not each.holders:
        return crossed
    if not each.both_ways:
        return f"{_begins(each)}. It does not end where broker {each.broker} told that this partition does"
    ways = {
        "its ends": crossed,
        "the others' ends": f"What {numbered('broker', each.holders)} told of where both logs end fits their folders",
    }
    return f"{_begins(each)}. {ways.get(each.told_by, 'A broker that has one of the two partitions agrees with those')}"


def _begins(each: Exchanged) -> str:
    where = numbered("broker", each.holders)
    if each.empty:
        return f"It is empty, as that partition is on {where}, where this one is not"
    return f"It begins with the batch with which that partition begins on {where}"


def _asked(each: Exchanged, other: str) -> Undecided:
    own, there = f"broker {each.broker}'s folder of this partition", f"{other} on {numbered('broker', each.holders)}"
    begins = f"{own} is empty as {there} is" if each.empty else f"{own} begins as the folder of {there} does"
    if each.both_ways:
        return Undecided(
            reason=f"{begins}: folders of one of these brokers were exchanged, and nothing here tells whose",
            missing="another broker's copy of either partition",
            brokers=(each.broker, *each.holders),
        )
    return Undecided(
        reason=f"{begins}, and no other folder of this partition does: one may have been copied over the other",
        missing=f"broker {each.broker}'s disk as it was",
        brokers=(each.broker,),
    )
