"""A script of `simulate` as it stands in a YAML file: the partition, its versions and settings, and its events."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from auditor.config import ConfigError
from auditor.config.small_files import yaml_of
from rules.protocol.offsets import BrokerId, Epoch
from rules.simulator.script import MOST_BROKERS, Script, ScriptError, read_events, require_known_brokers
from rules.simulator.state import TopicSettings

NEWEST: Final = "4.0.0"
"""The version of a script that names none."""
VERSIONS: Final = ("version", "inter-broker-protocol", "versions")
FIELDS: Final = ("title", "about", "brokers", "others", *VERSIONS, "topic", "epoch", "events")
ELR: Final = "eligible.leader.replicas.version"
TOPIC: Final = ("min.insync.replicas", "unclean.leader.election.enable", "replica.lag.time.max.ms", ELR)


def read_script(path: Path) -> Script:
    """The script in a YAML file; whatever is wrong with it is said in one sentence that names the file."""
    try:
        return script_of(yaml_of(path, "the script"), path.stem)
    except ScriptError as error:
        raise ConfigError(f"{path}: {error}") from error


def script_of(content: object, title: str) -> Script:
    """The script that a mapping describes."""
    if not isinstance(content, dict):
        raise ScriptError("expected 'name: value' lines, found none")
    fields = {str(name): value for name, value in content.items()}
    unknown = next((name for name in fields if name not in FIELDS), None)
    if unknown is not None:
        raise ScriptError(f"expected one of {', '.join(FIELDS)}; found {unknown!r}")
    lines = _lines(fields.get("events"))
    assignment = _brokers(fields.get("brokers"))
    others = () if fields.get("others") is None else _brokers(fields["others"], "others")
    if set(assignment) & set(others):
        raise ScriptError("expected others to hold no replica, found brokers that do")
    script = Script(
        title=str(fields.get("title", title)),
        about=" ".join(str(fields.get("about", "")).split()),
        assignment=assignment,
        others=others,
        version=_text(fields, "version") or NEWEST,
        inter_broker_protocol=_text(fields, "inter-broker-protocol"),
        own_versions=_own_versions(fields.get("versions"), (*assignment, *others)),
        settings=_settings(fields.get("topic")),
        first_epoch=Epoch(_number(fields.get("epoch", 0), "epoch")),
        lines=lines,
        events=read_events(lines),
    )
    require_known_brokers(script)
    return script


def _text(fields: Mapping[str, object], name: str) -> str | None:
    """A version; YAML reads 3.10 as 3.1, so numbers are not taken."""
    value = fields.get(name)
    if value is None or isinstance(value, str):
        return value
    raise ScriptError(f'expected {name} in quotes, such as "3.9", found {value!r}')


def _lines(value: object) -> tuple[str, ...]:
    lines = value.splitlines() if isinstance(value, str) else value
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise ScriptError("expected events as a list of lines, such as '- fetch 2'")
    bare = (line.partition("#")[0].strip() for line in lines)
    return tuple(line for line in bare if line)


def _brokers(value: object, name: str = "brokers") -> tuple[BrokerId, ...]:
    ids = value if isinstance(value, list) else []
    numbers = [found for found in ids if isinstance(found, int) and not isinstance(found, bool) and found >= 0]
    if not numbers or len(numbers) != len(ids) or len(set(numbers)) != len(numbers) or len(numbers) > MOST_BROKERS:
        raise ScriptError(f"expected {name} as a list of 1 to {MOST_BROKERS} different ids, found {value!r}")
    return tuple(map(BrokerId, numbers))


def _own_versions(value: object, assignment: tuple[BrokerId, ...]) -> tuple[tuple[BrokerId, str, str | None], ...]:
    if value is None:
        return ()
    if not isinstance(value, dict):
        raise ScriptError("expected versions as broker: {version: ..., inter-broker-protocol: ...}")
    found: list[tuple[BrokerId, str, str | None]] = []
    for broker, own in value.items():
        named = _text(own, "version") if isinstance(own, dict) else None
        if broker not in assignment or not isinstance(own, dict) or named is None:
            raise ScriptError(f"expected the version of one of the brokers, found {broker!r}: {own!r}")
        found.append((BrokerId(broker), named, _text(own, "inter-broker-protocol")))
    return tuple(found)


def _settings(value: object) -> TopicSettings:
    given = {} if value is None else value
    if not isinstance(given, dict) or not set(given) <= set(TOPIC):
        raise ScriptError(f"expected topic settings among {', '.join(TOPIC)}; found {value!r}")
    unclean, lag, level = given.get(TOPIC[1]), given.get(TOPIC[2]), given.get(ELR)
    if unclean is not None and not isinstance(unclean, bool):
        raise ScriptError(f"expected {TOPIC[1]} to be true or false, found {unclean!r}")
    return TopicSettings(
        min_insync_replicas=_number(given.get(TOPIC[0], 1), TOPIC[0]),
        unclean_leader_election=unclean,
        lag_time_max_ms=None if lag is None else _number(lag, TOPIC[2]),
        eligible_leader_replicas=None if level is None else _number(level, ELR) > 0,
    )


def _number(value: object, name: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31:
        return value
    raise ScriptError(f"expected {name} to be a number, found {value!r}")
