"""A policy as it stands in a file: sections whose every word is held against what is known."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Final

from auditor.config.error import ConfigError
from auditor.config.policy import Policy, Silence
from auditor.config.settings import shortened
from rules.finding import Severity

RULES: Final = "rules"
SILENCED: Final = "silenced"
SECTIONS: Final = (RULES, SILENCED)
OFF: Final = "off"
SEVERITIES: Final = tuple(severity.label for severity in Severity)
_FINDING: Final = re.compile(r"(?:F-)?([0-9a-f]{8,64})")
_KEYS: Final = ("finding", "reason", "until")


def read_policy(content: Mapping[str, object], where: str) -> Policy:
    """The policy in a file's sections; what is not known is refused, with the nearest that is."""
    rules = dict(_rules(content.get(RULES) or {}, f"{where}: {RULES}"))
    return Policy(
        off=tuple(rule for rule, word in rules.items() if word == OFF),
        severities=tuple((rule, Severity[word.upper()]) for rule, word in rules.items() if word != OFF),
        silences=tuple(_silences(content.get(SILENCED) or [], f"{where}: {SILENCED}")),
    )


def _rules(section: object, where: str) -> Iterator[tuple[str, str]]:
    from rules.catalog import BY_ID

    for name, told in _pairs(section, where, "RULE: a severity or off"):
        rule = nearest(name.upper(), BY_ID, f"{where}: unknown rule {name!r}", "`tidemark rules` lists them all")
        # YAML reads a bare off as false.
        word = OFF if told is False else str(told).lower()
        yield rule, nearest(word, (*SEVERITIES, OFF), f"{where}: {rule}: unknown severity {shortened(told)}")


def _silences(section: object, where: str) -> Iterator[Silence]:
    if not isinstance(section, list):
        raise ConfigError(f"{where}: expected a list of findings, found {shortened(section)}")
    for number, entry in enumerate(section, 1):
        yield _silence(entry, f"{where}, entry {number}")


def _silence(entry: object, where: str) -> Silence:
    told = {nearest(n, _KEYS, f"{where}: unknown key {n!r}"): v for n, v in _pairs(entry, where, "a finding")}
    for key in _KEYS:
        if not told.get(key):
            raise ConfigError(f"{where}: expected {', '.join(_KEYS)}, found no {key}")
    finding = _FINDING.fullmatch(str(told["finding"]))
    if finding is None:
        raise ConfigError(f"{where}: expected an id such as F-1a2b3c4d, found {shortened(told['finding'])}")
    return Silence(digits=finding[1], reason=str(told["reason"]), until=_day(told["until"], where))


def _day(told: object, where: str) -> date:
    try:
        return told if type(told) is date else date.fromisoformat(str(told))
    except ValueError:
        raise ConfigError(f"{where}: expected a day such as 2027-01-31, found {shortened(told)}") from None


def _pairs(section: object, where: str, expected: str) -> Iterator[tuple[str, object]]:
    if not isinstance(section, dict):
        raise ConfigError(f"{where}: expected {expected}, found {shortened(section)}")
    # YAML reads a bare off as false, as a name too.
    yield from ((OFF if name is False else str(name), value) for name, value in section.items())


def nearest(name: str, known: Iterable[str], complaint: str, else_told: str = "") -> str:
    """The name, where it is known; else a complaint that tells the nearest one, or where to find it."""
    names = list(known)
    if name in names:
        return name
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else else_told or f"known: {', '.join(names)}"
    raise ConfigError(f"{complaint}; {hint}")
