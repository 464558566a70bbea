"""HW002: a leader told a follower a lower high watermark than before, in the same term."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BrokerEvent, Fetch
from rules.evidence import Moment, PartitionEvidence
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="HW002",
    severity=Severity.HIGH,
    needs=(Fetch, BrokerEvent),
    law="MonotonicHighWatermark",
    message="broker {leader} told broker {follower} high watermark {end_offset} and later, in the same term {epoch}, only"
    " {start_offset}",
)
def high_watermark_regressed(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A high watermark went back while the same leader led.

    Compared is what one follower was told: it has one fetch in flight, so its answers stand in the order in which they
    were given. Across terms a high watermark may lawfully be lower.

    Proves
    ------
    The leader took back what it had shown as committed, or the answers are of two clusters, two topics or two lives.

    Undecided when
    --------------
    Answers rest on fetch sessions whose beginning was not recorded: these are passed over.

    Upheld
    ------
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0
    t2 fetch 2@4 from 1 hw=4
    t3 leads 2 epoch 1 at 4 hw 3
    t4 fetch 1@4 from 2 hw=3

    Violated
    --------
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0
    t2 fetch 2@4 from 1 hw=4
    t3 fetch 2@4 from 1 hw=3
    """
    for course in evidence.replayed.courses:
        highest: dict[int, Moment] = {}
        for row in (row.moment for row in course.rows if row.moment.kind == "fetched" and not row.last):
            if row.broker is None or row.high_watermark is None or row.doubtful or row.error not in (None, 0):
                continue
            before = highest.get(row.broker)
            if before is not None and (before.high_watermark or 0) > row.high_watermark:
                yield _violation(before, row)
                break
            highest[row.broker] = row


def _violation(before: Moment, after: Moment) -> Violation:
    return Violation(
        brokers=() if after.witness is None else (after.witness,),
        start_offset=after.high_watermark,
        end_offset=before.high_watermark,
        facts={"leader": after.witness, "follower": after.broker, "epoch": after.term, "subject": str(after.term)},
        exhibits=(
            Exhibit(span=before.span, role="the higher answer"),
            Exhibit(span=after.span, role="the lower answer after it"),
        ),
    )
