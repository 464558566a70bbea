"""What the `--describe` options of Kafka's tools print: topics, configs, consumer groups and the metadata quorum.

Such a text is one broker's view of one moment. Columns and wordings of all releases since 1.0 are
taken; lines that are no part of any of these outputs are refused, neighbours together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from parsers.provenance import Origin
from parsers.refusal import Parsed, refuse
from parsers.tables import Description, Refusal

LINE_LIMIT: Final = 1 << 20

_PAIR: Final = re.compile(r"([A-Z][A-Za-z]{1,40}): ?(.*)", re.DOTALL)
_CONFIGS_OF: Final = re.compile(r"(?:Dynamic c|All c|Default c|Quota c|C)onfigs for (.{1,400}?) are(?: ?:|$)")
_CONFIGS_INLINE: Final = re.compile(r"Configs for ([^']{1,100}'[^']{1,300}') are (.*)", re.DOTALL)
_CONFIG: Final = re.compile(r"  ([\w.\-]{1,256})=(.*?) sensitive=(?:true|false) synonyms=\{(\w{0,64})", re.DOTALL)
_PLAIN_CONFIG: Final = re.compile(r"  ([\w.\-]{1,256})=(.*)", re.DOTALL)
_GROUP_NOTE: Final = re.compile(
    r"(?:Error: )?Consumer group '(.{1,249})' (has no active members|is rebalancing|does not exist)"
)
_STATUS: Final = re.compile(
    r"(ClusterId|LeaderId|LeaderEpoch|HighWatermark|MaxFollowerLag(?:TimeMs)?|CurrentVoters|CurrentObservers): *(.*)",
    re.DOTALL,
)
_VOTER_ID: Final = re.compile(r'"id": ?(\d{1,10})')
_NUMBER: Final = re.compile(r"-?\d{1,18}")
_NOTHING: Final[dict[str, Any]] = dict.fromkeys(field.name for field in fields(Description))
_I32: Final = range(-(1 << 31), 1 << 31)


class _Malformed(ValueError):
    """A line that belongs to an output but cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """What earlier lines say about this one: whose configs follow, which columns a table has."""

    entity: str | None = None
    header: tuple[str, ...] = ()


def parse_describe_text(data: bytes, origin: Origin) -> Parsed[Description]:
    """The rows of one or more `--describe` outputs, and the lines that belong to none."""
    state = _State()
    rows: list[Description] = []
    unread: list[tuple[int, int, str]] = []
    for start, end in _lines(data):
        line = data[start : min(end, start + LINE_LIMIT)].decode(errors="replace").rstrip("\r")
        if not line.strip():
            continue
        try:
            state, found = _line(line if end - start <= LINE_LIMIT else "", state, _blank(origin, start, end))
            rows.extend(found)
        except _Malformed:
            unread.append((start, end, line))
    return Parsed(rows=tuple(rows), refusals=tuple(_refusals(origin, unread, data)))


def _lines(data: bytes) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield start, end
        start = end + 1


def _refusals(origin: Origin, unread: list[tuple[int, int, str]], data: bytes) -> Iterator[Refusal]:
    """One refusal for each run of lines that could not be read, blank lines between them included."""
    expected = "a --describe line of kafka-topics, kafka-configs, kafka-consumer-groups or kafka-metadata-quorum"
    first = 0
    for index, (_, end, _) in enumerate(unread):
        following = unread[index + 1][0] if index + 1 < len(unread) else None
        if following is not None and not data[end:following].strip():
            continue
        start, _, found = unread[first]
        yield refuse(origin, "malformed", start, end, expected=expected, found=found)
        first = index + 1


def _line(line: str, state: _State, blank: Description) -> tuple[_State, list[Description]]:
    """The rows of a line, and what it says about the next ones."""
    if (header := _header(line)) is not None:
        return _State(header=header), []
    if configs := _CONFIGS_OF.match(line):
        return _State(entity=configs[1]), []
    if line.startswith("  ") and state.entity is not None:
        return state, [_config_line(line, state.entity, blank)]
    own = _own_rows(line, blank)
    if own:
        return _State(), own
    if state.header:
        return state, [_table_line(line, state.header, blank)]
    raise _Malformed


def _own_rows(line: str, blank: Description) -> list[Description]:
    """The rows of a line that says itself what it is."""
    if line.lstrip().startswith("Topic:"):
        return [_topic_line(line, blank)]
    if inline := _CONFIGS_INLINE.match(line):
        return _inline_configs(inline[1], inline[2], blank)
    if status := _STATUS.match(line):
        return [_status_line(status[1], status[2].strip(), blank)]
    if note := _GROUP_NOTE.match(line):
        return [replace(blank, kind="group-state", group=note[1], value=note[2])]
    return []


def _topic_line(line: str, blank: Description) -> Description:
    """A topic's or a partition's line: tab-separated pairs, `Leader: 1`."""
    pairs = _pairs(line)
    topic = pairs.get("Topic") or None
    if topic is None:
        raise _Malformed
    if "Partition" not in pairs:
        return replace(
            blank,
            kind="topic",
            topic=topic,
            topic_id=pairs.get("TopicId"),
            name="Configs",
            value=pairs.get("Configs", ""),
        )
    leader = pairs.get("Leader")
    return replace(
        blank,
        kind="partition",
        topic=topic,
        partition=_i32(pairs["Partition"]),
        leader=None if leader in (None, "none", "N/A") else _i32(leader or ""),
        replicas=_ids(pairs.get("Replicas")),
        isr=_ids(pairs.get("Isr")),
        elr=_ids(pairs.get("Elr")),
        last_known_elr=_ids(pairs.get("LastKnownElr")),
    )


def _pairs(line: str) -> Mapping[str, str]:
    found = (_PAIR.match(part.strip()) for part in line.strip().split("\t"))
    return {match[1]: match[2].strip() for match in found if match is not None}


def _config_line(line: str, entity: str, blank: Description) -> Description:
    match = _CONFIG.match(line)
    plain = match or _PLAIN_CONFIG.match(line)
    if plain is None:
        raise _Malformed
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


def _inline_configs(entity: str, configs: str, blank: Description) -> list[Description]:
    """The form before 2.5, all settings on one line; a value may hold commas, a part without `=` goes on the last."""
    parts: list[str] = []
    for part in configs.strip().split(","):
        if "=" in part or not parts:
            parts.append(part)
        else:
            parts[-1] += "," + part
    named = (part.strip().partition("=") for part in parts if "=" in part)
    plain = entity.replace("'", "")
    base = replace(blank, kind="config", topic=_topic_of(plain), broker=_broker_of(plain, blank.broker), entity=plain)
    return [replace(base, name=name, value=value) for name, _, value in named]


def _topic_of(entity: str) -> str | None:
    kind, _, name = entity.partition(" ")
    return name.strip("'") if kind in ("topic", "Topic") else None


def _broker_of(entity: str, otherwise: int | None) -> int | None:
    kind, _, name = entity.partition(" ")
    return _i32(name.strip("'")) if kind in ("broker", "Broker") and name.strip("'").isdecimal() else otherwise


def _status_line(name: str, value: str, blank: Description) -> Description:
    row = replace(blank, kind="quorum-status", name=name, value=value)
    if name == "LeaderId":
        return replace(row, leader=_i32(value))
    if name == "LeaderEpoch":
        return replace(row, epoch=_i32(value))
    if name == "HighWatermark":
        return replace(row, high_watermark=_i64(value))
    if name == "MaxFollowerLag":
        return replace(row, lag=_i64(value))
    if name in ("CurrentVoters", "CurrentObservers"):
        ids = _VOTER_ID.findall(value) if "{" in value else [part.strip() for part in value.strip("[]").split(",")]
        return replace(row, replicas=",".join(identity for identity in ids if identity))
    return row


def _header(line: str) -> tuple[str, ...] | None:
    """The columns of a table of groups or quorum replicas, where this line names them."""
    names = tuple(line.replace("COORDINATOR (ID)", "COORDINATOR").split())
    known = {"CURRENT-OFFSET", "LOG-END-OFFSET"} <= set(names) or {"NodeId", "LogEndOffset"} <= set(names)
    known = known or {"GROUP", "STATE"} <= set(names)
    return names if known else None


def _table_line(line: str, header: tuple[str, ...], blank: Description) -> Description:
    cells = line.split()
    if header[0] == "NodeId":
        return _quorum_row(_cells(cells, header), blank)
    if "STATE" in header:
        return _state_row(cells, blank)
    return _group_row(_cells(cells, header), blank)


def _cells(cells: list[str], header: tuple[str, ...]) -> Mapping[str, str]:
    """The cells by column; a client's name with blanks makes a line longer, never the columns before it."""
    if len(cells) < len(header):
        raise _Malformed
    return dict(zip(header, cells, strict=False))


def _group_row(cells: Mapping[str, str], blank: Description) -> Description:
    if any(name not in cells for name in ("TOPIC", "PARTITION", "LAG")):
        raise _Malformed
    return replace(
        blank,
        kind="group-offset",
        group=cells.get("GROUP"),
        topic=None if cells["TOPIC"] == "-" else cells["TOPIC"],
        partition=None if cells["PARTITION"] == "-" else _i32(cells["PARTITION"]),
        offset=_dash_or_i64(cells["CURRENT-OFFSET"]),
        log_end_offset=_dash_or_i64(cells["LOG-END-OFFSET"]),
        lag=_dash_or_i64(cells["LAG"]),
        epoch=_i32(cells["LEADER-EPOCH"]) if cells.get("LEADER-EPOCH", "-") != "-" else None,
    )


def _state_row(cells: list[str], blank: Description) -> Description:
    """A group's state: the columns before it may be empty or hold blanks, so the line is read from its end."""
    if len(cells) < 3 or not cells[-1].isdecimal():
        raise _Malformed
    return replace(blank, kind="group-state", group=cells[0], role=cells[-2], name="members", value=cells[-1])


def _quorum_row(cells: Mapping[str, str], blank: Description) -> Description:
    role = cells.get("Status", "")
    if role not in ("Leader", "Follower", "Observer"):
        raise _Malformed
    return replace(
        blank,
        kind="quorum-replica",
        broker=_i32(cells["NodeId"]),
        log_end_offset=_i64(cells["LogEndOffset"]),
        lag=_dash_or_i64(cells.get("Lag", "-")),
        role=role,
    )


def _ids(value: str | None) -> str | None:
    """Ids as printed, without blanks; null where the version prints none or does not know."""
    return None if value is None or value == "N/A" else value.replace(" ", "")


def _i32(value: str) -> int:
    number = _i64(value)
    if number not in _I32:
        raise _Malformed
    return number


def _i64(value: str) -> int:
    if _NUMBER.fullmatch(value) is None:
        raise _Malformed
    return int(value)


def _dash_or_i64(value: str) -> int | None:
    return None if value == "-" else _i64(value)


def _blank(origin: Origin, start: int, end: int) -> Description:
    place = {
        "cluster_id": origin.cluster_id,
        "broker": origin.broker,
        "log_dir": origin.log_dir,
        "source": origin.source,
    }
    return Description(**(_NOTHING | place | {"kind": "topic", "span_start": start, "span_end": end}))
