"""Reopen the bytes that a finding stands on: headers decoded, text as lines, payloads hidden unless asked for."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from auditor.config import ConfigError
from auditor.memory import Remembered, recall
from parsers.files import FileFault, locate
from parsers.provenance import Origin
from parsers.records import decode_entry, header_of
from parsers.refusal import shorten

HEADER_BYTES = 61
BATCH_LIMIT = 128 << 20


def show_finding(
    finding_id: str, report: Path | None, dump: Path | None, *, bytes_shown: int, payloads: bool
) -> str:
    """The finding and its evidence, as text."""
    remembered = recall(report, dump)
    finding = _find(remembered, finding_id)
    lines = [f"{finding['id']}  {finding['rule']}  {finding['severity']}  {finding['topic']}-{finding['partition']}"]
    lines.append(str(finding["message"]))
    for exhibit in _exhibits(finding):
        lines += ["", *_exhibit(exhibit, remembered.dump, bytes_shown, payloads=payloads)]
    return "\n".join(lines) + "\n"


def _find(remembered: Remembered, finding_id: str) -> Mapping[str, object]:
    findings = remembered.report.get("findings")
    known = [f for f in findings if isinstance(f, dict)] if isinstance(findings, list) else []
    wanted = finding_id if finding_id.startswith("F-") else f"F-{finding_id}"
    matches = [f for f in known if str(f.get("id", "")).startswith(wanted)]
    if len(matches) == 1:
        return matches[0]
    ids = ", ".join(str(f.get("id")) for f in (matches or known)[:10]) or "none"
    problem = "names several findings" if matches else "is in no finding of the report"
    message = f"{finding_id} {problem}: {ids}"
    raise ConfigError(message)


def _exhibits(finding: Mapping[str, object]) -> list[Mapping[str, object]]:
    evidence = finding.get("evidence")
    return [item for item in evidence if isinstance(item, dict)] if isinstance(evidence, list) else []


def _exhibit(exhibit: Mapping[str, object], dump: Path, bytes_shown: int, *, payloads: bool) -> Iterator[str]:
    path, start, end = str(exhibit["path"]), int(str(exhibit["start"])), int(str(exhibit["end"]))
    yield f"{path} [{start}, {end})  {exhibit['role']}"
    place = locate(dump, path)
    if isinstance(place, FileFault):
        yield f"  cannot be opened: expected {place.expected}, found {place.found}"
        return
    try:
        with place.open("rb", buffering=0) as file:
            file.seek(start)
            data = file.read(min(end - start, BATCH_LIMIT))
    except OSError as error:
        yield f"  cannot be opened: {error.strerror}"
        return
    if len(data) < end - start:
        yield f"  only {len(data)} of {end - start} bytes are there: the file has changed since the audit"
    yield from _content(path, start, data, bytes_shown, payloads=payloads)


def _content(path: str, start: int, data: bytes, bytes_shown: int, *, payloads: bool) -> Iterator[str]:
    if not path.endswith((".log", ".swap", ".deleted", ".checkpoint")) or path.endswith(("server.log", "change.log")):
        yield from (f"  | {shorten(line)}" for line in data[:bytes_shown].decode("utf-8", "replace").splitlines())
        return
    header = header_of(data)
    if header is not None:
        yield (
            f"  batch of {header.record_count} records, offsets {header.base_offset} to"
            f" {header.base_offset + header.last_offset_delta}, epoch {header.leader_epoch}, crc {header.crc},"
            f" producer {header.producer_id}/{header.producer_epoch}, written {_time(header.max_timestamp)}"
        )
        yield from _hex(start, data[:HEADER_BYTES])
        hidden = len(data) - HEADER_BYTES
        if not payloads and hidden > 0:
            yield f"  … {hidden} bytes of records are hidden (--print-data-log shows them)"
            return
        yield from _records(path, start, data, bytes_shown)
        return
    if payloads:
        yield from _hex(start, data[:bytes_shown])
    else:
        yield from _hex(start, data[:18])
        yield f"  … {max(0, len(data) - 18)} more bytes are hidden (--print-data-log shows them)"


def _records(path: str, start: int, data: bytes, bytes_shown: int) -> Iterator[str]:
    parsed = decode_entry(data, Origin(source=path), start, payloads=True)
    for row in parsed.rows:
        key, value = (_payload(part, bytes_shown) for part in (row.key, row.value))
        yield f"  offset {row.offset}  key {key}  value {value}"
    for refusal in parsed.refusals:
        yield f"  records cannot be decoded: expected {refusal.expected}, found {refusal.found}"


def _payload(part: bytes | None, bytes_shown: int) -> str:
    if part is None:
        return "null"
    return repr(part[:bytes_shown])[1:] + ("…" if len(part) > bytes_shown else "")


def _hex(start: int, data: bytes) -> Iterator[str]:
    for row in range(0, len(data), 16):
        part: Sequence[int] = data[row : row + 16]
        yield f"  {start + row:>12}  {' '.join(f'{byte:02x}' for byte in part)}"


def _time(milliseconds: int) -> str:
    if not 0 <= milliseconds < 253_402_300_800_000:
        return "at no known time"
    moment = datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC)
    return moment.isoformat(timespec="milliseconds")
