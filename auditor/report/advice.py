"""Advice as text for a person at three in the morning, and as JSON; nothing in it is run by anybody but the reader."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Final

from auditor.report.model import Candidate, Doomed, Gate, Loss, PlacedAdvice, Stretch, Survivor
from auditor.report.plain import plain

SCHEMA_VERSION: Final = 1
SHOWN: Final = 200
_FADING: Final = ("deleted file", "deleted dir")
_WORDS: Final = {"go": "GO", "no-go": "NO-GO", "unknown": "UNKNOWN"}


def text(advice: Sequence[PlacedAdvice]) -> str:
    """The advice on every partition, one after the other."""
    if not advice:
        return "Nothing is to be decided: no loss, no cut that is owed, no finding of medium severity or above.\n"
    lines = [line for placed in advice[:SHOWN] for line in (*_partition(placed), "")]
    if len(advice) > SHOWN:
        lines.append(f"… and {len(advice) - SHOWN} more partitions; ask for one with --topic and --partition")
    lines.append("Every broker that may hold more must be in the dump, or the advice is worth less than it says.")
    return "".join(f"{plain(line)}\n" for line in lines)


def document(advice: Sequence[PlacedAdvice]) -> str:
    """The same as one JSON document."""
    partitions = [_document(placed) for placed in advice]
    return json.dumps({"schemaVersion": SCHEMA_VERSION, "partitions": partitions}, indent=2, ensure_ascii=True) + "\n"


def election(placed: PlacedAdvice) -> dict[str, object]:
    """The file that kafka-leader-election takes."""
    return {"partitions": [{"topic": placed.topic, "partition": placed.partition}]}


def reassignment(placed: PlacedAdvice, leader: int) -> dict[str, object]:
    """The file that kafka-reassign-partitions takes, with the leader to be as the first replica."""
    others = [broker for broker in placed.advice.assignment if broker != leader]
    moved = {"topic": placed.topic, "partition": placed.partition, "replicas": [leader, *others]}
    return {"version": 1, "partitions": [moved]}


def _partition(placed: PlacedAdvice) -> Iterator[str]:
    advice = placed.advice
    yield f"{placed.topic}-{placed.partition}"
    yield f"  assigned to {_brokers(advice.assignment)}; by epoch and log end {_brokers(advice.leaders)} would lead"
    if advice.absent:
        yield f"  not in this dump: {_brokers(advice.absent)}"
    yield "  Candidates for leader, best first"
    for place, candidate in enumerate(advice.candidates, start=1):
        yield from _candidate(place, candidate)
    yield from _before(placed)
    yield "  Go or no-go"
    yield from (f"    {line}" for gate in advice.gates for line in _gate(gate))
    yield from _files(placed)


def _candidate(place: int, candidate: Candidate) -> Iterator[str]:
    health = "; ".join(candidate.damage) or "no damage known"
    stop = "stopped in order" if candidate.stopped_in_order else "no clean-shutdown marker: its tail may be recovered"
    epoch = "no epochs" if candidate.last_epoch < 0 else f"newest epoch {candidate.last_epoch}"
    ends = f"{epoch}, log end {candidate.log_end_offset}"
    yield f"    {place}. broker {candidate.broker}: {ends}; {health}; {stop}"
    yield from (f"       costs {_stretch(stretch)}" for stretch in candidate.lacks)
    if not candidate.lacks:
        yield "       costs nothing that anybody was told is written"
    for cut in candidate.cuts:
        rule = f"{cut.rule}{'' if cut.in_force else ', if its versions are new'}"
        if cut.cut_to < cut.log_end_offset:
            yield f"       broker {cut.follower} is cut from {cut.log_end_offset} to {cut.cut_to} ({rule})"
        if cut.then != "agrees":
            yield f"       broker {cut.follower} does not come out equal: {cut.then} ({rule}: {cut.because})"


def _stretch(stretch: Stretch) -> str:
    what = f"[{stretch.start_offset}, {stretch.end_offset}) of epoch {stretch.epoch}"
    if stretch.committed_end > stretch.start_offset:
        return f"{what}, committed [{stretch.start_offset}, {stretch.committed_end})"
    if stretch.acknowledged_end > stretch.start_offset:
        return f"{what}, acknowledged at least [{stretch.start_offset}, {stretch.acknowledged_end})"
    return f"{what}, of which nobody was told"


def _before(placed: PlacedAdvice) -> Iterator[str]:
    fading = [copy for loss in placed.losses for copy in loss.survivors if copy.kind in _FADING]
    if not placed.advice.doomed and not fading:
        return
    yield "  Before you restart anything"
    for doomed in placed.advice.doomed:
        yield from _doomed(doomed)
    for copy in fading:
        what = f"[{copy.start_offset}, {copy.end_offset}) of epoch {copy.epoch}"
        yield f"    broker {copy.broker}, {copy.kind}: {what}; copy now: {copy.path}"
    if fading:
        yield "    A broker removes .deleted files as soon as it loads the log, and -delete folders after"
        yield "    file.delete.delay.ms (60 seconds by default); a running one removes both after that time."


def _doomed(doomed: Doomed) -> Iterator[str]:
    others = ", ".join(dict.fromkeys(f"broker {copy.broker} ({copy.kind})" for copy in doomed.others))
    last = f"also on {others}" if others else "the last copy in this dump"
    yield f"    broker {doomed.broker}: {_stretch(doomed.stretch)}; {last}"
    yield f"      goes because {doomed.because}"
    for copy in doomed.spans:
        for span in copy.spans:
            yield f"      copy now: {span.source} bytes [{span.start}, {span.end})"


def _gate(gate: Gate) -> Iterator[str]:
    yield f"{_WORDS[gate.going]:<8} {gate.action}: {gate.because}"
    if gate.first:
        yield f"{'':<8} first {gate.first}"


def _files(placed: PlacedAdvice) -> Iterator[str]:
    if not placed.advice.candidates:
        return
    best = placed.advice.candidates[0]
    yield "  For your review; nothing was run"
    yield "    kafka-leader-election --election-type unclean --path-to-json-file election.json"
    yield f"      election.json      {json.dumps(election(placed))}"
    yield "      It elects the first replica of the assignment that runs, not the best one: let no other run, or put"
    yield f"      broker {best.broker} first. --election-type preferred does the same without loss where it is in sync."
    yield "    kafka-reassign-partitions --execute --reassignment-json-file reassignment.json"
    yield f"      reassignment.json  {json.dumps(reassignment(placed, best.broker))}"


def _brokers(brokers: Sequence[int]) -> str:
    return f"broker{'s' if len(brokers) > 1 else ''} {', '.join(map(str, brokers))}" if brokers else "nobody known"


def _document(placed: PlacedAdvice) -> dict[str, object]:
    told = _camel_keys(asdict(placed.advice))
    files = [
        {"broker": candidate.broker, "reassignment": reassignment(placed, candidate.broker)}
        for candidate in placed.advice.candidates
    ]
    fading = [_camel_keys(asdict(copy)) for loss in placed.losses for copy in _fading(loss)]
    return {
        "clusterId": placed.cluster_id,
        "topic": placed.topic,
        "partition": placed.partition,
        **(told if isinstance(told, dict) else {}),
        "copyNow": fading,
        "election": election(placed),
        "reassignments": files,
    }


def _fading(loss: Loss) -> Iterator[Survivor]:
    yield from (copy for copy in loss.survivors if copy.kind in _FADING)


def _camel_keys(value: object) -> object:
    if isinstance(value, dict):
        return {_camel(str(key)): _camel_keys(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_camel_keys(inner) for inner in value]
    return value


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
