"""Reopen the bytes that a finding stands on, payloads hidden unless asked for; or list an incident's findings."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from auditor.config import ConfigError
from auditor.memory import Remembered, recall, reopened, stamp_of
from auditor.report.plain import plain
from auditor.report.utc_times import moment
from parsers.files import FileFault, locate
from parsers.inventory.file_names import parse_file_name
from parsers.provenance import FileKind, Origin
from parsers.records import decode_entry, header_of
from rules.words import first_of

BATCH_LIMIT = 128 << 20
MOST = 20
NAMED: Final = 10
_RULE = re.compile(r"[A-Za-z]*[G-Zg-z][A-Za-z]*\d{3}")
"""A letter beyond F tells a rule's id from the digits of a finding's."""
HEADER_BYTES: Final = 61
LEGACY_HEADER_BYTES: Final = 18
LEGACY_MAGICS: Final = (0, 1)
BATCHES_SHOWN: Final = 8
_LENGTH: Final = struct.Struct(">i")
_BATCHES: Final[tuple[FileKind, ...]] = ("segment", "kraft-snapshot")
_NUMBERS: Final[tuple[FileKind, ...]] = ("offset-index", "time-index", "transaction-index", "producer-snapshot")
_DUMP_LINE: Final = re.compile(r"(?:\| |- )?(?:baseOffset|offset|Dumping|Starting offset|Log starting offset)\b")
_CONTENTS: Final = re.compile(r" (?:headerKeys|key|payload): .*")


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
    return f"topic '{said['topic']}'" if said.get("partition") is None else f"{said['topic']}-{said['partition']}"


def find_finding(remembered: Remembered, finding_id: str) -> Mapping[str, object]:
    """The finding of this id, or of the only id that begins so."""
    return _only(remembered, "finding", finding_id if finding_id.startswith("F-") else f"F-{finding_id}")


def _only(remembered: Remembered, kind: str, wanted: str) -> Mapping[str, object]:
    known = _listed(remembered, kind)
    matches = [f for f in known if f.get("id") == wanted] or [f for f in known if str(f.get("id")).startswith(wanted)]
    if len(matches) == 1:
        return matches[0]
    ids = first_of([str(f.get("id")) for f in matches or known], NAMED) or f"no {kind}"
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


def content_lines(path: str, start: int, data: bytes, bytes_shown: int, *, payloads: bool) -> Iterator[str]:
    """What stands at byte `start` of a file."""
    kind = parse_file_name(path.rpartition("/")[2]).kind
    if kind in _BATCHES or (kind == "leftover" and ".log" in path):
        yield from _batches(path, start, data, bytes_shown, payloads=payloads)
    elif kind in _NUMBERS:
        yield from _hex(start, data[:bytes_shown])
    elif b"\0" in data:
        yield from _hidden(start, data, bytes_shown, payloads=payloads)
    else:
        # A file that no name explains may be a dump text, which holds what the records hold.
        yield from _text(data, bytes_shown, all_of_it=payloads or kind != "unknown")


def _text(data: bytes, bytes_shown: int, *, all_of_it: bool) -> Iterator[str]:
    hidden = 0
    shown = data if len(data) <= bytes_shown else data[:bytes_shown] + "…".encode()
    for line in shown.decode("utf-8", "replace").splitlines():
        if all_of_it:
            yield f"  | {line}"
        elif _DUMP_LINE.match(line):
            yield f"  | {_CONTENTS.sub(' …', line)}"
        else:
            hidden += 1
    if hidden:
        yield f"  … {hidden} lines are hidden (--print-data-log shows them)"


def _batches(path: str, start: int, data: bytes, bytes_shown: int, *, payloads: bool) -> Iterator[str]:
    """The batches of a stretch, each by its header; what is no batch stays hidden like a payload."""
    position = 0
    for _ in range(BATCHES_SHOWN):
        length = _LENGTH.unpack_from(data, position + 8)[0] + 12 if len(data) >= position + LEGACY_HEADER_BYTES else 0
        entry = data[position : position + length]
        if length < LEGACY_HEADER_BYTES or len(entry) < length or not _is_entry(entry):
            break
        yield from _batch(path, start + position, entry, bytes_shown, payloads=payloads)
        position += length
    if position < len(data):
        yield from _hidden(start + position, data[position:], bytes_shown, payloads=payloads)


def _is_entry(entry: bytes) -> bool:
    return entry[16] in LEGACY_MAGICS or header_of(entry) is not None


def _batch(path: str, start: int, entry: bytes, bytes_shown: int, *, payloads: bool) -> Iterator[str]:
    header = header_of(entry)
    if header is None:
        offset, crc = struct.unpack_from(">q4xI", entry)
        yield f"  entry of magic {entry[16]} at offset {offset}, crc {crc}"
    else:
        yield (
            f"  batch of {header.record_count} records, offsets {header.base_offset} to"
            f" {header.base_offset + header.last_offset_delta}, epoch {header.leader_epoch}, crc {header.crc},"
            f" producer {header.producer_id}/{header.producer_epoch}, written {_time(header.max_timestamp)}"
        )
    head = LEGACY_HEADER_BYTES if header is None else HEADER_BYTES
    yield from _hex(start, entry[:head])
    if payloads:
        yield from _records(path, start, entry, bytes_shown)
    elif len(entry) > head:
        yield f"  … {len(entry) - head} bytes of records are hidden (--print-data-log shows them)"


def _records(path: str, start: int, entry: bytes, bytes_shown: int) -> Iterator[str]:
    parsed = decode_entry(entry, Origin(source=path), start, payloads=True)
    for row in parsed.rows:
        key, value = (_payload(part, bytes_shown) for part in (row.key, row.value))
        yield f"  offset {row.offset}  key {key}  value {value}"
    for refusal in parsed.refusals:
        yield f"  records cannot be decoded: expected {refusal.expected}, found {refusal.found}"


def _hidden(start: int, data: bytes, bytes_shown: int, *, payloads: bool) -> Iterator[str]:
    """Bytes that nothing explains: zeros may be named, the rest may be anybody's payload."""
    if not data.strip(b"\0"):
        yield f"  {len(data)} bytes of zeros"
        return
    yield from _hex(start, data[: bytes_shown if payloads else LEGACY_HEADER_BYTES])
    if not payloads and len(data) > LEGACY_HEADER_BYTES:
        yield f"  … {len(data) - LEGACY_HEADER_BYTES} more bytes are hidden (--print-data-log shows them)"


def _payload(part: bytes | None, bytes_shown: int) -> str:
    if part is None:
        return "null"
    return repr(part[:bytes_shown])[1:] + ("…" if len(part) > bytes_shown else "")


def _hex(start: int, data: bytes) -> Iterator[str]:
    for row in range(0, len(data), 16):
        yield f"  {start + row:>12}  {data[row : row + 16].hex(' ')}"


def _time(milliseconds: int) -> str:
    time = moment(milliseconds)
    return f"{time} UTC" if time else "at no known time"
