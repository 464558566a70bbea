"""How much of each part of the first screen finds room: the lines that it gets, and what is told on them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from auditor.report.plain import plain
from auditor.report.sheet import Sheet
from auditor.report.summary.action import GOING
from rules.words import any_of, counted

MARGIN: Final = 10
NARROWEST: Final = 30
LEAST: Final = 2
"""Lines that a part keeps where the first sentences of all are too long together, as with very long names."""
PERHAPS: Final = "Perhaps"
"""The kind of what may be lost; its words begin so."""
ROOMS: Final = {"LOST": 4, "WHY": 4, "DO NOW": 5, "GO?": 4, "NOT SEEN": 2}
"""Lines that a part has for sure; what others leave over is shared."""
SHARING: Final = ("LOST", "GO?", "DO NOW", "WHY", "NOT SEEN")
_DOING: Final = re.compile(
    r"(?:restarting|electing|restarting or electing) broker \d+(?:, \d+)*(?: or \d+)?|a rolling restart"
)
_WHERE: Final = re.compile(r"\. (\([^()]+\))$")
"""The partitions behind the last sentence, or the incident."""


class Item(NamedTuple):
    """Something to be told; the first of each kind is told if there is room for its first sentence, then every bar."""

    kind: str
    forms: list[list[str]]
    """Its lines: its first sentence alone, its first two, and so on up to all of it."""
    opens: bool = False
    """Whether it leaves the verdict open."""

    @property
    def lines(self) -> list[str]:
        """All of it."""
        return self.forms[-1]

    @property
    def where(self) -> str:
        """The partitions that it names at its end."""
        found = _WHERE.search(" ".join(self.lines))
        return found[1] if found else ""

    def says(self, going: str) -> bool:
        """Whether it says that something must not be done, or that it cannot be judged."""
        return self.lines[0].startswith(going)

    def meant(self, going: str) -> str:
        """What it says this of, without what comes of it."""
        words = " ".join(self.lines).removeprefix(going)
        found = _DOING.match(words)
        return found[0] if found else words

    def within(self, room: int) -> list[str]:
        """As many whole sentences as there is room for; none where the first is longer."""
        return next((lines for lines in reversed(self.forms) if len(lines) <= room), [])


def forms(words: str, page: Sheet, least: int = 1) -> Iterator[list[str]]:
    """The words sentence by sentence, so many at least; where they are is told with the fewest of them.

    What cannot be judged is never told without its reason.
    """
    sentences, where = words.split(". "), _WHERE.search(words)
    place = f" {where[1]}" if where else ""
    for number in range(least + words.startswith(GOING["unknown"]), len(sentences) - bool(where)):
        lines = _lines(f"{'. '.join(sentences[:number])}. …{place}", page)
        yield lines[:-1] if lines[-1] == "…" else lines
    yield _lines(words, page)


def _lines(words: str, page: Sheet) -> list[str]:
    """One item in lines that no word makes longer than the page."""
    width = max(NARROWEST, page.columns - MARGIN)
    return textwrap.wrap(plain(words), width, break_on_hyphens=False) or [""]


def rooms_of(bodies: dict[str, list[Item]], lines: int, page: Sheet) -> dict[str, int]:
    """How many lines each part gets: those of its first sentences, up to its own, and a share of what is left over.

    What was lost and the gravest cause are told whole where there is room for them.
    """
    needs = {name: sum(len(item.lines) for item in items) for name, items in bodies.items()}
    rooms = {name: min(needs[name], _with_rest(items, items[0].forms[:1], page)) for name, items in bodies.items()}
    kinds = {name: _with_rest(items, _of_each_kind(items), page) for name, items in bodies.items()}
    whole = {name: _with_rest(items, _whole_first(items), page) for name, items in bodies.items()}
    lost = {name: whole[name] for name, items in bodies.items() if name == "LOST" and items[0].kind != PERHAPS}
    cause = {name: whole[name] for name in bodies if name == "WHY"}
    for name in (name for name in reversed(SHARING) if name in rooms):
        rooms[name] -= max(0, min(rooms[name] - LEAST, sum(rooms.values()) - lines))
    for wanted in (lost, kinds, cause, ROOMS, needs):
        for name in (name for name in SHARING if name in rooms and name in wanted):
            more = min(needs[name], wanted[name]) - rooms[name]
            rooms[name] += max(0, min(more, lines - sum(rooms.values())))
    return rooms


def _of_each_kind(items: Sequence[Item]) -> Sequence[list[str]]:
    """The first sentence of each kind."""
    return [*{item.kind: item.forms[0] for item in reversed(items)}.values()]


def _whole_first(items: Sequence[Item]) -> Sequence[list[str]]:
    """The first item, and the first sentence of each other kind."""
    return [items[0].lines, *_of_each_kind([item for item in items if item.kind != items[0].kind])]


def _with_rest(items: Sequence[Item], shown: Sequence[list[str]], page: Sheet) -> int:
    """The lines of those that are told, and of what counts the others."""
    rest = items[len(shown) :]
    return sum(map(len, shown)) + (len(_lines(_left_out(rest, items), page)) if rest else 0)


def filled(bodies: dict[str, list[Item]], rooms: dict[str, int], lines: int, page: Sheet) -> dict[str, int]:
    """The same, with the lines that a part has and cannot use given to the others."""
    used = {name: len([*fitting(items, rooms[name], page)]) for name, items in bodies.items()}
    for name in (name for name in SHARING if name in bodies):
        most = used[name] + lines - sum(used.values())
        used[name] = len([*fitting(bodies[name], most, page)])
    return used


def fitting(items: Sequence[Item], room: int, page: Sheet) -> Iterator[str]:
    """All items; where there is no room, those that must be told, in whole sentences, and others while they fit."""
    shown, rest = _chosen(items, room, page)
    yield from (line for place in sorted(shown) for line in shown[place])
    yield from rest


def with_room(items: Sequence[Item], room: int, page: Sheet) -> frozenset[int]:
    """The places of the items that are told, if not to their end."""
    return frozenset(_chosen(items, room, page)[0])


def _chosen(items: Sequence[Item], room: int, page: Sheet) -> tuple[Mapping[int, list[str]], list[str]]:
    """The lines of each item that is told, and of what counts the others."""
    shown: Mapping[int, list[str]] = {place: item.lines for place, item in enumerate(items)}
    rest = list[str]()
    for kept in range(room):  # the less there is room for, the more is named as left out
        if sum(map(len, shown.values())) + len(rest) <= room:
            break
        shown = _shown(items, room - kept)
        left = [item for place, item in enumerate(items) if place not in shown]
        rest = _lines(_left_out(left, items), page) if left else []
    return shown, rest


def _shown(items: Sequence[Item], room: int) -> dict[int, list[str]]:
    """The lines of each item that is told; the first one in any case, if need be in part."""
    first = items[0].forms[0]
    shown = {0: first if len(first) <= room else [*first[: room - 1], _cut(first[room - 1])]}
    left = room - len(shown[0])
    due = _due(items)
    for place in due:
        if place not in shown and len(items[place].forms[0]) <= left:
            shown[place] = items[place].forms[0]
            left -= len(shown[place])
    others = (place for place in range(len(items)) if place not in due)
    for place in [*shown, *(others if len(shown) == len({0, *due}) else ())]:
        before = len(shown.get(place, ()))
        lines = items[place].within(left + before)
        if not lines:
            break
        shown[place], left = lines, left + before - len(lines)
    return shown


def _due(items: Sequence[Item]) -> list[int]:
    """Those that must be told, as far as there is room: the first of each kind, then what bars something."""
    firsts: dict[str, int] = {}
    for place, item in enumerate(items):
        firsts.setdefault(item.kind, place)
    bars = (place for place, item in enumerate(items) if item.says(GOING["no-go"]))
    return [*dict.fromkeys((*firsts.values(), *bars))]


def _left_out(items: Sequence[Item], all_items: Sequence[Item]) -> str:
    """How many there are beside these; what must not be done and what is open is named all the same.

    What may be done is named where all is of the same partitions: elsewhere the same may be barred.
    """
    named: list[str] = []
    anywhere = len({item.where for item in all_items}) == 1
    for going in (GOING["no-go"], GOING["unknown"], *([GOING["go"]] if anywhere else [])):
        meant = [item.meant(going) for item in items if item.says(going)]
        where = "" if anywhere else "in some " if named else "in some partitions "
        named += [f"; {where}{going}{_together(meant)}"] if meant else []
    steps = all(item.kind in ("act", "copy") for item in items)
    advised = ", or tidemark advise" if named or steps else ""
    opens = sum(item.opens for item in items)
    if all(item.kind == PERHAPS for item in items):
        named.append(", perhaps lost")
    if opens:
        named.append(f"; {opens} of them {'leaves' if opens == 1 else 'leave'} the verdict open")
    more = counted(len(items), "more step") if steps else f"{len(items)} more"
    return f"… and {more}{''.join(named)} (-v{advised})"


def _together(meant: Sequence[str]) -> str:
    """What is meant, each verb once: restarting broker 2, electing broker 1, 2 or 3."""
    brokers: dict[str, set[int]] = {}
    for words in meant:
        verb, _, named = words.partition(" broker ")
        brokers.setdefault(verb, set()).update(int(number) for number in named.replace("or", ",").split(",") if named)
    return ", ".join(f"{verb} {any_of('broker', sorted(own))}" if own else verb for verb, own in brokers.items())


def _cut(line: str) -> str:
    """A line behind which more was to be told, where even one sentence is too long."""
    return f"{line[:-2].rpartition(' ')[0].rstrip(':;,')} …"
