"""Wordings as numbers: steps that a compiled loop takes along a line, each as its part of the wording's pattern would.

Every part of a pattern is atomic, so steps are taken once and never back; only an optional part may be taken back whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from parsers.broker_log.catalogue import SETTINGS_LEAD, WORDINGS, first_leads, inner_leads, places
from parsers.broker_log.compiled import tables as t
from parsers.broker_log.compiled.tables import Integers
from parsers.broker_log.layout import FixedPiece, Layout
from parsers.broker_log.wording import PIECE, Event, Wording, fixed_after

_WORD: Final = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_NAME: Final = _WORD | frozenset(b".-")
_DIGITS: Final = frozenset(b"0123456789")
_ALL: Final = frozenset(range(256))


class _Writer:
    """Steps, letters and classes while a program is written."""

    __slots__ = ("classes", "letters", "steps")

    def __init__(self) -> None:
        self.steps: list[int] = []
        self.letters = bytearray()
        self.classes = [_NAME]

    def step(self, *numbers: int) -> None:
        self.steps += (*numbers, *(0,) * (t.STEP - len(numbers)))

    def spelt(self, text: bytes) -> tuple[int, int]:
        """Where a text stands among the letters, and its length."""
        found = self.letters.find(text)
        if found < 0:
            found = len(self.letters)
            self.letters += text
        return found, len(text)

    def text(self, text: str) -> None:
        if text:
            self.step(t.TEXT, *self.spelt(text.encode()))

    def run(self, characters: frozenset[int], least: int, most: int) -> None:
        if characters not in self.classes:
            self.classes.append(characters)
        self.step(t.RUN, self.classes.index(characters), least, most)

    def either(self, *choices: str) -> None:
        self.step(t.EITHER, len(choices))
        for choice in choices:
            self.step(t.TEXT, *self.spelt(choice.encode()))

    def maybe(self, at: int) -> None:
        """Makes the steps from `at` on an optional part; its step stands there already."""
        self.steps[at + 1] = (len(self.steps) - at) // t.STEP - 1


def _write(writer: _Writer, text: str) -> None:
    """The steps of a text with holes."""
    position = 0
    while piece := PIECE.search(text, position):
        writer.text(text[position : piece.start()])
        position = piece.end()
        if piece["hole"] in ("*", "detail", "items"):
            _write_open(writer, piece["hole"], fixed_after(text, position))
        elif piece["hole"]:
            _write_hole(writer, piece["hole"])
        elif piece["optional"]:
            at = len(writer.steps)
            writer.step(t.MAYBE)
            _write(writer, piece["optional"])
            writer.maybe(at)
        else:
            writer.either(*piece["choice"].split("|"))
    writer.text(text[position:])


def _write_open(writer: _Writer, hole: str, fixed: str) -> None:
    if hole != "*":
        writer.step(t.BEGIN, t.TEXTS[hole])
    if fixed:
        writer.step(t.UNTIL, *writer.spelt(fixed.encode()))
    else:
        writer.step(t.REST)
    if hole != "*":
        writer.step(t.CLOSE, t.TEXTS[hole], t.SHORTENED if hole == "detail" else t.RAW)


def _write_hole(writer: _Writer, hole: str) -> None:
    if hole == "last_offset":
        writer.step(t.NUMBER, t.NUMBERS["log_end_offset"], t.LAST)
    elif hole == "number":
        writer.step(t.NUMBER, -1, t.LONG)
    elif hole == "previous_leader":
        writer.either("Some(", "")
        writer.step(t.NUMBER_OR_NONE, t.NUMBERS[hole], t.SHORT)
        writer.either(")", "")
    elif hole in t.NUMBERS:
        writer.step(t.NUMBER, t.NUMBERS[hole], t.SHORT if hole in t.SHORT_NUMBERS else t.LONG)
    elif hole == "tp":
        writer.step(t.PLACE)
    elif hole in ("isr", "previous_isr"):
        writer.step(t.IDS, t.TEXTS[hole])
    elif hole == "end":
        writer.step(t.END)
    elif hole == "address":
        writer.run(_ALL - frozenset(b")]"), 1, 512)
    else:
        _write_word(writer, hole)


def _write_word(writer: _Writer, hole: str) -> None:
    """A hole of letters without a blank."""
    if hole == "topic_id":
        writer.either("Some(", "")
    writer.step(t.BEGIN, t.TEXTS["detail" if hole == "version" else hole])
    if hole == "topic":
        writer.run(_NAME, 1, 255)
    elif hole == "topic_id":
        writer.run(_WORD | frozenset(b"-"), 1, 64)
    elif hole == "directory":
        writer.run(_ALL - frozenset(b" \t\n\r\f\v,)"), 1, 4096)
    elif hole == "version":
        writer.step(t.RELEASE)
    else:
        raise ValueError(f"no steps take the hole {hole}")
    taken = {"topic_id": t.OR_NONE, "directory": t.DOTLESS, "version": t.SHORTENED}
    writer.step(t.CLOSE, t.TEXTS["detail" if hole == "version" else hole], taken.get(hole, t.PLAIN))
    if hole == "topic_id":
        writer.either(")", "")


def _write_old_prefix(writer: _Writer) -> None:
    """The longer of the two ways that `prefix.PREFIX` matches."""
    writer.text("Partition [")
    writer.run(_ALL - frozenset(b"]\n"), 1, 300)
    writer.text("] on broker ")
    writer.run(_DIGITS, 1, 10)
    writer.text(": ")
    writer.step(t.DONE)


def _write_head(writer: _Writer, pieces: Sequence[FixedPiece]) -> None:
    columns = {"date": t.TIME, "level": t.LEVEL}
    for piece in pieces:
        if piece.kind == "text":
            writer.text(piece.characters)
            continue
        writer.step(t.BEGIN, columns[piece.kind])
        if piece.kind == "date":
            writer.run(_DIGITS | frozenset(piece.characters.encode()), piece.length, piece.length)
        else:
            writer.run(frozenset(range(65, 91)), 4, 5)
        writer.step(t.CLOSE, columns[piece.kind], t.PLAIN)
    writer.step(t.DONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compilation:
    """The program of a layout, and what the loops must know of it beforehand."""

    program: Integers
    begins: Integers
    tail: bytes


@cache
def compilation(layout: Layout) -> Compilation | None:
    """The program for a layout; None for one that is not of fixed length."""
    pieces = layout.fixed
    if pieces is None or not layout.tail_opening:
        return None
    if not all(piece.characters.isascii() for piece in pieces) or _twice(pieces):
        return None
    writer = _Writer()
    _write_old_prefix(writer)
    head = len(writer.steps)
    _write_head(writer, pieces)
    trials = [_trial(writer, event, wording) for event, wording in WORDINGS]
    begins = (t.STEPS_AT + head, t.STEPS_AT, _settings_lead(), _opening(pieces[0]), *_around_level(pieces))
    return Compilation(
        program=_joined(writer, *_leads(writer, trials)), begins=np.array(begins), tail=layout.tail_opening
    )


def _opening(piece: FixedPiece) -> int:
    return piece.characters.encode()[0] if piece.kind == "text" else -1


def _around_level(pieces: Sequence[FixedPiece]) -> tuple[int, int]:
    """How many bytes stand before the level and behind it; all of them and -1 where there is none."""
    place = next((place for place, piece in enumerate(pieces) if piece.kind == "level"), None)
    before = sum(piece.length for piece in pieces[:place])
    return before, -1 if place is None else sum(piece.length for piece in pieces[place + 1 :])


def _joined(writer: _Writer, leads: list[int], trials: list[int]) -> Integers:
    """Everything as one array, with places in it where the parts had their own."""
    names_at = t.STEPS_AT + len(writer.steps)
    letters_at = names_at + 256 * len(writer.classes)
    leads_at = letters_at + len(writer.letters)
    trials_at = leads_at + len(leads)
    steps = np.array(writer.steps).reshape(-1, t.STEP)
    steps[np.isin(steps[:, 0], (t.TEXT, t.UNTIL)), 1] += letters_at
    runs = steps[:, 0] == t.RUN
    steps[runs, 1] = names_at + 256 * steps[runs, 1]
    listed = np.array(trials).reshape(-1, t.TRIAL_WIDTH)
    listed[:, t.TRIAL_STEPS] += t.STEPS_AT
    listed[listed[:, t.TRIAL_ITEMS] >= 0, t.TRIAL_ITEMS] += t.STEPS_AT
    rows = np.array(leads[t.FIRST_LEAD :]).reshape(-1, t.LEAD_WIDTH)
    rows[:, t.LEAD_FROM] += letters_at
    rows[:, t.LEAD_TRIALS :] = trials_at + t.TRIAL_WIDTH * rows[:, t.LEAD_TRIALS :]
    classes = np.zeros((len(writer.classes), 256), np.int64)
    for number, characters in enumerate(writer.classes):
        classes[number, list(characters)] = 1
    letters = np.frombuffer(bytes(writer.letters), np.uint8)
    parts = ([names_at, leads_at], steps, classes, letters, leads[: t.FIRST_LEAD], rows, listed)
    return np.concatenate([np.asarray(part, np.int64).ravel() for part in parts])


def _twice(pieces: Sequence[FixedPiece]) -> bool:
    kinds = [piece.kind for piece in pieces if piece.kind != "text"]
    return len(kinds) != len(set(kinds))


def _trial(writer: _Writer, event: Event, wording: Wording) -> tuple[int, ...]:
    """Where the steps of a wording begin and those of its items, and whether the message is the detail."""
    steps, items = len(writer.steps), -1
    _write(writer, wording.text)
    if event.reason_follows:
        # It may stand on the next line.
        writer.step(t.LEAVE)
    if wording.items is not None:
        writer.step(t.DONE)
        items = len(writer.steps)
        _write(writer, wording.items)
    for to, of in wording.copies.items():
        writer.step(t.COPY, t.NUMBERS[to], t.NUMBERS[of])
    writer.step(t.DONE)
    return steps, items, int(event.whole_message)


def _leads(writer: _Writer, trials: Sequence[tuple[int, ...]]) -> tuple[list[int], list[int]]:
    """Leads by their first byte, the longest first, then those behind a first word; and the trials of all."""
    first, index, rows, listed = _ordered(), [0] * t.FIRST_LEAD, list[int](), list[int]()
    for number, lead in enumerate(first):
        if not index[2 * lead[0] + 1]:
            index[2 * lead[0]] = number
        index[2 * lead[0] + 1] = number + 1
    inner = [lead.encode() for lead in inner_leads()]
    index[t.INNER], index[t.INNER + 1] = len(first), len(first) + len(inner)
    for lead in (*first, *inner):
        begin = len(listed) // t.TRIAL_WIDTH
        for place in _tried(lead):
            listed += (place, *trials[place])
        rows += (*writer.spelt(lead), begin, len(listed) // t.TRIAL_WIDTH)
    return index + rows, listed


def _tried(lead: bytes) -> Iterator[int]:
    yield from () if lead == SETTINGS_LEAD else places(lead)


@cache
def _ordered() -> list[bytes]:
    return sorted((lead.encode() for lead in first_leads()), key=lambda lead: (lead[0], -len(lead)))


def _settings_lead() -> int:
    """The number of the lead with which settings begin."""
    return _ordered().index(SETTINGS_LEAD)
