"""HW004: a follower held a higher high watermark than any leader can have told it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from parsers.tables import BrokerEvent, Fetch, OffsetCheckpoint
from rules.evidence import ROLE_KINDS, PartitionEvidence, first_role, none_told, raised_since
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="HW004",
    severity=Severity.HIGH,
    needs=(Fetch, BrokerEvent, OffsetCheckpoint),
    law="FollowerHWBound",
    message="Broker {broker} held high watermark {end_offset} when it {when}. At that time it was "
    "{start_offset} at most. {because:.}",
    implied_by=("HW003",),
)
def follower_high_watermark_beyond_leader(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A follower took for committed what its leader cannot have told it.

    Its own log tells it when it takes a role, its checkpoint when it shut down cleanly.

    Proves
    ------
    Consumers that read from this replica, or from it as the next leader, could see records that were not committed.

    Undecided when
    --------------
    The release is unknown or below 2.4, where a truncation left the high watermark alone. Or no trace bounds what
    the leader told. Or no broker's own log tells a high watermark, so there is nothing to compare.

    Upheld
    ------
    kafka 2 3.9.1
    broker 1 0000|
    broker 2 0000|
    broker 3 00|
    t0 loads 3 at 0
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2,3
    t1 follows 2 epoch 0 at 0 hw 0
    t1 follows 3 epoch 0 at 0 hw 0
    t2 fetch 3@2 from 1 hw=0
    t3 fetch 2@4 from 1 hw=2
    t4 fetch 3@2 from 1 hw=2
    t5 leads 2 epoch 1 at 4 hw 2
    t5 follows 3 epoch 1 at 2 hw 2
    t6 saves 3 at 2

    Violated
    --------
    kafka 2 3.9.1
    broker 1 0000|
    broker 2 0000|
    broker 3 00|
    t0 loads 3 at 0
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2,3
    t1 follows 2 epoch 0 at 0 hw 0
    t1 follows 3 epoch 0 at 0 hw 0
    t2 fetch 3@2 from 1 hw=0
    t3 fetch 2@4 from 1 hw=2
    t4 fetch 3@2 from 1 hw=2
    t5 leads 2 epoch 1 at 4 hw 4
    t5 follows 3 epoch 1 at 2 hw 2
    t6 saves 3 at 2
    """
    for watermark in evidence.replayed.told_watermarks:
        bound = watermark.expected.high
        if watermark.by_leader or watermark.standing != "above" or bound is None or watermark.moment.broker is None:
            continue
        if watermark.moment is first_role(m for m in evidence.moments if m.clock == watermark.moment.clock):
            continue
        yield Violation(
            brokers=(watermark.moment.broker,),
            start_offset=bound.offset,
            end_offset=watermark.observed,
            facts={
                "broker": watermark.moment.broker,
                "when": _when(watermark.moment.epoch),
                "epoch": watermark.moment.epoch,
                "because": bound.because,
                "subject": str(watermark.moment.epoch),
            },
            exhibits=(Exhibit(span=watermark.moment.span, role="its own word"),),
        )
    yield from _written(evidence)
    yield from _nothing_told(evidence)


_TELLING: Final = (*ROLE_KINDS, "high-watermark-loaded")
"""What a broker writes with the high watermark that it holds."""


def _nothing_told(evidence: PartitionEvidence) -> Iterator[Undecided]:
    own = (m for m in evidence.moments if m.kind in _TELLING and m.clock == f"broker {m.broker}")
    if none_told(m.high_watermark for m in own):
        missing = "the high watermarks that brokers wrote down when they took their roles (state-change.log; Kafka 2.5 and older: server.log)"
        yield Undecided(reason="no broker's own log tells a high watermark to compare", missing=missing, blocking=False)


def _when(epoch: int | None) -> str:
    return "loaded its log" if epoch is None else f"took its role in epoch {epoch}"


def _written(evidence: PartitionEvidence) -> Iterator[Violation]:
    """What a follower left in its checkpoint when it shut down cleanly; beyond its log it is HW001's."""
    for raised in raised_since(evidence.closings, evidence.current):
        closing, bound = raised.closing, raised.bound
        release = evidence.release_of(closing.broker)
        clamps = release is not None and release.at_least(2, 4)
        if clamps and closing.leader != closing.broker:
            yield Violation(
                brokers=(closing.broker,),
                start_offset=bound.offset,
                end_offset=raised.claim.offset,
                confidence="likely" if closing.estimated else "certain",
                facts={
                    "broker": closing.broker,
                    "when": "shut down cleanly",
                    "epoch": closing.epoch,
                    "because": bound.because,
                    "subject": f"the checkpoint of broker {closing.broker}",
                },
                exhibits=(Exhibit(span=raised.claim.span, role="the high watermark on disk"),),
            )
