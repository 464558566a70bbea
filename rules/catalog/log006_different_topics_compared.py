"""LOG006: replicas of two incarnations of a topic lie side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from parsers.tables import SourceRow
from rules.evidence import OtherId, PartitionEvidence, begun_again
from rules.evidence.ids_in_words import ids_in_words
from rules.finding import Severity, Undecided, Violation
from rules.rule import rule
from rules.words import numbered

ONE_AND_NONE: Final = 2
"""Ids of one topic, where some of its directories may bear none."""


@rule(
    id="LOG006",
    severity=Severity.INFO,
    needs=(SourceRow,),
    law="ConsistentTopicId",
    message="{says:.} {because:.}",
)
def different_topics_compared(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Replicas are of different lives of a topic that was created again.

    Proves
    ------
    These are two histories, not a divergence: replicas of different topic ids are never compared with each other. A
    replica of an older incarnation is deleted when its broker returns. It is certain where the metadata log, a log
    or other directories of the topic know the other id too. Else it is possible. An id that is another topic's is
    LOG007.

    Undecided when
    --------------
    A replica bears no id, and others bear several. Or replicas of two ids hold the same records, and nothing tells of
    the topic's other life. One of the ids is damaged or misplaced, and the replicas would have to be compared. Or no
    replica bears an id (before 2.8): then all are compared but one that was left behind. Its broker told of an earlier
    life of the topic, and nobody tells of it in the last one. Its records are all older than the others'. Where no
    logs tell, and all records of one replica are older, LOG001 leaves it open. Or folders of such an older life wait
    for their deletion, and no log here tells of it. What was told before the first record in use is judged for no life.

    Upheld
    ------
    broker 1 000| ; topic-id a
    broker 2 000| ; topic-id a

    Violated
    --------
    ids a b
    broker 1 000| ; topic-id a
    broker 2 111| ; topic-id b
    """
    behind = tuple(sorted(replica.broker for replica in evidence.current if replica.earlier_life))
    if behind:
        because = "the topic was deleted and created again, as logs tell, and all of these records are older than the others'"
        yield Violation(brokers=behind, facts={"incarnations": 2, "says": _earlier(behind), "because": because})
    yield from _untold_end(evidence)
    yield from _without_id(evidence)
    bygone = evidence.foreign.bygone
    if bygone:
        left = tuple(sorted({r.broker for r in evidence.replicas if r.state == "foreign" and r.topic_id in bygone}))
        yield Violation(
            brokers=left,
            facts={
                "incarnations": len(bygone),
                "says": _earlier(left),
                "because": "the controllers' record tells that the topic was created again since, and none of these is of"
                " the topic as it is now",
            },
        )
    others = [other for other in evidence.foreign.ids if other.standing in ("an earlier life", "untold")]
    if any(other.standing == "untold" and _holds_the_others_records(evidence, other) for other in others):
        yield Undecided(
            reason="replicas bear different topic ids, though they hold the same records: they were not compared",
            missing="what tells the topic's id: the metadata log, the brokers' logs, or more of the topic's directories",
            brokers=tuple(sorted({replica.broker for replica in evidence.current})),
        )
    if others:
        ids = {replica.topic_id for replica in evidence.current} - {None}
        known = all(other.standing == "an earlier life" for other in others)
        yield Violation(
            brokers=tuple(sorted({replica.broker for replica in evidence.current})),
            confidence="certain" if known else "possible",
            facts={
                "incarnations": len(ids),
                "says": f"the logs of this name here {'are' if len(ids) > 1 else 'may be'} of different topics; {ids_in_words(evidence)}",
                "topic_ids": tuple(sorted(topic_id for topic_id in ids if topic_id is not None)),
                "because": "the topic was deleted and created again"
                if known
                else "the topic was deleted and created again, or a directory is another topic's, of which nothing else tells",
            },
        )


def _earlier(brokers: Sequence[int]) -> str:
    return f"{numbered('broker', brokers, 'has')} the log of an earlier topic of this name"


def _untold_end(evidence: PartitionEvidence) -> Iterator[Undecided]:
    """An earlier life of which folders still stand, and of whose end no log tells."""
    before = begun_again(evidence.replicas, evidence.chronicle.gave_up) if evidence.moments else ()
    if before:
        brokers = tuple(sorted({replica.broker for replica in before}))
        yield Undecided(
            reason="it is not known when an earlier topic of this name ended. Folders that wait for their deletion hold"
            " older records than the logs in use. So log lines from before the first record in use are taken to be of"
            " that earlier topic",
            missing=f"the line of their deletion in {numbered('broker', brokers)}'s server.log",
            brokers=brokers,
        )


def _without_id(evidence: PartitionEvidence) -> Iterator[Undecided]:
    """A log that bears no id, where others bear several: it may be of any of those topics."""
    without = tuple(sorted(replica.broker for replica in evidence.current if replica.topic_id is None))
    if without and len({replica.topic_id for replica in evidence.current}) > ONE_AND_NONE:
        yield Undecided(
            reason=f"it is not known of which topic the log of {numbered('broker', without)} is: it bears no topic id, and the"
            " others here bear several. So it was compared with none",
            missing=f"partition.metadata of {numbered('broker', without)}",
            brokers=without,
        )


def _holds_the_others_records(evidence: PartitionEvidence, other: OtherId) -> bool:
    """Whether a replica of this id holds a stretch of log that one of another id holds as well: no two lives share one."""
    own = {digest for r in evidence.current if r.topic_id == other.topic_id for digest in r.log.digests}
    rest = {digest for r in evidence.current if r.topic_id not in (None, other.topic_id) for digest in r.log.digests}
    return bool(own & rest)
