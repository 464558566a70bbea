"""ISR001: a member of the last ISR does not hold what was committed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from parsers.tables import BatchHeader, BrokerEvent, Fetch, IsrRequest, MetadataChange
from rules.evidence import Committed, PartitionEvidence, PartitionState
from rules.evidence.electable import vacancy
from rules.evidence.kept_proofs import kept_proofs
from rules.finding import Exhibit, Severity, Undecided, Violation, sentences
from rules.rule import rule

OR_A_WORD: Final = ", or the option --copied live, stopped or crashed"


@rule(
    id="ISR001",
    severity=Severity.CRITICAL,
    needs=(BatchHeader, MetadataChange, IsrRequest, Fetch, BrokerEvent),
    law="LeaderCandidateCompleteness",
    message="Broker {broker} is in the last ISR ({isr:+broker}), but its log end offset is {start_offset}. Records "
    "are committed up to offset {last}. {because:.}",
    implied_by=("LEO001", "SEG003", "SEG002", "SEG001"),
)
def isr_member_lacks_committed_records(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A replica may be elected cleanly and lacks committed records.

    Proves
    ------
    The next clean election of this replica loses what it lacks, without any alarm. Records that a later leader began
    its epoch without are not counted as missing. Where nothing tells the epoch of a high watermark, the oldest
    possible one counts.

    Undecided when
    --------------
    The files were copied while brokers ran, unless nobody leads and the log is as its broker told it then. Or no
    statement tells the last ISR. Or nothing tells where a later epoch opened, which may have given the records up.

    Upheld
    ------
    broker 1 0000|
    broker 2 00|
    t1 leader 1 epoch 0 isr 1,2
    t2 leads 1 epoch 0 at 0 hw 0
    t3 fetch 2@2 from 1 hw=2
    t4 acks 1 at 1 acks=all

    Violated
    --------
    broker 1 0000|
    broker 2 00|
    t1 leader 1 epoch 0 isr 1,2
    t2 leads 1 epoch 0 at 0 hw 0
    t3 fetch 2@4 from 1 hw=4
    t4 acks 1 at 3 acks=all
    """
    last = evidence.chronicle.last_isr
    if last is None or last.isr is None:
        return
    kept = kept_proofs(evidence)
    certain, furthest = kept.certain, kept.furthest
    at_rest = vacancy(evidence).at_rest
    if evidence.copied_live and len(at_rest) < len(evidence.current):
        gone = not evidence.copied and certain is not None and _held_by_nobody(evidence, certain)
        yield Undecided(
            reason="it is not known whether the ISR and the logs here are of the same moment: brokers ran while their files were copied",
            missing=f"a copy of stopped brokers{'' if evidence.copied else OR_A_WORD}",
            blocking=gone,
        )
    for replica in evidence.current:
        if furthest is None or replica.broker not in last.isr or replica.log_end_offset >= furthest.end_offset:
            continue
        if evidence.copied_live and replica not in at_rest:
            continue
        if not replica.end_known:
            yield Undecided(
                reason=f"a segment of broker {replica.broker}, in the last ISR, could not be read",
                missing=f"all segments of broker {replica.broker}",
                brokers=(replica.broker,),
                blocking=False,
            )
        elif certain is None or replica.log_end_offset >= certain.end_offset:
            yield _given_up(replica.broker, furthest, kept.untold_epoch)
        else:
            yield _lacking(replica.broker, replica.log_end_offset, certain, last)


def _held_by_nobody(evidence: PartitionEvidence, proof: Committed) -> bool:
    """Whether every log ends before what was committed, the leader's own too, though all of it could be read."""
    return all(replica.end_known and replica.log_end_offset < proof.end_offset for replica in evidence.current)


def _given_up(broker: int, proof: Committed, untold: int) -> Undecided:
    reason = f"broker {broker}, in the last ISR, lacks what epoch {untold} may have given up. {sentences(proof.because).removesuffix('.')}"
    missing = f"the state-change.log (Kafka 2.5 and older: server.log) of the leader of epoch {untold}"
    return Undecided(reason=reason, missing=missing, brokers=(broker,), end_offset=proof.end_offset)


def _lacking(broker: int, end: int, proof: Committed, last: PartitionState) -> Violation:
    return Violation(
        brokers=(broker,),
        start_offset=end,
        end_offset=proof.end_offset,
        facts={"broker": broker, "isr": last.isr, "because": proof.because},
        exhibits=(
            Exhibit(span=last.span, role="the last ISR"),
            Exhibit(span=proof.moment.span, role="the proof of what was committed"),
        ),
    )
