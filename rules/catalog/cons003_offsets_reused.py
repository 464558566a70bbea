"""CONS003: offsets of lost records hold other records now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from parsers.tables import BatchHeader, BrokerEvent, Fetch, GroupOffset, OffsetCheckpoint, Produce
from rules.evidence import PartitionEvidence
from rules.finding import Exhibit, Severity, Violation
from rules.loss.incurred import Loss, losses
from rules.protocol.topics import BROKERS_TOPICS, METADATA_TOPIC
from rules.rule import rule
from rules.words import numbered, quoted

NAMED: Final = 8
NAMELESS: Final = "a client without a name"
_LOADED: Final = "Coordinators that had loaded the old records hold a state that this log does not have, until they load it again."
_APPLIED: Final = "Brokers and controllers that had read the old records may act on a state that this log does not have."
"""What is asked of nobody: of the topics that Kafka keeps for itself coordinators or all nodes are the readers."""
_OF_KAFKA: Final = {**dict.fromkeys(BROKERS_TOPICS, _LOADED), METADATA_TOPIC: _APPLIED}


@rule(
    id="CONS003",
    severity=Severity.HIGH,
    needs=(BatchHeader, BrokerEvent, Fetch, GroupOffset, OffsetCheckpoint, Produce),
    law="ConsistentRead",
    message="{offsets:^} held committed records of {epochs}. Now {since} are there. {readers}",
    implied_by=("LEAD001", "ACK001", "TRUNC001"),
)
def offsets_reused(evidence: PartitionEvidence) -> Iterator[Violation]:
    """A range of offsets held other committed records in an earlier epoch.

    A new leader that lacks records gives their offsets to new ones. A consumer that has read the old records stands
    beyond the range or in it. It goes on from there and never sees the new ones.

    Proves
    ------
    Two readers of the same offsets have read different records, depending on when they read.

    Undecided when
    --------------
    Never by itself: where it is open what was lost, LEAD001 and ACK001 say so.

    Upheld
    ------
    broker 1 000011|
    broker 2 000011|
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
    t2 fetch 2@0 from 1 hw=0
    t3 fetch 2@4 from 1 hw=4
    t4 leads 2 epoch 1 at 4 hw 4 isr 2

    Violated
    --------
    broker 1 00111|
    broker 2 00111|
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
    t2 fetch 2@0 from 1 hw=0
    t3 fetch 2@4 from 1 hw=4
    t4 leads 2 epoch 1 at 2 hw 2 isr 2
    """
    if evidence.epochs_used_twice:
        return
    for loss in losses(evidence):
        # Nobody reads what is not committed.
        end = min(loss.reused_end, loss.committed_end)
        if loss.for_good and end > loss.start_offset:
            yield _violation(loss, end, evidence)


def _violation(loss: Loss, end: int, evidence: PartitionEvidence) -> Violation:
    groups = tuple(group.group for group in loss.groups)
    clients = tuple(sorted({reader.client_id or NAMELESS for reader in loss.readers}))
    affected = [f"group {quoted(name)}" for name in groups[:NAMED]]
    affected += [name if name == NAMELESS else f"client id {quoted(name)}" for name in clients[:NAMED]]
    known = f"Known consumers: {', '.join(affected)}." if affected else "Who read them is not known."
    spans = [c.span for c in evidence.group_offsets if c.group in groups][:NAMED]
    return Violation(
        brokers=(),
        start_offset=loss.start_offset,
        end_offset=end,
        facts={
            "epoch": loss.epoch,
            "epochs": loss.epochs,
            "since": _since(loss.epoch, loss.reused_epochs),
            "readers": _OF_KAFKA.get(evidence.topic or "", f"{_readers(loss)} {known}"),
            "groups": groups,
            "clients": clients,
            "subject": str(loss.epoch),
        },
        exhibits=tuple(Exhibit(span=span, role="what a group committed") for span in spans),
    )


def _readers(loss: Loss) -> str:
    return f"Consumers that read the records of {loss.epochs} must go back to offset {loss.start_offset}."


def _since(epoch: int, others: Sequence[int]) -> str:
    """What is there now, by its epochs: the controllers' numbers may go either way where an older log led."""
    if epoch in others or not others or min(others) < 0:
        return "other records"
    older = (", an older epoch," if max(others) < epoch else "") if len(others) == 1 else ""
    return f"records of {numbered('epoch', others)}{older}"
