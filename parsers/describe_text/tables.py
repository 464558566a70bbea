"""Tables that tools print: what groups committed, how they stand, and how far the quorum's replicas are."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from parsers.describe_text.cells import UnreadableLine, dash_or_i64, i32, i64
from parsers.tables import Description


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
