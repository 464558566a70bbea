"""ACK001: producers were told that records are written, and a later leader began below them."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BrokerEvent, Produce
from rules.evidence import PartitionEvidence
from rules.finding import Bearing, Exhibit, RecordsMeant, Severity, Undecided, Violation
from rules.loss.answered_for import answered_for
from rules.loss.gone import Gone
from rules.loss.unsettled import Unsettled
from rules.rule import rule


@rule(
    id="ACK001",
    severity=Severity.CRITICAL,
    needs=(Produce, BrokerEvent),
    law="NoCommittedRecordLost",
    message="Broker {leader} {answered} {answered_for} of {epochs} ({acks}){rest}{more}. {instead:.}",
    implied_by=("LEAD001", "LEAD002"),
    order="none",
    bearing=Bearing(
        change="loss of acknowledged records", to_write_again=True, records=RecordsMeant(newest="its epoch")
    ),
)
def acknowledged_records_missing(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Acknowledged records were left out by the next leader.

    With acks=1 that is what the producer chose: nothing committed is lost, and the records are gone all the same.

    Proves
    ------
    Records whose producers were answered without error are not in the log. That is the last leader's log where its disk
    is at hand, else the next leader's. A leader that opened its epoch once more with a shorter log is the next. The
    range runs from the first such record to the end of the last such batch. That end is the next batch boundary of the
    epoch that an answer, a fetch or the old leader's log end tells. Not all records behind the first need have been
    answered, where others wait for all replicas. Of a thinned log some before may have been as well. A broker that logs
    a request twice found its connection closed: nobody heard the answer. With acks=1 it is likely where another may
    have led by then: the producer may no longer have waited. It is possible where by the clocks another did, or nothing
    tells when another began: the producer may have sent its records again. Where leader epochs began again, one of two
    things is proved. No log here holds records of the epoch in which the broker answered, or one counts another epoch's
    as committed there. It is likely where only its leader's epoch file tells where the epoch opened that left them out.

    Undecided when
    --------------
    Request logs do not hold produce answers (DEBUG). Or an answer may be of a later epoch, for the record that stands
    there and was sent again. Or no log tells where the next epoch or that of the answers opened, while the log that
    leads holds others' records there, or none. Or the last leader's disk is not here, and a broker that may have had
    the records led since and tells of no cut. Or no controller tells of elections, and who holds the records may have
    been elected since. Or records of an epoch that was opened once more are there, of before or of after. Or the next
    leader had written others at their offsets. Or a leader's log was created again before its broker led again, and not
    all its answers are here. Or a leader's log was cut where it could not be read when it was loaded, and nothing tells
    how far it had gone. Or a leader's log had lost its first records when it was loaded, and no line tells of their
    deletion. Or who had led cut its log, and no line tells of which epoch the records were. That leaves the verdict
    open where any requests are logged. Or no later leader had some records, and their leader was killed or its log is
    not here. Its last answer may be in no log, nor one that its log leaves out before others. The verdict is open then
    in five cases. No answer of it is here, and no finding tells that they are lost. Or its request log is not here, and
    a copy still has the records, which a restart may remove. Or producers of the partition are seen that do not wait
    for all replicas (acks=1, acks=0). Or others' answers are here, but the leader's own of the epoch are not, or end
    before those to its followers. Or no request of any partition that it answered later is here: its request log may
    have been cut at its end. Where that log goes on and all producers that are seen wait for all replicas, such records
    most likely waited when it was killed.

    Upheld
    ------
    broker 1 0000|11
    broker 2 0000|11
    t1 leads 1 epoch 0 at 0 hw 0
    t2 acks 1 at 3 acks=all
    t3 leads 2 epoch 1 at 4 hw 4

    Violated
    --------
    broker 1 00|11
    broker 2 00|11
    t1 leads 1 epoch 0 at 0 hw 0
    t2 acks 1 at 3 acks=1
    t3 leads 2 epoch 1 at 2 hw 2
    """
    for found in answered_for(evidence):
        yield _unsettled(found) if isinstance(found, Unsettled) else _gone(found)


def _gone(found: Gone) -> Violation:
    return Violation(
        brokers=() if found.leader is None else (found.leader,),
        start_offset=found.start_offset,
        end_offset=found.end_offset,
        confidence="possible" if found.promised_little else "certain" if found.sure else "likely",
        severity=Severity.CRITICAL if found.for_all else Severity.MEDIUM if found.promised_little else Severity.HIGH,
        facts=found.facts,
        exhibits=tuple(Exhibit(span=moment.span, role=role) for moment, role in found.shown),
    )


def _unsettled(found: Unsettled) -> Undecided:
    return Undecided(
        reason=found.words,
        missing=found.missing,
        brokers=() if found.broker is None else (found.broker,),
        start_offset=found.start_offset,
        end_offset=found.end_offset,
        epoch=found.epoch,
        blocking=found.blocking,
        exhibits=tuple(Exhibit(span=moment.span, role=role) for moment, role in found.shown),
    )
