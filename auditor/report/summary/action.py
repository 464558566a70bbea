"""One thing that people may do, must do, or must not do: its words, its partitions, and how alike ones are one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from auditor.report.model import LOSES_NO_MORE, LOSES_NOTHING
from auditor.report.named_places import named_places
from auditor.report.summary.perhaps import offsets_in
from rules.finding import PLACE_OF_NAMES, Place, capital, offsets_told
from rules.words import any_of, counted, first_of, numbered

Kind = Literal["no-go", "copy", "unknown", "act", "go"]
NAMED: Final = 8
LONG: Final = 80
"""Characters of ranges before what is to be done there; beyond so many the partitions are named instead."""
PLACE_OF_START: Final = "{start}"
"""Where in words the first of the offsets comes to stand."""
FREE: Final = re.compile(r"restarting or electing (broker [\d, or]+) (cuts nothing .*)")
"""What may be done with any of some brokers, and what comes of it."""
CLIENT: Final = "client id "
READ_AGAIN: Final = f"must go back to {PLACE_OF_START} and read again."
CONSUMERS_FIRST: Final = f"first set consumers back to {PLACE_OF_START}. Then "
"""Behind a log that has grown past them they would skip records unseen."""
AIMS_SHOWN: Final = 3
RANGES_SHOWN: Final = 8
"""Ranges of one action; of more the partitions are named."""
GOING: Final = {"go": "GO: ", "no-go": "NO-GO: ", "unknown": "UNKNOWN: "}


class Aim(Struct, frozen=True, kw_only=True):
    """The partition and the offsets that an action is about."""

    cluster_id: str | None
    topic: str | None
    partition: int | None
    start_offset: int | None = None
    end_offset: int | None = None
    brokers: tuple[int, ...] = ()
    """Whose replicas are meant, where that is to be said."""
    epoch: int | None = None
    """Whose records are meant, where other records were or are at these offsets."""
    detail: str = ""
    """What is to be known of single offsets."""

    @property
    def place(self) -> Place:
        """The partition."""
        return self.cluster_id, self.topic, self.partition

    def covers(self, other: Aim) -> bool:
        """Whether it is about all that another one is about, and about more."""
        if self == other or replace(self, start_offset=other.start_offset, end_offset=other.end_offset) != other:
            return False
        start, end = other.start_offset or 0, other.end_offset or 0
        return start < end and (self.start_offset or 0) <= start and end <= (self.end_offset or 0)

    @property
    def name(self) -> str:
        """What the partition is called."""
        return "the whole dump" if self.topic is None else f"{self.topic}-{self.partition}"

    @property
    def words(self) -> str:
        """The partition and its offsets as people say them."""
        whose = f" on {numbered('broker', self.brokers)}" if self.brokers else ""
        if self.start_offset is None or self.end_offset is None:
            return f"{self.name}{whose}"
        which = "" if self.epoch is None else f" of epoch {self.epoch}"
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.name} {offsets_told(self.start_offset, self.end_offset)}{which}{whose}{detail}"


class Action(Struct, frozen=True, kw_only=True):
    """Something that people may do, must do, or must not do."""

    kind: Kind
    words: str
    """What to do and why, in sentences that name no partition."""
    first: str
    """What comes before it; empty where nothing does."""
    aims: tuple[Aim, ...]
    """Everywhere it is to be done; the words are those of the first."""
    names: tuple[str, ...] = ()
    """Clients or groups that it concerns, as they call themselves."""
    names_are: str = ""
    """What is known of these; empty where the words have a place for them."""
    findings: tuple[str, ...] = ()
    """The findings that call for it, where some do."""
    unsure: bool = False
    """Whether it may turn out that nobody has to do it."""
    numbers_differ: bool = False
    """Whether other partitions have other numbers in the words."""

    @property
    def is_gate(self) -> bool:
        """Whether it is about what may be done, not about who must do something."""
        return self.kind in GOING

    @property
    def text(self) -> str:
        """The words with the first of the names, with what comes first, and whose numbers they tell."""
        return f"{self._said} The {self._own} are those of {self.aims[0].name}." if self.numbers_differ else self._said

    @property
    def _said(self) -> str:
        names = f" {self.names_are} {_nouns_once(self.names)}." if self.names_are and self.names else ""
        words = self.words.replace(PLACE_OF_NAMES, first_of(self.names, NAMED)).replace(PLACE_OF_START, self._start)
        return f"{words}{names}{f' First, {self.first}.' if self.first else ''}"

    @property
    def _own(self) -> str:
        """What each place has of its own in the words, where that differs."""
        return "numbers and paths" if "/" in f"{self.words}{self.first}" else "numbers"

    @property
    def in_brief(self) -> Action:
        """The same without its reasons: what comes of it in one sentence."""
        head, stop, _ = self.words.partition(". ")
        return replace(self, words=f"{head}." if stop else self.words)

    def line(self, most: int, ranges: int = 0, room: int = LONG) -> str:
        """The same with its place; of many partitions so many are named, and so many ranges, if those are more.

        Ranges that take more than the room are not named one by one. The place is told however short the words are
        made; so it tells too whose numbers those are.
        """
        where = _where(self.aims, most, ranges, room)
        if self.numbers_differ and self.aims[1:]:
            whose = "their" if self.aims[2:] else "its"
            others = _where(self.aims[1:], most, ranges, room)
            where = f"{self.aims[0].words}; {others} with {whose} own {self._own}"
        return f"{GOING[self.kind]}{self._said} ({where})" if self.is_gate else f"{where}: {self._said}"

    @property
    def _start(self) -> str:
        starts = {aim.start_offset for aim in self.aims}
        return f"offset {self.aims[0].start_offset}" if len(starts) == 1 else "the first offset of each range"


def in_brief(actions: Sequence[Action]) -> list[Action]:
    """The same; of what may be done or not, what comes of it in one sentence, once for all that say it.

    Where some partition has lost records, nobody loses more. Where consumers go back first, producers follow them once
    for all partitions.
    """
    alike: dict[tuple[str, str, str, str], list[Action]] = {}
    more = any(action.kind == "go" and LOSES_NO_MORE in action.words for action in actions)
    back = {aim.place for action in actions if action.words.endswith(READ_AGAIN) for aim in action.aims}
    for action in actions:
        brief = action.in_brief if action.kind in ("go", "no-go") else action
        if more and brief.kind == "go":
            brief = replace(brief, words=brief.words.replace(LOSES_NOTHING, LOSES_NO_MORE))
        free = FREE.match(brief.words) if brief.kind == "go" else None
        words = free[2] if free else brief.words
        if not brief.is_gate and back.issuperset(aim.place for aim in brief.aims):
            words = capital(words.removeprefix(capital(CONSUMERS_FIRST)))
        alike.setdefault((brief.kind, words, brief.first, brief.names_are), []).append(brief)
    return [_of_all(own, said[1]) for said, own in alike.items()]


def _of_all(alike: Sequence[Action], words: str) -> Action:
    """Alike ones as one; of what any broker may do, each broker where it has a replica."""
    one, free = joined(alike), [found for action in alike if (found := FREE.match(action.words))]
    if any(action.words.startswith(capital(CONSUMERS_FIRST)) for action in alike) and words.startswith("Producers"):
        return replace(one, words=f"Then p{words[1:]}", numbers_differ=False)
    if len({found[1] for found in free}) < 2:  # noqa: PLR2004 - the same brokers everywhere
        return one
    brokers = sorted({int(number) for found in free for number in re.findall(r"\d+", found[1])})
    doing = f"restarting or electing {any_of('broker', brokers)} where it has a replica"
    return replace(one, words=f"{doing} {words}", numbers_differ=False)


def _where(aims: Sequence[Aim], most: int, ranges: int, room: int) -> str:
    words = [aim.words for aim in aims]
    where = ", ".join(words)
    named_all = len(words) <= max(most, ranges) and (len(words) == 1 or len(where) <= room)
    return where if named_all else _shortened(aims, most)


def _shortened(aims: Sequence[Aim], most: int) -> str:
    """Some of the partitions, and how many offsets it is about in all, where it is of offsets."""
    in_all = _offsets_in_all(aims)
    places = named_places([aim.place for aim in aims], most)
    if not in_all:
        return places
    meant = aims[0].brokers if len({aim.brokers for aim in aims}) == 1 else ()
    whose = f" on {numbered('broker', meant)}" if meant else ""
    if len({aim.place for aim in aims}) == 1:
        return f"{places}, {counted(len(aims), 'range')} ({in_all}){whose}"
    words = [aim.words for aim in aims]
    behind = {each.removeprefix(aim.name) for each, aim in zip(words, aims, strict=True)}
    if len(behind) == 1:
        return f"{places}, each{behind.pop()}"
    return f"{places} ({in_all} in {counted(len(aims), 'range')}){whose}"


def _offsets_in_all(aims: Sequence[Aim]) -> str:
    """How many offsets it is about, where they are not named one by one; nothing where it is of no offsets."""
    held: dict[object, list[tuple[int, int]]] = {}
    for aim in aims:
        if aim.start_offset is not None and aim.end_offset is not None:
            held.setdefault((aim.place, aim.epoch), []).append((aim.start_offset, aim.end_offset))
    return counted(sum(map(offsets_in, held.values())), "offset") if held else ""


def joined(alike: Sequence[Action]) -> Action:
    """Alike ones as one, in the words of the first."""
    first = alike[0]
    asked = _of_all_brokers(aim for action in alike for aim in action.aims)
    aims = tuple(aim for aim in asked if not any(other.covers(aim) for other in asked))
    names = tuple(dict.fromkeys(name for action in alike for name in action.names))
    findings = tuple(dict.fromkeys(finding for action in alike for finding in action.findings))
    some = any(action.names for action in alike) and not all(action.names for action in alike)
    named = first.names_are.replace("The ", "Some of the ", 1) if some else first.names_are
    differ = any((each.words, each.first) != (first.words, first.first) or each.numbers_differ for each in alike)
    return replace(first, aims=aims, names=names, names_are=named, findings=findings, numbers_differ=differ)


def _nouns_once(names: Sequence[str]) -> str:
    """The first of the names, the noun once."""
    own = [name.removeprefix(CLIENT) for name in names]
    alike = len(names) > 1 and all(name.startswith(CLIENT) for name in names)
    return f"{CLIENT.strip()}s {first_of(own, NAMED)}" if alike else first_of(names, NAMED)


def _of_all_brokers(aims: Iterable[Aim]) -> tuple[Aim, ...]:
    """The aims, each range once with all the brokers whose replicas are meant there."""
    found: dict[Aim, set[int]] = {}
    for aim in aims:
        found.setdefault(replace(aim, brokers=()), set()).update(aim.brokers)
    return tuple(replace(aim, brokers=tuple(sorted(brokers))) for aim, brokers in found.items())
