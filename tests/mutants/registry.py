"""All mutants, and the rules that neither a recorded sample nor a mutant of one shows, each with the reason."""

from __future__ import annotations

from typing import Final

from tests.mutants import on_disks, on_told, on_transactions
from tests.mutants.mutant import Mutant

MUTANTS: Final[tuple[Mutant, ...]] = tuple(
    sorted((*on_disks.MUTANTS, *on_told.MUTANTS, *on_transactions.MUTANTS), key=lambda mutant: mutant.rule)
)
NOT_SHOWN: Final = {
    "EPOCH006": "every recorded controller gave all epochs up to its newest, and one above may be behind a log's end",
    "GROUP001": "no recorded client joined a group with members: their commits are simple ones",
    "ISR002": "no recorded follower lagged long enough, and one line changed moves no ISR by itself",
    "LEAD005": "every recorded election took the first replica that was due",
    "META002": "it needs eligible leader replicas, which no recorded controller had to fall back on",
    "PLACE001": "no recorded topic has enough keys by one known partitioner",
    "PLACE002": "no recorded cluster names racks, or ends with a preferred replica in sync that does not lead",
    "TRUNC005": "no recorded follower cut inside a batch, and the records that such a cut needs are gone by then",
}
"""Scripts show some of them; drawings and tests show all."""
