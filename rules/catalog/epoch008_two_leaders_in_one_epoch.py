"""EPOCH008: two brokers led in one epoch."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BrokerEvent, Fetch, MetadataChange
from rules.evidence import Moment, PartitionEvidence, epochs_begin_anew
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="EPOCH008",
    severity=Severity.CRITICAL,
    needs=(BrokerEvent, Fetch, MetadataChange),
    law="NeverTwoLeadersInSameEpoch",
    message="brokers {leaders} both led in epoch {epoch}",
)
def two_leaders_in_one_epoch(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Two brokers opened, or served, one leader epoch.

    Proves
    ------
    Fencing is broken, or the evidence is of two clusters or of two lives of a topic: records of this epoch may differ
    from broker to broker, and the epoch protocol cannot tell them apart.

    Undecided when
    --------------
    Epochs begin anew on a broker's own clock and no topic id tells why: the topic may have been created again.

    Upheld
    ------
    broker 1 0011|
    broker 2 0011|
    t1 leads 1 epoch 0 at 0 hw 0
    t2 leads 2 epoch 1 at 2 hw 2

    Violated
    --------
    broker 1 0011|
    broker 2 0011|
    t1 leads 1 epoch 0 at 0 hw 0
    t2 leads 1 epoch 1 at 2 hw 2
    t3 leads 2 epoch 1 at 2 hw 2
    """
    claims: dict[int, dict[int, Moment]] = {}
    for moment in evidence.moments:
        claim = _claim(moment)
        if claim is not None:
            claims.setdefault(claim[0], {}).setdefault(claim[1], moment)
    for epoch in sorted(claims):
        if len(claims[epoch]) < 2:
            continue
        if epochs_begin_anew(evidence.moments):
            reason = f"two brokers led in epoch {epoch}, and leader epochs begin anew"
            yield Undecided(reason=reason, missing="topic ids in the logs, which say whether it is one topic")
            return
        leaders = tuple(sorted(claims[epoch]))
        yield Violation(
            brokers=leaders,
            facts={"leaders": leaders, "epoch": epoch, "subject": str(epoch)},
            exhibits=tuple(Exhibit(span=claims[epoch][b].span, role=f"broker {b} leads") for b in leaders),
        )


def _claim(moment: Moment) -> tuple[int, int] | None:
    """Epoch and leader, where a statement proves both."""
    if moment.epoch is None or moment.doubtful:
        return None
    if moment.kind == "leader-starts" and moment.broker is not None:
        return moment.epoch, moment.broker
    # What a client was told may be of an earlier life of the topic, unless the answer names the topic's id.
    to_client = moment.kind == "leader-told" and moment.error in (None, 0) and moment.topic_id is not None
    if (moment.kind == "leadership" or to_client) and moment.leader is not None and moment.leader >= 0:
        return moment.epoch, moment.leader
    if moment.kind == "fetched" and moment.error == 0 and moment.witness is not None and moment.epoch >= 0:
        return moment.epoch, moment.witness
    return None
