"""A simulated run as a document: the same rows as the timeline, field by field."""

from __future__ import annotations

from collections.abc import Sequence

from rules.simulator.drawing import draw
from rules.simulator.run_outcome import Outcome
from rules.simulator.run_rows import ReplicaRow, Row
from rules.simulator.state import Batch, ReconciledCut

Document = dict[str, object]


def run_document(finished: Outcome) -> Document:
    """A run: rows and outcome."""
    return {
        "title": finished.run.script.title,
        "versions": {str(broker): str(found) for broker, found in finished.run.generations.items()},
        "rows": [_row(row) for row in finished.run.rows],
        "outcome": _outcome(finished),
    }


def comparison_document(columns: Sequence[Outcome]) -> Document:
    """What each generation made of one script."""
    return {
        "title": columns[0].run.script.title,
        "generations": [
            {"name": column.name, "version": str(next(iter(column.run.generations.values()))), **_outcome(column)}
            for column in columns
        ],
    }


def _row(row: Row) -> Document:
    return {
        "number": row.number,
        "event": row.event,
        "timeMs": row.time_ms,
        "leaderEpoch": row.epoch,
        "leader": row.leader,
        "isr": list(row.isr),
        "elr": list(row.elr),
        "underReplicated": row.under_replicated,
        "underMinIsr": row.under_min_isr,
        "replicas": [_replica(replica) for replica in row.replicas],
        "said": list(row.said),
    }


def _replica(replica: ReplicaRow) -> Document:
    return {
        "broker": replica.broker,
        "role": replica.role,
        "logEndOffset": replica.log_end_offset,
        "highWatermark": replica.high_watermark,
        "epochs": [{"epoch": epoch, "startOffset": start} for epoch, start in replica.epochs],
        "isr": None if replica.isr is None else list(replica.isr),
        "remoteLogEndOffsets": {
            str(known.broker): {"logEndOffset": known.log_end_offset, "lastCaughtUpMs": known.last_caught_up_ms}
            for known in replica.remote
        },
    }


def _outcome(finished: Outcome) -> Document:
    end = finished.visible
    return {
        "leader": finished.leader,
        "visible": None if end is None else {"startOffset": end[0], "endOffset": end[1]},
        "sketch": draw(finished.run.end).splitlines(),
        "logs": {str(broker.id): [*map(_batch, broker.log.batches)] for broker in finished.run.end.brokers},
        "cuts": [_cut(cut) for cut in finished.cuts],
        "diverge": [{"left": p.left, "right": p.right, "offset": p.offset} for p in finished.partings],
        "acknowledgedAndLost": [sent.name for sent in finished.lost],
        "visibleOnceAndLost": [_batch(batch) for batch in finished.unread],
        "readTwice": [[_batch(first), _batch(second)] for first, second in finished.replaced],
        "offlineMs": finished.offline_ms,
        "producers": [
            {"name": sent.name, "acks": sent.acks, "broker": sent.broker, "epoch": sent.epoch, "answer": sent.answer}
            for sent in finished.run.end.produces
        ],
    }


def _batch(batch: Batch) -> Document:
    return {"name": batch.name, "baseOffset": batch.base_offset, "endOffset": batch.end_offset, "epoch": batch.epoch}


def _cut(cut: ReconciledCut) -> Document:
    return {
        "broker": cut.broker,
        "leader": cut.leader,
        "leaderEpoch": cut.epoch,
        "rule": cut.rule,
        "exchanges": [
            {
                "askedEpoch": exchange.asked_epoch,
                "askedOffset": exchange.asked_offset,
                "answeredEpoch": exchange.answered_epoch,
                "answeredOffset": exchange.answered_offset,
            }
            for exchange in cut.exchanges
        ],
        "from": cut.from_offset,
        "to": cut.to_offset,
        "keptLogEndOffset": cut.kept_log_end_offset,
        "removed": [_batch(batch) for batch in cut.removed],
        "because": cut.because,
    }
