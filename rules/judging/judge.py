"""Run the rules on the evidence about one partition, put causes before echoes, and state what each replica holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from parsers.provenance import NOT_HERE
from rules.advice import advise
from rules.availability.accounting import availability
from rules.counterfactual import counterfactuals
from rules.cut_tables import cut_tables
from rules.evidence import METADATA_TOPIC, PartitionEvidence, Replica
from rules.evidence.topic import share_of
from rules.facts.read_again import UnreadFile
from rules.finding import Finding, Severity, Undecided, Violation
from rules.history.milestones import Milestone, milestones
from rules.history.moments import TELLING_ROLES, WARNED_OF, is_metadata
from rules.history.turns import last_assignment
from rules.judging.giving_up import budget_of, failed
from rules.judging.open_bill import is_proved, open_points, unproved
from rules.judging.said import Subject, doubt, finding, question, sayings
from rules.judging.standing import replica_verdict
from rules.judging.withheld import not_told, without_order, would_order
from rules.loss.held_by_none import held_by_none
from rules.loss.incurred import Loss, losses
from rules.loss.unbilled import unbilled
from rules.loss.written_up_to import perhaps_without_its_end
from rules.protocol.steps import Budget, budgeted
from rules.replicas.log_reach import LogReach, log_reach
from rules.rule import Rule
from rules.sketch.drawn_window import draw
from rules.timeline.drawn import drawn_history
from rules.timeline.picture_values import DrawnHistory
from rules.verdict import PartitionVerdict, RuleCoverage
from rules.zoom.differences import with_differences
from rules.zoom.headers import as_written, with_believed_headers
from rules.zoom.unequal_buckets import shared_range

T = TypeVar("T")


def judge(evidence: PartitionEvidence, rules: Sequence[Rule], budget: Budget | None = None) -> PartitionVerdict:
    """The verdict of these rules on one partition, within the steps that so much evidence may take."""
    with budgeted(budget or budget_of(evidence)):
        return _judged(evidence, rules)


def _judged(evidence: PartitionEvidence, rules: Sequence[Rule]) -> PartitionVerdict:
    evidence = with_differences(with_believed_headers(evidence))
    findings, undecided = _run(evidence, rules)
    ordered = _causes_first(findings, rules)
    beside = _BesideFindings(evidence, undecided)
    bearings = {rule.id: rule.bearing for rule in rules}
    incurred = beside.by_epoch("the bill of losses", losses)
    billed = tuple(loss for loss in incurred if is_proved(loss, ordered, bearings))
    undecided.extend(unproved([loss for loss in incurred if loss not in billed]))
    nameless = tuple(unbilled(evidence, ordered, bearings, billed))
    undecided.extend(beside.part("what the bill leaves open", lambda known: open_points(known, billed, nameless)))
    assignment = _assignment(evidence)
    grave = _worth_telling(ordered)
    return PartitionVerdict(
        cluster_id=evidence.cluster_id,
        topic=evidence.topic,
        partition=evidence.partition,
        findings=ordered,
        replicas=tuple(replica_verdict(replica, evidence, ordered) for replica in evidence.replicas),
        counterfactuals=(
            *beside.by_epoch("what each protocol would have done", counterfactuals),
            *beside.by_epoch("what each protocol would have cut", cut_tables),
        ),
        refusals=tuple(refusal for replica in evidence.replicas for refusal in _refusals(replica)),
        losses=billed,
        unbilled=nameless,
        milestones=beside.part("the timeline", _milestones) if grave else (),
        clocks=beside.part("the clocks", lambda known: known.clocks.offsets) if grave else (),
        drawn=beside.by_epoch("the picture over time", _drawn) if grave else (),
        availability=beside.by_epoch("availability", lambda known: availability(known, billed, grave=grave)),
        advice=beside.by_epoch("advice", lambda known: advise(known, billed, nameless))
        if _to_decide(ordered, billed, rules) or _not_seen_whole(evidence) else (),
        undecided=tuple(undecided),
        offsets_compared=_offsets_compared(evidence),
        share=share_of(evidence),
        assignment=assignment,
        assigned_only=tuple(sorted(set(assignment) - {r.broker for r in evidence.replicas if r.state not in NOT_HERE})),
        contradicted_releases=tuple(_contradicted_releases(evidence)),
        told_by_metadata=any(map(is_metadata, evidence.moments)),
        roles_told_in=tuple(sorted({m.span.source for m in evidence.moments if m.kind in TELLING_ROLES})),
        told_in=tuple(sorted({m.span.source for m in evidence.moments if m.kind not in WARNED_OF})),
        log_reach=_log_reach(evidence),
    )


def _log_reach(evidence: PartitionEvidence) -> LogReach:
    """Voters of the metadata log take their roles by other words than replicas do."""
    known = evidence.chronicle, evidence.settings, evidence.request_logs, evidence.lacked_roles
    reach = log_reach(evidence.current, *known)
    return LogReach(cut_short=reach.cut_short) if evidence.topic == METADATA_TOPIC else reach


def _contradicted_releases(evidence: PartitionEvidence) -> Iterator[tuple[int, str, str]]:
    """Brokers whose release somebody gave and whose own logs tell only of others: id, given, last told."""
    for version in evidence.versions:
        releases = evidence.settings.releases_told(version.broker)
        given = version.binary
        if releases and given is not None and not any(f"{release}.".startswith(f"{given}.") for release in releases):
            yield version.broker, given, releases[-1]


def _assignment(evidence: PartitionEvidence) -> tuple[int, ...]:
    """Brokers to which the partition is assigned last; where nobody holds it, only of a topic that stands for sure.

    The metadata log is its voters', as the copy that goes furthest names them.
    """
    if evidence.topic == METADATA_TOPIC:
        voting = [replica for replica in evidence.current if replica.voters]
        return max(voting, key=lambda replica: replica.log_end_offset).voters if voting else ()
    if evidence.current:
        return evidence.assignment
    standing = evidence.placing.counts.standing(evidence.topic, evidence.partition)
    if standing is None or standing.topic_id is None:
        return ()
    return last_assignment(m for m in evidence.moments if m.topic_id == standing.topic_id)


class _BesideFindings:
    """What is told beside the findings; a part that fails is named in the ledger, and the rest is told."""

    def __init__(self, evidence: PartitionEvidence, undecided: list[RuleCoverage]) -> None:
        self._evidence = evidence
        self._undecided = undecided

    def by_epoch(self, name: str, tell: Callable[[PartitionEvidence], Iterable[T]]) -> tuple[T, ...]:
        """A part that takes statements in the order of their epochs, where they have one."""
        if not self._evidence.epochs_used_twice:
            return self.part(name, tell)
        withheld = RuleCoverage(rule="-", reason=not_told(self._evidence), missing=would_order(self._evidence))
        if withheld not in self._undecided:
            self._undecided.append(withheld)
        return ()

    def part(self, name: str, tell: Callable[[PartitionEvidence], Iterable[T]]) -> tuple[T, ...]:
        """The part, or nothing and the reason."""
        try:
            return tuple(tell(self._evidence))
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the findings stand without it
            said = failed(name, error)
            self._undecided.append(RuleCoverage(rule="-", reason=said.reason, missing=said.missing))
            return ()


def _milestones(evidence: PartitionEvidence) -> Iterable[Milestone]:
    return milestones(evidence.moments, evidence.clocks.offsets, by_epoch=not evidence.epochs_used_twice)


def _drawn(evidence: PartitionEvidence) -> Iterable[DrawnHistory]:
    history = drawn_history(evidence)
    return () if history is None else (history,)


def _worth_telling(findings: Sequence[Finding]) -> bool:
    return any(finding.verdict == "violated" and finding.severity >= Severity.MEDIUM for finding in findings)


def _to_decide(findings: Sequence[Finding], billed: Sequence[Loss], rules: Iterable[Rule]) -> bool:
    """Whether a person has to choose a leader or to copy something: information alone may be an owed cut."""
    owing = {rule.id for rule in rules if rule.bearing.owes_a_cut}
    owed = any(finding.rule in owing and finding.verdict == "violated" for finding in findings)
    return owed or _worth_telling(findings) or any(loss.matters for loss in billed)


def _not_seen_whole(evidence: PartitionEvidence) -> bool:
    """Whether a log is not here whole, or perhaps without its end, or lies elsewhere, or records are in no log."""
    partly = any(r.unopened or perhaps_without_its_end(evidence, r) for r in evidence.current)
    return partly or bool(evidence.foreign.exchanged or held_by_none(evidence))


def _run(evidence: PartitionEvidence, rules: Iterable[Rule]) -> tuple[list[Finding], list[RuleCoverage]]:
    findings: list[Finding] = []
    undecided: list[RuleCoverage] = []
    for rule in rules:
        for said in sayings(partial(_asked, rule, evidence)):
            if isinstance(said, Violation):
                findings.append(_finding_or_doubt(rule, said, evidence))
            elif said.blocking:
                findings.append(doubt(rule, said, _place(evidence, said.brokers)))
            else:
                undecided.append(question(rule, said))
    return findings, undecided


def _asked(rule: Rule, evidence: PartitionEvidence) -> Sequence[Violation | Undecided]:
    return without_order(rule, tuple(rule.check(evidence)), evidence)


def _finding_or_doubt(rule: Rule, said: Violation, evidence: PartitionEvidence) -> Finding:
    """The finding; where it cannot be put into words, the doubt that this leaves."""
    place = _place(evidence, said.brokers)
    try:
        shown = as_written(evidence) if said.as_written else evidence
        return finding(rule, said, place, draw(shown, said.brokers, said.start_offset, said.end_offset))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - as for the rule itself
        return doubt(rule, failed("the rule", error), place)


def _place(evidence: PartitionEvidence, brokers: tuple[int, ...]) -> Subject:
    topic_id = _topic_id(evidence, brokers)
    return Subject(
        cluster_id=evidence.cluster_id, topic=evidence.topic, topic_id=topic_id, partition=evidence.partition
    )


def _topic_id(evidence: PartitionEvidence, brokers: tuple[int, ...]) -> str | None:
    every = {r.broker: r.topic_id for r in evidence.current if r.topic_id is not None}
    ids = {every[broker] for broker in brokers if broker in every} or {*every.values()}
    return min(ids) if len(ids) == 1 else None


def _causes_first(findings: Sequence[Finding], rules: Sequence[Rule]) -> tuple[Finding, ...]:
    """Causes before their echoes, then the worst first; an echo names the causes that were found with it."""
    found = {finding.rule for finding in findings if finding.verdict == "violated"}
    speaking = {finding.rule for finding in findings}
    causes = {
        rule.id: tuple(cause for cause in rule.implied_by if cause in found) for rule in rules if rule.id in speaking
    }
    depth = _depths(causes)
    weighty, changes = _weighty(findings), _changes(findings)
    linked = [_linked(finding, causes[finding.rule], weighty, changes) for finding in findings]
    return tuple(
        sorted(
            linked,
            key=lambda f: (depth[f.rule], -f.severity, f.rule, _epoch(f), f.start_offset or 0, f.brokers, f.message),
        )
    )


def _epoch(finding: Finding) -> int:
    """Of two elections the earlier one comes first."""
    epoch = finding.values().get("epoch")
    return epoch if isinstance(epoch, int) else -1


def _changes(findings: Sequence[Finding]) -> dict[str, frozenset[int]]:
    """The epochs that each rule's findings tell of; -1 where one tells of none."""
    found: dict[str, set[int]] = {}
    for each in findings:
        if each.verdict == "violated":
            found.setdefault(each.rule, set()).add(_epoch(each))
    return {rule: frozenset(epochs) for rule, epochs in found.items()}


def _linked(
    finding: Finding, causes: tuple[str, ...], weighty: frozenset[str], changes: Mapping[str, frozenset[int]]
) -> Finding:
    """The finding with its causes: what is information alone stands in no incident, and no defect follows from it."""
    note = finding.severity == Severity.INFO
    known = (cause for cause in causes if note or cause in weighty)
    named = tuple(cause for cause in known if _may_follow(finding, changes.get(cause, frozenset())))
    return replace(finding, implied_by=named) if finding.verdict == "violated" and named else finding


def _may_follow(finding: Finding, changes: frozenset[int]) -> bool:
    """Whether what went from one leader to another went at one of these, not before them nor after."""
    gone_at = finding.values().get("next_epoch")
    if not isinstance(gone_at, int):
        return True
    return any(epoch < 0 or epoch == gone_at or _epoch(finding) < epoch < gone_at for epoch in changes)


def _weighty(findings: Sequence[Finding]) -> frozenset[str]:
    return frozenset(f.rule for f in findings if f.verdict == "violated" and f.severity > Severity.INFO)


def _depths(causes: dict[str, tuple[str, ...]]) -> dict[str, int]:
    depths: dict[str, int] = {}

    def depth(rule_id: str) -> int:
        if rule_id not in depths:
            depths[rule_id] = 1 + max((depth(cause) for cause in causes.get(rule_id, ())), default=-1)
        return depths[rule_id]

    return {rule_id: depth(rule_id) for rule_id in causes}


def _refusals(replica: Replica) -> Iterator[UnreadFile]:
    yield from replica.refusals
    for unread in replica.log.unread:
        yield UnreadFile(kind=unread.kind, expected=unread.expected, found=unread.found, span=unread.span)


def _offsets_compared(evidence: PartitionEvidence) -> int:
    ranges = (shared_range(left, right) for left, right in evidence.pairs)
    return max((max(0, end - start) for start, end in ranges), default=0)
