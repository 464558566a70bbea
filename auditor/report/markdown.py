"""Words from a dump set into Markdown: they show as themselves, and neither mark up nor link anything."""

from __future__ import annotations

import re
from typing import Final

from auditor.report.plain import plain

_ACTIVE: Final = re.compile(
    r"[\\`*|]|<(?=[A-Za-z/!?])|(?<=\])[(\[:]|(?<=!)\["
    r"|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])|(?<=[a-z]):(?=//)|(?<=\bwww)\.|&(?=[#A-Za-z])|~(?=~)|(?<=~)~|\$"
)
"""What Markdown would act on; offsets in brackets and names with dashes or inner underscores stay readable."""


def text(words: str) -> str:
    """Words as text of a paragraph, a list or a cell of a table."""
    return _ACTIVE.sub(lambda found: f"\\{found[0]}", plain(words))


def code(path: str) -> str:
    """A path as code; a mark that would end the code or the cell is spelled as in every path of a report."""
    return f"`{plain(path).replace('`', '%60').replace('|', '%7C')}`"
