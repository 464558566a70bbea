"""What a rule is: a frozen declaration, a pure function, and the page that its docstring holds."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from rules.evidence import PartitionEvidence
from rules.evidence.topic import TopicEvidence
from rules.finding import NO_BEARING, Bearing, Scope, Severity, Undecided, Violation
from rules.thresholds import WEEK_MS, Threshold

__all__ = [
    "SECTIONS", "WEEK_MS", "Check", "Law", "Order", "Page", "Rule", "Threshold", "TopicCheck", "read_page", "rule",
    "topic_rule",
]  # fmt: skip

Check = Callable[[PartitionEvidence], Iterator[Violation | Undecided]]
TopicCheck = Callable[[TopicEvidence], Iterator[Violation | Undecided]]
Order = Literal["as its rows are", "of roles", "of epochs", "none"]
"""What a rule is ordered by: as its rows are, by roles that only rise, by the newest epoch, or by nothing."""
Law = Literal[
    "CacheAgreesWithLog", "ConsistentRead", "ConsistentTopicId", "ElectionOrder", "EpochGap", "EpochStartUnique",
    "FollowerHWBound", "GroupAssignment", "GroupCoordination", "KeyPlacement", "LeaderCandidateCompleteness",
    "LeaderCompleteness", "LeaderInIsr", "LogMatchingProperty", "MinIsrRecoveryQuorum", "MonotonicEpoch",
    "MonotonicHighWatermark", "NeverTwoLeadersInSameEpoch", "NoCommittedRecordLost", "NoLogDivergence",
    "NoTruncationBelowTrueHW", "PreferredLeader", "StateMachineSafety", "TruncationJustified", "TypeOk",
    "ValidHighWatermark", "WeakIsr",
    "ISR by replica.lag.time.max.ms", "durability as configured", "idempotent producers", "known defects of Kafka",
    "liveness of replication", "liveness of the high watermark", "liveness of the last stable offset",
    "transactions end",
]  # fmt: skip
"""What a rule can audit: names of published specifications, and in words what none of them has a name for."""
SECTIONS: Final = ("Proves", "Undecided when", "Upheld", "Violated")


class Page(Struct, frozen=True, kw_only=True):
    """The text of a rule: one source for the terminal, the reference, the reports and the tests."""

    title: str
    introduction: str
    proves: str
    undecided_when: str
    upheld: str
    violated: str


class Rule(Struct, frozen=True, kw_only=True):
    """One defect: what it is called, what it needs, which published law it audits, and the function that judges."""

    id: str
    name: str
    severity: Severity
    scope: Scope
    needs: tuple[type, ...]
    law: Law
    implied_by: tuple[str, ...]
    """Rules that it may follow from, the most direct first: reports tell it below the first one found."""
    message: str
    page: Page
    check: Check
    reach: str = ""
    """Of a rule that knows a table of cases: which it tells and which not, as its table says."""
    order: Order = "as its rows are"
    bearing: Bearing = NO_BEARING
    thresholds: tuple[Threshold, ...] = ()
    """Numbers that it weighs by and that whoever audits may raise."""
    check_topic: TopicCheck | None = None
    """Of a rule about whole topics: `check` says nothing then."""


def rule(  # noqa: PLR0913 - what a page declares, each thing by its name
    *,
    id: str,  # noqa: A002 - the published word for it
    severity: Severity,
    needs: tuple[type, ...],
    law: Law,
    message: str,
    implied_by: tuple[str, ...] = (),
    scope: Scope = "partition",
    reach: str = "",
    order: Order = "as its rows are",
    bearing: Bearing = NO_BEARING,
    thresholds: tuple[Threshold, ...] = (),
) -> Callable[[Check], Rule]:
    """Declare a rule: `@rule(...)` over its check function, whose docstring is the page."""

    def declare(check: Check) -> Rule:
        return Rule(
            id=id,
            name=check.__name__,
            severity=severity,
            scope=scope,
            needs=needs,
            law=law,
            implied_by=implied_by,
            message=message,
            page=_page_of(check),
            check=check,
            reach=reach,
            order=order,
            bearing=bearing,
            thresholds=thresholds,
        )

    return declare


def topic_rule(
    *,
    id: str,  # noqa: A002 - the published word for it
    severity: Severity,
    needs: tuple[type, ...],
    law: Law,
    message: str,
    thresholds: tuple[Threshold, ...] = (),
) -> Callable[[TopicCheck], Rule]:
    """Declare a rule about whole topics: `@topic_rule(...)` over its check function."""
    of_partitions = rule(
        id=id, severity=severity, scope="topic", needs=needs, law=law, message=message, thresholds=thresholds
    )

    def declare(check: TopicCheck) -> Rule:
        declared = of_partitions(cast("Check", check))
        return replace(declared, check=lambda _: iter(()), check_topic=check)

    return declare


def _page_of(check: Check) -> Page:
    return read_page(inspect.getdoc(check) or _docstring_in_source(check))


def _docstring_in_source(check: Check) -> str:
    """The docstring of a function from which Python was told to strip it (-OO)."""
    (function,) = ast.parse(inspect.getsource(check)).body
    return ast.get_docstring(function) or "" if isinstance(function, ast.FunctionDef) else ""


def read_page(docstring: str) -> Page:
    """The page of a rule from its docstring; a missing section is an error of whoever wrote the rule."""
    lines = docstring.splitlines()
    starts = {
        line.strip(): index
        for index, line in enumerate(lines[:-1])
        if line.strip() in SECTIONS and set(lines[index + 1].strip()) == {"-"}
    }
    if tuple(starts) != SECTIONS:
        found = ", ".join(starts) or "none"
        message = f"a rule page has the sections {', '.join(SECTIONS)} in this order, found {found}"
        raise ValueError(message)
    bounds = [*starts.values(), len(lines)]
    bodies = ["\n".join(lines[a + 2 : b]).strip("\n") for a, b in pairwise(bounds)]
    head = lines[: bounds[0]]
    return Page(
        title=head[0].strip(),
        introduction="\n".join(head[1:]).strip(),
        proves=bodies[0],
        undecided_when=bodies[1],
        upheld=bodies[2],
        violated=bodies[3],
    )
