"""A policy as it stands in a file: sections whose every word is held against what is known."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Final

from auditor.config.error import ConfigError
from auditor.config.policy import AcceptedFinding, Policy
from auditor.config.settings import shortened
from rules.finding import Severity
from rules.thresholds import Chosen, Threshold

RULES: Final = "rules"
SILENCED: Final = "silenced"
SECTIONS: Final = (RULES, SILENCED)
OFF: Final = "off"
SEVERITIES: Final = tuple(severity.label for severity in Severity)
_FINDING: Final = re.compile(r"(?:F-)?([0-9a-f]{8,64})")
_KEYS: Final = ("finding", "reason", "until")
_PARTS: Final = ("severity", "thresholds")


def read_policy(content: Mapping[str, object], where: str) -> Policy:
    """The policy in a file's sections; what is not known is refused, with the nearest that is."""
    rules = dict(_rules(content.get(RULES) or {}, f"{where}: {RULES}"))
    words = {rule: word for rule, (word, _) in rules.items()}
    return Policy(
        off=tuple(rule for rule, word in words.items() if word == OFF),
        severities=tuple((rule, Severity[word.upper()]) for rule, word in words.items() if word not in ("", OFF)),
        thresholds=tuple(each for _, chosen in rules.values() for each in chosen),
        silences=tuple(_silences(content.get(SILENCED) or [], f"{where}: {SILENCED}")),
    )


def _rules(section: object, where: str) -> Iterator[tuple[str, tuple[str, tuple[Chosen, ...]]]]:
    """By rule a severity or off, where one is told, and the thresholds that are chosen."""
    from rules.catalog import BY_ID

    for name, setting in _pairs(section, where, "RULE: a severity or off"):
        rule = nearest(name.upper(), BY_ID, f"{where}: unknown rule {name!r}", "`tidemark rules` lists them all")
        own = f"{where}: {rule}"
        if not isinstance(setting, dict):
            yield rule, (_word(setting, own), ())
            continue
        parts = {nearest(key, _PARTS, f"{own}: unknown key {key!r}"): v for key, v in _pairs(setting, own, "settings")}
        word = _word(parts["severity"], own) if "severity" in parts else ""
        yield rule, (word, tuple(_thresholds(BY_ID[rule].thresholds, rule, parts.get("thresholds") or {}, own)))


def _word(word_given: object, where: str) -> str:
    # YAML reads a bare off as false.
    word = OFF if word_given is False else str(word_given).lower()
    return nearest(word, (*SEVERITIES, OFF), f"{where}: unknown severity {shortened(word_given)}")


def _thresholds(known: Iterable[Threshold], rule: str, section: object, where: str) -> Iterator[Chosen]:
    """Those that differ from their defaults; a lower one would make the rule tell what is lawful."""
    by_name = {each.name: each for each in known}
    for name, value in _pairs(section, where, "thresholds"):
        if not by_name:
            raise ConfigError(f"{where}: unknown threshold {name!r}; the rule has none")
        own = by_name[nearest(name, by_name, f"{where}: unknown threshold {name!r}")]
        if type(value) is not int or not own.default <= value <= own.most:
            wanted = f"expected a whole number of {own.unit} from {own.default} to {own.most}"
            raise ConfigError(f"{where}: {name}: {wanted}, found {shortened(value)}")
        if value != own.default:
            yield Chosen(rule=rule, name=name, value=value)


def _silences(section: object, where: str) -> Iterator[AcceptedFinding]:
    if not isinstance(section, list):
        raise ConfigError(f"{where}: expected a list of findings, found {shortened(section)}")
    for number, entry in enumerate(section, 1):
        yield _silence(entry, f"{where}, entry {number}")


def _silence(entry: object, where: str) -> AcceptedFinding:
    fields = {nearest(n, _KEYS, f"{where}: unknown key {n!r}"): v for n, v in _pairs(entry, where, "a finding")}
    for key in _KEYS:
        if not fields.get(key):
            raise ConfigError(f"{where}: expected {', '.join(_KEYS)}, found no {key}")
    finding = _FINDING.fullmatch(str(fields["finding"]))
    if finding is None:
        raise ConfigError(f"{where}: expected an id such as F-1a2b3c4d, found {shortened(fields['finding'])}")
    return AcceptedFinding(digits=finding[1], reason=str(fields["reason"]), until=_day(fields["until"], where))


def _day(day: object, where: str) -> date:
    try:
        return day if type(day) is date else date.fromisoformat(str(day))
    except ValueError:
        raise ConfigError(f"{where}: expected a day such as 2027-01-31, found {shortened(day)}") from None


def _pairs(section: object, where: str, expected: str) -> Iterator[tuple[str, object]]:
    if not isinstance(section, dict):
        raise ConfigError(f"{where}: expected {expected}, found {shortened(section)}")
    # YAML reads a bare off as false, as a name too.
    yield from ((OFF if name is False else str(name), value) for name, value in section.items())


def nearest(name: str, known: Iterable[str], complaint: str, otherwise: str = "") -> str:
    """The name, where it is known; else a complaint that tells the nearest one, or where to find it."""
    names = list(known)
    if name in names:
        return name
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else otherwise or f"known: {', '.join(names)}"
    raise ConfigError(f"{complaint}; {hint}")
