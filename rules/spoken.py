"""Facts of a violation as a rule's message says them."""

from __future__ import annotations

from dataclasses import dataclass

from rules.finding import Violation, numbered


@dataclass(frozen=True, slots=True)
class Spoken:
    """A fact in words.

    `{bytes:unreadable byte}` counts: 1 unreadable byte, 2 unreadable bytes. `{isr:+broker}` names: broker 1, brokers 1
    and 2, no broker.
    """

    value: object

    def __format__(self, noun: str) -> str:
        text = _phrase(self.value)
        if noun.startswith("+"):
            return numbered(noun[1:], self.value if isinstance(self.value, tuple) else (self.value,))
        return f"{text} {noun if text.split()[-1] == '1' else f'{noun}s'}" if noun else text


def spoken(said: Violation) -> dict[str, Spoken]:
    """The facts of a violation by the names that a rule's message gives them."""
    known = {**said.facts, "start_offset": said.start_offset, "end_offset": said.end_offset, "brokers": said.brokers}
    return {name: Spoken(value) for name, value in known.items()}


def _phrase(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
