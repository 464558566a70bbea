"""One side of a comparison: what is needed of a report, each value checked, whoever wrote the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from auditor.config import ConfigError
from auditor.kept_report import NO_REPORT, clusters_of, fingerprint_of, topic_id_of
from auditor.report.json import SCHEMA_VERSION
from rules.finding import Severity
from rules.protocol.topics import METADATA_TOPIC
from rules.words import place_name

SEVERITIES: Final = tuple(severity.label for severity in Severity)
LEVELS: Final = ("quick", "full", "deep")
VERDICTS: Final = ("clean", "findings", "unknown")
LONGEST_SHOWN: Final = 60
LARGEST: Final = 1 << 63
_KINDS: Final[dict[type, str]] = {
    dict: "an object", list: "a list", str: "text", int: "a whole number", bool: "true or false"
}  # fmt: skip


class ToldFinding(Struct, frozen=True, kw_only=True):
    """A finding as its report tells it."""

    fingerprint: str
    by_name: str
    """What of it two reports' findings are held beside each other by."""
    id: str
    rule: str
    severity: Severity
    confidence: str
    verdict: str
    topic: str | None
    topic_id: str | None
    partition: int | None
    brokers: tuple[int, ...]
    message: str
    sources: tuple[str, ...]
    """Files in which its evidence lies."""
    facts: Mapping[str, Any]

    @property
    def place(self) -> str:
        """The partition, the topic, or the dump as a whole."""
        return "whole dump" if self.topic is None else place_name(self.topic, self.partition)


class ComparedReport(Struct, frozen=True, kw_only=True):
    """What a report says, as far as it is compared."""

    name: str
    """The file or the dump, as it was given."""
    version: str
    level: str
    verdict: str
    exit_code: int
    interrupted: bool
    findings: Mapping[str, ToldFinding]
    """By what two reports' findings are held beside each other by, in the report's order."""
    clusters: frozenset[str]
    replicas: frozenset[tuple[str, int, int]]
    """Topic, partition and broker of every replica that was judged."""
    topics: Mapping[str, frozenset[str]]
    """The ids of every topic of which a replica was judged, as far as they are told."""
    rules_off: tuple[str, ...]
    raised: Mapping[str, frozenset[str]]
    """By rule, the thresholds that its policy raised, each with its value."""
    silenced: frozenset[str]
    """Ids of findings that its policy silenced."""
    kinds: tuple[str, ...]
    """Kinds of evidence of which something was read."""
    unread: int
    """Things that could not be read and keep the verdict open."""
    lacking: bool
    """Whether replicas or logs of some brokers are missing, and nobody said that a part is all there is."""
    ratio: float
    counts: Mapping[str, int]
    """Numbers of the coverage, by their names in the report."""


COUNTED: Final = (
    "partitions", "replicasSeen", "replicasMissing", "bytesSeen", "bytesRead", "offsetsCovered", "offsetsCompared",
    "filesSeen", "filesUnread",
)  # fmt: skip


def side_of(document: Mapping[str, Any], name: str) -> ComparedReport:
    """A report's document as a side; what is no report is refused by the first place where it is none."""
    reader = _DocumentReader(name)
    if reader.field(document, "schemaVersion", int) != SCHEMA_VERSION:
        reader.refuse("schemaVersion", f"expected {SCHEMA_VERSION}", document["schemaVersion"])
    tool = reader.field(document, "tool", dict)
    coverage = reader.field(document, "coverage", dict)
    scope = reader.field(coverage, "scope", dict, "coverage.")
    policy = reader.or_null(document, "policy", dict, "") or {}
    return ComparedReport(
        name=name,
        version=reader.field(tool, "version", str, "tool."),
        level=reader.one_of(tool, "level", LEVELS, "tool."),
        verdict=reader.one_of(document, "verdict", VERDICTS),
        exit_code=reader.field(document, "exitCode", int),
        interrupted=reader.field(document, "interrupted", bool),
        findings=_findings(reader, reader.field(document, "findings", list)),
        replicas=frozenset(_replicas(reader, reader.field(document, "replicas", list))),
        topics=_topics(document["replicas"]),
        clusters=clusters_of(dict(document)),
        rules_off=_rules_off(policy),
        raised=_raised(policy),
        silenced=_silenced(policy),
        kinds=tuple(map(str, reader.field(scope, "kinds", list, "coverage.scope."))),
        unread=sum(_blocks(reader, place, each) for place, each in enumerate(reader.field(document, "refusals", list))),
        lacking=_lacking(reader, coverage, scope),
        ratio=reader.ratio(coverage, "ratio", "coverage."),
        counts={each: reader.field(coverage, each, int, "coverage.") for each in COUNTED},
    )


class _DocumentReader:
    """Values of a document, each of the kind that it must be of."""

    def __init__(self, name: str) -> None:
        self._name = name

    def refuse(self, where: str, expected: str, found: object) -> None:
        """Say what should have been where."""
        shown = _KINDS.get(type(found), "nothing") if isinstance(found, dict | list | None) else repr(found)
        shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}…"
        raise ConfigError(f"{self._name}: {NO_REPORT}; at {where} {expected}, found {shown}")

    def field(self, of: Mapping[str, Any], key: str, kind: type, where: str = "") -> Any:  # noqa: ANN401
        """A value of a kind; true and false are no numbers here."""
        value = of.get(key)
        too_large = isinstance(value, int) and not -LARGEST < value < LARGEST
        if not isinstance(value, kind) or too_large or (kind is int and isinstance(value, bool)):
            self.refuse(f"{where}{key}", f"expected {_KINDS[kind]}", value)
        return value

    def one_of(self, of: Mapping[str, Any], key: str, words: Sequence[str], where: str = "") -> str:
        """A word of a few."""
        value = of.get(key)
        if not isinstance(value, str) or value not in words:
            self.refuse(f"{where}{key}", f"expected one of {', '.join(words)}", value)
        return str(value)

    def or_null(self, of: Mapping[str, Any], key: str, kind: type, where: str) -> Any:  # noqa: ANN401
        """A value that may be missing."""
        return None if of.get(key) is None else self.field(of, key, kind, where)

    def ratio(self, of: Mapping[str, Any], key: str, where: str) -> float:
        """A part of a whole."""
        value = of.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            self.refuse(f"{where}{key}", "expected a number from 0 to 1", value)
        return float(value or 0)


def _findings(reader: _DocumentReader, listed: Sequence[object]) -> dict[str, ToldFinding]:
    found: dict[str, ToldFinding] = {}
    for place, each in enumerate(listed):
        finding = _finding(reader, f"findings[{place}]", each)
        if finding.by_name in found:
            reader.refuse(f"findings[{place}].fingerprint", "expected one of its own", finding.fingerprint)
        found[finding.by_name] = finding
    return found


def _finding(reader: _DocumentReader, at: str, entry: object) -> ToldFinding:
    if not isinstance(entry, dict):
        reader.refuse(at, "expected an object", entry)
        raise TypeError
    where = f"{at}."
    brokers = reader.field(entry, "brokers", list, where)
    evidence = [each for each in reader.field(entry, "evidence", list, where) if isinstance(each, dict)]
    reader.field(entry, "fingerprint", str, where)
    return ToldFinding(
        fingerprint=entry["fingerprint"],
        by_name=fingerprint_of(entry),
        id=reader.field(entry, "id", str, where),
        rule=reader.field(entry, "rule", str, where),
        severity=Severity[reader.one_of(entry, "severity", SEVERITIES, where).upper()],
        confidence=reader.field(entry, "confidence", str, where),
        verdict=reader.one_of(entry, "verdict", ("violated", "undecided"), where),
        topic=reader.or_null(entry, "topic", str, where),
        topic_id=reader.or_null(entry, "topicId", str, where),
        partition=reader.or_null(entry, "partition", int, where),
        brokers=tuple(broker for broker in brokers if isinstance(broker, int)),
        message=reader.field(entry, "message", str, where),
        sources=tuple(sorted({str(each.get("path")) for each in evidence})),
        facts=reader.field(entry, "facts", dict, where),
    )


def _replicas(reader: _DocumentReader, listed: Sequence[object]) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    for place, each in enumerate(listed):
        entry, where = (each if isinstance(each, dict) else {}), f"replicas[{place}]."
        broker = reader.or_null(entry, "broker", int, where)
        topic, partition = (reader.field(entry, key, kind, where) for key, kind in (("topic", str), ("partition", int)))
        found.append((topic, partition, -1 if broker is None else broker))
    return found


def _topics(replicas: Sequence[Mapping[str, Any]]) -> dict[str, frozenset[str]]:
    """By name. The metadata log is a topic of every cluster."""
    found: dict[str, frozenset[str]] = {}
    for each in replicas:
        if (topic := each["topic"]) != METADATA_TOPIC:
            told_here = topic_id_of(each)
            found[topic] = found.get(topic, frozenset()) | (frozenset() if told_here is None else {told_here})
    return found


def _blocks(reader: _DocumentReader, place: int, refusal: object) -> bool:
    entry = refusal if isinstance(refusal, dict) else {}
    return bool(reader.field(entry, "blocking", bool, f"refusals[{place}]."))


def _lacking(reader: _DocumentReader, coverage: Mapping[str, Any], scope: Mapping[str, Any]) -> bool:
    """As the audit itself asks; a report that does not count the replicas that matter is taken to lack them all."""
    if scope.get("partial") is True:
        return False
    missing = "replicasLacking" if "replicasLacking" in coverage else "replicasMissing"
    parts = ("partly", "cutShort", "begunLate", "metadataUntold")
    return reader.field(coverage, missing, int, "coverage.") > 0 or any(map(scope.get, parts))


def _rules_off(policy: Mapping[str, Any]) -> tuple[str, ...]:
    off = policy.get("rulesOff")
    return tuple(map(str, off)) if isinstance(off, list) else ()


def _raised(policy: Mapping[str, Any]) -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    lines = policy.get("thresholds")
    for line in lines if isinstance(lines, list) else []:
        if isinstance(line, dict):
            rule, threshold = str(line.get("rule")), f"{line.get('name')} to {line.get('value')} {line.get('unit')}"
            found[rule] = found.get(rule, frozenset()) | {threshold}
    return found


def _silenced(policy: Mapping[str, Any]) -> frozenset[str]:
    lines = policy.get("silenced")
    listed = lines if isinstance(lines, list) else []
    return frozenset(str(line.get("finding")) for line in listed if isinstance(line, dict))
