"""EPOCH008: two brokers led in one epoch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from parsers.tables import BrokerEvent, Description, Fetch, MetadataChange
from rules.evidence import Moment, PartitionEvidence
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="EPOCH008",
    severity=Severity.CRITICAL,
    needs=(BrokerEvent, Fetch, MetadataChange, Description),
    law="NeverTwoLeadersInSameEpoch",
    message="{leaders:+Broker} led in the same epoch {epoch}. Kafka allows one leader for each epoch.",
    order="of roles",
)
def two_leaders_in_one_epoch(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Two brokers led in one epoch, by their own word or the controller's.

    Proves
    ------
    Fencing is broken, or the evidence is of two clusters or of two lives of a topic. Records of this epoch may
    differ from broker to broker, and the epoch protocol cannot tell them apart.

    Undecided when
    --------------
    Epochs begin again on a broker's own clock and no topic id tells why: the topic may have been created again. Or
    one of the two is known by its answers to fetches alone. A request log does not name the broker that wrote it.
    It may have been collected into another one's folder. Or a tool printed a leader without its epoch, and nothing
    tells of an epoch that this broker led. The status of the metadata quorum names its epoch and is held against
    the others.

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
    answers: dict[int, dict[int, Moment]] = {}
    unsure: set[int] = set()
    for moment in evidence.moments:
        for found, by_epoch in ((_claim(moment), claims), (_answer(moment), answers)):
            if found is not None:
                by_epoch.setdefault(found[0], {}).setdefault(found[1], moment)
    for epoch in sorted(claims.keys() | answers.keys()):
        leaders = tuple(sorted(claims.get(epoch, {})))
        answering = tuple(sorted(answers.get(epoch, {}).keys() - set(leaders)))
        if len(leaders) + len(answering) < 2:
            continue
        if evidence.chronicle.epochs_begin_anew:
            reason = f"two brokers led in epoch {epoch}, and leader epochs begin again"
            yield Undecided(reason=reason, missing="copies that bear topic ids, which say whether it is one topic")
            return
        if len(leaders) < 2:
            unsure.update(leaders, answering)
            continue
        yield Violation(
            brokers=leaders,
            facts={"leaders": leaders, "epoch": epoch, "subject": str(epoch)},
            exhibits=tuple(Exhibit(span=claims[epoch][b].span, role=f"broker {b} leads") for b in leaders),
        )
    if unsure:
        yield Undecided(
            reason="of two leaders of one epoch, one is known by its answers to fetches alone",
            missing="the id of the broker whose request log it is",
            brokers=tuple(sorted(unsure)),
        )
    yield from _printed_without_epoch(evidence.moments, claims)


def _printed_without_epoch(
    moments: Iterable[Moment], claims: Mapping[int, Mapping[int, Moment]]
) -> Iterator[Undecided]:
    """Leaders whom a tool printed and who led in no epoch that anything tells."""
    known = {broker for of_epoch in claims.values() for broker in of_epoch}
    printed = [m for m in moments if m.kind == "described" and m.epoch is None and m.leader is not None and m.leader >= 0]
    strange = {m.leader: m for m in printed if known and m.leader not in known}
    for leader, moment in sorted(strange.items()):
        yield Undecided(
            reason=f"a tool printed broker {leader} as leader, and nothing tells in which epoch",
            missing="the leader epoch of that moment: the metadata log or a broker's log of then",
            brokers=(leader or 0,),
            blocking=False,
            exhibits=(Exhibit(span=moment.span, role="what the tool printed"),),
        )


def _claim(moment: Moment) -> tuple[int, int] | None:
    """Epoch and leader, where a statement proves both."""
    if moment.epoch is None or moment.doubtful:
        return None
    if moment.kind == "leader-starts" and moment.broker is not None:
        return moment.epoch, moment.broker
    # What a client was told may be of an earlier life of the topic, unless the answer names the topic's id.
    to_client = moment.kind == "leader-told" and moment.error in (None, 0) and moment.topic_id is not None
    if (moment.kind in ("leadership", "described") or to_client) and moment.leader is not None and moment.leader >= 0:
        return moment.epoch, moment.leader
    return None


def _answer(moment: Moment) -> tuple[int, int] | None:
    """Epoch and who answered a fetch in it: no line of a request log names the broker that wrote it."""
    if moment.kind != "fetched" or moment.error != 0 or moment.doubtful or moment.witness is None:
        return None
    return None if moment.epoch is None or moment.epoch < 0 else (moment.epoch, moment.witness)
