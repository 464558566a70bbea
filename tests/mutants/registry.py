"""All mutants, and the rules that neither a recorded sample nor a mutant of one shows, each with the reason."""

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
NOT_SHOWN: Final[dict[str, str]] = {}
"""Scripts show some of them; drawings and tests show all."""
