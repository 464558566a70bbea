"""TRUNC006: a follower dropped its whole log although its leader still held the place where it ended."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BrokerEvent
from rules.evidence import Moment, PartitionEvidence, own_log_end
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="TRUNC006",
    severity=Severity.HIGH,
    needs=(BrokerEvent,),
    law="TruncationJustified",
    message="Broker {broker} dropped its whole log, with log end offset {end_offset}, and began again at offset {start_offset}.",
    implied_by=("LEAD001", "LEAD002"),
)
def log_reset_entirely(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A follower was out of range and threw away everything it held.

    A follower that was away for longer than records are kept begins at its leader's log start, beyond its own end: that
    is lawful. The out-of-range path compares offsets and no epochs.

    Proves
    ------
    What this replica held up to its log end went from it, whether or not the leader holds the same records.

    Undecided when
    --------------
    The log does not tell at which offset it began again, or where the log ended before.

    Upheld
    ------
    broker 1 @7:000|
    broker 2 @7:000|
    t1 follows 2 epoch 0 at 4 hw 4
    t2 resets 2 to 7

    Violated
    --------
    broker 1 @2:0000|
    broker 2 @2:0000|
    t1 follows 2 epoch 0 at 4 hw 4
    t2 resets 2 to 2
    """
    end: dict[str, Moment] = {}
    for moment in evidence.moments:
        if moment.kind == "log-reset" and moment.broker is not None:
            before = end.pop(moment.clock, None)
            ended = None if before is None else own_log_end(before)
            anew = moment.log_start_offset if moment.offset is None else moment.offset
            if anew is None or ended is None:
                reason = f"broker {moment.broker} dropped its whole log"
                missing = "the lines that tell where it ended and where it began again"
                yield Undecided(reason=reason, missing=missing, brokers=(moment.broker,), blocking=False)
            elif anew < ended and before is not None:
                yield Violation(
                    brokers=(moment.broker,),
                    start_offset=anew,
                    end_offset=ended,
                    facts={"broker": moment.broker},
                    exhibits=(
                        Exhibit(span=moment.span, role="the reset"),
                        Exhibit(span=before.span, role="its log end before"),
                    ),
                )
        elif own_log_end(moment) is not None and moment.clock == f"broker {moment.broker}":
            end[moment.clock] = moment
