"""Every event, and how the line of one is found: first by the fixed text it begins with, then by its pattern."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, TypeAlias

from msgspec import Struct

from parsers.broker_log.configuring import CONFIGURING
from parsers.broker_log.entry_layout import EntryLayout
from parsers.broker_log.epochs import EPOCHS
from parsers.broker_log.fetching import FETCHING
from parsers.broker_log.isr import ISR
from parsers.broker_log.leadership import LEADERSHIP
from parsers.broker_log.membership import MEMBERSHIP
from parsers.broker_log.prefix import PREFIX, Prefix, parse_prefix
from parsers.broker_log.recovery import RECOVERY
from parsers.broker_log.storage import STORAGE
from parsers.broker_log.truncation import TRUNCATION
from parsers.broker_log.wording import NAME, Event, Wording, after_lead, compile_text, inner_lead, leads

Value: TypeAlias = int | str | None
Convert: TypeAlias = Callable[[bytes], Value | tuple[Value, ...]]

EVENTS: Final[tuple[Event, ...]] = (
    *TRUNCATION, *EPOCHS, *FETCHING, *LEADERSHIP, *ISR, *MEMBERSHIP, *CONFIGURING, *RECOVERY, *STORAGE,
)  # fmt: skip

SETTINGS_LEAD: Final = b"KafkaConfig values:"
DETAIL_LIMIT: Final = 1000


class Matcher(Struct, frozen=True, kw_only=True, eq=False):
    """A wording made ready: its pattern, and which group is which hole. There is one of each wording."""

    event: Event
    pattern: re.Pattern[bytes]
    holes: Mapping[str, int]
    """By name where in a hit they stand: behind the line the groups of its pattern, then those of an item or the reason."""
    item_pattern: re.Pattern[bytes] | None
    """One of the things that the group `items` lists, where each gives a row."""


def shortened(value: bytes) -> str:
    """Text of a line as a value: decoded whatever it holds, without blanks around it, and never long."""
    return value[: DETAIL_LIMIT + 4].decode(errors="replace").strip()[:DETAIL_LIMIT]


def _place(value: bytes) -> tuple[str, int]:
    topic, _, partition = value.rpartition(b"-")
    return topic.decode(), int(partition)


def _alone(value: bytes) -> bytes:
    """What Scala prints as an option, by itself."""
    return value[5:-1] if value.startswith(b"Some(") else value


def _ids(value: bytes) -> str:
    return value.replace(b" ", b"").decode()


TOLD: Final[Mapping[str, tuple[tuple[str, ...], Convert]]] = {
    "prefix": (Prefix._fields, parse_prefix),
    "tp": (("topic", "partition"), _place),
    "topic": (("topic",), bytes.decode),
    "cluster_id": (("cluster_id",), bytes.decode),
    "topic_id": (("topic_id",), lambda value: None if value == b"None" else _alone(value).decode()),
    "previous_leader": (("previous_leader",), lambda value: None if value == b"None" else int(_alone(value))),
    "last_offset": (("log_end_offset",), lambda value: int(value) + 1),
    "isr": (("isr",), _ids),
    "previous_isr": (("previous_isr",), _ids),
    "detail": (("detail",), shortened),
    "reason": (("detail",), bytes.decode),
    "directory": (("directory",), lambda value: value.decode(errors="replace").rstrip(".")),
}
"""Of holes, the columns that they fill and how their bytes become the values. Others hold the number of their column."""


def _matcher(event: Event, wording: Wording) -> Matcher:
    pattern = compile_text(wording.text)
    # An item is tried only where a word begins, or a long word without an end would be tried at every byte of it.
    item = re.compile(rb"(?<![A-Za-z0-9_.\-])" + compile_text(wording.items).pattern) if wording.items else None
    holes = {"line": 0, **pattern.groupindex}
    holes.pop("items", None)
    if item is not None:
        holes |= {name: group + pattern.groups for name, group in item.groupindex.items()}
    if event.whole_message or event.reason_follows:
        holes["reason"] = pattern.groups + 1
        holes.pop("detail", None)
    holes |= {to: holes[of] for to, of in wording.copies.items()}
    return Matcher(event=event, pattern=pattern, holes=holes, item_pattern=item)


WORDINGS: Final = tuple((event, wording) for event in EVENTS for wording in event.wordings)


@cache
def _made(place: int) -> Matcher:
    """The one matcher of a wording; patterns take long to compile, and a log has few of all lines."""
    return _matcher(*WORDINGS[place])


@cache
def _by_lead() -> Mapping[bytes, tuple[int, ...]]:
    found: dict[bytes, list[int]] = {}
    for place, (_, wording) in enumerate(WORDINGS):
        for lead in leads(wording.text):
            found.setdefault((lead or inner_lead(wording.text)).encode(), []).append(place)
    return {lead: tuple(places) for lead, places in found.items()}


@cache
def places(lead: bytes) -> tuple[int, ...]:
    """Which of all wordings to try for a line that begins with a fixed text, or whose first word it follows."""
    by_lead = _by_lead()
    # A text may begin with another lead as well: those wordings are tried after its own.
    others = sorted((other for other in by_lead if lead.startswith(other)), key=len, reverse=True)
    return tuple(place for other in others for place in by_lead[other])


@cache
def matchers(lead: bytes) -> tuple[Matcher, ...]:
    """The same wordings as patterns."""
    return tuple(_made(place) for place in places(lead))


@cache
def first_leads() -> Mapping[str, set[str]]:
    """What messages begin with, each with what may stand behind it as patterns."""
    first: dict[str, set[str]] = {SETTINGS_LEAD.decode(): {""}}
    for _, wording in WORDINGS:
        for lead in leads(wording.text):
            if lead:
                first.setdefault(lead, set()).add(after_lead(wording.text))
    return first


@cache
def inner_leads() -> tuple[str, ...]:
    """What follows the first word of a message that begins with a hole, in the order in which it is tried."""
    return tuple(sorted({inner_lead(wording.text) for _, wording in WORDINGS if "" in leads(wording.text)}))


@cache
def _scan_leads() -> tuple[str, str]:
    """All leads as one pattern, a tree of letters that never goes back; and those that follow a first word."""
    first = first_leads()
    return _tree({lead: _behind(lead, first) for lead in first}), "|".join(map(re.escape, inner_leads()))


def _behind(lead: str, every: Mapping[str, set[str]]) -> str:
    """What must stand behind a lead, as a pattern; a longer lead may also be the text of one that it begins with."""
    alternatives = every[lead]
    if "" in alternatives or any(lead != other and lead.startswith(other) for other in every):
        return ""
    return "(?=" + "|".join(sorted(alternatives)) + ")"


def _tree(words: Mapping[str, str]) -> str:
    """A pattern for the longest of the words that stands here with what must be behind it, deciding letter by letter."""
    branches: dict[str, dict[str, str]] = {}
    for word, behind in words.items():
        if word:
            branches.setdefault(word[0], {})[word[1:]] = behind
    parts = [re.escape(letter) + _tree(rest) for letter, rest in sorted(branches.items())]
    if "" in words:
        parts.append(words[""])
    return parts[0] if len(parts) == 1 else "(?>" + "|".join(parts) + ")"


@cache
def head_pattern(layout: EntryLayout) -> re.Pattern[bytes]:
    """Matches what stands before a message where an entry begins."""
    return re.compile(layout.head.encode())


@cache
def scan_pattern(layout: EntryLayout) -> re.Pattern[bytes]:
    """Finds the lines, each from the line end before it to its own, that begin an entry whose message may be an event.

    Groups besides the layout's own: prefix; message; lead, or inner (the lead behind a first word).
    """
    first, inner = _scan_leads()
    message = rf"(?:{NAME}{{1,255}}+(?P<inner>{inner})|(?P<lead>{first}))[^\n]*+"
    return re.compile(rf"\n{layout.head}(?P<prefix>{PREFIX})?+(?P<message>{message})".encode())
