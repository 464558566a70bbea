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
    "One disk must change bytes that it had kept. A recording would be the same change of bytes.": (
        frozenset({"HW002", "HW005", "LOG004", "SEG004", "SEG006", "SEG007"})
    ),
    "A leader must fail at what it counts or at what it is refused, and no release does so on demand.": (
        frozenset({"HW003", "HW004", "HW006", "ISR002", "LEAD004"})
    ),
    "Controllers give every partition its epochs one by one, and record each. The log must be of another cluster.": (
        frozenset({"EPOCH006"})
    ),
    "Somebody must write a state by hand. zookeeper_restored holds one, and no request log that tells of it.": (
        frozenset({"LEAD005"})
    ),
    "A follower lawfully begins again where its leader's log starts beyond its own end. Else that log must change"
    " between two of its requests.": frozenset({"TRUNC006"}),
    "Two leaders must decide one transaction differently, and neither may cut the other's marker.": (
        frozenset({"TXN002"})
    ),
    "A leader refuses such a batch, unless it has forgotten the producer or lost what it had acknowledged.": (
        frozenset({"TXN004"})
    ),
}  # fmt: skip
"""Why no recorded sample shows these rules: by reason. Mutants, drawings and tests show all; scripts show some."""
