"""`tidemark simulate`: a script of the replication protocol, run under one version or under every generation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from auditor.config import ConfigError
from auditor.simulation.run_document import comparison_document, run_document
from auditor.simulation.run_text import comparison_text, run_text
from auditor.simulation.script_file import read_script
from auditor.simulation.written_dump import write_dump
from rules.simulator.generation import UnknownGeneration, generation
from rules.simulator.run_outcome import LINEUP, Generations, compare, outcome
from rules.simulator.run_rows import run

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
