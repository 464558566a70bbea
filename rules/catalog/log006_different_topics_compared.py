"""LOG006: replicas of two incarnations of a topic lie side by side."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import SourceRow
from rules.evidence import PartitionEvidence
from rules.finding import Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="LOG006",
    severity=Severity.INFO,
    needs=(SourceRow,),
    law="ConsistentTopicId",
    message="brokers {brokers} hold {incarnations} incarnations of the topic: it was deleted and created again",
)
def different_topics_compared(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Replicas carry different topic ids: the topic was created again.

    Proves
    ------
    These are two histories, not a divergence: replicas of different topic ids are never compared with each other. A
    replica of an older incarnation is deleted when its broker returns.

    Undecided when
    --------------
    Replicas carry no topic id (before 2.8): then they are compared.

    Upheld
    ------
    broker 1 000| ; topic-id a
    broker 2 000| ; topic-id a

    Violated
    --------
    broker 1 000| ; topic-id a
    broker 2 111| ; topic-id b
    """
    ids = sorted({replica.topic_id for replica in evidence.current if replica.topic_id is not None})
    if len(ids) > 1:
        yield Violation(
            brokers=tuple(sorted({replica.broker for replica in evidence.current})),
            facts={"incarnations": len(ids), "topic_ids": tuple(ids)},
        )
