"""What the `--describe` options of Kafka's tools print: topics, configs, consumer groups and the metadata quorum.

Such a text is one broker's view of one moment. Columns and wordings of all releases since 1.0 are
taken; lines that are no part of any of these outputs are refused, neighbours together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from parsers.describe_text.cells import UnreadableLine, dash_or_i64, i32, i64, ids, topic_id
from parsers.describe_text.config_lines import config_line, inline_configs
from parsers.provenance import Origin
from parsers.refusal import Parsed, refuse
from parsers.tables import Description, Refusal

LINE_LIMIT: Final = 1 << 20

_PAIR: Final = re.compile(r"([A-Z][A-Za-z]{1,40}): ?(.*)", re.DOTALL)
_CONFIGS_OF: Final = re.compile(r"(?:Dynamic c|All c|Default c|Quota c|C)onfigs for (.{1,400}?) are(?: ?:|$)")
_CONFIGS_INLINE: Final = re.compile(r"Configs for ([^']{1,100}'[^']{1,300}') are (.*)", re.DOTALL)
_GROUP_NOTE: Final = re.compile(
    r"(?:Error: )?Consumer group '(.{1,249})' (has no active members|is rebalancing|does not exist)"
)
_STATUS: Final = re.compile(
    r"(ClusterId|LeaderId|LeaderEpoch|HighWatermark|MaxFollowerLag(?:TimeMs)?|CurrentVoters|CurrentObservers): *(.*)",
    re.DOTALL,
)
_VOTER_ID: Final = re.compile(r'"id": ?([0-9]{1,10})')
_NOTHING: Final[dict[str, Any]] = dict.fromkeys(Description.__struct_fields__)


class _Headings(Struct, frozen=True, kw_only=True):
    """What earlier lines say about this one: whose configs follow, which columns a table has."""

    entity: str | None = None
    header: tuple[str, ...] = ()


def parse_describe_text(data: bytes, origin: Origin) -> Parsed[Description]:
    """The rows of one or more `--describe` outputs, and the lines that belong to none."""
    state = _Headings()
    rows: list[Description] = []
    unread: list[tuple[int, int, str]] = []
    for start, end in _lines(data):
        line = data[start : min(end, start + LINE_LIMIT)].decode(errors="replace").rstrip("\r")
        if not line.strip():
            continue
        try:
            state, found = _line(line if end - start <= LINE_LIMIT else "", state, _blank(origin, start, end))
            rows.extend(found)
        except UnreadableLine:
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


def _line(line: str, state: _Headings, blank: Description) -> tuple[_Headings, list[Description]]:
    """The rows of a line, and what it says about the next ones."""
    if (header := header_of(line)) is not None:
        return _Headings(header=header), []
    if configs := _CONFIGS_OF.match(line):
        return _Headings(entity=configs[1]), []
    if line.startswith("  ") and state.entity is not None:
        return state, [config_line(line, state.entity, blank)]
    own = _own_rows(line, blank)
    if own is not None:
        return _Headings(), own
    if state.header:
        return state, [table_line(line, state.header, blank)]
    raise UnreadableLine


def _own_rows(line: str, blank: Description) -> list[Description] | None:
    """The rows of a line that says itself what it is; an entity without settings has none."""
    if line.lstrip().startswith("Topic:"):
        return [_topic_line(line, blank)]
    if inline := _CONFIGS_INLINE.match(line):
        return inline_configs(inline[1], inline[2], blank)
    if status := _STATUS.match(line):
        return [_status_line(status[1], status[2].strip(), blank)]
    if note := _GROUP_NOTE.match(line):
        return [replace(blank, kind="group-state", group=note[1], value=note[2])]
    return None


def _topic_line(line: str, blank: Description) -> Description:
    """A topic's or a partition's line: tab-separated pairs, `Leader: 1`."""
    pairs = _pairs(line)
    topic = pairs.get("Topic") or None
    if topic is None:
        raise UnreadableLine
    if "Partition" not in pairs:
        return replace(
            blank,
            kind="topic",
            topic=topic,
            topic_id=topic_id(pairs.get("TopicId")),
            name="Configs",
            value=pairs.get("Configs", ""),
        )
    leader = pairs.get("Leader")
    partition = i32(pairs["Partition"])
    if partition < 0:
        raise UnreadableLine
    return replace(
        blank,
        kind="partition",
        topic=topic,
        partition=partition,
        leader=None if leader in (None, "none", "N/A") else i32(leader or ""),
        replicas=ids(pairs.get("Replicas")),
        isr=ids(pairs.get("Isr")),
        elr=ids(pairs.get("Elr")),
        last_known_elr=ids(pairs.get("LastKnownElr")),
    )


def _pairs(line: str) -> Mapping[str, str]:
    found = (_PAIR.match(part.strip()) for part in line.strip().split("\t"))
    return {match[1]: match[2].strip() for match in found if match is not None}


def _status_line(name: str, value: str, blank: Description) -> Description:
    row = replace(blank, kind="quorum-status", name=name, value=value)
    if name == "LeaderId":
        return replace(row, leader=i32(value))
    if name == "LeaderEpoch":
        return replace(row, epoch=i32(value))
    if name == "HighWatermark":
        return replace(row, high_watermark=i64(value))
    if name == "MaxFollowerLag":
        return replace(row, lag=i64(value))
    if name in ("CurrentVoters", "CurrentObservers"):
        named = ",".join(_VOTER_ID.findall(value)) if "{" in value else value.strip("[]")
        return replace(row, replicas=ids(named))
    return row


def _blank(origin: Origin, start: int, end: int) -> Description:
    place = {
        "cluster_id": origin.cluster_id,
        "broker": origin.broker,
        "log_dir": origin.log_dir,
        "source": origin.source,
    }
    return Description(**(_NOTHING | place | {"kind": "topic", "span_start": start, "span_end": end}))


def header_of(line: str) -> tuple[str, ...] | None:
    """The columns of a table of groups or quorum replicas, where this line names them."""
    names = tuple(line.replace("COORDINATOR (ID)", "COORDINATOR").split())
    known = {"CURRENT-OFFSET", "LOG-END-OFFSET"} <= set(names) or {"NodeId", "LogEndOffset"} <= set(names)
    known = known or {"COORDINATOR", "STATE"} <= set(names)
    return names if known else None


def table_line(line: str, header: tuple[str, ...], blank: Description) -> Description:
    """The row of a table whose columns are named above."""
    cells = line.split()
    if header[0] == "NodeId":
        return _quorum_row(_cells(cells, header), blank)
    if "STATE" in header:
        return _state_row(cells, header, blank)
    return _group_row(_cells(cells, header), blank)


def _cells(cells: list[str], header: tuple[str, ...]) -> Mapping[str, str]:
    """The cells by column; a client's name with blanks makes a line longer, never the columns before it."""
    if len(cells) < len(header):
        raise UnreadableLine
    return dict(zip(header, cells, strict=False))


def _group_row(cells: Mapping[str, str], blank: Description) -> Description:
    if any(name not in cells for name in ("TOPIC", "PARTITION", "LAG")):
        raise UnreadableLine
    return replace(
        blank,
        kind="group-offset",
        group=cells.get("GROUP"),
        topic=None if cells["TOPIC"] == "-" else cells["TOPIC"],
        partition=None if cells["PARTITION"] == "-" else i32(cells["PARTITION"]),
        offset=dash_or_i64(cells["CURRENT-OFFSET"]),
        log_end_offset=dash_or_i64(cells["LOG-END-OFFSET"]),
        lag=dash_or_i64(cells["LAG"]),
        epoch=i32(cells["LEADER-EPOCH"]) if cells.get("LEADER-EPOCH", "-") != "-" else None,
    )


def _state_row(cells: list[str], header: tuple[str, ...], blank: Description) -> Description:
    """A group's state: the columns before it may be empty or hold blanks, so the line is read from its end."""
    if len(cells) < 3 or not cells[-1].isdecimal():
        raise UnreadableLine
    group = cells[0] if header[0] == "GROUP" else None
    return replace(blank, kind="group-state", group=group, role=cells[-2], name="members", value=cells[-1])


def _quorum_row(cells: Mapping[str, str], blank: Description) -> Description:
    role = cells.get("Status", "")
    if role not in ("Leader", "Follower", "Observer"):
        raise UnreadableLine
    return replace(
        blank,
        kind="quorum-replica",
        broker=i32(cells["NodeId"]),
        log_end_offset=i64(cells["LogEndOffset"]),
        lag=dash_or_i64(cells.get("Lag", "-")),
        role=role,
    )
