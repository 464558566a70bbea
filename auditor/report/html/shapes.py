"""What pictures are made of: boxes, lines and words with their places, and what each says to whoever points at it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

Anchor = Literal["start", "middle", "end"]
WIDTH: Final = 1000.0
LEFT: Final = 128.0
RIGHT: Final = 806.0
"""The sheet of a picture with names at its left and numbers at its right."""
HUES: Final = 8
"""Colours of epochs; the ninth looks like the first."""
LETTER: Final = 6.4
"""Width of a letter of the pictures' usual size, on average; numbers and small letters stay below it."""


class Box(Struct, frozen=True, kw_only=True):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float
    look: str
    """Classes of the page's style, never words of a dump."""
    says: str = ""
    link: str = ""
    """The id of the part of the page that tells more."""
    round: float = 0
    kind: Literal["box"] = "box"


class Polyline(Struct, frozen=True, kw_only=True):
    """A line through points."""

    points: Sequence[tuple[float, float]]
    look: str
    says: str = ""
    link: str = ""
    kind: Literal["line"] = "line"

    @property
    def drawn(self) -> str:
        """The points as SVG takes them."""
        return " ".join(f"{number(x)},{number(y)}" for x, y in self.points)


class Label(Struct, frozen=True, kw_only=True):
    """A line of text."""

    x: float
    y: float
    text: str
    look: str = ""
    anchor: Anchor = "start"
    says: str = ""
    link: str = ""
    kind: Literal["words"] = "words"


Shape = Box | Polyline | Label


class Picture(Struct, frozen=True, kw_only=True):
    """Shapes on a sheet; who does not see them reads the words."""

    width: float
    height: float
    words: str
    shapes: tuple[Shape, ...]

    @property
    def looks(self) -> frozenset[str]:
        """What is to be seen in it, for its key."""
        return frozenset(look for shape in self.shapes for look in shape.look.split())


def number(value: float) -> str:
    """A coordinate, as short as it can be told to a tenth."""
    return f"{value:.1f}".removesuffix(".0")


def room_for(text: str) -> float:
    """About how wide a text is."""
    return len(text) * LETTER
