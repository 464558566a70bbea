"""On which racks partitions lay: what a client that assigns by racks may have seen of them (KIP-881)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Final

from rules.protocol.assignment import Racks
from rules.replicas.partition_counts import PartitionCounts
from rules.settings import Settings

RACK: Final = "broker.rack"
MOST_BROKERS: Final = 6
"""Of which any may have been down, and so without a rack in what the client saw."""


def racks_told(settings: Settings) -> Mapping[int, str]:
    """The racks of brokers that named one and never another."""
    named: dict[int, set[str]] = {}
    for each in settings.statements:
        if each.name == RACK and each.broker is not None and each.value:
            named.setdefault(each.broker, set()).add(each.value)
    return {broker: min(own) for broker, own in named.items() if len(own) == 1}


def racks_seen(topics: Iterable[str], counts: PartitionCounts, racks: Mapping[int, str]) -> Iterator[Racks]:
    """All that a client may have seen of these topics' racks; nothing where that is not known.

    It is not known where a broker names no rack, where replicas were reassigned, or of too many brokers.
    """
    homes = {topic: counts.homes(topic) for topic in topics}
    brokers = sorted({broker for own in homes.values() for home in own for broker in home})
    if not brokers or not all(homes.values()) or len(brokers) > MOST_BROKERS or not racks.keys() >= set(brokers):
        return
    for down in range(len(brokers) + 1):
        for missing in combinations(brokers, down):
            yield {
                (topic, partition): frozenset(racks[broker] for broker in home if broker not in missing)
                for topic, own in homes.items()
                for partition, home in enumerate(own)
            }
