"""Each setting's value held against what the setting admits, whoever gave it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from auditor.config.error import ConfigError
from auditor.config.policy import Policy
from auditor.config.settings import (
    ENGINES,
    LEVELS,
    AuditConfig,
    as_flag,
    broker_and_value,
    shortened,
)
from auditor.engines.witnesses.broker_logs import layout_trouble
from auditor.engines.witnesses.zoned_times import owner_and_value, zone_named
from parsers.provenance import broker_id
from rules.finding import Severity
from rules.protocol.versions import parse_kafka_version, parse_protocol_version

_TRUTHS: Final[dict[object, bool]] = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
LONGEST_NUMBER: Final = 18


def merge(base: AuditConfig, settings: Mapping[str, object], spell: Callable[[str], str] = as_flag) -> AuditConfig:
    """The configuration with some settings replaced, each checked; `spell` names a setting as its giver wrote it."""
    given = {name: value for name, value in settings.items() if value is not None}
    checked = {name: _checked(name, value, spell(name)) for name, value in given.items()}
    spelled = {**base.given_by, **{name: spell(name) for name in given}}
    return replace(base, **checked, given_by=spelled)  # type: ignore[arg-type]


def _checked(name: str, value: object, where: str) -> object:
    default = getattr(AuditConfig(), name)
    if isinstance(default, Policy):
        return value  # read by its own reader
    if isinstance(default, tuple):
        items = value if isinstance(value, list | tuple) else [value]
        one = _number if name == "partition" else _text
        return tuple(one(name, item, where) for item in items)
    if isinstance(default, bool):
        return _truth(where, value)
    return _ratio(where, value) if isinstance(default, float) else _text(name, value, where)


def _truth(where: str, value: object) -> bool:
    truth = value if isinstance(value, bool) else _TRUTHS.get(str(value).lower()) if _is_word(value) else None
    if truth is None:
        raise ConfigError(f"{where}: expected true or false, found {shortened(value)}")
    return truth


def _is_word(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and value in (0, 1))


def _text(name: str, value: object, where: str) -> str:
    """A word, if the setting admits it."""
    if not isinstance(value, str):
        # YAML takes 3.10 for 3.1, on for true and 0x10 for 16: what was meant cannot be told.
        hint = "" if isinstance(value, list | dict) else "; write it in quotes"
        raise ConfigError(f"{where}: expected text, found {shortened(value)}{hint}")
    allowed = _CHOICES.get(name)
    if allowed is not None and value not in allowed:
        raise ConfigError(f"{where}: expected one of {', '.join(allowed)}, found {shortened(value)}")
    if name == "format":
        _require_format(value, where)
    if name in _OWNED:
        _require_owner(value, where)
    if name == "log_pattern" and (trouble := layout_trouble(owner_and_value(value)[1])):
        raise ConfigError(f"{where}: {trouble}")
    if name in _FORMS and _FORMS[name][0](value.rpartition("=")[2]) is None:
        raise ConfigError(f"{where}: expected {_FORMS[name][1]}, found {shortened(value)}")
    if name == "log_dir" or (name in _FORMS and "=" in value):
        broker_and_value(value, where, "1=kafka-a/data" if name == "log_dir" else "2=3.9.1")
    return value


def _require_format(text: str, where: str) -> None:
    """With the sign, a file for the format; which formats there are is each command's own to say."""
    _, sign, file = text.partition("=")
    if sign and not file:
        raise ConfigError(f"{where}: expected FORMAT=FILE, found {shortened(text)}")


def _require_owner(text: str, where: str) -> None:
    """What looks like a broker's id before the sign is one: else a slip of the pen would name a file or a layout."""
    owner, sign, _ = text.partition("=")
    if sign and owner.isdigit() and broker_id(owner) is None:
        raise ConfigError(f"{where}: expected a broker's id from 0 to 2147483647, found {shortened(owner)}")


def _number(_name: str, value: object, where: str) -> int:
    written = value.strip() if isinstance(value, str) else ""
    if type(value) is int and 0 <= value < 1 << 63:
        return value
    if not (written.isascii() and written.isdigit() and len(written) <= LONGEST_NUMBER):
        raise ConfigError(f"{where}: expected a number from 0 on, found {shortened(value)}")
    return int(written)


def _ratio(where: str, value: object) -> float:
    try:
        ratio = -1.0 if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        ratio = -1.0
    if not 0 <= ratio <= 1:
        raise ConfigError(f"{where}: expected a ratio from 0 to 1, found {shortened(value)}")
    return ratio


_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "level": LEVELS,
    "engine": ENGINES,
    "copied": ("live", "stopped", "crashed"),
    "fail_on": tuple(severity.label for severity in Severity),
}
_OWNED: Final = ("trace", "log_pattern")
_FORMS: Final[dict[str, tuple[Callable[[str], object], str]]] = {
    "kafka_version": (parse_kafka_version, "a release such as 3.9.1"),
    "inter_broker_protocol": (parse_protocol_version, "a version such as 2.8-IV1 or 3.9-IV0"),
    "log_timezone": (zone_named, "a zone such as Europe/Berlin, UTC or +02:00"),
}
