"""Who must act after an incident, and what must not be done before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from auditor.report.bill import client_name, perhaps_held, span
from auditor.report.gates import told_once
from auditor.report.markdown import code, text
from auditor.report.model import AuditReport, Loss, PlacedHistory
from auditor.report.postmortem.parts import SHOWN, about, billed, capped, grave, place
from rules.finding import Finding

NAMED: Final = 8
_FATE = {
    "replica": "as a follower it may be cut back to its leader's log",
    "future replica": "a log that moves between disks is cut to the one that it follows",
    "deleted file": "a broker removes such files as soon as it loads the log",
    "deleted dir": "a running broker removes such folders after file.delete.delay.ms, 60 seconds by default",
    "stray dir": "nothing removes it by itself, and nothing else keeps these records",
}


def actions(report: AuditReport) -> Iterator[str]:
    """The section of who must act."""
    yield "## Who must act\n"
    found = [action for history, loss in billed(report) for action in _after(history, loss)]
    unsaid = [finding for finding in grave(report) if not _said_already(finding, report)]
    found += [_write_again(finding) for finding in unsaid if report.bearing(finding).to_write_again]
    found += _of_findings([(finding, asked) for finding in unsaid if (asked := report.bearing(finding).calls_for)])
    distinct = list(dict.fromkeys(found))
    yield from (f"- {action}" for action in distinct[: 2 * SHOWN])
    if len(distinct) > 2 * SHOWN:
        yield f"- … and {len(distinct) - 2 * SHOWN} more"
    if not distinct:
        yield "Nobody, as far as this evidence goes."


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


def _place(told: Finding | PlacedHistory) -> tuple[str | None, str | None, int | None]:
    return told.cluster_id, told.topic, told.partition


def _after(history: PlacedHistory, loss: Loss) -> Iterator[str]:
    """Nobody for what stands again in the log that leads: what stood there between is a loss of its own epoch."""
    if loss.restored:
        return
    where = place(history)
    yield from _producers(where, loss)
    for survivor in loss.survivors:
        stretch = span(survivor.start_offset, survivor.end_offset)
        yield (
            f"Operators: copy {where} {stretch} from broker {survivor.broker}'s {survivor.kind}"
            f" {code(survivor.path)} before that broker is started: {_FATE[survivor.kind]}."
        )
    yield from _consumers(where, loss)


def _producers(where: str, loss: Loss) -> Iterator[str]:
    lost = span(loss.start_offset, loss.end_offset)
    who = _named([client_name(client.client_id) for client in loss.clients])
    asked = f"write again what was acknowledged at {lost} in epoch {loss.epoch}"
    yield f"Producers of {where}{f' ({who})' if who else ''}: {asked}{perhaps_held(loss)}."


def _consumers(where: str, loss: Loss) -> Iterator[str]:
    if loss.reused_end > loss.start_offset:
        who = _named([client_name(reader.client_id) for reader in loss.readers])
        opened = "was opened once more" if loss.again else ""
        before = f"before epoch {loss.next_epoch} {opened}".rstrip()
        yield (
            f"Consumers of {where} that read {span(loss.start_offset, loss.reused_end)} {before}"
            f"{f' (served: {who})' if who else ''}: these offsets hold other records now; read them again."
        )
    beyond = [group.group for group in loss.groups if group.standing == "beyond the log end"]
    cut = [group.group for group in loss.groups if group.standing == "in the cut epoch"]
    unsure = [group.group for group in loss.groups if group.standing == "among the cut offsets"]
    if beyond:
        yield (
            f"Groups on {where} that stand beyond the log end ({_named(beyond)}): set them back to"
            f" {loss.start_offset}, or auto.offset.reset decides for them."
        )
    if cut:
        back = f"set them back to {loss.start_offset}"
        yield f"Groups on {where} that committed in the cut epoch ({_named(cut)}): {back}."
    if unsure:
        yield (
            f"Groups on {where} that committed among these offsets without an epoch ({_named(unsure)}): find out which"
            " records they read, the lost ones or those that stand there now."
        )


def _named(words: Sequence[str]) -> str:
    more = f" and {len(words) - NAMED} more" if len(words) > NAMED else ""
    return text(", ".join(words[:NAMED]) + more)


def _of_findings(findings: Sequence[tuple[Finding, str]]) -> Iterator[str]:
    """What is to be done about findings: what is the same for several is said once."""
    alike: dict[str, list[str]] = {}
    for finding, asked in findings:
        alike.setdefault(_action(finding, asked), []).append(finding.id)
    yield from (f"{action}, {', '.join(ids)}." for action, ids in alike.items())


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
    for placed in report.advice[:SHOWN]:
        yield f"{place(placed)}:\n"
        for gate in told_once(placed.advice.gates):
            first = f" First {text(gate.first)}." if gate.first else ""
            yield f"- **{_GOING[gate.going]}** {text(gate.action)}: {text(gate.because)}.{first}"
        yield ""
    yield from capped(len(report.advice), "partition")


_GOING = {"go": "go", "no-go": "no-go", "unknown": "unknown"}
