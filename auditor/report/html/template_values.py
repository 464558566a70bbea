"""What the templates are given: the summary that every output shares, and the partitions with their pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from auditor.report import availability
from auditor.report.bill import details, sentence
from auditor.report.html.courses import Address
from auditor.report.html.lanes import lanes
from auditor.report.html.over_time import over_time
from auditor.report.html.protocols import side_by_side
from auditor.report.html.reported_partitions import (
    DRAWN,
    TABLES_SHOWN,
    ReportedPartition,
    gravest_first,
    reported_partitions,
)
from auditor.report.html.shapes import Picture
from auditor.report.model import AuditReport, Counterfactual, PlacedHistory, Survivor
from auditor.report.named_places import named_places
from auditor.report.policy_outcome import spared
from auditor.report.sheet import between
from auditor.report.summary import summary
from auditor.report.summary.clusters import several_clusters
from auditor.report.summary.conclusion import doubts, extent, read_of
from auditor.report.summary.incidents import causes
from auditor.report.terminal.screen import lost_words, not_seen, ruled
from auditor.report.utc_times import moment
from rules.finding import Bearings, Finding, Place, Severity
from rules.timeline.picture_values import DrawnHistory

GOING: Final = {"go": "GO", "no-go": "NO-GO", "unknown": "UNKNOWN", "copy": "COPY", "act": "DO"}
PLACES_SHOWN: Final = 6
REFUSALS_SHOWN: Final = 200
TOLD_SHOWN: Final = 100
"""Incidents, actions, and what was not seen: of each kind; the rest is counted."""
MILESTONES_SHOWN: Final = 60


class Bill(Struct, frozen=True, kw_only=True):
    """One loss in words."""

    restored: bool
    sentence: str
    details: tuple[str, ...]
    copies: tuple[Survivor, ...]


class Protocols(Struct, frozen=True, kw_only=True):
    """What each protocol would have done with one pair of replicas."""

    table: Counterfactual
    picture: Picture | None
    """Null where none of them would have cut anything."""


class Courses(Struct, frozen=True, kw_only=True):
    """A partition over time."""

    history: DrawnHistory
    picture: Picture


class DrawnPartition(Struct, frozen=True, kw_only=True):
    """One partition that is drawn."""

    story: ReportedPartition
    lanes: Picture | None
    bills: tuple[Bill, ...]
    protocols: tuple[Protocols, ...]
    courses: tuple[Courses, ...]

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that found something in it."""
        return tuple(sorted({finding.rule for finding in self.story.findings}))

    @property
    def labels(self) -> tuple[str, ...]:
        """The severities of what was found."""
        return tuple(sorted({label_of(finding) for finding in self.story.findings}))


class SoundTopic(Struct, frozen=True, kw_only=True):
    """Partitions of one topic of which nothing was found, in one row."""

    cluster: str
    topic: str
    partitions: str
    replicas: int
    offsets: int


def label_of(finding: Finding) -> str:
    """How grave a finding is, in one word; an open question is none."""
    return Severity(finding.severity).label if finding.verdict == "violated" else "undecided"


def page_values(report: AuditReport) -> Mapping[str, object]:
    """By the names that the templates use."""
    conclusion, known = summary(report), reported_partitions(report)
    lost = lost_words(conclusion)
    troubled = gravest_first(report, known.values())
    drawn = [section(story, number, report.bearings) for number, story in enumerate(troubled[:DRAWN], start=1)]
    anchors = {each.story.place: each.story.anchor for each in drawn}
    others = [(story, finding) for story in troubled[DRAWN:] for finding in story.findings]
    return {
        "report": report,
        "conclusion": conclusion,
        "extent": extent(report, conclusion),
        "read": read_of(report),
        "lost": lost,
        "not_seen": tuple(not_seen(conclusion.unseen, lost)),
        "causes": causes(conclusion.incidents),
        "clusters": several_clusters(report),
        "doubts": tuple(doubts(report)) if report.verdict == "unknown" else (),
        "ruled": tuple(ruled(report)),
        "sections": drawn,
        "drawn_most": DRAWN,
        "others": others,
        "other_places": len(troubled[DRAWN:]),
        "sound": _sound(known.values(), {story.place for story in troubled}),
        "topics": sorted({finding.topic for finding in report.findings if finding.topic is not None}),
        "rules": sorted({finding.rule for finding in report.findings}),
        "labels": _labels(report.findings),
        "findings": {finding.id: finding for finding in report.findings},
        "anchors": anchors,
        "spared": spared(report.policy),
        "going": GOING,
        "label_of": label_of,
        "severity": lambda number: Severity(number).label,
        "named_places": lambda places: named_places(places, PLACES_SHOWN),
        "places_of": lambda aims: [aim.place for aim in aims],
        "place_name": lambda place: ReportedPartition(place=place).name,
        "refusals_most": REFUSALS_SHOWN,
        "told_most": TOLD_SHOWN,
        "tables_most": TABLES_SHOWN,
        "milestones_most": MILESTONES_SHOWN,
        "moment": moment,
        "between": between,
        "availability": availability,
    }


def section(partition: ReportedPartition, number: int, bearings: Bearings) -> DrawnPartition:
    """A partition as the page shows it."""
    story = replace(partition, anchor=f"p{number}")
    return DrawnPartition(
        story=story,
        lanes=lanes(story, bearings),
        bills=tuple(
            Bill(
                restored=loss.restored,
                sentence=sentence(loss, story.name),
                details=tuple(details(loss)),
                copies=loss.survivors,
            )
            for loss in story.losses
        ),
        courses=tuple(
            Courses(history=drawn, picture=picture)
            for history in story.histories
            for drawn in history.drawn
            if (picture := over_time(drawn, history.losses, _steps(story, history))) is not None
        ),
        protocols=tuple(_protocols(placed.table) for placed in story.tables[:TABLES_SHOWN]),
    )


def _steps(story: ReportedPartition, history: PlacedHistory) -> Mapping[Address, str]:
    """The ids of the steps that the page tells in words, by the bytes that tell them."""
    numbered = enumerate(history.milestones[:MILESTONES_SHOWN])
    return {(step.span.source, step.span.start): story.part("step", number) for number, step in numbered}


def _protocols(table: Counterfactual) -> Protocols:
    cut = any(outcome.cuts for outcome in table.outcomes)
    return Protocols(table=table, picture=side_by_side(table) if cut else None)


def _labels(findings: Sequence[Finding]) -> list[str]:
    """Severities of the report, the gravest first."""
    there = {label_of(finding) for finding in findings}
    order = [each.label for each in sorted(Severity, reverse=True)]
    return [label for label in (*order, "undecided") if label in there]


def _sound(known: Iterable[ReportedPartition], troubled: set[Place]) -> list[SoundTopic]:
    """Partitions without a finding, topic by topic."""
    topics: dict[tuple[str | None, str | None], list[ReportedPartition]] = {}
    for story in known:
        if story.place not in troubled and story.replicas:
            topics.setdefault(story.place[:2], []).append(story)
    return [
        SoundTopic(
            cluster=cluster or "unknown",
            topic=topic or "",
            partitions=named_places([story.place for story in own]),
            replicas=sum(len(story.replicas) for story in own),
            offsets=sum(r.log_end_offset - r.log_start_offset for story in own for r in story.replicas),
        )
        for (cluster, topic), own in topics.items()
    ]
