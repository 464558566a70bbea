"""CONS004: a consumer stands beyond everything that can have been committed."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BrokerEvent, Fetch
from rules.evidence import PartitionEvidence
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="CONS004",
    severity=Severity.HIGH,
    needs=(Fetch, BrokerEvent),
    law="ConsistentRead",
    message="A consumer asked broker {leader} for offset {end_offset} in epoch {epoch}. The high watermark "
    "cannot have been beyond {start_offset} by then. Either broker {leader} served this consumer records that were "
    "not committed, or somebody set the consumer to offset {end_offset} by hand.",
    implied_by=("HW003",),
)
def read_beyond_high_watermark(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A consumer was in range at an offset that was never committed.

    A consumer asks for what follows the records that it was served. A new leader's high watermark may lawfully be
    lower than what the old one showed. So what counts is the highest that any leader can have had until then.

    Proves
    ------
    The consumer was served records that were not committed, or was set to that offset by hand.

    Undecided when
    --------------
    The high watermark of some earlier term has no upper bound: traces or the ISR of that time are missing.

    Upheld
    ------
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
    t2 fetch 2@0 from 1 hw=0
    t3 fetch 2@4 from 1 hw=4
    t4 serve 4 from 1 hw=4
    t5 fetch 2@4 from 1 hw=4

    Violated
    --------
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
    t2 fetch 2@0 from 1 hw=0
    t3 fetch 2@2 from 1 hw=0
    t4 serve 4 from 1 hw=2
    t5 fetch 2@2 from 1 hw=2
    """
    highest = 0
    for course in evidence.replayed.courses:
        for row in course.rows:
            bound = row.answer.high
            if bound is None or row.high_watermark.high is None:
                return
            highest = max(highest, bound.offset)
            asked = row.moment
            if asked.kind == "consumed" and asked.error == 0 and asked.offset is not None and asked.offset > highest:
                yield Violation(
                    brokers=() if asked.witness is None else (asked.witness,),
                    start_offset=highest,
                    end_offset=asked.offset,
                    confidence="likely",
                    facts={"leader": asked.witness, "epoch": asked.term, "subject": str(asked.term)},
                    exhibits=(Exhibit(span=asked.span, role="the consumer's fetch"),),
                )
                return
