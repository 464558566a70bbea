"""EPOCH006: a log holds a leader epoch that the controller never gave."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, EpochEntry, MetadataChange
from rules.evidence import PartitionEvidence, PartitionState, Replica, is_metadata
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="EPOCH006",
    severity=Severity.HIGH,
    needs=(MetadataChange, BatchHeader, EpochEntry),
    law="EpochGap",
    message="Broker {broker} holds leader epoch {epoch} from offset {start_offset} on. The metadata log never gave "
    "that epoch: it knows {known}.",
)
def epoch_unknown_to_metadata(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A log names a leader epoch that a complete metadata log does not.

    Proves
    ------
    The log, or the metadata log, is of another cluster, of another life of the topic, or was restored from a copy.

    Undecided when
    --------------
    The metadata log does not reach back to the partition's creation, or the files were copied while brokers ran. An
    epoch above all that it knows may have been given behind its end: a log that was cut there looks whole.

    Upheld
    ------
    broker 1 0022|
    broker 2 0022|
    t0 leader 1 epoch 0 isr 1,2
    t1 leader 2 epoch 2 isr 1,2

    Violated
    --------
    broker 1 0122|
    broker 2 0122|
    t0 leader 1 epoch 0 isr 1,2
    t1 leader 2 epoch 2 isr 1,2
    """
    # A ZooKeeper controller's log is no history: it is rotated, and its predecessors wrote their own.
    given = [m for m in evidence.moments if is_metadata(m) and m.epoch is not None]
    if not given:
        return
    if not any(m.partition_epoch == 0 for m in given) or evidence.copied_live:
        reason = "the metadata log here may not cover the partition's whole life. So leader epochs on the disks were not compared with that log"
        yield Undecided(reason=reason, missing="the metadata log from the topic's creation to the brokers' shutdown", blocking=False)
        return
    known = frozenset(m.epoch for m in given if m.epoch is not None)
    of_the_topic = [replica for replica in evidence.current if _same_topic(replica, given, evidence.told_ids)]
    for replica in of_the_topic:
        yield from _unknown(replica, known, given)
    newer = tuple(replica.broker for replica in of_the_topic if max(_starts(replica), default=-1) > max(known))
    if newer:
        kept = given[-1].trust == "high"
        yield Undecided(
            reason=f"leader epochs above {max(known)} are in logs, and the metadata log here ends before it gave any",
            missing="the metadata log to its end" if kept else "the copy that a controller kept",
            brokers=newer,
            blocking=kept,
        )


def _same_topic(replica: Replica, given: list[PartitionState], told_ids: frozenset[str]) -> bool:
    """Of a topic that was created again, a directory without an id may be of either life."""
    ids = {m.topic_id for m in given}
    return (replica.topic_id is None and len(told_ids) < 2) or replica.topic_id in ids or ids == {None}


def _unknown(replica: Replica, known: frozenset[int], given: list[PartitionState]) -> Iterator[Violation]:
    """Epochs between those that it gave."""
    spans = {run.epoch: run.first for run in replica.log.epochs}
    spans |= {entry.epoch: entry.span for entry in replica.epoch_file.entries}
    starts = _starts(replica)
    for epoch in sorted(starts):
        if epoch not in known and epoch < max(known):
            yield Violation(
                brokers=(replica.broker,),
                start_offset=starts[epoch],
                facts={
                    "broker": replica.broker,
                    "epoch": epoch,
                    "known": tuple(sorted(known)),
                    "subject": str(epoch),
                },
                exhibits=(
                    *((Exhibit(span=spans[epoch], role="the epoch"),) if epoch in spans else ()),
                    Exhibit(span=given[-1].span, role="the last of the metadata log's statements"),
                ),
            )


def _starts(replica: Replica) -> dict[int, int]:
    """Where each epoch begins that the log or the epoch file names."""
    return {entry.epoch: entry.start_offset for entry in (*replica.log_chain, *replica.file_chain)}
