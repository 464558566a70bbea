"""Where settings come from: a YAML file, the environment; and all of them as a table that says so."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Final

from auditor.config.error import ConfigError
from auditor.config.policy import AcceptedFinding, Policy
from auditor.config.settings import SETTINGS, AuditConfig, as_flag, shortened
from auditor.config.small_files import yaml_of
from rules.finding import Severity
from rules.thresholds import Chosen, Threshold

PREFIX: Final = "TIDEMARK_"
CONFIG_VARIABLE: Final = f"{PREFIX}CONFIG"
NO_SETTINGS: Final = ("config", "debug")
"""Variables with our prefix that are no settings of an audit."""
RULES: Final = "rules"
SILENCED: Final = "silenced"
SECTIONS: Final = (RULES, SILENCED)
OFF: Final = "off"
SEVERITIES: Final = tuple(severity.label for severity in Severity)
_FINDING: Final = re.compile(r"(?:F-)?([0-9a-f]{8,64})")
_KEYS: Final = ("finding", "reason", "until")
_PARTS: Final = ("severity", "thresholds")


def as_variable(name: str) -> str:
    """How a setting is spelled in the environment."""
    return PREFIX + name.upper()


def read_config(path: Path) -> dict[str, object]:
    """The settings of a YAML file; keys are the flags' names, with - or _."""
    content = yaml_of(path, "the configuration")
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: expected settings as 'name: value' lines, found {type(content).__name__}")
    by_name = {str(name): value for name, value in content.items()}
    sections: dict[str, object] = {name: by_name.pop(name) for name in SECTIONS if name in by_name}
    settings = {_known(name, str(path)): value for name, value in by_name.items()}
    return {**settings, "policy": read_policy(sections, str(path))} if sections else settings


def environment(variables: Mapping[str, str]) -> dict[str, object]:
    """Settings from TIDEMARK_LEVEL, TIDEMARK_TOPIC and the like; commas part the items of a list."""
    found: dict[str, object] = {}
    for variable, text in sorted(variables.items()):
        name = variable.removeprefix(PREFIX).lower()
        if variable.startswith(PREFIX) and text and name not in NO_SETTINGS:
            default = getattr(AuditConfig(), name) if name in SETTINGS else None
            if default is not None:
                # Layouts are full of commas.
                parts = text.split("\n" if name == "log_pattern" else ",")
                found[name] = tuple(part.strip() for part in parts) if isinstance(default, tuple) else text
            elif difflib.get_close_matches(name, SETTINGS, n=1, cutoff=0.75):
                _known(name, variable)
    return found


def _known(name: str, where: str) -> str:
    plain = name.replace("-", "_")
    if plain in SETTINGS:
        return plain
    close = difflib.get_close_matches(plain, (*SETTINGS, *SECTIONS), n=1)
    known = ", ".join((*(setting.replace("_", "-") for setting in SETTINGS), *SECTIONS))
    hint = f"did you mean {close[0].replace('_', '-')!r}?" if close else f"known: {known}"
    raise ConfigError(f"{where}: unknown setting {name!r}; {hint}")


def settings_text(config: AuditConfig, heeded: Collection[str] | None = None) -> str:
    """Every setting that a command goes by, all unless told, with its value and with who gave it, one a line."""
    names = [name for name in SETTINGS if heeded is None or name in heeded]
    said = ((name, getattr(config, name), config.given_by.get(name, "default")) for name in names)
    rows = [("setting", "value", "from"), *((as_flag(name)[2:], _shown(value), giver) for name, value, giver in said)]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "".join(f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}\n" for row in rows)


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value) or "none"


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
