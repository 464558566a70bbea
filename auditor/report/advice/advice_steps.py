"""What comes before an election and after it, each step once and in an order in which each can be done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from auditor.report.model import Advice, Candidate, Gate
from rules.finding import capital
from rules.words import numbered

_RESTART: Final = "restart broker "


def before_election(advice: Advice, best: Candidate) -> Iterator[str]:
    """Copies first; then who may start, and who may not yet."""
    own = next(gate for gate in advice.gates if gate.action == f"elect broker {best.broker}")
    barred = [gate for gate in (*_restarts(advice), own) if gate.going == "no-go" and not gate.after_lead_of]
    firsts = dict.fromkeys(gate.first for gate in barred if gate.first)
    held = _held_by_folders(advice, best, firsts)
    yield from (f"{capital(first)}." for first in firsts if not (held and first == own.first))
    if own.going == "unknown":
        yield f"Find out what is open above about electing broker {best.broker}."
    if waiting := _waiting(advice, best):
        runs = "it runs" if len(waiting) == 1 else "they run"
        yield f"Stop {numbered('broker', waiting)} if {runs}. Then start broker {best.broker}."


def after_election(advice: Advice, best: Candidate) -> Iterator[str]:
    """Who copies its log again, because it is wrong or stays different; then what was copied is written back."""
    waiting = _waiting(advice, best)
    apart = {cut.follower for cut in best.cuts if cut.then != "agrees"}
    for other in sorted(advice.candidates, key=lambda candidate: candidate.broker):
        if (other.broker in apart or other.broker in waiting) and not (best.damage or best.doubts):
            stop = "" if other.broker in waiting else f"Stop broker {other.broker} if it runs. "
            away = f"Move {other.path} of broker {other.broker} away, and start that broker."
            yield f"{stop}{away} It copies broker {best.broker}'s log."
    if best.lacks:
        yield "Set consumers back. Then write the copied records to the partition again, unless their producers do."


def _held_by_folders(advice: Advice, best: Candidate, firsts: Iterable[str]) -> bool:
    """Whether folders that are copied hold all that the best candidate lacks."""
    copied = {path for first in firsts for path in first.removeprefix("copy ").split(", ")}
    held = [each.stretch for each in advice.doomed if each.path in copied]
    return bool(best.lacks) and all(
        any(s.epoch == own.epoch and s.start_offset <= own.start_offset < own.end_offset <= s.end_offset for s in held)
        for own in best.lacks
    )


def _restarts(advice: Advice) -> list[Gate]:
    return [gate for gate in advice.gates if gate.action.startswith(_RESTART)]


def _waiting(advice: Advice, best: Candidate) -> list[int]:
    """The brokers that would lead by their start, and that the best one is to lead before."""
    waits = (gate for gate in _restarts(advice) if best.broker in gate.after_lead_of)
    return [int(gate.action.removeprefix(_RESTART)) for gate in waits]
