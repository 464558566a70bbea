"""Whether a log may have been compacted: by its settings, by what a cleaner wrote down, or by its batches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from rules.protocol.topics import COMPACTED_TOPICS
from rules.replicas.replica import Replica
from rules.settings import CLEANUP_POLICY, Setting, Settings


def is_compacted(topic: str, replicas: Sequence[Replica], settings: Settings) -> bool:
    """Whether any replica or setting shows that it is compacted; copies of a cleaned log have its holes too."""
    in_force = (settings.in_force(topic, replica.broker, CLEANUP_POLICY) for replica in replicas)
    by_word = any(policy is not None and _compacts(policy) for policy in in_force)
    if topic in COMPACTED_TOPICS or by_word or any(replica.cleaner_offset for replica in replicas):
        return True
    return any(replica.cleaned for replica in replicas) and not _only_deleted_from(topic, replicas, settings)


def _only_deleted_from(topic: str, replicas: Sequence[Replica], settings: Settings) -> bool:
    """Whether nothing ever compacted it, by all that is told of its settings, or by Kafka's default where nothing is.

    A cleaner leaves its mark in a checkpoint. Without one, a batch that looks cleaned has a damaged header.
    """
    ranks = [settings.ranks(topic, replica.broker, CLEANUP_POLICY) for replica in replicas]
    stated = [setting for rank in ranks for setting in chain.from_iterable(rank)]
    own = any(setting.topic is not None for setting in stated)
    return (own or settings.tells_topics) and not any(map(_compacts, stated))


def _compacts(policy: Setting) -> bool:
    return "compact" in (policy.value or "")
