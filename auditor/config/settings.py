"""The settings of a run, each with who gave it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Final, Literal

from auditor.config.error import ConfigError
from auditor.config.policy import NO_POLICY, Policy
from auditor.engines.plan.selection import Selection
from auditor.engines.witnesses.zoned_times import owner_and_value
from auditor.report.formats import TERMINAL
from parsers.provenance import broker_id
from rules.evidence import BrokerVersion, Level
from rules.finding import Severity
from rules.protocol.versions import METADATA_VERSIONS, parse_kafka_version, parse_protocol_version

EngineName = Literal["spark", "local"]
LEVELS: Final[tuple[Level, ...]] = ("quick", "full", "deep")
ENGINES: Final[tuple[EngineName, ...]] = ("spark", "local")
LONGEST_SHOWN: Final = 80


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
    partial: bool = False
    copied: str = ""
    exit_zero: bool = False
    baseline: str = ""
    """A report of before: only what is not in it makes the run fail."""
    log_dir: tuple[str, ...] = ()
    trace: tuple[str, ...] = ()
    log_pattern: tuple[str, ...] = ()
    log_timezone: tuple[str, ...] = ()
    kafka_version: tuple[str, ...] = ()
    inter_broker_protocol: tuple[str, ...] = ()
    format: tuple[str, ...] = (TERMINAL,)
    """Formats, each with the file that takes it or, one of them, without: that one goes to the output."""
    output: str = "-"
    force: bool = False
    quiet: bool = False
    verbose: bool = False
    policy: Policy = NO_POLICY
    """What findings mean here; the file alone tells it."""
    given_by: Mapping[str, str] = field(default_factory=dict, compare=False)
    """How whoever gave a setting spelled it: a flag, a variable, a line of a file; defaults were given by nobody."""

    def named(self, name: str) -> str:
        """A setting as its giver wrote it, for sentences about its value."""
        return self.given_by.get(name, as_flag(name))

    @property
    def selection(self) -> Selection:
        """The partitions to look at."""
        return Selection(topics=self.topic, excluded_topics=self.exclude_topic, partitions=self.partition)

    @property
    def failing_severity(self) -> Severity:
        """Findings from this severity on make the run fail."""
        return Severity[self.fail_on.upper()]

    @property
    def shown_format(self) -> str:
        """The format of what goes to the output."""
        plain = [text for text in self.format if "=" not in text]
        if len(plain) > 1:
            where, both = self.named("format"), " and ".join(plain[:2])
            raise ConfigError(f"{where}: {both} would go to one place: give all but one as FORMAT=FILE")
        return plain[0] if plain else TERMINAL

    @property
    def written_formats(self) -> tuple[tuple[str, str], ...]:
        """Formats that go to files of their own, each with its file."""
        parted = (text.partition("=") for text in self.format)
        return tuple((name, file) for name, sign, file in parted if sign)

    @property
    def log_dir_overrides(self) -> tuple[tuple[int, str], ...]:
        """`BROKER=PATH` as pairs."""
        return tuple(broker_and_value(text, self.named("log_dir")) for text in self.log_dir)

    @property
    def traces(self) -> tuple[tuple[int | None, str], ...]:
        """`PATH` or `BROKER=PATH` as pairs; a path may hold the sign too."""
        return tuple(owner_and_value(text) for text in self.trace)

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
            ("kafka_version", self.kafka_version),
            ("inter_broker_protocol", self.inter_broker_protocol),
        ):
            for text in values:
                if "=" in text:
                    yield f"{self.named(name)} {text}", broker_and_value(text, self.named(name))[0]


def newer_than_known(config: AuditConfig) -> Iterator[str]:
    """Releases that were given and are newer than any known here: taken as they are, but maybe a slip of the pen."""
    newest = parse_protocol_version(METADATA_VERSIONS[-1])
    for text in config.kafka_version:
        given = parse_kafka_version(text.rpartition("=")[2])
        if given is not None and newest is not None and given.release[:2] > newest.release[:2]:
            known = ".".join(map(str, newest.release[:2]))
            by = f"newer than {known}, the newest release known here, by whose rules it is judged"
            yield f"{config.named('kafka_version')} {text}: {by}"


def broker_and_value(text: str, where: str, example: str = "2=3.9.1") -> tuple[int, str]:
    """`BROKER=VALUE` in two."""
    owner, _, value = text.partition("=")
    broker = broker_id(owner)
    if broker is None or not value:
        raise ConfigError(f"{where}: expected BROKER=VALUE such as {example}, found {shortened(text)}")
    return broker, value


def shortened(value: object) -> str:
    """What was given, as far as a sentence has room for it; of lists and the like their kind."""
    if isinstance(value, list | tuple | dict | set):
        return f"a {type(value).__name__}"
    text = repr(value) if not isinstance(value, int) or abs(value) < 1 << 64 else "a number too large"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _by_broker(given: Sequence[str], brokers: Sequence[int]) -> dict[int, str]:
    """A value without a broker holds for all; one with a broker for that one."""
    general = {broker: text for text in given if "=" not in text for broker in brokers}
    own = dict(broker_and_value(text, as_flag("kafka_version")) for text in given if "=" in text)
    return {**general, **own}


def as_flag(name: str) -> str:
    """How a setting is spelled on the command line."""
    return f"--{name.replace('_', '-')}"


SETTINGS: Final = tuple(each.name for each in fields(AuditConfig) if each.name not in ("given_by", "policy"))
