"""The files and commands that carry out an advice, for a person to review: those of the release that brokers run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Final

from auditor.report.model import DELETE, Advice, Candidate, Gate, Going, PlacedAdvice, Survivor
from rules.finding import capital, offsets_told
from rules.words import listed, numbered

Json = dict[str, object]
_BROKERS: Final = re.compile(r"\bbrokers? ((?:\d+(?:, | or | and ))*\d+)")
LEADER_ELECTION_SINCE: Final = (2, 4)
"""kafka-leader-election took the place of kafka-preferred-replica-election, and can elect uncleanly."""
REASSIGNS_BY_BROKERS_SINCE: Final = (2, 6)
"""kafka-reassign-partitions asked ZooKeeper before."""
_RESTART: Final = "restart broker "
UNCLEAN: Final = "an unclean election"
LATER_STEPS: Final = "Later steps may remove them from its log."


def going(advice: Advice, broker: int) -> Going | None:
    """Whether a broker may be elected; null where nobody elects by hand."""
    return next((gate.going for gate in advice.gates if gate.action == f"elect broker {broker}"), None)


def may_follow(advice: Advice, broker: int) -> bool:
    """Whether an election is to be carried out, be it after something else: not one that is barred for good."""
    asked = (gate for gate in advice.gates if gate.action == f"elect broker {broker}")
    return any(gate.going != "no-go" or gate.first for gate in asked)


def election(placed: PlacedAdvice) -> Json:
    """The file that kafka-leader-election takes, and kafka-preferred-replica-election before it."""
    partitions = [{"topic": placed.topic, "partition": placed.partition}]
    return {"partitions": partitions if placed.advice.may_be_elected else []}


def reassignment(placed: PlacedAdvice, leader: int) -> Json:
    """The file that kafka-reassign-partitions takes, with the leader to be as the first replica."""
    others = [broker for broker in placed.advice.assignment if broker != leader]
    moved = {"topic": placed.topic, "partition": placed.partition, "replicas": [leader, *others]}
    return {"version": 1, "partitions": [moved]}


def commands(placed: PlacedAdvice) -> Iterator[str]:
    """What would be done in its order, and the files; lines that are to be copied are never wrapped."""
    best = next(iter(placed.advice.candidates), None)
    if best is None or not may_follow(placed.advice, best.broker):
        if placed.advice.may_be_elected:
            yield "No command is given. Each election is a NO-GO, and nothing that could be done before is known."
        return
    yield f"Step by step, for your review; nothing was run. {_for(placed.advice.release)}"
    steps = before_election(placed.advice, best)
    before = (tuple(_saving(step, placed)) if step.startswith("Copy ") else (step,) for step in steps)
    after = ((step,) for step in after_election(placed.advice, best))
    for number, (first, *others) in enumerate((*before, *_elected(placed, best), *after), start=1):
        yield f"  {number}. {first}"
        yield from (f"     {line}" for line in others)


def _saving(step: str, placed: PlacedAdvice) -> Iterator[str]:
    """How copies are made before a later step cuts what they hold: of folders, or by salvage of lost records."""
    asked = step.removeprefix("Copy offset")
    yield step if asked == step else f"Save offset{asked[:-1]}: copy {_folders(asked, placed.advice)}. {LATER_STEPS}"
    written = [
        f"tidemark salvage {finding} --broker {copy.broker} --to FILE"
        for loss, finding in zip(placed.losses, placed.salvaged_by, strict=False)
        for copy in [copy for copy in loss.survivors if _names(step, copy)][:1]
        if finding and not loss.restored
    ]
    yield from ("Or write the records to files. After `tidemark audit` of this dump, run:", *written) if written else ()


def _folders(asked: str, advice: Advice) -> str:
    """The folders of the brokers that are named."""
    brokers = {int(n) for named in _BROKERS.findall(asked) for n in re.findall(r"\d+", named)}
    paths = [candidate.path for candidate in advice.candidates if candidate.broker in brokers]
    if len(paths) != len(brokers) or len(paths) < 2:  # noqa: PLR2004 - its one folder
        return f"its folder {paths[0]}" if len(paths) == len(brokers) == 1 else "the folders there"
    either = " or " in asked and asked.count(" from ") == 1
    return f"the folder {' or '.join(paths)}" if either else f"the folders {listed(paths)}"


def _names(step: str, copy: Survivor) -> bool:
    """Whether a step is about a copy, by its folder or by its broker."""
    return copy.path in step or re.search(rf"\bbrokers? (?:\d+(?:, | or | and ))*{copy.broker}\b", step) is not None


def _elected(placed: PlacedAdvice, best: Candidate) -> Iterator[tuple[str, ...]]:
    """The new order of the assignment, and the election itself, each with the lines that are to be typed for it."""
    broker, release = best.broker, placed.advice.release
    unless = ", if it has not become leader on its own" if broker == placed.advice.leading else ""
    uncleanly = " by an unclean election" if _outside(placed.advice, best) else ""
    where = "--bootstrap-server HOST:PORT" if _since(release, REASSIGNS_BY_BROKERS_SINCE) else "--zookeeper HOST:PORT"
    yield (
        f"Put broker {broker} first in the assignment{unless}.",
        f"kafka-reassign-partitions {where} --execute --reassignment-json-file reassignment.json",
        f"  reassignment.json  {json.dumps(reassignment(placed, broker))}",
    )
    file = f"  election.json  {json.dumps(election(placed))}"
    yield f"Elect broker {broker}{uncleanly}{unless}.", *_election(placed, best), file


_TOOL: Final = "kafka-leader-election --bootstrap-server HOST:PORT"


def _election(placed: PlacedAdvice, best: Candidate) -> Iterator[str]:
    since = _since(placed.advice.release, LEADER_ELECTION_SINCE)
    outside = _outside(placed.advice, best)
    if not outside:
        yield f"If broker {best.broker} is in sync{_at_no_cost(placed)}:"
        if since:
            yield f"{_TOOL} --election-type preferred --path-to-json-file election.json"
        else:
            yield "kafka-preferred-replica-election --zookeeper HOST:PORT --path-to-json-file election.json"
    if not placed.advice.sound:
        when = f"Broker {best.broker} is outside the ISR. This" if outside else "If no in-sync replica runs, this"
        yield from _unclean(when, since=since)


def _outside(advice: Advice, best: Candidate) -> bool:
    """Whether only an unclean election makes it lead: a gate that waits for its lead says so."""
    return any(best.broker in gate.after_lead_of and UNCLEAN in gate.first for gate in advice.gates)


def _at_no_cost(placed: PlacedAdvice) -> str:
    """What no election brings back, no election loses; one that is no GO waits for what the gates say of it."""
    if going(placed.advice, placed.advice.candidates[0].broker) != "go":
        return ""
    offsets = ", ".join(offsets_told(each.start_offset, each.end_offset) for each in placed.advice.nowhere)
    return f", this loses nothing more (no copy here holds {offsets})" if offsets else ", this loses nothing"


def _unclean(when: str, *, since: bool) -> Iterator[str]:
    if since:
        yield f"{when} elects the first running broker of the assignment, not the best one:"
        yield f"{_TOOL} --election-type unclean --path-to-json-file election.json"
    else:
        yield f"{when} release needs the topic's setting"
        yield "unclean.leader.election.enable=true. It elects the first running broker of the assignment."
        yield "Set it back to false afterwards."


def _since(release: tuple[int, ...], first: tuple[int, int]) -> bool:
    """Whether the brokers are new enough; an unknown release is taken for a new one, and said to be."""
    return not release or release[:2] >= first


def _for(release: tuple[int, ...]) -> str:
    if not release:
        return "No log tells the brokers' release: this is for 2.6 and newer."
    return f"These are the tools of Kafka {'.'.join(map(str, release[:3]))}."


def before_election(advice: Advice, best: Candidate) -> Iterator[str]:
    """Copies first; then who may start, and who may not yet."""
    own = next(gate for gate in advice.gates if gate.action == f"elect broker {best.broker}")
    removing = (gate for gate in advice.gates if gate.action.startswith(DELETE))
    barred = [gate for gate in (*_restarts(advice), *removing, own) if gate.going == "no-go" and not gate.after_lead_of]
    firsts = dict.fromkeys(gate.first for gate in barred if gate.first)
    held = _held_by_folders(advice, best, firsts)
    yield from (f"{capital(first)}." for first in firsts if not (held and first == own.first))
    if own.going == "unknown":
        yield f"Electing broker {best.broker} is UNKNOWN above. Settle first what is not known there."
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
            name = PurePath(other.path).name
            away = f"On broker {other.broker}, move the folder {name} out of its log dir (here: {other.path})."
            yield f"{stop}{away} Start the broker. It copies broker {best.broker}'s log."
    if best.lacks:
        yield "Set consumers back. Then write the copied records to the partition again, unless their producers do."


def _held_by_folders(advice: Advice, best: Candidate, firsts: Iterable[str]) -> bool:
    """Whether folders that are copied hold all that the best candidate lacks: by their epochs, if they carry any."""
    copied = [each for each in advice.doomed if any(f"(here: {each.path})" in first for first in firsts)]
    held = [each.stretch for each in copied if each.stretch.epoch >= 0]
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
