"""What a kind of line looks like: a text with holes, compiled into a pattern that never backtracks.

A text is Kafka's own wording. `{offset}` is a hole that fills a column (`tp`: topic and
partition; `last_offset`: the log end offset, inclusive), `{*}` skips to the
next fixed text, `<?…?>` may be absent, `<a|b>` is a choice of fixed texts. Every piece compiles into an atomic group, so a
line costs time linear in its length whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

from parsers.tables import EventKind

PIECE: Final = re.compile(r"\{(?P<hole>[a-z_]+|\*)\}|<\?(?P<optional>.+?)\?>|<(?P<choice>[^<>{}]*\|[^<>{}]*)>")
NAME: Final = r"[A-Za-z0-9_.\-]"
r"""A letter of a topic's name. Sets of plain letters are looked up at once; `\w` and `\d` are asked for each letter."""
_GROUP: Final = re.compile(r"\(\?P<\w+>")
_NUMBER: Final = r"-?[0-9]{1,19}+(?![0-9])"
_IDS: Final = r"(?:[0-9]{1,10}+(?:, ?+[0-9]{1,10}+)*+)?+"
_ID: Final = r"[A-Za-z0-9_\-]{1,64}+"
_NUMBERS: Final = (
    "epoch", "previous_epoch", "offset", "previous_offset", "high_watermark", "log_end_offset", "log_start_offset",
    "leader", "other_broker", "partition_epoch", "broker_epoch", "count", "partition", "last_offset",
    "answer_offset",
)  # fmt: skip
_HOLES: Final[dict[str, str]] = {
    **{name: f"(?P<{name}>{_NUMBER})" for name in _NUMBERS},
    "tp": rf"(?P<tp>(?>{NAME}{{1,255}}-[0-9]{{1,10}})(?![0-9]))",
    "topic": rf"(?P<topic>{NAME}{{1,255}}+)",
    "topic_id": rf"(?P<topic_id>Some\({_ID}\)|{_ID})",
    "cluster_id": r"(?P<cluster_id>[!-~]{1,64}+)",
    "previous_leader": rf"(?P<previous_leader>Some\({_NUMBER}\)|{_NUMBER}|None)",
    "isr": rf"(?P<isr>{_IDS})",
    "previous_isr": rf"(?P<previous_isr>{_IDS})",
    "version": r"(?P<detail>[0-9]++(?:\.[0-9]++)*+(?:-IV[0-9]++)?+)",
    "directory": r"(?P<directory>[^ \t\n\r\f\v,)]{1,4096}+)",
    "address": r"[^)\]]{1,512}+",
    "number": _NUMBER,
    "end": r"\Z",
}
_OPEN_HOLES: Final = ("detail", "items")
"""Holes that take anything up to the fixed text behind them, or the rest of the message."""


class Wording(Struct, frozen=True, kw_only=True):
    """One wording of an event in some releases."""

    text: str
    since: str = ""
    until: str = ""
    """The first release line that writes it so, and the first after it that does not; empty where nobody looked further."""
    copies: Mapping[str, str] = field(default_factory=dict)
    """Columns that take the value of another column."""
    items: str | None = None
    """The text of one of the things that the hole `items` lists; each gives a row."""


class Event(Struct, frozen=True, kw_only=True):
    """A kind of line: what it means and how it is worded, release by release."""

    kind: EventKind
    means: str
    wordings: tuple[Wording, ...]
    reason_follows: bool = False
    """The next line of the entry (an exception) belongs into the detail."""
    whole_message: bool = False
    """The message itself is the detail."""


def leads(text: str) -> tuple[str, ...]:
    """The fixed texts with which a wording may begin; what lines are sorted by before any pattern is tried."""
    piece = PIECE.search(text)
    if piece is None:
        return (text,)
    if piece.start() == 0 and piece["choice"]:
        return tuple(choice + fixed_after(text, piece.end()) for choice in piece["choice"].split("|"))
    return (text[: piece.start()],)


def after_lead(text: str) -> str:
    """As a pattern, what must stand behind the lead: the first hole and the fixed text behind it; empty where that varies."""
    piece = PIECE.search(text)
    if piece is None or piece["hole"] not in _HOLES or piece["hole"] == "end":
        return ""
    following = PIECE.search(text, piece.end())
    fixed = text[piece.end() : following.start() if following else len(text)]
    return _GROUP.sub("(?:", _HOLES[piece["hole"]]) + re.escape(fixed)


def inner_lead(text: str) -> str:
    """For a wording that begins with a hole: the fixed text behind it."""
    piece = PIECE.match(text)
    return "" if piece is None else fixed_after(text, piece.end())


def compile_text(text: str) -> re.Pattern[bytes]:
    """The pattern of a text with holes, to be matched at the start of a message."""
    return re.compile(_translate(text).encode(), re.DOTALL)


def _translate(text: str) -> str:
    parts: list[str] = []
    position = 0
    while piece := PIECE.search(text, position):
        parts.append(re.escape(text[position : piece.start()]))
        position = piece.end()
        if piece["hole"] == "*" or piece["hole"] in _OPEN_HOLES:
            parts.append(_open(piece["hole"], fixed_after(text, position)))
        else:
            parts.append(_closed(piece))
    return "".join(parts) + re.escape(text[position:])


def _closed(piece: re.Match[str]) -> str:
    """A hole of known characters, an optional part, or a choice."""
    if piece["hole"]:
        return f"(?>{_HOLES[piece['hole']]})"
    if piece["optional"]:
        return f"(?:{_translate(piece['optional'])})?+"
    return "(?>" + "|".join(re.escape(choice) for choice in piece["choice"].split("|")) + ")"


def fixed_after(text: str, position: int) -> str:
    """The fixed text from a position to the next piece, or to the end."""
    piece = PIECE.search(text, position)
    fixed = text[position:] if piece is None else text[position : piece.start()]
    if piece is not None and not fixed:
        raise ValueError(f"an open hole needs fixed text behind it: {text}")
    return fixed


def _open(hole: str, fixed: str) -> str:
    """Anything up to the first occurrence of the fixed text, in steps that are never taken back.

    The fixed text itself stands behind it in the pattern.
    """
    if not fixed:
        anything = ".*+"
    else:
        first, rest = re.escape(fixed[0]), re.escape(fixed[1:])
        anything = f"[^{first}]*+" + (f"(?:{first}(?!{rest})[^{first}]*+)*+" if rest else "")
    return anything if hole == "*" else f"(?P<{hole}>{anything})"
