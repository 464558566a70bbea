"""Topic ids that do not fit together: which directories bear one, where some name has several, or some id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from rules.replicas.replica import Replica

Standing = Literal["an earlier life", "another topic's", "unknown to the logs", "untold"]
ANOTHER: Final = "another topic's"


class Bearer(Struct, frozen=True, kw_only=True):
    """A replica's directory and the topic id in it."""

    topic_id: str
    topic: str
    partition: int
    broker: int | None


def contested(bearers: Sequence[Bearer]) -> tuple[Bearer, ...]:
    """Those whose topic bears several ids, or whose id several topics: of most dumps none."""
    ids = Counter(topic for _, topic in {(b.topic_id, b.topic) for b in bearers})
    topics = Counter(topic_id for topic_id, _ in {(b.topic_id, b.topic) for b in bearers})
    return tuple(b for b in bearers if ids[b.topic] > 1 or topics[b.topic_id] > 1)


class OtherId(Struct, frozen=True, kw_only=True):
    """A topic id that a replica bears beside the topic's own."""

    topic_id: str
    brokers: tuple[int, ...]
    standing: Standing
    of_topic: str | None = None
    """The topic whose id it is, where that is another one."""


def own_id(replicas: Sequence[Replica], ids_known: frozenset[str]) -> str | None:
    """The id that most replicas bear, of several as many one that logs give to the topic; None where nothing tells."""
    held = Counter(r.topic_id for r in replicas if r.topic_id is not None)
    ranked = sorted(held, key=lambda topic_id: (-held[topic_id], topic_id not in ids_known, topic_id))
    if len(ranked) > 1 and _equal(ranked[0], ranked[1], held, ids_known):
        return None
    return ranked[0] if ranked else None


def _equal(first: str, second: str, held: Counter[str], ids_known: frozenset[str]) -> bool:
    return held[first] == held[second] and (first in ids_known) == (second in ids_known)


def other_ids(
    topic: str, partition: int, replicas: Sequence[Replica], ids_known: frozenset[str], bearers: Sequence[Bearer]
) -> tuple[OtherId, ...]:
    """Every id but the topic's own that a replica of the partition bears, and what is known of it."""
    held, owners = {r.topic_id for r in replicas if r.topic_id is not None}, owners_of(bearers)
    own = own_id(replicas, ids_known)
    unsaid = bool(ids_known) and any(b.topic_id == own and b.topic != topic for b in bearers)
    if own not in ids_known and (own is None or unsaid or owners.get(own, topic) != topic):
        # Logs give it to no life of the topic, or its folders show it to be another one's.
        mine = [topic_id for topic_id in held if owners.get(topic_id) == topic]
        own = mine[0] if len(mine) == 1 and (not ids_known or mine[0] in ids_known) else None
    ids = sorted(held - {own})
    return tuple(_other(topic_id, topic, partition, replicas, ids_known, bearers) for topic_id in ids)


def owners_of(bearers: Sequence[Bearer]) -> dict[str, str]:
    """Whose each id is: the topic's that bears it most, and most of all its ids; then the only one's that is left."""
    borne = Counter((b.topic_id, b.topic) for b in bearers)
    of_id, of_topic = Counter[str](), Counter[str]()
    for (topic_id, topic), count in borne.items():
        of_id[topic_id], of_topic[topic] = max(of_id[topic_id], count), max(of_topic[topic], count)
    firsts = [pair for pair, count in borne.items() if count == of_id[pair[0]] == of_topic[pair[1]]]
    ids, topics = Counter(topic_id for topic_id, _ in firsts), Counter(topic for _, topic in firsts)
    owners = {topic_id: topic for topic_id, topic in firsts if ids[topic_id] == topics[topic] == 1}
    left = [(own, topic) for own, topic in borne if own not in owners and topic not in owners.values()]
    ids, topics = Counter(topic_id for topic_id, _ in left), Counter(topic for _, topic in left)
    return owners | {topic_id: topic for topic_id, topic in left if ids[topic_id] == topics[topic] == 1}


def _of_either(topic_id: str, bearers: Sequence[Bearer]) -> bool:
    """Whether folders of several topics bear an id equally often, so that they do not tell whose it is."""
    borne = Counter(b.topic for b in bearers if b.topic_id == topic_id).most_common(2)
    return topic_id not in owners_of(bearers) and len(borne) > 1 and borne[0][1] == borne[1][1]


def _other(
    topic_id: str,
    topic: str,
    partition: int,
    replicas: Sequence[Replica],
    ids_known: frozenset[str],
    bearers: Sequence[Bearer],
) -> OtherId:
    brokers = tuple(sorted(replica.broker for replica in replicas if replica.topic_id == topic_id))
    others = (b for b in bearers if (b.topic, b.partition) != (topic, partition))
    elsewhere = Counter(b.topic for b in others if b.topic_id == topic_id)
    strangers = {name: count for name, count in elsewhere.items() if name != topic}
    standing: Standing = "untold"
    if topic_id in ids_known or elsewhere[topic] > max(strangers.values(), default=0):
        standing, strangers = "an earlier life", {}
    elif strangers and (owners_of(bearers).get(topic_id) == topic or (not ids_known and _of_either(topic_id, bearers))):
        strangers = {}
    elif strangers:
        standing = ANOTHER
    elif ids_known:
        standing = "unknown to the logs"
    named = min(strangers, key=lambda name: (-strangers[name], name), default=None)
    return OtherId(topic_id=topic_id, brokers=brokers, standing=standing, of_topic=named)
