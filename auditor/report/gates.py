"""Gates as they are told: those that say the same of several brokers are told once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from auditor.report.model import Gate


def told_once(gates: Sequence[Gate]) -> Iterator[Gate]:
    """The gates in their order, with all the brokers of which each is true."""
    held: dict[Gate, list[str]] = {}
    for gate in gates:
        verb, _, broker = gate.action.rpartition(" broker ")
        held.setdefault(replace(gate, action=verb or gate.action), []).append(broker if verb else "")
    for gate, brokers in held.items():
        whom = f"{'any of ' if len(brokers) > 1 else ''}{named_brokers(brokers)}"
        yield gate if brokers == [""] else replace(gate, action=f"{gate.action} {whom}")


def named_brokers(brokers: Sequence[str]) -> str:
    """Brokers in words."""
    return f"broker{'s' if len(brokers) > 1 else ''} {', '.join(brokers)}"
