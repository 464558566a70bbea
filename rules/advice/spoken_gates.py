"""Gates as people are told them: equal ones once, and elections of which each costs something as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from rules.advice.gates import ASKED_FIRST, LOSES_NO_MORE, LOSES_NOTHING, ROLLING, in_no_copy
from rules.advice.restarts import CUTS_NOTHING
from rules.advice.weighed import DELETE, Advice, Gate, worth_of
from rules.words import any_of

_DOING: Final = {
    "restart": "restarting",
    "elect": "electing",
    "restart or elect": "restarting or electing",
    ROLLING: "a rolling restart or a new inter-broker protocol version",
}


def told_gates(advice: Advice) -> Iterator[Gate]:
    """The gates of a partition in their order."""
    gates, candidates = advice.gates, advice.candidates
    if _all_free(gates):
        yield _free(advice)
    elif advice.may_be_elected and len(candidates) > 1 and all(candidate.lacks for candidate in candidates):
        elections = [gate for gate in gates if gate.action.startswith("elect ")]
        place = gates.index(elections[0])
        yield from _told_once(gates[:place])
        yield _each_costs(advice, elections)
        yield from _told_once(gates[place + len(elections) :])
    else:
        yield from _told_once(gates)


def _all_free(gates: Sequence[Gate]) -> bool:
    """Whether every restart, every election and a rolling restart may be done, and none of them cuts anything."""
    started = [gate for gate in gates if gate.action.startswith("restart broker ")]
    asked = 2 * len(started) + 1 == len(gates) and any(gate.action == ROLLING for gate in gates)
    return asked and all(gate.going == "go" for gate in gates) and all(g.because == CUTS_NOTHING for g in started)


def _free(advice: Advice) -> Gate:
    gates = advice.gates
    brokers = [int(gate.action.removeprefix("elect broker ")) for gate in gates if gate.action.startswith("elect ")]
    gone = any(gate.because.startswith(LOSES_NO_MORE) for gate in gates)
    loses = f"{LOSES_NO_MORE}{in_no_copy(advice.nowhere)}" if gone else LOSES_NOTHING
    because = (
        f"cuts nothing and {loses} No replica here has acknowledged records that another one lacks."
        f" That holds for {_DOING[ROLLING]} too: {ASKED_FIRST}"
    )
    return Gate(action=f"restart or elect {any_of('broker', sorted(brokers))}", going="go", because=because)


def _told_once(gates: Sequence[Gate]) -> Iterator[Gate]:
    """The gates in their order, with all the brokers of which each is true."""
    held: dict[Gate, list[int]] = {}
    for gate in gates:
        verb, _, broker = gate.action.rpartition(" broker ")
        held.setdefault(replace(gate, action=verb or gate.action), []).extend([int(broker)] if verb else [])
    for gate, brokers in held.items():
        yield replace(gate, action=f"{gate.action} {any_of('broker', sorted(brokers))}") if brokers else gate


def _each_costs(advice: Advice, elections: Sequence[Gate]) -> Gate:
    """Elections of which each loses what another replica holds: what each loses, and who is chosen after the copies."""
    candidates, best = advice.candidates, advice.candidates[0]
    copied = {gate.action: gate.first for gate in elections}
    lost: dict[tuple[str, str], list[int]] = {}
    for candidate in candidates:
        what = copied[f"elect broker {candidate.broker}"].removeprefix("copy ")
        lost.setdefault((what, worth_of(candidate.lacks)), []).append(candidate.broker)
    worths = {worth for _, worth in lost}
    alike = worths.pop() if len(worths) == 1 else ""
    costs = " ".join(
        f"If {any_of('broker', sorted(own))} leads, this is lost: {what}{'' if alike else f' ({worth})'}."
        for (what, worth), own in lost.items()
    )
    who = any_of("broker", sorted(candidate.broker for candidate in candidates))
    choice = "" if advice.absent or advice.unread else f", then let broker {best.broker} lead"
    first = f"{copied[f'elect broker {best.broker}']}{choice}"
    because = f"loses {alike or 'records'}, which another broker has, unless they are copied before. {costs}"
    return Gate(action=f"elect {who}", going="no-go", because=because, first=first)


def gate_words(gate: Gate) -> str:
    """What comes of an action, in sentences: electing broker 1, 2 or 3 loses nothing."""
    verb, broker, number = gate.action.rpartition(" broker ")
    doing = f"{_DOING.get(verb, verb)}{broker}{number}" if verb else _DOING.get(gate.action, gate.action)
    if gate.action.startswith(DELETE):
        folder = gate.action.removeprefix(DELETE)
        doing = f"deleting the folder {folder.rpartition('/')[2]} (here: {folder})"
    return f"{doing} {gate.because}"
