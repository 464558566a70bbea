"""Known defects of Kafka by what they leave behind: a table of rows, each a pure function of the evidence."""

from __future__ import annotations

from typing import Final

from rules.signatures.cutting import CUTTING
from rules.signatures.electing import ELECTING
from rules.signatures.fetching import FETCHING
from rules.signatures.signature import Hit, Signature
from rules.signatures.storing import STORING

__all__ = ["SIGNATURES", "Hit", "Signature"]

SIGNATURES: Final[tuple[Signature, ...]] = (*CUTTING, *FETCHING, *ELECTING, *STORING)
