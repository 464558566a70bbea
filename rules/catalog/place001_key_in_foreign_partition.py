"""PLACE001: keys lie in other partitions than the partitioner of their producer places them in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from parsers.tables import BatchHeader, MetadataChange, RecordRow
from rules.evidence import PartitionCount
from rules.evidence.topic import FEW, PlacedBy, Replaced, TopicEvidence, Unkeyed, WrittenKeys
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.protocol.topics import COMPACTED_TOPICS
from rules.rule import Threshold, topic_rule

AGREEING: Final = Threshold(
    name="agreeing",
    unit="percent",
    default=90,
    most=99,
    means="The share of a producer's keys that must lie where a partitioner places them before it is taken for theirs.",
)
"""Of two partitions chance gives a half."""
_CHOOSING: Final = "how each of these producers chooses partitions"
_ORDERS: Final = {
    "unknown": "records without keys lie as no known partitioner places them",
    "untellable": "its records without keys are in too few batches to show which partitioner placed them",
}


@topic_rule(
    id="PLACE001",
    severity=Severity.LOW,
    needs=(BatchHeader, RecordRow, MetadataChange),
    law="KeyPlacement",
    thresholds=(AGREEING,),
    message="{says:.} The first that does not is at offset {offset} of partition {partition}.",
)
def key_in_foreign_partition(evidence: TopicEvidence) -> Iterator[Violation | Undecided]:
    """Keys lie in partitions that their partitioner does not choose.

    A partitioner hashes the key and takes the hash modulo the number of partitions. The Java client hashes by murmur2,
    librdkafka by CRC-32 unless told otherwise, Sarama by FNV-1a. Which one a producer uses is told by its keys: the one
    by which nine tenths of them (`agreeing`) lie where they do. Keys from before partitions were added stay where they
    are. They are judged by the number that was in force. Records without a key may be in any partition. Their times tell
    the partitioner. To 2.3 records go to partitions in turn. From 2.4 on a batch at a time goes to one taken by chance.
    From 3.3 on it is as many bytes as a batch may have.

    Proves
    ------
    Records of one key are in two partitions, or soon will be. Their order is lost, and a consumer that keeps state by
    key holds it twice. Somebody chose a partition by hand, or the producer's number of partitions was stale. Or a producer
    with another partitioner replaced it: the same keys lie elsewhere from then on. Producers of other keys may differ.

    Undecided when
    --------------
    Keys were not read, as below level deep. No known partitioner places nine tenths of the keys: partitions may be
    chosen by hand or by a partitioner of one's own. The number of partitions is not told by the controller's record. A
    producer wrote fewer than twenty different keys, or few batches without keys, or placed those as no known partitioner
    does. Records without keys accuse nobody. Nor do keys without a producer id: idempotence was off. Their producers
    cannot be told apart, and each may have a partitioner of its own.

    Upheld
    ------
    partitions 6
    broker 1* 00|
    keys 40 by murmur2

    Violated
    --------
    partitions 6
    broker 1* 00|
    keys 40 by murmur2
    keys 2 elsewhere
    """
    if evidence.partitions < 2 or evidence.topic in COMPACTED_TOPICS:
        return
    if evidence.level != "deep":
        reason = "whether every key is in its right partition"
        yield Undecided(reason=reason, missing="audit again at level deep", blocking=False, asked_at_level="deep")
    enough = evidence.thresholds.of("PLACE001", AGREEING)
    for written in evidence.written:
        if written.best.agreeing < written.keys:
            yield _said(written, evidence.steps, enough)
    for replaced in evidence.replaced(enough):
        yield _step(replaced, evidence.steps)
    yield from _of_no_keys(evidence.unkeyed)
    if any(share.keys is not None and share.keys.unread for share in evidence.shares):
        yield Undecided(reason="some keys cannot be decoded", missing="sound copies of their batches", blocking=False)


def _said(written: WrittenKeys, steps: Sequence[PartitionCount], enough: int) -> Violation | Undecided:
    if written.different < FEW:
        return _open(written, "too few keys tell which partitioner it uses", "more keys")
    if not written.agrees(enough):
        missing = "the partitioner of its producer: one of its own, or partitions chosen by hand"
        return _open(written, "no known partitioner places its keys where they lie", missing)
    if not written.by_one:
        return _open(written, f"{written.words_of_several}; which of these producers wrote them is not known", _CHOOSING)
    return _judged(written, written.best, steps, written.words(steps), f"{written.producer} {written.counts}")


def _step(replaced: Replaced, steps: Sequence[PartitionCount]) -> Violation | Undecided:
    """Records of the same keys that two partitioners placed."""
    former, later = replaced.former, replaced.later
    if not (former.by_one and later.by_one):
        return _open(former, f"and of {later.who} some of the same keys lie in different partitions", _CHOOSING)
    subject = f"{later.producer} {later.counts} {later.best.partitioner} behind {former.best.partitioner}"
    return _judged(later, replaced.by_the_former, steps, replaced.words(steps), subject)


def _of_no_keys(unkeyed: Sequence[Unkeyed]) -> Iterator[Undecided]:
    """Who wrote records without keys that lie as no partitioner of the Java client would place them, or may not."""
    for order, reason in _ORDERS.items():
        producers = [one.producer for one in unkeyed if one.order == order]
        if producers:
            one = "producers without an id" if producers[0] < 0 else f"producer {producers[0]}"
            who = one if len(producers) == 1 else f"{len(producers)} producers"
            yield Undecided(reason=f"of {who} {reason}", missing="how its partitions are chosen", blocking=False)


def _open(written: WrittenKeys, reason: str, missing: str) -> Undecided:
    return Undecided(reason=f"of {written.who} {reason}", missing=missing, blocking=False)


def _judged(
    written: WrittenKeys, by: PlacedBy, steps: Sequence[PartitionCount], says: str, subject: str
) -> Violation | Undecided:
    """Keys that do not lie where a partitioner places them."""
    if not steps:
        return _open(written, "how many partitions there were is not told over time", "the metadata log")
    return Violation(
        brokers=(),
        confidence="likely",
        facts={
            "says": says,
            "apart": written.keys - by.agreeing,
            "producer": written.who,
            "partitioner": by.partitioner,
            "count": written.chosen_among(steps),
            "counts": written.counts,
            "agreeing": by.agreeing,
            "keys": written.keys,
            "percent": written.percent(by),
            "partition": by.first_partition,
            "offset": by.first_apart,
            "subject": subject,
        },
        exhibits=() if by.span is None else (Exhibit(span=by.span, role="the batch of the first such key"),),
    )
