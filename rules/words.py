"""Things that bear numbers, in words: the one place that knows when a noun and its verb are plural."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

_PLURAL: Final = {"is": "are", "was": "were", "has": "have", "does": "do"}


def numbered(noun: str, values: Collection[object], verb: str = "") -> str:
    """What bears these numbers, and does something: broker 1 holds; brokers 1, 2 and 3 hold; no broker holds."""
    *most, last = values or ("",)
    if not most:
        named, does = (f"{noun} {last}" if values else f"no {noun}"), verb
    else:
        named, does = f"{noun}s {', '.join(map(str, most))} and {last}", _PLURAL.get(verb, verb.removesuffix("s"))
    return f"{named} {does}" if verb else named


def plural(noun: str) -> str:
    """Several of it."""
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("ch", "s", "x")) else "s")


def counted(count: int, noun: str) -> str:
    """A number with its noun."""
    return f"{count} {noun if count == 1 else plural(noun)}"


def amount(offsets: int, records: int | None, worth: str = "") -> str:
    """How much was lost: 50 committed records; 7 offsets; 980 offsets (977 records), where markers or holes are."""
    if records is None or records == offsets:
        return counted(offsets, f"{worth} {'offset' if records is None else 'record'}".strip())
    return f"{counted(offsets, f'{worth} offset'.strip())} ({counted(records, 'record')})"


def listed(things: Sequence[str], joint: str = "and") -> str:
    """Several things in one row: a, b and c; of which any is meant, by "or"."""
    *most, last = things
    return f"{', '.join(most)} {joint} {last}" if most else last


def first_of(things: Sequence[str], most: int, count: int | None = None) -> str:
    """Several things in one row; of many the first, and how many more there are of so many in all."""
    shown = things[:most]
    rest = (len(things) if count is None else count) - len(shown)
    return f"{', '.join(shown)} and {rest} more" if rest else listed(shown) if shown else ""


def quoted(name: str) -> str:
    """A name of a group or a client: data, and so told apart from the words around it."""
    return f"'{name}'"


def place_name(topic: str, partition: int | None) -> str:
    """A partition as people call it; where there is none, its topic as a whole."""
    return f"topic {quoted(topic)}" if partition is None else f"{topic}-{partition}"


def it_or_them(count: int) -> str:
    """So many things that were named before, as an object: it, them."""
    return "it" if count == 1 else "them"


def any_of(noun: str, values: Collection[object]) -> str:
    """Things of which any is meant: broker 1; broker 1, 2 or 3."""
    return f"{noun} {listed([*map(str, values)], 'or')}"


def epoch_or_range(first: int, last: int) -> str:
    """The epoch of something, or those of which it is one."""
    if first == last:
        return f"epoch {first}"
    return f"epoch {first} or {last}" if last == first + 1 else f"an epoch from {first} to {last}"


def of_epoch(epoch: int) -> str:
    """Whose epoch records are; those of formats 0 and 1 carry none."""
    return f" of epoch {epoch}" if epoch >= 0 else ""


def from_to(end: int | None, cut_to: int) -> str:
    """How far a log was cut; nothing tells where it ended before in every case."""
    return f"to offset {cut_to}" if end is None else f"from offset {end} to {cut_to}"
