"""HW006: a leader told a high watermark below what everyone counted had reached."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BrokerEvent, Fetch, IsrRequest, MetadataChange
from rules.evidence import Fetched, PartitionEvidence, ToldWatermark, no_answer, unbounded
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="HW006",
    severity=Severity.MEDIUM,
    needs=(Fetch, BrokerEvent, MetadataChange, IsrRequest),
    law="liveness of the high watermark",
    message="Broker {leader} reported high watermark {start_offset} in epoch {epoch}, although it must have been "
    "{end_offset} ({counted:such answer}). {because:.}",
)
def high_watermark_stalled(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A high watermark stayed below what every counted replica had reached.

    The lower bound is recomputed from fetch offsets, acknowledgements and the ISR in force. A high watermark lags
    by one fetch round. A follower outside the ISR that passes for caught up holds it back. Until 3.6 one that is
    shutting down does so too (KAFKA-15021). Since 3.7 it rests while the ISR is below the min.insync.replicas of then.
    An answer that nobody took is logged when its connection is closed, behind later ones. All that is lawful and stays
    silent.

    Proves
    ------
    Readers waited for records that were safely replicated. Where acks=all was asked for, so did producers.

    Undecided when
    --------------
    The leader's request log (DEBUG), the ISR of a term or the beginnings of its fetch sessions are not in the dump. Or
    no answer tells a high watermark: there is nothing to compare.

    Upheld
    ------
    kafka 1 3.9.1
    broker 1 0000|2
    broker 2 00|2
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
    t2 acks 1 at 1 acks=all
    t3 fetch 2@2 from 1 hw=2
    t4 isr 1 now 1
    t5 acks 1 at 3 acks=1
    t6 serve 2 from 1 hw=2

    Violated
    --------
    kafka 1 3.9.1
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
    t2 fetch 2@4 from 1 hw=0
    t3 fetch 2@4 from 1 hw=4
    t4 fetch 2@6 from 1 hw=4
    t5 fetch 2@6 from 1 hw=4
    """
    late: dict[tuple[int | None, int | None], list[ToldWatermark]] = {}
    for watermark in evidence.replayed.told_watermarks:
        if watermark.by_leader and watermark.standing == "below":
            late.setdefault((watermark.moment.witness, watermark.moment.term), []).append(watermark)
    for answers in late.values():
        yield _violation(answers)
    for reason, missing in no_answer(evidence.replayed.told_watermarks):
        yield Undecided(reason=reason, missing=missing, blocking=False)
    if evidence.replayed.told_watermarks:
        created_again = len(evidence.told_ids) > 1
        for reason, missing in unbounded(evidence.replayed.missing, "below", created_again=created_again):
            yield Undecided(reason=reason, missing=missing, blocking=False)


def _violation(answers: list[ToldWatermark]) -> Violation:
    worst = max(answers, key=lambda each: (each.expected.low.offset if each.expected.low else 0) - (each.observed or 0))
    count = sum(each.moment.count for each in answers)
    bound, leader = worst.expected.low, worst.moment.witness
    return Violation(
        brokers=() if leader is None else (leader,),
        start_offset=worst.observed,
        end_offset=None if bound is None else bound.offset,
        facts={
            "leader": leader,
            "epoch": worst.moment.term,
            "because": "" if bound is None else bound.because,
            "answers": count,
            "counted": f"at least {count}" if any(map(_leaves_out, answers)) else count,
            "subject": str(worst.moment.term),
        },
        exhibits=(
            Exhibit(span=worst.moment.span, role="the answer that lags furthest"),
            Exhibit(span=answers[-1].moment.span, role="the last such answer"),
        ),
    )


def _leaves_out(watermark: ToldWatermark) -> bool:
    return isinstance(watermark.moment, Fetched) and watermark.moment.left_out > 0
