"""Questions about a partition that several rules and tellers ask: worked out when somebody asks first."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar, cast

from rules.evidence import PartitionEvidence

T = TypeVar("T")


def asked_once(question: Callable[[PartitionEvidence], T]) -> Callable[[PartitionEvidence], T]:
    """The question, whose answer is kept with the evidence that it was asked about, as its cached properties are."""
    name = f"{question.__module__}.{question.__qualname__}"

    @wraps(question)
    def ask(evidence: PartitionEvidence) -> T:
        known = vars(evidence)
        if name not in known:
            known[name] = question(evidence)
        return cast("T", known[name])

    return ask
