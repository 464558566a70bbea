"""Whose log bears which topic id, in words."""

from __future__ import annotations

from typing import Final

from rules.evidence.partition import PartitionEvidence
from rules.words import numbered

_BY_METADATA: Final = "; the controllers' metadata tells which topic is the new one"


def ids_in_words(evidence: PartitionEvidence) -> str:
    """Whose log bears which topic id, and which of them is the topic as it is now, where that is told."""
    owners: dict[str | None, set[int]] = {}
    for replica in evidence.current:
        owners.setdefault(replica.topic_id, set()).add(replica.broker)
    newest = _newest(evidence)
    each: list[str] = []
    for topic_id, own in sorted(owners.items(), key=lambda owner: (owner[0] is None, owner[0] == newest)):
        whose = f"topic id {topic_id}"
        if newest is not None:
            whose = f"the {'new' if topic_id == newest else 'old'} topic's log (id {topic_id})"
        bears = "a log without topic id" if topic_id is None else whose
        each.append(f"{numbered('broker', sorted(own), 'has')} {bears}")
    return f"{', '.join(each)}{_BY_METADATA * (newest is not None)}"


def _newest(evidence: PartitionEvidence) -> str | None:
    """Which of the ids is the last one, where the controllers' record tells of them all."""
    held = {replica.topic_id for replica in evidence.current} - {None}
    counts = evidence.placing.counts
    last = counts.standing(evidence.topic, evidence.partition)
    known = last is not None and last.topic_id in held and held <= counts.ids(evidence.topic or "")
    return last.topic_id if last is not None and known else None
