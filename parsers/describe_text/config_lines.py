"""Settings as tools print them: a line each with its origin, or all of an entity on one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from parsers.describe_text.cells import UnreadableLine, i32
from parsers.tables import Description

_CONFIG: Final = re.compile(r"  ([\w.\-]{1,256})=(.*?) sensitive=(?:true|false) synonyms=\{(\w{0,64})", re.DOTALL)
_PLAIN_CONFIG: Final = re.compile(r"  ([\w.\-]{1,256})=(.*)", re.DOTALL)


def config_line(line: str, entity: str, blank: Description) -> Description:
    """A line of its own, with where its value comes from where the release tells."""
    match = _CONFIG.match(line)
    plain = match or _PLAIN_CONFIG.match(line)
    if plain is None:
        raise UnreadableLine
    return replace(
        blank,
        kind="config",
        topic=_topic_of(entity),
        broker=_broker_of(entity, blank.broker),
        entity=entity,
        name=plain[1],
        value=plain[2].strip(),
        origin_of_value=(match[3] or None) if match else None,
    )


def inline_configs(entity: str, configs: str, blank: Description) -> list[Description]:
    """The form before 2.5, all settings on one line."""
    plain = entity.replace("'", "")
    base = replace(blank, kind="config", topic=_topic_of(plain), broker=_broker_of(plain, blank.broker), entity=plain)
    return [replace(base, name=name, value=value) for name, value in split_settings(configs)]


def split_settings(configs: str) -> Iterator[tuple[str, str]]:
    """Settings joined by commas; a value may hold commas, so a part without `=` goes on the last one."""
    parts: list[str] = []
    for part in configs.strip().split(","):
        if "=" in part or not parts:
            parts.append(part)
        else:
            parts[-1] += "," + part
    for part in parts:
        name, equals, value = part.strip().partition("=")
        if equals:
            yield name, value


def _topic_of(entity: str) -> str | None:
    kind, _, name = entity.partition(" ")
    return name.strip("'") if kind in ("topic", "Topic") else None


def _broker_of(entity: str, otherwise: int | None) -> int | None:
    kind, _, name = entity.partition(" ")
    return i32(name.strip("'")) if kind in ("broker", "Broker") and name.strip("'").isdecimal() else otherwise
