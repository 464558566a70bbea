"""Facts of a violation as a rule's message says them: sentences, and offsets as people say them."""

from __future__ import annotations

from dataclasses import dataclass

from rules.finding import Violation, capital, offsets_told, sentences
from rules.words import numbered, plural, quoted


@dataclass(frozen=True, slots=True)
class Spoken:
    """A fact in words.

    `{bytes:unreadable byte}` counts: 1 unreadable byte, 2 unreadable bytes. `{isr:+broker}` names: broker 1, brokers 1
    and 2, no broker; group 'a'. `{isr:+Broker holds}` begins a sentence: Brokers 1 and 2 hold. `{because:.}` tells the
    fact as sentences of their own, `{who:^}` begins one.
    """

    value: object

    def __format__(self, noun: str) -> str:
        text = _phrase(self.value)
        if noun in (".", "^"):
            return sentences(text) if noun == "." else capital(text)
        if noun.startswith("+"):
            things = self.value if isinstance(self.value, tuple) else (self.value,)
            return _named(noun[1:], [*map(_name, things)])
        return f"{text} {noun if text.split()[-1] == '1' else plural(noun)}" if noun else text


def spoken(said: Violation) -> dict[str, Spoken]:
    """The facts of a violation by the names that a rule's message gives them."""
    start, end = said.start_offset, said.end_offset
    known = {**said.facts, "start_offset": start, "end_offset": end, "brokers": said.brokers}
    if end is not None:
        known["last"] = end - 1
    if start is not None and end is not None:
        known["offsets"] = offsets_told(start, end)
    return {name: Spoken(value) for name, value in known.items()}


def _named(noun: str, things: list[object]) -> str:
    """Things by their names, with what they do; what no thing does is said of this dump alone."""
    named, _, verb = noun.partition(" ")
    words = numbered(named.lower(), things, verb if things or not verb else f"in this dump {verb}")
    return capital(words) if named[0].isupper() else words


def _name(value: object) -> object:
    return quoted(value) if isinstance(value, str) else value


def _phrase(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
