"""Reopen the bytes that a finding stands on, payloads hidden unless asked for; or list an incident's findings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from auditor.config import ConfigError
from auditor.evidence_bytes import content_lines
from auditor.memory import Remembered, recall, reopened, stamp_of
from auditor.report.plain import plain
from parsers.files import FileFault, locate

BATCH_LIMIT = 128 << 20
MOST = 20
_RULE = re.compile(r"[A-Za-z]*[G-Zg-z][A-Za-z]*\d{3}")
"""A letter beyond F tells a rule's id from the digits of a finding's."""


class _Place(Struct, frozen=True, kw_only=True):
    """One address that a finding names."""

    path: str
    start: int
    end: int
    role: str


def show_finding(finding_id: str, report: Path | None, dump: Path | None, *, bytes_shown: int, payloads: bool) -> str:
    """The finding and its evidence, as text."""
    with reopened(recall(report, dump)) as remembered:
        return _shown(remembered, finding_id, bytes_shown, payloads=payloads)


def _shown(remembered: Remembered, finding_id: str, bytes_shown: int, *, payloads: bool) -> str:
    if finding_id.startswith("I-"):
        return _incident(remembered, finding_id)
    if _RULE.fullmatch(finding_id):
        return _of_rule(remembered, finding_id.upper())
    finding = find_finding(remembered, finding_id)
    said = {name: finding.get(name) for name in ("id", "rule", "severity", "topic", "partition", "message")}
    lines = [
        f"{said['id']}  {said['rule']}  {said['severity']}  {_place(said)}",
        str(said["message"]),
        f"Found by {remembered.audit}.",
    ]
    for place in _places(finding):
        lines += ["", *_exhibit(place, remembered, bytes_shown, payloads=payloads)]
    lines += ["", f"{remembered.moved}."] if remembered.moved else []
    return "\n".join(map(plain, lines)) + "\n"


def _of_rule(remembered: Remembered, rule: str) -> str:
    """The findings of a rule, each to be shown by its own id."""
    known = _listed(remembered, "finding")
    own = [finding for finding in known if finding.get("rule") == rule]
    if not own:
        rules = ", ".join(dict.fromkeys(str(finding.get("rule")) for finding in known)) or "none"
        none = f"{rule} is a rule and has no finding in {remembered.audit}"
        raise ConfigError(f"{none}; rules with findings: {rules}{remembered.instead}")
    lines = [f"{rule} is a rule. Its findings in {remembered.audit}, the first {MOST}:"]
    for finding in own[:MOST]:
        lines += ["", f"{finding.get('id')}  {rule}  {finding.get('severity')}  {_place(finding)}"]
        lines.append(f"  {finding.get('message')}")
    more = [f"… and {len(own) - MOST} more, listed by the audit's -v"] if len(own) > MOST else []
    lines += ["", *more, "tidemark show with the id of a finding reopens its bytes; tidemark explain tells the rule."]
    return "\n".join(map(plain, lines)) + "\n"


def _place(said: Mapping[str, object]) -> str:
    if said.get("topic") is None:
        return "whole dump"
    return f"topic {said['topic']}" if said.get("partition") is None else f"{said['topic']}-{said['partition']}"


def find_finding(remembered: Remembered, finding_id: str) -> Mapping[str, object]:
    """The finding of this id, or of the only id that begins so."""
    return _only(remembered, "finding", finding_id if finding_id.startswith("F-") else f"F-{finding_id}")


def _only(remembered: Remembered, kind: str, wanted: str) -> Mapping[str, object]:
    known = _listed(remembered, kind)
    matches = [f for f in known if f.get("id") == wanted] or [f for f in known if str(f.get("id")).startswith(wanted)]
    if len(matches) == 1:
        return matches[0]
    ids = ", ".join(str(f.get("id")) for f in (matches or known)[:10]) or f"no {kind}"
    problem = f"names several {kind}s of" if matches else f"is no {kind} of"
    raise ConfigError(f"{wanted} {problem} {remembered.audit}, which has {ids}{remembered.instead}")


def _listed(remembered: Remembered, kind: str) -> list[dict[str, object]]:
    listed = remembered.report.get(f"{kind}s")
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _incident(remembered: Remembered, incident_id: str) -> str:
    """The findings of an incident, the cause first, each to be shown by its own id."""
    incident = _only(remembered, "incident", incident_id)
    findings = {str(finding.get("id")): finding for finding in _listed(remembered, "finding")}
    named = incident.get("findings")
    lines = [f"{incident.get('id')}  {incident.get('severity')}  {incident.get('title')}"]
    for own in map(str, named if isinstance(named, list) else ()):
        said = findings.get(own, {})
        place = f"{said.get('topic')}-{said.get('partition')}"
        lines += ["", f"{own}  {said.get('rule')}  {said.get('severity')}  {place}", f"  {said.get('message')}"]
    lines += ["", f"Found by {remembered.audit}. tidemark show with the id of a finding reopens its bytes."]
    return "\n".join(map(plain, lines)) + "\n"


def _places(finding: Mapping[str, object]) -> list[_Place]:
    evidence = finding.get("evidence")
    try:
        return [
            _Place(path=str(e["path"]), start=int(e["start"]), end=int(e["end"]), role=str(e["role"]))
            for e in (evidence if isinstance(evidence, list) else ())
        ]
    except (TypeError, KeyError, ValueError) as error:
        raise ConfigError(f"{finding.get('id')}: its evidence has no path, start, end and role") from error


def _exhibit(place: _Place, remembered: Remembered, bytes_shown: int, *, payloads: bool) -> Iterator[str]:
    yield f"{place.path} [{place.start}, {place.end})  {place.role}"
    before = remembered.stamps.get(place.path)
    if before is not None and before != stamp_of(remembered.dump, place.path):
        yield "  the file has changed since the audit: these may be other bytes"
    data = _bytes(remembered.dump, place)
    if isinstance(data, str):
        yield f"  cannot be opened: {data}"
        return
    asked = place.end - place.start
    if len(data) < min(asked, BATCH_LIMIT):
        yield f"  only {len(data)} of {asked} bytes are there: the file has changed since the audit"
    yield from content_lines(place.path, place.start, data, bytes_shown, payloads=payloads)


def _bytes(dump: Path, place: _Place) -> bytes | str:
    """The bytes at an address, or why they cannot be had."""
    found = locate(dump, place.path)
    if isinstance(found, FileFault):
        return f"expected {found.expected}, found {found.found}"
    try:
        if not found.is_file():
            return "expected a regular file, found something else" if found.exists() else "it is not there"
        with found.open("rb", buffering=0) as file:
            file.seek(max(0, place.start))
            return file.read(max(0, min(place.end - place.start, BATCH_LIMIT)))
    except OSError as error:
        return error.strerror or type(error).__name__
