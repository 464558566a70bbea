"""`tidemark simulate`: a script of the replication protocol, run under one version or under every generation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from auditor.config import ConfigError
from auditor.document_fields import Json, fields
from auditor.simulation.run_text import comparison_text, run_text
from auditor.simulation.script_file import read_script
from auditor.simulation.written_dump import write_dump
from rules.simulator.drawing import draw
from rules.simulator.generation import UnknownGeneration, generation
from rules.simulator.run_outcome import LINEUP, Generations, Outcome, compare, outcome
from rules.simulator.run_rows import ReplicaRow, Row, run
from rules.simulator.state import Batch, ReconciledCut

FORMATS: Final = ("terminal", "json")


def simulate(
    path: Path,
    *,
    version: str | None = None,
    inter_broker_protocol: str | None = None,
    side_by_side: bool = False,
    format: str = "terminal",  # noqa: A002 - the option's name
    dump: Path | None = None,
) -> str:
    """What `tidemark simulate` prints."""
    if format not in FORMATS:
        raise ConfigError(f"--format: expected {' or '.join(FORMATS)}, found {format!r}")
    if side_by_side and dump is not None:
        raise ConfigError("--dump: expected one version to write the log dirs of; leave out --dump or --compare")
    as_json = format == "json"
    script = read_script(path)
    try:
        if side_by_side:
            columns = compare(script, _lineup(version, inter_broker_protocol))
            return _json(comparison_document(columns)) if as_json else comparison_text(columns)
        finished = outcome(run(script, version, inter_broker_protocol))
        if dump is not None:
            write_dump(finished.run, dump)
    except UnknownGeneration as error:
        given = {"--version": version, "--inter-broker-protocol": inter_broker_protocol}
        named = " with ".join(f"{flag} {text}" for flag, text in given.items() if text)
        raise ConfigError(f"{named or path}: {error}") from error
    return _json(run_document(finished)) if as_json else run_text(finished)


def _json(document: Mapping[str, object]) -> str:
    return json.dumps(document, indent=1) + "\n"


def _lineup(version: str | None, inter_broker_protocol: str | None) -> tuple[Generations, ...]:
    """Every generation, and beside them the version that was asked for."""
    if version is None:
        return LINEUP
    chosen = generation(version, inter_broker_protocol)
    asked = Generations(name=f"asked: {chosen.rule}", version=version, inter_broker_protocol=str(chosen.spoken))
    return (*LINEUP, asked)


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
