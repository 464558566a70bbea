"""What a run was asked to do, from flags, environment and file, in one frozen value."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Final, Literal, cast

import yaml

from auditor.engines.plan import Selection
from rules.evidence import BrokerVersion, Level
from rules.finding import Severity
from rules.protocol.versions import parse_kafka_version, parse_protocol_version

EngineName = Literal["spark", "local"]
LEVELS: Final[tuple[Level, ...]] = ("quick", "full", "deep")
ENGINES: Final[tuple[EngineName, ...]] = ("spark", "local")
CONFIG_LIMIT: Final = 1 << 20


class ConfigError(Exception):
    """A setting that cannot be used; the text says which, and what would do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditConfig:
    """Everything that changes what an audit says."""

    topic: tuple[str, ...] = ()
    exclude_topic: tuple[str, ...] = ()
    partition: tuple[int, ...] = ()
    level: Level = "full"
    engine: EngineName = "spark"
    fail_on: str = "low"
    min_coverage: float = 0.0
    exit_zero: bool = False
    log_dir: tuple[str, ...] = ()
    kafka_version: tuple[str, ...] = ()
    inter_broker_protocol: tuple[str, ...] = ()

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

    def versions(self, brokers: Sequence[int]) -> tuple[BrokerVersion, ...]:
        """What each broker ran, as far as it was told."""
        binaries = _by_broker(self.kafka_version, brokers)
        protocols = _by_broker(self.inter_broker_protocol, brokers)
        return tuple(
            BrokerVersion(
                broker=broker,
                binary=binaries.get(broker),
                inter_broker_protocol=protocols.get(broker),
                because="given on the command line",
            )
            for broker in brokers
            if broker in binaries or broker in protocols
        )


def read_config(path: Path) -> dict[str, object]:
    """The settings of a YAML file; keys are the flags' names, with - or _."""
    try:
        text = path.read_text(encoding="utf-8")[:CONFIG_LIMIT]
        content = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        message = f"{path}: cannot read the configuration: {error}"
        raise ConfigError(message) from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        message = f"{path}: expected settings as 'name: value' lines, found {type(content).__name__}"
        raise ConfigError(message)
    return {_known(str(name), str(path)): value for name, value in content.items()}


def _known(name: str, where: str) -> str:
    known = [field.name for field in fields(AuditConfig)]
    plain = name.replace("-", "_")
    if plain in known:
        return plain
    close = difflib.get_close_matches(plain, known, n=1)
    hint = f"; did you mean {close[0].replace('_', '-')!r}?" if close else f"; known: {', '.join(known)}"
    message = f"{where}: unknown setting {name!r}{hint}"
    raise ConfigError(message)


def merge(base: AuditConfig, settings: Mapping[str, object]) -> AuditConfig:
    """The configuration with some settings replaced, each checked."""
    checked = {name: _checked(name, value) for name, value in settings.items() if value is not None}
    config = replace(base, **checked)  # type: ignore[arg-type]
    _check_choices(config)
    return config


def _checked(name: str, value: object) -> object:
    default = getattr(AuditConfig(), name)
    if isinstance(default, tuple):
        items = value if isinstance(value, list | tuple) else [value]
        kind = int if name == "partition" else str
        return tuple(_number(name, item) if kind is int else str(item) for item in items)
    if isinstance(default, bool):
        if not isinstance(value, bool):
            message = f"{name.replace('_', '-')}: expected true or false, found {value!r}"
            raise ConfigError(message)
        return value
    if isinstance(default, float):
        return _ratio(name, value)
    return str(value)


def _number(name: str, value: object) -> int:
    try:
        return int(cast("str", value))
    except (TypeError, ValueError) as error:
        message = f"{name.replace('_', '-')}: expected a number, found {value!r}"
        raise ConfigError(message) from error


def _ratio(name: str, value: object) -> float:
    try:
        ratio = float(cast("str", value))
    except (TypeError, ValueError):
        ratio = -1.0
    if not 0 <= ratio <= 1:
        message = f"{name.replace('_', '-')}: expected a ratio from 0 to 1, found {value!r}"
        raise ConfigError(message)
    return ratio


def _check_choices(config: AuditConfig) -> None:
    severities = tuple(severity.label for severity in Severity)
    for name, value, allowed in (
        ("level", config.level, LEVELS),
        ("engine", config.engine, ENGINES),
        ("fail-on", config.fail_on, severities),
    ):
        if value not in allowed:
            message = f"{name}: expected one of {', '.join(allowed)}, found {value!r}"
            raise ConfigError(message)
    for text in config.kafka_version:
        version = text.rpartition("=")[2]
        if parse_kafka_version(version) is None:
            message = f"kafka-version: expected a release such as 3.9.1, found {version!r}"
            raise ConfigError(message)
    for text in config.inter_broker_protocol:
        version = text.rpartition("=")[2]
        if parse_protocol_version(version) is None:
            message = f"inter-broker-protocol: expected a version such as 2.8-IV1 or 3.9-IV0, found {version!r}"
            raise ConfigError(message)


def _broker_and_value(text: str, flag: str, example: str) -> tuple[int, str]:
    broker, separator, value = text.partition("=")
    if not separator or not broker.strip().isdigit() or not value:
        message = f"{flag}: expected BROKER=VALUE such as {example}, found {text!r}"
        raise ConfigError(message)
    return int(broker), value


def _by_broker(given: Sequence[str], brokers: Sequence[int]) -> dict[int, str]:
    """A value without a broker holds for all; one with a broker for that one."""
    general = {broker: text for text in given if "=" not in text for broker in brokers}
    own = dict(_broker_and_value(text, "--kafka-version", "2=3.9.1") for text in given if "=" in text)
    return {**general, **own}
