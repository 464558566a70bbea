"""What a verdict speaks of: kinds of evidence that were there, replicas that were, and what was told to be left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

KIND_WORDS: Final = {
    "disk": "disks",
    "server-log": "brokers' logs",
    "state-change-log": "logs of state changes",
    "request-log": "request logs",
    "metadata": "metadata",
}
"""Kinds of evidence, in the order in which they are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """How far a verdict reaches, where some evidence is not there as a whole or was said not to matter."""

    kinds: tuple[str, ...] = ()
    """Kinds of evidence of which something was read."""
    absent: tuple[str, ...] = ()
    """Kinds of which nothing was."""
    partly: tuple[str, ...] = ()
    """Kinds that some brokers have here and others lack."""
    replicas_here: int = 0
    replicas_assigned: int = 0
    """Those here and those that something names and that are not."""
    partial: bool = False
    """Whether the audit was told that a part of the cluster is all there is."""

    @property
    def words(self) -> str:
        """The scope as the verdict's first line names it; empty where everything is there."""
        parts = []
        if self.absent and self.kinds:
            *most, last = (KIND_WORDS[kind] for kind in self.kinds)
            told = f"{', '.join(most)} and {last} tell" if most else f"{last} alone tell"
            parts.append(f"as far as {told}")
        if self.replicas_here < self.replicas_assigned:
            parts.append(f"of {self.replicas_here} of {self.replicas_assigned} assigned replicas")
        if self.partly and self.partial:
            parts.append(f"without all {' and '.join(KIND_WORDS[kind] for kind in self.partly)}")
        return ", ".join(parts)
