"""What to do now: what bars a start or an election first, then who writes, reads or copies what; alike ones folded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from auditor.report.alike import blurred
from auditor.report.bill import client_name, perhaps_held
from auditor.report.model import (
    AuditReport,
    Loss,
    PlacedAdvice,
    PlacedHistory,
    gate_words,
    starts,
    told_gates,
    where_gravest,
)
from auditor.report.summary.action import CONSUMERS_FIRST, PLACE_OF_START, READ_AGAIN, Action, Aim, Kind, joined
from auditor.report.summary.coordinators_topics import OF_BROKERS
from auditor.report.summary.copies import copies
from auditor.report.unbilled import to_do
from auditor.report.worths import acknowledged, surely_acknowledged
from rules.finding import NO_WHOLE_COPY, PLACE_OF_NAMES, Finding, Severity, capital, offsets_told, place_of
from rules.words import any_of, numbered, quoted

ORDER: Final[tuple[Kind, ...]] = ("copy", "no-go", "act", "unknown", "go")
GROUPS_ARE: Final = "The groups are"
WHO_READ: Final = "Consumers of lost records"
PERHAPS_READ: Final = "Consumers that read any of the lost records"
"""What only producers were told of may never have been visible."""
BACK_BEFORE: Final = (
    f"must go back to {PLACE_OF_START} before producers write again. Those that read"
    " furthest may be beyond the end of the leader's log. Once the log has grown past them, they skip records without"
    " an error."
)
NOTHING_TO_READ: Final = (
    f"{WHO_READ} have nothing to read again: compaction has removed what was written at these offsets since."
)
_GROUPS: Final = {
    "beyond the log end": (
        "Consumer groups that committed an offset beyond the log end need a new one."
        f" Set it back to {PLACE_OF_START}, or auto.offset.reset decides."
    ),
    "in the cut epoch": (
        "Consumer groups that committed an offset of the lost epoch need a new one."
        f" Set it back to {PLACE_OF_START}."
    ),
    "among the cut offsets": (
        "Consumer groups that committed one of these offsets may need another."
        " Find out which records they read, the lost ones or those there now."
    ),
}
"""What groups need, by where they stand after the loss."""


SERVED: Final = "At least some of them were served to"
"""A client may have read a part of a range, or ranges of some partitions alone."""


def actions(report: AuditReport) -> tuple[Action, ...]:
    """All of them, those that are alike together, the most urgent kind first, and what is sure before what is not."""
    found = [
        *(action for placed in _of_whole_brokers(report.advice) for action in _gates(placed)),
        *(action for history in report.histories for action in _after(history, report)),
        *_of_findings(report),
    ]
    alike: dict[tuple[str, ...], list[Action]] = {}
    for action in found:
        words = blurred(action.words), blurred(action.first)
        alike.setdefault((action.kind, *words, action.names_are), []).append(action)
    together = [joined(own) for own in alike.values()]
    return tuple(sorted(together, key=lambda each: (ORDER.index(each.kind), each.unsure, _reach(each), _later(each))))


def _later(action: Action) -> bool:
    """Whether it waits for consumers, who go back before anybody writes again."""
    return not action.words.startswith((WHO_READ, PERHAPS_READ))


def _reach(action: Action) -> bool:
    """Whether it is about all brokers at once: what bars one of them bars that too, and is the reason."""
    return action.is_gate and not action.words.startswith(("restarting broker", "electing broker", "deleting "))


def _of_whole_brokers(advice: Sequence[PlacedAdvice]) -> Iterator[PlacedAdvice]:
    """The advice of all partitions; a broker restarts with all of its own, and that is told where it is told worst."""
    clusters = {placed.cluster_id for placed in advice}
    known = {cluster: starts([p.advice for p in advice if p.cluster_id == cluster]) for cluster in clusters}
    for placed in advice:
        yield replace(placed, advice=where_gravest(placed.advice, known[placed.cluster_id]))


def _gates(placed: PlacedAdvice) -> Iterator[Action]:
    """Restarts, elections and changes of versions."""
    aim = Aim(cluster_id=placed.cluster_id, topic=placed.topic, partition=placed.partition)
    for gate in told_gates(placed.advice):
        yield Action(kind=gate.going, words=gate_words(gate), first=gate.first, aims=(aim,))


def _after(history: PlacedHistory, report: AuditReport) -> Iterator[Action]:
    """Who acts on losses: nobody where the records stand again in the log that leads."""
    for gone in history.unbilled:
        aim = _aim(history, gone.start_offset, gone.end_offset)
        words = OF_BROKERS.get(history.topic) or to_do(gone)
        yield Action(kind="act", words=words, first="", aims=(aim,), findings=(gone.finding,))
    for loss in history.losses:
        if loss.matters and not loss.restored:
            yield from _of_loss(history, loss, report)


def _of_loss(history: PlacedHistory, loss: Loss, report: AuditReport) -> Iterator[Action]:
    for words, where, ranges in copies(history, loss, report):
        aims = tuple(_aim(history, start, end) for start, end in ranges)
        yield Action(kind="copy", words=words, first="", aims=aims, names=(where,))
    mixed = len({portion.surely_told for portion in loss.portions}) > 1
    aim = _aim(history, loss.start_offset, loss.end_offset, epoch=loss.epoch if loss.latest_epoch is None else None)
    if history.topic in OF_BROKERS:
        words = OF_BROKERS[history.topic]
        yield Action(kind="act", words=words, first="", aims=(aim,), unsure=not surely_acknowledged(loss))
        return
    yield from () if loss.unread else _consumers(history, loss)
    yield Action(
        kind="act",
        words=f"{_written_again(loss)}{perhaps_held(loss)}",
        first="",
        aims=(replace(aim, detail=f"acknowledged: {acknowledged(loss)}" if mixed else ""),),
        names=tuple(client_name(client.client_id) for client in loss.clients),
        names_are=f"The records {'were' if surely_acknowledged(loss) else 'may have been'} acknowledged to",
        unsure=not surely_acknowledged(loss),
    )


def _written_again(loss: Loss) -> str:
    """Who writes lost records again; where copies stand there is a choice, and both would write them twice."""
    sure, first = surely_acknowledged(loss), CONSUMERS_FIRST * (loss.reused_end > loss.start_offset)
    perhaps = "" if sure else " Whether any of them was acknowledged is not known."
    if loss.standing == ((loss.start_offset, loss.end_offset),):
        which = "the acknowledged records" if sure else "these records"
        words = f"{first}let the producers write {which} again, or write them yourself from the copies.{perhaps}"
        return capital(words)
    must = "must write the acknowledged" if sure else "may have to write these"
    must = capital(f"{first}producers {must} records again")
    return f"{must}{', but not those that you write from copies' * bool(loss.standing)}.{perhaps}"


def _was_visible(loss: Loss) -> bool:
    """Whether consumers could read some of it, as far as anything tells: what is committed, or was served or read."""
    return loss.committed_end > loss.start_offset or bool(loss.readers or loss.groups)


def _aim(history: PlacedHistory, start: int, end: int, *, epoch: int | None = None) -> Aim:
    return Aim(
        cluster_id=history.cluster_id,
        topic=history.topic,
        partition=history.partition,
        start_offset=start,
        end_offset=end,
        epoch=epoch,
    )


def _consumers(history: PlacedHistory, loss: Loss) -> Iterator[Action]:
    """Who read what went, and whose committed offsets no longer hold."""
    names = tuple(client_name(reader.client_id) for reader in loss.readers)
    if loss.reused_end > loss.start_offset:
        epoch = loss.epoch if loss.latest_epoch is None else None
        aim = replace(_aim(history, loss.start_offset, loss.end_offset, epoch=epoch), detail=_there_now(loss))
        must = READ_AGAIN if loss.reused_end >= loss.end_offset else BACK_BEFORE
        words = f"{WHO_READ if _was_visible(loss) else PERHAPS_READ} {must}"
        yield Action(kind="act", words=words, first="", aims=(aim,), names=names, names_are=SERVED)
    elif loss.cleaned_since and _was_visible(loss):
        aim = _aim(history, loss.start_offset, loss.end_offset)
        yield Action(kind="act", words=NOTHING_TO_READ, first="", aims=(aim,), unsure=True)
    for standing, words in _GROUPS.items():
        groups = tuple(quoted(group.group) for group in loss.groups if group.standing == standing)
        if groups:
            aim = _aim(history, loss.start_offset, loss.end_offset)
            yield Action(kind="act", words=words, first="", aims=(aim,), names=groups, names_are=GROUPS_ARE)


def _there_now(loss: Loss) -> str:
    """Whose records took the place of the lost ones, and where they did not take all of it."""
    epochs = [epoch for epoch in loss.reused_epochs if epoch >= 0]
    whose = f"records of {numbered('epoch', epochs)}" if epochs else "other records"
    where = "" if loss.reused_end >= loss.end_offset else f", at {offsets_told(loss.start_offset, loss.reused_end)}"
    return f"{whose} are there now{where}" if epochs or where else ""


def _of_findings(report: AuditReport) -> Iterator[Action]:
    """What findings call for that no bill asks already, and no owed cut heals."""
    causes = {incident.cause for incident in report.incidents if incident.severity >= Severity.MEDIUM}
    grave = [f for f in report.violations if f.severity >= Severity.MEDIUM or f.id in causes]
    for finding in grave:
        if _said_already(finding, grave, report):
            continue
        bearing = report.bearing(finding)
        if _gone_of_brokers(finding, report):
            yield _of_finding(finding, OF_BROKERS[finding.topic or ""])
        elif bearing.to_write_again:
            yield _of_finding(finding, _write_again(finding))
        if bearing.of_groups:
            yield _of_finding(finding, bearing.asked_of(finding), groups=_groups(finding))
        elif words := bearing.asked_of(finding):
            if bearing.names:
                yield replace(_of_finding(finding, words), names=_told_names(finding, bearing.names))
                continue
            folders = _folders(finding, report) if PLACE_OF_NAMES in words else ()
            yield replace(_of_finding(finding, words, finding.brokers), names=folders)


def _gone_of_brokers(finding: Finding, report: AuditReport) -> bool:
    """Whether it proves that records are gone which Kafka alone writes, and no bill of theirs asks for anything."""
    meant, own = report.bearing(finding).records, (h for h in report.histories if place_of(h) == place_of(finding))
    billed = any(history.losses or history.unbilled for history in own)
    return meant is not None and meant.gone and finding.topic in OF_BROKERS and not billed


def _folders(finding: Finding, report: AuditReport) -> tuple[str, ...]:
    """The folders of the replicas that a finding is about."""
    own = (placed.replica for placed in report.replicas if place_of(placed) == place_of(finding))
    return tuple(r.path for r in own if r.broker in finding.brokers and r.state == "current")


def _groups(finding: Finding) -> tuple[str, ...]:
    """The consumer groups that a finding names."""
    return _told_names(finding, "groups")


def _told_names(finding: Finding, fact: str) -> tuple[str, ...]:
    named = finding.values().get(fact)
    return tuple(map(str, named)) if isinstance(named, tuple | list) else ()


def _of_finding(
    finding: Finding, words: str, brokers: tuple[int, ...] = (), *, groups: tuple[str, ...] = ()
) -> Action:
    aim = Aim(
        cluster_id=finding.cluster_id,
        topic=finding.topic,
        partition=finding.partition,
        start_offset=finding.start_offset,
        end_offset=finding.end_offset,
        brokers=brokers,
    )
    return Action(
        kind="act",
        words=words,
        first="",
        aims=(aim,),
        findings=(finding.id,),
        names=tuple(map(quoted, groups)),
        names_are=GROUPS_ARE if groups else "",
    )


def _write_again(finding: Finding) -> str:
    """Whose records are to be written again, and under which condition."""
    values = finding.values()
    lacking = values.get("lacking")
    brokers = tuple(lacking) if isinstance(lacking, tuple | list) else ()
    condition = f"If {any_of('broker', brokers)} is let lead, producers" if brokers else "Producers"
    records = f"the records of {values.get('epochs')} again that broker {values.get('leader')} acknowledged"
    return f"{condition} must write {records}."


def _said_already(finding: Finding, grave: Iterable[Finding], report: AuditReport) -> bool:
    """Whether a bill asks for the same, or a cut that is owed heals what differs."""
    bearing, place = report.bearing(finding), place_of(finding)
    billed = [(h, loss) for h in report.histories if place_of(h) == place for loss in h.losses]
    if bearing.to_write_again:
        return bool(billed)
    if bearing.of_groups:
        return {g.group for _, loss in billed if not loss.restored for g in loss.groups}.issuperset(_groups(finding))
    if bearing.asked_of(finding) == NO_WHOLE_COPY:
        return any(loss.next_epoch is None for _, loss in billed)
    start, end = finding.start_offset or 0, finding.end_offset or 0
    if bearing.owes_a_cut:
        lost = [loss for _, loss in billed if not loss.restored]
        kept = [s for loss in lost for s in loss.survivors if s.kind == "replica" and s.broker in finding.brokers]
        return any(s.start_offset <= start and end <= s.end_offset for s in kept)
    owed = [f for f in grave if report.bearing(f).owes_a_cut and place_of(f) == place]
    healed = any((f.start_offset or 0) <= start and f.brokers[0] in finding.brokers for f in owed)
    return bearing.healed_by_a_cut and healed
