"""Text from a dump made safe to print: what could move the cursor, hide or turn text round is spelled out."""

from __future__ import annotations

import unicodedata
from typing import Final

HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Controls, formats (right-to-left marks, zero width), halves of characters, unassigned ones, separators of lines."""


def plain(text: str, keep: str = "") -> str:
    """The text with every character that does not show as itself escaped, but for those in `keep`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in keep or unicodedata.category(c) not in HIDDEN else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
