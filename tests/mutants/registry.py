"""All mutants, and why no recorded sample shows the rules that mutants alone show."""

from __future__ import annotations

from typing import Final

from tests.mutants import on_disks, on_keys, on_states, on_told, on_transactions
from tests.mutants.mutant import Mutant

MUTANTS: Final[tuple[Mutant, ...]] = tuple(
    sorted(
        (*on_disks.MUTANTS, *on_keys.MUTANTS, *on_states.MUTANTS, *on_told.MUTANTS, *on_transactions.MUTANTS),
        key=lambda mutant: mutant.rule,
    )
)
NOT_RECORDED: Final[dict[str, frozenset[str]]] = {
    "A disk, a restored file or a crashed machine must be at fault. A recording would be the same change of bytes.": (
        frozenset({
            "HW005",             "LOG004",             "SEG004", "SEG006", "SEG007",         })
    ),
    "A broker, a controller or a client must break Kafka's rules, and no release does so on demand.": (
        frozenset({
            "EPOCH006", "HW002", "HW003", "HW004", "HW006",
            "ISR002", "LEAD004", "LEAD005", "TRUNC006", "TXN002", "TXN004",
        })
    ),
}  # fmt: skip
"""Why no recorded sample shows these rules: by reason. Mutants, drawings and tests show all; scripts show some."""
