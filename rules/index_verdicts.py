"""What is said of a replica's indexes of one kind: which could not be read, and what contradicts the log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from parsers.tables import IndexKind
from rules.evidence import METADATA_TOPIC, PartitionEvidence
from rules.evidence.index_judgements import IndexJudgement, judged
from rules.finding import Exhibit, Severity, Undecided, Violation

SHOWN: Final = 5
REBUILT: Final = (
    " No file here marks a clean shutdown of broker {broker}. After an unclean one, it builds these entries again.",
    " Broker {broker} builds the indexes of the metadata log again whenever it starts.",
)
"""Of logs that are shut down cleanly, and of one that never is."""


def index_verdicts(evidence: PartitionEvidence, kind: IndexKind) -> Iterator[Violation | Undecided]:
    """Of each replica: indexes that were not read, and the entries that its log does not bear out."""
    always = evidence.topic == METADATA_TOPIC
    for replica in evidence.current:
        found = judged(replica, kind, always_rebuilt=always)
        if found.unread:
            yield _unread(replica.broker, kind, found)
        if found.faults:
            yield _contradicted(replica.broker, found, always=always)


def _unread(broker: int, kind: IndexKind, found: IndexJudgement) -> Undecided:
    return Undecided(
        reason=f"broker {broker}'s {kind} indexes were not all read",
        missing="indexes that can be opened; Kafka builds lost ones again",
        brokers=(broker,),
        blocking=False,
        exhibits=tuple(Exhibit(span=fault.span, role="the index that was not read") for fault in found.unread[:1]),
    )


def _contradicted(broker: int, found: IndexJudgement, *, always: bool) -> Violation:
    return Violation(
        brokers=(broker,),
        start_offset=found.lowest,
        end_offset=None if found.highest is None else found.highest + 1,
        severity=Severity.INFO if found.rebuilt else Severity.LOW,
        facts={
            "broker": broker,
            "entries": found.count,
            "first": found.faults[0].found,
            "flaws": found.flaws,
            "rebuilt": REBUILT[always].format(broker=broker) if found.rebuilt else "",
        },
        exhibits=tuple(Exhibit(span=fault.span, role=fault.flaw) for fault in found.faults[:SHOWN]),
    )
