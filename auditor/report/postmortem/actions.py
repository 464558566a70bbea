"""Who must act after an incident, and what must not be done before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from auditor.report.bill import client_name, perhaps_held, span
from auditor.report.gates import gate_words, told_once
from auditor.report.markdown import code, text
from auditor.report.model import AuditReport, Gate, Loss, PlacedAdvice, PlacedHistory
from auditor.report.named_places import named_places
from auditor.report.placed import Place
from auditor.report.postmortem.parts import about, billed, but_for_offsets, capped, grave, place, places
from rules.finding import Finding, capital

NAMED: Final = 8
ACTIONS_SHOWN: Final = 16
GATES_SHOWN: Final = 12
_TURNS: Final = ("Operators: copy", "Producers", "Consumers", "Groups", "Operators")
_FATE = {
    "replica": "as a follower it may be cut back to its leader's log",
    "future replica": "a log that moves between disks is cut to the one that it follows",
    "deleted file": "a broker removes such files as soon as it loads the log",
    "deleted dir": "a running broker removes such folders after file.delete.delay.ms, 60 seconds by default",
    "stray dir": "nothing removes it by itself, and nothing else keeps these records",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """Something that somebody must do about a partition."""

    place: Place
    name: str
    """The partition as the words call it; empty where they name several."""
    words: str
    who: str = ""
    """Clients or groups that the words name: others are asked by themselves."""


def actions(report: AuditReport) -> Iterator[str]:
    """The section of who must act: copies first, then who writes and reads, then what findings ask for."""
    yield "## Who must act\n"
    found = [asked for history, loss in billed(report) for asked in _after(history, loss)]
    unsaid = [finding for finding in grave(report) if not _said_already(finding, report)]
    found += [_of_finding(f, _write_again(f)) for f in unsaid if report.bearing(f).to_write_again]
    found += _of_findings([(finding, asked) for finding in unsaid if (asked := report.bearing(finding).calls_for)])
    distinct = sorted(_alike(found), key=_urgency)
    yield from (f"- {action}" for action in distinct[:ACTIONS_SHOWN])
    if len(distinct) > ACTIONS_SHOWN:
        yield f"- … and {len(distinct) - ACTIONS_SHOWN} more: see the JSON report"
    if not distinct:
        yield "Nobody, as far as this evidence goes."


def _alike(found: Sequence[_Asked]) -> list[str]:
    """What is asked in several partitions in the same words but for offsets stands once, with all the partitions."""
    alike: dict[tuple[str, str], list[_Asked]] = {}
    for asked in found:
        words = asked.words.replace(asked.who, "") if asked.who else asked.words
        key = words.replace(asked.name, "@") if asked.name else words
        alike.setdefault((but_for_offsets(key), asked.who), []).append(asked)
    return [line for own in alike.values() for line in _joined(own)]


def _joined(own: Sequence[_Asked]) -> Iterator[str]:
    *most, last = dict.fromkeys(asked.words for asked in own if asked.place == own[0].place)
    others = [asked.place for asked in own if asked.place != own[0].place]
    yield from most
    yield last + (f" The same in {text(named_places(others))}, by their own offsets." if others else "")


def _urgency(words: str) -> int:
    """Whose turn it is: a copy may be gone tomorrow."""
    return next((n for n, start in enumerate(_TURNS) if words.startswith(start)), len(_TURNS))


def _said_already(finding: Finding, report: AuditReport) -> bool:
    """Whether a bill asks for the same, or a cut that is owed heals what differs."""
    bearing = report.bearing(finding)
    if bearing.to_write_again:
        return any(_place(history) == _place(finding) for history, _ in billed(report))
    start, end = finding.start_offset or 0, finding.end_offset or 0
    if bearing.owes_a_cut:
        losses = [loss for history, loss in billed(report) if _place(history) == _place(finding) and not loss.restored]
        kept = [s for loss in losses for s in loss.survivors if s.kind == "replica" and s.broker in finding.brokers]
        return any(s.start_offset <= start and end <= s.end_offset for s in kept)
    owed = [f for f in grave(report) if report.bearing(f).owes_a_cut and _place(f) == _place(finding)]
    healed = any((f.start_offset or 0) <= start and f.brokers[0] in finding.brokers for f in owed)
    return bearing.healed_by_a_cut and healed


def _place(told: Finding | PlacedHistory) -> Place:
    return told.cluster_id, told.topic, told.partition


def _after(history: PlacedHistory, loss: Loss) -> Iterator[_Asked]:
    """Nobody for what stands again in the log that leads: what stood there between is a loss of its own epoch."""
    if loss.restored:
        return
    where = place(history)
    for words, who in _words_after(where, loss):
        yield _Asked(place=_place(history), name=where, words=words, who=who)


def _words_after(where: str, loss: Loss) -> Iterator[tuple[str, str]]:
    """What is to be done, and the clients or groups that are named in it."""
    yield _producers(where, loss)
    for survivor in loss.survivors:
        stretch = span(survivor.start_offset, survivor.end_offset)
        yield (
            f"Operators: copy {where} {stretch} from broker {survivor.broker}'s {survivor.kind}"
            f" {code(survivor.path)} before that broker is started: {_FATE[survivor.kind]}."
        ), ""
    yield from _consumers(where, loss)


def _producers(where: str, loss: Loss) -> tuple[str, str]:
    lost = span(loss.start_offset, loss.end_offset)
    who = _named([client_name(client.client_id) for client in loss.clients])
    asked = f"write again what was acknowledged at {lost} in epoch {loss.epoch}"
    return f"Producers of {where}{f' ({who})' if who else ''}: {asked}{perhaps_held(loss)}.", who


def _consumers(where: str, loss: Loss) -> Iterator[tuple[str, str]]:
    if loss.reused_end > loss.start_offset:
        who = _named([client_name(reader.client_id) for reader in loss.readers])
        opened = "was opened once more" if loss.again else ""
        before = f"before epoch {loss.next_epoch} {opened}".rstrip()
        yield (
            f"Consumers of {where} that read {span(loss.start_offset, loss.reused_end)} {before}"
            f"{f' (served: {who})' if who else ''}: these offsets hold other records now; read them again."
        ), who
    back = f"set them back to {loss.start_offset}"
    asked = {
        "beyond the log end": f"that stand beyond the log end (%s): {back}, or auto.offset.reset decides for them.",
        "in the cut epoch": f"that committed in the cut epoch (%s): {back}.",
        "among the cut offsets": (
            "that committed among these offsets without an epoch (%s): find out which records they read, the lost ones"
            " or those that stand there now."
        ),
    }
    for standing, words in asked.items():
        groups = _named([group.group for group in loss.groups if group.standing == standing])
        if groups:
            before, _, after = words.partition("%s")
            yield f"Groups on {where} {before}{groups}{after}", groups


def _named(words: Sequence[str]) -> str:
    more = f" and {len(words) - NAMED} more" if len(words) > NAMED else ""
    return text(", ".join(words[:NAMED]) + more)


def _of_findings(findings: Sequence[tuple[Finding, str]]) -> Iterator[_Asked]:
    """What is to be done about findings: what is the same for several of a partition is said once."""
    alike: dict[str, list[Finding]] = {}
    for finding, asked in findings:
        alike.setdefault(_action(finding, asked), []).append(finding)
    for action, own in alike.items():
        yield _of_finding(own[0], f"{action}, {', '.join(finding.id for finding in own)}.")


def _of_finding(finding: Finding, words: str) -> _Asked:
    return _Asked(place=_place(finding), name=about(finding), words=words)


def _write_again(finding: Finding) -> str:
    """Whose records of which offsets, and in whose log they are missing: one of those may be let lead."""
    told, lacking = finding.values(), finding.values().get("lacking")
    brokers = [str(broker) for broker in lacking] if isinstance(lacking, tuple | list) else []
    condition = f"if broker {' or '.join(brokers)} is let lead, " if brokers else ""
    why = "" if brokers else f": {text(str(told.get('instead', '')))}"
    where = f"{span(finding.start_offset or 0, finding.end_offset or 0)} of {told.get('epochs')}"
    return (
        f"Producers of {about(finding)}: {condition}write again {where}, which broker {told.get('leader')}"
        f" acknowledged{why}, {finding.id}."
    )


def _action(finding: Finding, asked: str) -> str:
    brokers: Sequence[int] = finding.brokers
    who = f" (broker{'s' if len(brokers) > 1 else ''} {', '.join(map(str, brokers))})" if brokers else ""
    return f"{asked} {about(finding)}{who}"


def gates(report: AuditReport) -> Iterator[str]:
    """The section of what may be done as things stand: restarts, elections, a change of versions."""
    if not report.advice:
        return
    yield "## Go or no-go\n"
    alike: dict[object, list[tuple[PlacedAdvice, Gate]]] = {}
    for placed in report.advice:
        for gate in told_once(placed.advice.gates):
            words = but_for_offsets(gate_words(gate)), but_for_offsets(gate.first)
            alike.setdefault((gate.going, *words), []).append((placed, gate))
    told = sorted(alike.values(), key=lambda own: _GOING.index(own[0][1].going))
    for own in told[:GATES_SHOWN]:
        first = own[0][1]
        before = f" First {text(first.first)}." if first.first else ""
        where = places(placed for placed, _ in own)
        yield f"- **{first.going}** {text(capital(gate_words(first)))}{before} ({where})"
    yield from capped(len(told), "gate", GATES_SHOWN, "`tidemark advise`")


_GOING: Final = ("no-go", "unknown", "go")
