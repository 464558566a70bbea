"""Copies of lost records that still stand: what is to be copied from where, and before what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from auditor.report.model import AuditReport, Going, Loss, PlacedHistory, Survivor
from auditor.report.worths import Ranges, joined
from rules.finding import PLACE_OF_NAMES
from rules.words import counted

_FATE: Final = {
    "replica": "When it follows a leader again, it may truncate them.",
    "future replica": "A log that moves between disks is cut to the one that it follows.",
    "deleted file": "A broker removes such files as soon as it loads the log.",
    "deleted dir": "A running broker removes such folders after file.delete.delay.ms, 60 seconds by default.",
    "stray dir": "Nothing removes it by itself, and nothing else keeps these records.",
}


def copies(history: PlacedHistory, loss: Loss, report: AuditReport) -> Iterator[tuple[str, str, Ranges]]:
    """What is to be done with each copy, where it lies, and the ranges that it holds.

    Deleted files of one folder are one copy.
    """
    held: dict[tuple[int, str, str], list[Survivor]] = {}
    for survivor in loss.survivors:
        held.setdefault((survivor.broker, survivor.kind, _folder(survivor)), []).append(survivor)
    for own in held.values():
        yield _words(history, own[0], report), _where(own), joined((s.start_offset, s.end_offset) for s in own)


def _folder(survivor: Survivor) -> str:
    return survivor.path.rpartition("/")[0] if survivor.kind == "deleted file" else survivor.path


def _words(history: PlacedHistory, first: Survivor, report: AuditReport) -> str:
    """Whose copy it is and until when: a start that cuts none of it does not end it, an election may."""
    broker, kind = f"broker {first.broker}", "" if first.kind == "replica" else f"{first.kind} "
    copy = f"Copy these records from {broker} ({kind}{PLACE_OF_NAMES}) before"
    if first.kind == "stray dir":
        return f"{copy} anybody deletes that folder. {_FATE[first.kind]}"
    starts = _starts(history, first.broker, report) if first.kind == "replica" else {"no-go"}
    if starts == {"go"}:
        return f"{copy} any election. A restart of {broker} alone keeps them."
    if starts == {"unknown"}:
        return f"{copy} {broker} starts, and before any election."
    return f"{copy} {broker} starts. {_FATE[first.kind]}"


def _where(held: Sequence[Survivor]) -> str:
    """Its path in the dump."""
    more = f" and {counted(len(held) - 1, 'file')} beside it" if len(held) > 1 else ""
    return f"{held[0].path}{more}"


def _starts(history: PlacedHistory, broker: int, report: AuditReport) -> set[Going]:
    """What the advice says of the start of a broker: a NO-GO where it knows of something that goes by it."""
    place = (history.cluster_id, history.topic, history.partition)
    own = [a.advice for a in report.advice if (a.cluster_id, a.topic, a.partition) == place]
    if any(doomed.broker == broker for advice in own for doomed in advice.doomed):
        return {"no-go"}
    return {gate.going for advice in own for gate in advice.gates if gate.action == f"restart broker {broker}"}
