"""Two sides held beside each other: what is new, changed, fixed, or told no more."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from auditor.diff.side import LEVELS, ComparedReport, ToldFinding
from auditor.kept_report import apart
from parsers.inventory import parse_file_name
from rules.finding import may_be_one_topic
from rules.words import first_of, numbered, quoted

TELLING: Final = frozenset({"broker-log", "request-log", "unknown"})
"""Kinds of files that tell what happened once: they are rotated away, and what happened is not undone."""


NAMED: Final = 3
_NOTHING_SHARED: Final = (
    "No topic is the same on both sides: they are of two clusters, or all topics were created again between them."
    " So this comparison means little."
)
_OTHER: Final = "the later audit reads another topic of that name, by its topic id"
_STILL: Final = "the same rule still finds fault there, at other offsets"


class Change(Struct, frozen=True, kw_only=True):
    """One thing that is told otherwise; the values as a reader sees them."""

    field: str
    before: str
    after: str


class Changed(Struct, frozen=True, kw_only=True):
    """A finding of both reports that is not told alike."""

    before: ToldFinding
    after: ToldFinding
    changes: tuple[Change, ...]


class New(Struct, frozen=True, kw_only=True):
    """A finding of the later report alone."""

    finding: ToldFinding
    instead_of: str | None
    """Id of the one finding of the earlier report that was of the same rule, place and brokers at other offsets."""


class Untold(Struct, frozen=True, kw_only=True):
    """A finding of the earlier report that the later one lacks, though nobody may have mended it."""

    finding: ToldFinding
    because: str


class Comparison(Struct, frozen=True, kw_only=True):
    """What became of the findings from one report to the other."""

    before: ComparedReport
    after: ComparedReport
    new: tuple[New, ...]
    changed: tuple[Changed, ...]
    fixed: tuple[ToldFinding, ...]
    untold: tuple[Untold, ...]
    same: int

    @property
    def warning(self) -> str | None:
        """What a reader must know before any finding of it: topics that only share a name, or no topic in both."""
        before, after = self.before.topics, self.after.topics
        other = {name for name in before.keys() & after.keys() if apart(before[name], after[name])}
        said = [_of_one_name(sorted(other))] if other else []
        if before and after and before.keys() & after.keys() == other:
            said.append(_NOTHING_SHARED)
        return " ".join(said) or None


def difference(before: ComparedReport, after: ComparedReport) -> Comparison:
    """Findings are the same where their fingerprints are, as for a baseline, and no topic ids tell them apart.

    Whatever became of them, the gravest come first and open questions last.
    """
    earlier, later = (sorted(side.findings.values(), key=_gravest_first) for side in (before, after))
    alike = [(before.findings[new.by_name], new) for new in later if new.by_name in before.findings]
    both = [(old, new) for old, new in alike if may_be_one_topic(old.topic_id, new.topic_id)]
    same = {old.by_name for old, _ in both}
    gone = [finding for finding in earlier if finding.by_name not in same]
    added = [finding for finding in later if finding.by_name not in same]
    changed = tuple(
        Changed(before=old, after=new, changes=changes) for old, new in both if (changes := tuple(_changes(old, new)))
    )
    untold = tuple(Untold(finding=f, because=reason) for f in gone if (reason := _unseen(f, before, after, added)))
    left = {each.finding.by_name for each in untold}
    return Comparison(
        before=before,
        after=after,
        new=tuple(New(finding=finding, instead_of=_moved(finding, gone, added)) for finding in added),
        changed=changed,
        fixed=tuple(finding for finding in gone if finding.by_name not in left),
        untold=untold,
        same=len(both) - len(changed),
    )


def _of_one_name(names: Sequence[str]) -> str:
    """Of topics with two ids."""
    if len(names) == 1:
        return f"Topic {quoted(names[0])} is another topic on each side, by its id."
    return f"{len(names)} topics are other topics on each side, by their ids: {first_of(names, NAMED)}."


def _gravest_first(finding: ToldFinding) -> tuple[bool, int]:
    return finding.verdict == "undecided", -finding.severity


def _changes(old: ToldFinding, new: ToldFinding) -> Iterator[Change]:
    pairs = (
        ("verdict", old.verdict, new.verdict),
        ("severity", old.severity.label, new.severity.label),
        ("confidence", old.confidence, new.confidence),
        ("message", old.message, new.message),
    )
    for field, was, now in pairs:
        if was != now:
            yield Change(field=field, before=was, after=now)
    for name in sorted({*old.facts, *new.facts}):
        values = [json.dumps(facts.get(name), ensure_ascii=False) for facts in (old.facts, new.facts)]
        if values[0] != values[1]:
            yield Change(field=f"facts.{name}", before=values[0], after=values[1])


def _goes_on(old: ToldFinding, new: ToldFinding) -> bool:
    """Whether two findings differ in nothing but their offsets."""
    return _subject(old) == _subject(new) and may_be_one_topic(old.topic_id, new.topic_id)


def _subject(finding: ToldFinding) -> tuple[object, ...]:
    return finding.rule, finding.verdict, finding.topic, finding.partition, finding.brokers


def _moved(finding: ToldFinding, gone: Sequence[ToldFinding], added: Sequence[ToldFinding]) -> str | None:
    """The finding that it may go on from; of several nobody can tell which."""
    was = [each for each in gone if _goes_on(each, finding)]
    now = [each for each in added if _goes_on(each, finding)]
    return was[0].id if len(was) == len(now) == 1 else None


def _unseen(finding: ToldFinding, before: ComparedReport, after: ComparedReport, added: Sequence[ToldFinding]) -> str:
    """Why its absence does not say that it was mended; empty where it was looked for and is not there."""
    if after.interrupted:
        return "the later audit was stopped early"
    if by_policy := _ruled_out(finding, before, after):
        return by_policy
    if LEVELS.index(after.level) < LEVELS.index(before.level):
        return f"the later audit read at level {after.level}, the earlier at level {before.level}"
    if finding.topic_id is not None and apart({finding.topic_id}, after.topics.get(str(finding.topic), ())):
        return _OTHER
    asked = [each for each in after.findings.values() if each.verdict == "undecided" and each.rule == finding.rule]
    if any(each.topic in (None, finding.topic) and each.partition in (None, finding.partition) for each in asked):
        return f"{finding.rule} could not be decided there"
    still = any(_goes_on(finding, each) for each in added)
    return _STILL if still else _not_read(finding, before, after)


def _ruled_out(finding: ToldFinding, before: ComparedReport, after: ComparedReport) -> str:
    """What of the later audit's policy may have kept it silent."""
    if finding.rule in after.rules_off:
        return f"{finding.rule} was turned off"
    raised = after.raised.get(finding.rule, frozenset()) - before.raised.get(finding.rule, frozenset())
    return f"{finding.rule}'s threshold was raised: {', '.join(sorted(raised))}" if raised else ""


def _not_read(finding: ToldFinding, before: ComparedReport, after: ComparedReport) -> str:
    held, here = (
        {each for each in side.replicas if each[:2] == (finding.topic, finding.partition)} for side in (before, after)
    )
    if lost := sorted({broker for _, _, broker in held - here}):
        return f"the later audit read no replica of it on {numbered('broker', lost)}"
    if fewer := [kind for kind in before.kinds if kind not in after.kinds]:
        return f"the later audit read nothing of {', '.join(fewer)}"
    if after.ratio < before.ratio:
        return "the later audit read a smaller part of its bytes"
    if not finding.sources or any(_tells(source) for source in finding.sources):
        return "it tells what happened, and logs that told it may be rotated away"
    return ""


def _tells(source: str) -> bool:
    return parse_file_name(source.rpartition("/")[2]).kind in TELLING
