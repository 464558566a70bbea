"""Which folders hold something else than their name says: another topic, another partition, an earlier life."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from rules.replicas.belied import Belied
from rules.replicas.exchanged import Exchanged
from rules.replicas.partition_counts import PartitionCount, PartitionCounts
from rules.replicas.replica import Replica
from rules.replicas.topic_ids import ANOTHER, Bearer, OtherId, other_ids
from rules.replicas.unread_copies import UnreadCopy
from rules.words import quoted


class Foreign(Struct, frozen=True, kw_only=True):
    """What makes folders of a partition foreign to it."""

    ids: tuple[OtherId, ...] = ()
    """Topic ids that replicas bear beside the topic's own; with those of other topics they are foreign."""
    exchanged: tuple[Exchanged, ...] = ()
    """Folders that hold the log of another partition."""
    elsewhere: tuple[Exchanged, ...] = ()
    """Folders of other partitions that hold the log of this one."""
    belied: tuple[Belied, ...] = ()
    """Folders that do not hold the log of which their own brokers told."""
    bygone: frozenset[str] = frozenset()
    """Ids of lives of the topic that ended, where no folder is of its last one."""

    def put_aside(self, replicas: Sequence[Replica]) -> tuple[Replica, ...]:
        """The replicas, those in foreign folders marked: none of them is a replica of the partition."""
        ids = {*self.bygone, *(other.topic_id for other in self.ids if other.standing == ANOTHER)}
        brokers, paths = {each.broker for each in self.exchanged}, {each.path for each in self.belied}
        return tuple(
            replace(replica, state="foreign")
            if replica.state == "current"
            and (replica.topic_id in ids or replica.broker in brokers or replica.path in paths)
            else replica
            for replica in replicas
        )

    def misfiled(self, replicas: Sequence[Replica]) -> Iterator[UnreadCopy]:
        """The folders that were put aside: whose log each holds, and where the log seems to lie that it should hold."""
        for replica in (each for each in replicas if each.state == "foreign"):
            word = next((each for each in self.belied if each.path == replica.path), None)
            each = next((each for each in self.exchanged if each.broker == replica.broker), None)
            if word is not None:
                yield UnreadCopy(
                    broker=replica.broker,
                    paths=(replica.path,),
                    because="another log" if word.sure else "perhaps another log",
                    holds="holds another log" if word.sure else "may hold another log",
                    instead=() if word.lies_in is None else (word.lies_in.path,),
                )
            else:
                yield UnreadCopy(
                    broker=replica.broker,
                    paths=(replica.path,),
                    because="another log" if each is None or each.sure else "perhaps another log",
                    holds=self._of_another_id(replica) if each is None else _of_another_log(each),
                    instead=tuple(own.path for own in self.elsewhere if own.broker == replica.broker),
                )

    def _of_another_id(self, replica: Replica) -> str:
        other = next((own for own in self.ids if own.topic_id == replica.topic_id), None)
        if other is None or other.of_topic is None:
            return f"bears topic id {replica.topic_id}, which is not this topic's"
        return f"bears topic id {other.topic_id}, which is that of topic {quoted(other.of_topic)}"


def _of_another_log(each: Exchanged) -> str:
    topic, partition = each.holds
    return f"{'holds' if each.sure else 'may hold'} the log of {topic}-{partition}"


NONE_FOREIGN: Final = Foreign()


class OtherFolders(Protocol):
    """What is known of the other folders of the cluster."""

    @property
    def bearers(self) -> Sequence[Bearer]:
        """Folders of topics that have several ids, or share one."""
        ...

    @property
    def exchanged(self) -> Sequence[Exchanged]:
        """Folders that hold another partition's log."""
        ...

    @property
    def counts(self) -> PartitionCounts:
        """Which topics there are, under which ids."""
        ...


def found_foreign(
    place: tuple[str, int], current: Sequence[Replica], known: frozenset[str], neighbours: OtherFolders
) -> Foreign:
    """What makes folders of a partition foreign: of one that tells it twice, the id."""
    ids = other_ids(*place, current, known, neighbours.bearers)
    others = {broker for other in ids if other.standing == ANOTHER for broker in other.brokers}
    return Foreign(
        ids=ids,
        exchanged=tuple(e for e in neighbours.exchanged if (e.topic, e.partition) == place and e.broker not in others),
        elsewhere=tuple(each for each in neighbours.exchanged if each.holds == place),
        bygone=bygone_ids(current, neighbours.counts.standing(*place), neighbours.counts.ids(place[0])),
    )


def bygone_ids(replicas: Sequence[Replica], standing: PartitionCount | None, known: frozenset[str]) -> frozenset[str]:
    """The ids of all replicas, where the controllers' record tells that the topic stands under another, made since.

    Copies of the topic as it is now are missing then: those that are here are of its earlier lives.
    """
    held = {replica.topic_id for replica in replicas}
    if standing is None or standing.topic_id is None or standing.topic_id in held:
        return frozenset()
    earlier = frozenset(topic_id for topic_id in held if topic_id is not None)
    return earlier if len(earlier) == len(held) and earlier <= known else frozenset()
