"""What a run was asked to do, from flags, environment and file, in one frozen value."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Final, Literal, cast

from auditor.engines.plan.selection import Selection
from auditor.engines.told.broker_logs import layout_trouble
from auditor.engines.told.zones import owner_and_value, zone_named
from rules.evidence import BrokerVersion, Level
from rules.finding import Severity
from rules.protocol.versions import METADATA_VERSIONS, parse_kafka_version, parse_protocol_version

EngineName = Literal["spark", "local"]
LEVELS: Final[tuple[Level, ...]] = ("quick", "full", "deep")
ENGINES: Final[tuple[EngineName, ...]] = ("spark", "local")
FORMATS: Final = ("terminal", "json", "postmortem")
CONFIG_LIMIT: Final = 1 << 20
PREFIX: Final = "TIDEMARK_"
NO_SETTINGS: Final = ("config", "debug")
"""Variables with our prefix that are no settings of an audit."""
_TRUTHS: Final[dict[object, bool]] = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class ConfigError(Exception):
    """A setting that cannot be used; the text says which, and what would do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditConfig:
    """Everything that changes what an audit says, and how it is told."""

    topic: tuple[str, ...] = ()
    exclude_topic: tuple[str, ...] = ()
    partition: tuple[int, ...] = ()
    level: Level = "full"
    engine: EngineName = "spark"
    fail_on: str = "medium"
    min_coverage: float = 0.0
    exit_zero: bool = False
    log_dir: tuple[str, ...] = ()
    trace: tuple[str, ...] = ()
    log_pattern: tuple[str, ...] = ()
    log_timezone: tuple[str, ...] = ()
    kafka_version: tuple[str, ...] = ()
    inter_broker_protocol: tuple[str, ...] = ()
    format: str = "terminal"
    output: str = "-"
    quiet: bool = False
    verbose: bool = False

    @property
    def selection(self) -> Selection:
        """The partitions to look at."""
        return Selection(topics=self.topic, excluded_topics=self.exclude_topic, partitions=self.partition)

    @property
    def failing_severity(self) -> Severity:
        """Findings from this severity on make the run fail."""
        return Severity[self.fail_on.upper()]

    @property
    def log_dir_overrides(self) -> tuple[tuple[int, str], ...]:
        """`BROKER=PATH` as pairs."""
        return tuple(_broker_and_value(text, "--log-dir", "1=kafka-a/data") for text in self.log_dir)

    @property
    def traces(self) -> tuple[tuple[int | None, str], ...]:
        """`PATH` or `BROKER=PATH` as pairs; a path may hold the sign too."""
        parted = ((text, *text.partition("=")) for text in self.trace)
        return tuple(
            (int(broker), path) if sign and broker.isascii() and broker.isdigit() else (None, text)
            for text, broker, sign, path in parted
        )

    def versions(self, brokers: Sequence[int]) -> tuple[BrokerVersion, ...]:
        """What each broker ran, as far as it was told."""
        binaries = _by_broker(self.kafka_version, brokers)
        protocols = _by_broker(self.inter_broker_protocol, brokers)
        return tuple(
            BrokerVersion(
                broker=broker,
                binary=binaries.get(broker),
                inter_broker_protocol=protocols.get(broker),
                because="given to the audit",
            )
            for broker in brokers
            if broker in binaries or broker in protocols
        )

    def brokers_named(self) -> Iterator[tuple[str, int]]:
        """Brokers that versions were given for, each with the words that name it."""
        for name, values in (
            ("kafka-version", self.kafka_version),
            ("inter-broker-protocol", self.inter_broker_protocol),
        ):
            for text in values:
                if "=" in text:
                    yield f"--{name} {text}", _broker_and_value(text, f"--{name}", "2=3.9.1")[0]


def newer_than_known(config: AuditConfig) -> Iterator[str]:
    """Releases that were given and are newer than any known here: taken as they are, but maybe a slip of the pen."""
    newest = parse_protocol_version(METADATA_VERSIONS[-1])
    for text in config.kafka_version:
        told = parse_kafka_version(text.rpartition("=")[2])
        if told is not None and newest is not None and told.release[:2] > newest.release[:2]:
            known = ".".join(map(str, newest.release[:2]))
            by = f"newer than {known}, the newest release known here, by whose rules it is judged"
            yield f"--kafka-version {text}: {by}"


def as_flag(name: str) -> str:
    """How a setting is spelled on the command line."""
    return f"--{name.replace('_', '-')}"


def as_variable(name: str) -> str:
    """How a setting is spelled in the environment."""
    return PREFIX + name.upper()


def read_config(path: Path) -> dict[str, object]:
    """The settings of a YAML file; keys are the flags' names, with - or _."""
    import yaml

    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(CONFIG_LIMIT + 1)
        if len(text) > CONFIG_LIMIT:
            raise ConfigError(f"{path}: expected a configuration of at most {CONFIG_LIMIT} characters")
        content = yaml.safe_load(text)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{path}: cannot read the configuration: {reason}") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: expected settings as 'name: value' lines, found {type(content).__name__}")
    return {_known(str(name), str(path)): value for name, value in content.items()}


def environment(variables: Mapping[str, str]) -> dict[str, object]:
    """Settings from TIDEMARK_LEVEL, TIDEMARK_TOPIC and the like; commas part the items of a list."""
    found: dict[str, object] = {}
    for variable, text in sorted(variables.items()):
        name = variable.removeprefix(PREFIX).lower()
        if variable.startswith(PREFIX) and text and name not in NO_SETTINGS:
            default = getattr(AuditConfig(), name, None)
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
    close = difflib.get_close_matches(plain, SETTINGS, n=1)
    known = ", ".join(setting.replace("_", "-") for setting in SETTINGS)
    hint = f"did you mean {close[0].replace('_', '-')!r}?" if close else f"known: {known}"
    raise ConfigError(f"{where}: unknown setting {name!r}; {hint}")


def merge(base: AuditConfig, settings: Mapping[str, object], spell: Callable[[str], str] = as_flag) -> AuditConfig:
    """The configuration with some settings replaced, each checked; `spell` names a setting as its giver wrote it."""
    checked = {name: _checked(name, value, spell(name)) for name, value in settings.items() if value is not None}
    return replace(base, **checked)  # type: ignore[arg-type]


def _checked(name: str, value: object, where: str) -> object:
    default = getattr(AuditConfig(), name)
    if isinstance(default, tuple):
        items = value if isinstance(value, list | tuple) else [value]
        numbers = name == "partition"
        return tuple(_number(where, item) if numbers else _text(name, str(item), where) for item in items)
    if isinstance(default, bool):
        truth = value if isinstance(value, bool) else _TRUTHS.get(str(value).lower())
        if truth is None:
            raise ConfigError(f"{where}: expected true or false, found {value!r}")
        return truth
    return _ratio(where, value) if isinstance(default, float) else _text(name, str(value), where)


def _text(name: str, text: str, where: str) -> str:
    """A word, if the setting admits it."""
    allowed = _CHOICES.get(name)
    if allowed is not None and text not in allowed:
        raise ConfigError(f"{where}: expected one of {', '.join(allowed)}, found {text!r}")
    if name == "log_pattern" and (trouble := layout_trouble(owner_and_value(text)[1])):
        raise ConfigError(f"{where}: {trouble}")
    if name in _FORMS and _FORMS[name][0](text.rpartition("=")[2]) is None:
        raise ConfigError(f"{where}: expected {_FORMS[name][1]}, found {text!r}")
    if name == "log_dir" or (name in _FORMS and "=" in text):
        _broker_and_value(text, where, "1=kafka-a/data" if name == "log_dir" else "2=3.9.1")
    return text


def _number(where: str, value: object) -> int:
    try:
        return int(cast("str", value))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{where}: expected a number, found {value!r}") from error


def _ratio(where: str, value: object) -> float:
    try:
        ratio = float(cast("str", value))
    except (TypeError, ValueError):
        ratio = -1.0
    if not 0 <= ratio <= 1:
        raise ConfigError(f"{where}: expected a ratio from 0 to 1, found {value!r}")
    return ratio


def _broker_and_value(text: str, flag: str, example: str) -> tuple[int, str]:
    broker, separator, value = text.partition("=")
    if not separator or not broker.strip().isdigit() or not value:
        raise ConfigError(f"{flag}: expected BROKER=VALUE such as {example}, found {text!r}")
    return int(broker), value


def _by_broker(given: Sequence[str], brokers: Sequence[int]) -> dict[int, str]:
    """A value without a broker holds for all; one with a broker for that one."""
    general = {broker: text for text in given if "=" not in text for broker in brokers}
    own = dict(_broker_and_value(text, "--kafka-version", "2=3.9.1") for text in given if "=" in text)
    return {**general, **own}


SETTINGS: Final = tuple(field.name for field in fields(AuditConfig))
_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "level": LEVELS,
    "engine": ENGINES,
    "format": FORMATS,
    "fail_on": tuple(severity.label for severity in Severity),
}
_FORMS: Final[dict[str, tuple[Callable[[str], object], str]]] = {
    "kafka_version": (parse_kafka_version, "a release such as 3.9.1"),
    "inter_broker_protocol": (parse_protocol_version, "a version such as 2.8-IV1 or 3.9-IV0"),
    "log_timezone": (zone_named, "a zone such as Europe/Berlin, UTC or +02:00"),
}
