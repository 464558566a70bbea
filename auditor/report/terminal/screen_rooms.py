"""How much of each part of the first screen finds room: the lines that it gets, and what is told on them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from auditor.report.plain import plain
from auditor.report.sheet import Sheet
from auditor.report.summary.action import GOING

MARGIN: Final = 10
NARROWEST: Final = 30
LEAST: Final = 2
"""Lines that a part keeps where all of them are long."""
ROOMS: Final = {"LOST": 4, "WHY": 4, "DO NOW": 5, "GO?": 4, "NOT SEEN": 2}
"""Lines that a part has for sure; what others leave over is shared."""
SHARING: Final = ("LOST", "GO?", "DO NOW", "WHY", "NOT SEEN")
_DOING: Final = re.compile(r"(?:restarting|electing) broker \d+(?:, \d+)*(?: or \d+)?|a rolling restart")
_WHERE: Final = re.compile(r"\. (\([^()]+\))$")
"""The partitions behind the last sentence, or the incident."""


class Item(NamedTuple):
    """Something to be told; the first of each kind is told in any case, if need be in part, and every bar if it can."""

    kind: str
    forms: list[list[str]]
    """Its lines: its first sentence alone, its first two, and so on up to all of it."""

    @property
    def lines(self) -> list[str]:
        """All of it."""
        return self.forms[-1]

    @property
    def bars(self) -> bool:
        """Whether it says that something must not be done."""
        return self.lines[0].startswith(GOING["no-go"])

    @property
    def barred(self) -> str:
        """What it says must not be done, without what comes of it."""
        words = " ".join(self.lines).removeprefix(GOING["no-go"])
        found = _DOING.match(words)
        return found[0] if found else words

    def within(self, room: int) -> list[str]:
        """As many whole sentences as there is room for; none where the first is longer."""
        return next((lines for lines in reversed(self.forms) if len(lines) <= room), [])


def forms(words: str, page: Sheet) -> Iterator[list[str]]:
    """The words sentence by sentence; where they are is told with the fewest of them."""
    sentences, where = words.split(". "), _WHERE.search(words)
    place = f" {where[1]}" if where else ""
    for number in range(1, len(sentences) - bool(where)):
        yield _lines(f"{'. '.join(sentences[:number])} …{place}", page)
    yield _lines(words, page)


def _lines(words: str, page: Sheet) -> list[str]:
    """One item in lines that no word makes longer than the page."""
    width = max(NARROWEST, page.columns - MARGIN)
    return textwrap.wrap(plain(words), width, break_on_hyphens=False) or [""]


def rooms_of(bodies: dict[str, list[Item]], lines: int) -> dict[str, int]:
    """How many lines each part gets: what it needs, up to its own, and a share of what is left over."""
    needs = {name: sum(len(item.lines) for item in items) for name, items in bodies.items()}
    rooms = {name: min(need, ROOMS[name]) for name, need in needs.items()}
    if "WHY" in rooms:
        rooms["WHY"] = max(rooms["WHY"], _whole_first(bodies["WHY"]))
    for name in reversed(SHARING):
        if name in rooms:
            least = _whole_first(bodies[name]) if name == "WHY" else LEAST
            rooms[name] -= max(0, min(rooms[name] - least, sum(rooms.values()) - lines))
    for name in SHARING:
        if name in rooms:
            more = min(needs[name] - rooms[name], max(0, lines - sum(rooms.values())))
            rooms[name] += more
    return rooms


def filled(bodies: dict[str, list[Item]], rooms: dict[str, int], lines: int, page: Sheet) -> dict[str, int]:
    """The same, with the lines that a part has and cannot use given to the others."""
    used = {name: len([*fitting(items, rooms[name], page)]) for name, items in bodies.items()}
    for name in (name for name in SHARING if name in bodies):
        most = used[name] + lines - sum(used.values())
        used[name] = len([*fitting(bodies[name], most, page)])
    return used


def _whole_first(items: Sequence[Item]) -> int:
    """The lines that the first item needs, and one that counts the others."""
    return len(items[0].lines) + (len(items) > 1)


def fitting(items: Sequence[Item], room: int, page: Sheet) -> Iterator[str]:
    """All items; where there is no room, those that must be told, as whole as may be, and others while they fit."""
    if sum(len(item.lines) for item in items) <= room:
        yield from (line for item in items for line in item.lines)
        return
    told, rest = _told(items, room), list[str]()
    for kept in range(1, room):  # the less there is room for, the more is named as left out
        if len(told) == len(items) or (rest and sum(map(len, told.values())) + len(rest) <= room):
            break
        told = _told(items, room - kept)
        left = [item for place, item in enumerate(items) if place not in told]
        rest = _lines(_left_out(left), page) if left else []
    yield from (line for place in sorted(told) for line in told[place])
    yield from rest


def _told(items: Sequence[Item], room: int) -> dict[int, list[str]]:
    """The lines of each item that is told."""
    due = _due(items, room)
    told = {place: items[place].forms[0] for place in due}
    left = room - sum(map(len, told.values()))
    if left < 0:
        return dict(_cut_short(told, room))
    for place in [*due, *(place for place in range(len(items)) if place not in due)]:
        before = len(told.get(place, ()))
        lines = items[place].within(left + before)
        if not lines:
            break
        told[place], left = lines, left + before - len(lines)
    return told


def _due(items: Sequence[Item], room: int) -> list[int]:
    """Those that must be told: the first of each kind, and what bars something, as far as there is room for it."""
    firsts: dict[str, int] = {}
    for place, item in enumerate(items):
        firsts.setdefault(item.kind, place)
    due = set(firsts.values())
    left = room - sum(len(items[place].forms[0]) for place in due)
    for place, item in enumerate(items):
        if item.bars and place not in due and len(item.forms[0]) <= left:
            due.add(place)
            left -= len(item.forms[0])
    return sorted(due)


def _cut_short(told: Mapping[int, list[str]], room: int) -> Iterator[tuple[int, list[str]]]:
    """Items that are too long together; each leaves the least to those behind it."""
    left = room
    for number, (place, lines) in enumerate(told.items()):
        most = max(1, left - LEAST * (len(told) - number - 1))
        if left > 0:
            yield place, lines if len(lines) <= most else [*lines[: most - 1], _cut(lines[most - 1])]
        left -= min(len(lines), most)


def _left_out(items: Sequence[Item]) -> str:
    """How many there are beside these, and where they are; what must not be done is named all the same."""
    bars = dict.fromkeys(item.barred for item in items if item.bars)
    if not bars:
        return f"… and {len(items)} more (-v)"
    return f"… and {len(items)} more; NO-GO: {', '.join(bars)} (-v, or tidemark advise)"


def _cut(line: str) -> str:
    """A line behind which more was to be told."""
    return line if line.endswith(".") else f"{line[:-2].rpartition(' ')[0].rstrip(':;,')} …"
