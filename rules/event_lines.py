"""One line, one event: what event lines of rule pages' sketches and scripts of `simulate` have in common.

A verb, then words in a fixed order. A named value stands as `epoch 3` or as `epoch=3`, whichever reads better; brokers
stand as ids with commas between them, and `none` stands for no broker.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

Words = Mapping[str, str | None]
NUMBER: Final = r"\d{1,9}"
IDS: Final = rf"{NUMBER}(?:,{NUMBER})*"
_NAMED_VALUE: Final = re.compile(r"(?<=\w)=(?=\S)")


def verb_and_rest(line: str) -> tuple[str, str]:
    """The verb of a line, and its other words with one blank between them."""
    verb, _, rest = " ".join(_NAMED_VALUE.sub(" ", line).split()).partition(" ")
    return verb, rest


def words_of(shape: str, rest: str) -> Words | None:
    """The words that stand behind a verb, by name; none where they are not of its shape."""
    match = re.fullmatch(shape, rest)
    return None if match is None else match.groupdict()


def number(words: Words, name: str) -> int | None:
    """A number, where it is given."""
    value = words.get(name)
    return None if value is None else int(value)


def ids(text: str) -> tuple[int, ...]:
    """Brokers by their ids; none for `none`."""
    return tuple(int(broker) for broker in text.split(",") if broker not in ("", "none"))
