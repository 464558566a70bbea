"""Known defects of Kafka by what they leave behind: a table of rows, each a pure function of the evidence."""

from __future__ import annotations

from typing import Final

from rules.finding import sentences
from rules.signatures.cutting import CUTTING
from rules.signatures.electing import ELECTING
from rules.signatures.fetching import FETCHING
from rules.signatures.following import FOLLOWING
from rules.signatures.formats import FORMATS
from rules.signatures.signature import Hit, Signature
from rules.signatures.storing import STORING
from rules.signatures.untold import UNTOLD
from rules.signatures.watermarks import WATERMARKS

SIGNATURES: Final[tuple[Signature, ...]] = (
    *CUTTING, *FETCHING, *FOLLOWING, *ELECTING, *WATERMARKS, *STORING, *FORMATS,
)  # fmt: skip


def reach() -> str:
    """Every defect of the table, those that no evidence tells with the reason: the page's own account of itself."""
    rows = sorted(SIGNATURES, key=lambda row: _number(row.defect))
    untold = sorted(UNTOLD, key=lambda row: _number(row.defect))
    lines = [f"Told, {len(rows)} defects, of brokers of these releases:", ""]
    lines += [f"- {row.defect}, {row.title} ({row.reach})" for row in rows]
    lines += ["", f"Not told, {len(untold)} defects, and why:", ""]
    lines += [f"- {row.defect}, {row.title}. {sentences(row.because)}" for row in untold]
    return "\n".join(lines)


def _number(defect: str) -> int:
    return int(defect.removeprefix("KAFKA-"))
