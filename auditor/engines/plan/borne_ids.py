"""Which topic each id is of, as the directories of a dump tell it."""

from __future__ import annotations

from collections import Counter

from parsers.inventory import Inventory
from rules.replicas.topic_names import TopicName


def topic_names(inventory: Inventory) -> tuple[TopicName, ...]:
    """The topic of every id that directories bear; of an id in directories of several topics, the one of most.

    Where as many bear it of one topic as of another, they do not tell whose it is.
    """
    borne: dict[str, Counter[str]] = {}
    for origin in (replica.origin for replica in inventory.replicas):
        if origin.topic_id and origin.topic:
            borne.setdefault(origin.topic_id, Counter())[origin.topic] += 1
    ranked = {topic_id: topics.most_common(2) for topic_id, topics in sorted(borne.items())}
    most = {topic_id: top[0][0] for topic_id, top in ranked.items() if len(top) == 1 or top[0][1] > top[1][1]}
    return tuple(TopicName(topic_id=topic_id, topic=topic) for topic_id, topic in most.items())
