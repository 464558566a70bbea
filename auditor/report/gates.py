"""Gates as they are told: those that say the same of several brokers are told once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from auditor.report.model import Gate

_DOING: Final = {
    "restart": "restarting",
    "elect": "electing",
    "restart all brokers one by one, or change the inter-broker protocol": (
        "restarting all brokers one by one, or changing the inter-broker protocol,"
    ),
}


def told_once(gates: Sequence[Gate]) -> Iterator[Gate]:
    """The gates in their order, with all the brokers of which each is true."""
    held: dict[Gate, list[str]] = {}
    for gate in gates:
        verb, _, broker = gate.action.rpartition(" broker ")
        held.setdefault(replace(gate, action=verb or gate.action), []).append(broker if verb else "")
    for gate, brokers in held.items():
        yield gate if brokers == [""] else replace(gate, action=f"{gate.action} {one_of(brokers)}")


def gate_words(gate: Gate) -> str:
    """What comes of an action, in sentences: electing broker 1, 2 or 3 loses nothing."""
    if gate.action in _DOING:
        return f"{_DOING[gate.action]} {gate.because}"
    verb, _, brokers = gate.action.partition(" ")
    return f"{_DOING.get(verb, verb)} {brokers} {gate.because}"


def one_of(brokers: Sequence[str]) -> str:
    """Brokers of which any is meant."""
    *most, last = sorted(brokers, key=lambda broker: (len(broker), broker))
    return f"broker {', '.join(most)} or {last}" if most else f"broker {last}"


def named_brokers(brokers: Sequence[str]) -> str:
    """Brokers in words."""
    return f"broker{'s' if len(brokers) > 1 else ''} {', '.join(brokers)}"
