"""A simulated run as a document: the same rows as the timeline, field by field."""

from __future__ import annotations

from collections.abc import Sequence

from auditor.document_fields import Json, fields
from rules.simulator.drawing import draw
from rules.simulator.run_outcome import Outcome
from rules.simulator.run_rows import ReplicaRow, Row
from rules.simulator.state import Batch, ReconciledCut


def run_document(finished: Outcome) -> Json:
    """A run: rows and outcome."""
    return {
        "title": finished.run.script.title,
        "versions": {str(broker): str(found) for broker, found in finished.run.generations.items()},
        "rows": [_row(row) for row in finished.run.rows],
        "outcome": _outcome(finished),
    }


def comparison_document(columns: Sequence[Outcome]) -> Json:
    """What each generation made of one script."""
    return {
        "title": columns[0].run.script.title,
        "generations": [
            {"name": column.name, "version": str(next(iter(column.run.generations.values()))), **_outcome(column)}
            for column in columns
        ],
    }


def _row(row: Row) -> Json:
    return {
        **fields(row, "number event time_ms epoch=leaderEpoch leader isr elr under_replicated under_min_isr"),
        "replicas": [_replica(replica) for replica in row.replicas],
        "said": list(row.said),
    }


def _replica(replica: ReplicaRow) -> Json:
    return {
        **fields(replica, "broker role log_end_offset high_watermark"),
        "epochs": [{"epoch": epoch, "startOffset": start} for epoch, start in replica.epochs],
        "isr": None if replica.isr is None else list(replica.isr),
        "remoteLogEndOffsets": {
            str(known.broker): fields(known, "log_end_offset last_caught_up_ms") for known in replica.remote
        },
    }


def _outcome(finished: Outcome) -> Json:
    end = finished.visible
    return {
        "leader": finished.leader,
        "visible": None if end is None else {"startOffset": end[0], "endOffset": end[1]},
        "sketch": draw(finished.run.end).splitlines(),
        "logs": {str(broker.id): [*map(_batch, broker.log.batches)] for broker in finished.run.end.brokers},
        "cuts": [_cut(cut) for cut in finished.cuts],
        "diverge": [fields(parting) for parting in finished.partings],
        "acknowledgedAndLost": [sent.name for sent in finished.lost],
        "visibleOnceAndLost": [_batch(batch) for batch in finished.unread],
        "readTwice": [[_batch(first), _batch(second)] for first, second in finished.replaced],
        "offlineMs": finished.offline_ms,
        "producers": [fields(sent, "name acks broker epoch answer") for sent in finished.run.end.produces],
    }


def _batch(batch: Batch) -> Json:
    return fields(batch, "name base_offset end_offset epoch")


def _cut(cut: ReconciledCut) -> Json:
    return {
        **fields(cut, "broker leader epoch=leaderEpoch rule exchanges"),
        **fields(cut, "from_offset=from to_offset=to kept_log_end_offset"),
        "removed": [_batch(batch) for batch in cut.removed],
        "because": cut.because,
    }
