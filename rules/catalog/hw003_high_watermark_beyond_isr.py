"""HW003: a leader told a high watermark that some replica in sync had not reached."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BrokerEvent, Fetch, IsrRequest, MetadataChange, OffsetCheckpoint
from rules.evidence import PartitionEvidence, ToldWatermark, no_answer, raised_since, unbounded
from rules.finding import Confidence, Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="HW003",
    severity=Severity.CRITICAL,
    needs=(Fetch, BrokerEvent, MetadataChange, IsrRequest, OffsetCheckpoint),
    law="ValidHighWatermark",
    message="Broker {leader} {told} high watermark {end_offset} in epoch {epoch}. At that time it was "
    "{start_offset} at most. {because:.}",
)
def high_watermark_beyond_isr(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A high watermark was beyond what a replica in sync had reached.

    The upper bound is recomputed from fetch offsets and from the ISR in force, and from no told high watermark. It is
    only likely where another witness's clock, whose offset is an estimate, places a change of the ISR. What a leader wrote
    into its checkpoint at a clean shutdown is held against it as its answers are.

    Since 3.7 it rests while the ISR is below `min.insync.replicas`, or below the assignment where that is smaller
    (KAFKA-15583). It is held to that where the release, the assignment and every value of the setting are told. A value
    that was changed meanwhile counts once the leader's own log says that it took it over.

    Proves
    ------
    The leader counted without a replica that it had to wait for: after a clean election the records can be gone.

    Undecided when
    --------------
    The leader's request log (DEBUG), its own log or the ISR of a term is not in the dump. Or its fetch sessions
    began before the log does. Under KRaft the controller changes an ISR within a term too: without a whole metadata
    log its changes are not told.

    No answer tells a high watermark: there is nothing to compare.

    Upheld
    ------
    broker 1 0000|
    broker 2 0000|
    broker 3 0000|
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2,3
    t2 fetch 3@2 from 1 hw=0
    t3 fetch 2@4 from 1 hw=2
    t4 fetch 3@4 from 1 hw=4
    t5 fetch 2@4 from 1 hw=4

    Violated
    --------
    broker 1 0000|
    broker 2 0000|
    broker 3 0000|
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2,3
    t2 fetch 3@2 from 1 hw=0
    t3 fetch 2@4 from 1 hw=4
    t4 fetch 3@2 from 1 hw=4
    """
    courses = [course for course in evidence.replayed.courses if course.isr.estimated]
    estimated = {(course.lead.leader, epoch) for course in courses for epoch in course.lead.epochs}
    reported: set[tuple[int | None, int | None]] = set()
    for watermark in evidence.replayed.told_watermarks:
        key = (watermark.moment.witness, watermark.moment.term)
        if watermark.by_leader and watermark.standing == "above" and key not in reported:
            reported.add(key)
            yield _violation(watermark, "likely" if key in estimated else "certain")
    yield from _written(evidence)
    for reason, missing in no_answer(evidence.replayed.told_watermarks):
        yield Undecided(reason=reason, missing=missing, blocking=False)
    if evidence.replayed.told_watermarks:
        created_again = len(evidence.told_ids) > 1
        for reason, missing in unbounded(evidence.replayed.missing, "above", created_again=created_again):
            yield Undecided(reason=reason, missing=missing, blocking=False)


def _written(evidence: PartitionEvidence) -> Iterator[Violation]:
    """What a leader left in its checkpoint when it shut down cleanly; beyond its log it is HW001's."""
    for raised in raised_since(evidence.closings, evidence.current):
        closing, bound = raised.closing, raised.bound
        if closing.leader == closing.broker:
            yield Violation(
                brokers=(closing.broker,),
                start_offset=bound.offset,
                end_offset=raised.claim.offset,
                confidence="likely" if closing.estimated else "certain",
                facts={
                    "told": "wrote, when it shut down cleanly,",
                    "leader": closing.leader,
                    "epoch": closing.epoch,
                    "because": bound.because,
                    "subject": f"the checkpoint of broker {closing.broker}",
                },
                exhibits=(Exhibit(span=raised.claim.span, role="the high watermark on disk"),),
            )


def _violation(watermark: ToldWatermark, confidence: Confidence) -> Violation:
    bound = watermark.expected.high
    return Violation(
        brokers=() if watermark.moment.witness is None else (watermark.moment.witness,),
        start_offset=None if bound is None else bound.offset,
        end_offset=watermark.observed,
        confidence=confidence,
        facts={
            "told": "reported",
            "leader": watermark.moment.witness,
            "epoch": watermark.moment.term,
            "because": "" if bound is None else bound.because,
            "subject": str(watermark.moment.term),
        },
        exhibits=(Exhibit(span=watermark.moment.span, role="the answer"),),
    )
