"""A comparison for people: the verdicts, what became of each finding, and how much each side had seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from auditor.diff.compare import Change, Comparison
from auditor.diff.side import ComparedReport, ToldFinding
from auditor.report.sheet import Sheet, percent, size, table

INDENT: Final = 2
LONGEST_VALUE: Final = 200


def diff_text(
    found: Comparison, ending: tuple[int, Sequence[str]] = (0, ()), columns: int = 100, *, verbose: bool = False
) -> str:
    """The whole comparison; hostile names and messages are escaped by the page.

    With `verbose` every value is told in full, and every finding with the files that its evidence lies in.
    """
    page = Sheet(columns=columns, colour=False)
    return "\n".join(line.rstrip() for line in _lines(found, page, ending, verbose=verbose)) + "\n"


def _lines(found: Comparison, page: Sheet, ending: tuple[int, Sequence[str]], *, verbose: bool) -> Iterator[str]:
    if found.warning is not None:
        yield from page.wrapped(f"NOTE    {found.warning}", hanging=8)
    yield from page.wrapped(f"BEFORE  {found.before.name}: {_said(found.before)}", hanging=8)
    yield from page.wrapped(f"AFTER   {found.after.name}: {_said(found.after)}", hanging=8)
    yield from page.wrapped(f"FOUND   {_summary(found)}", hanging=8)
    code, why = ending
    if why:
        yield from page.wrapped(f"ENDS    {code}: {'; '.join(why)}.", hanging=8)
    for title, block in (
        ("New", _new(found, page, verbose=verbose)),
        ("Changed", _changed(found, page, verbose=verbose)),
        ("Fixed: looked for again, and not there any more", _fixed(found, page, verbose=verbose)),
        ("No longer told, which does not say that it was mended", _untold(found, page, verbose=verbose)),
    ):
        lines = list(block)
        if lines:
            yield from ("", title)
            yield from lines
    yield from ("", "Seen")
    yield from table(("", "before", "after"), _seen(found), right=(1, 2), indent=INDENT)


def _said(side: ComparedReport) -> str:
    verdict = {"findings": "findings", "clean": "clean", "unknown": "the verdict is open"}[side.verdict]
    stopped = ", stopped early" if side.interrupted else ""
    return f"{verdict}{stopped}; {percent(side.ratio)} read at level {side.level}"


def _summary(found: Comparison) -> str:
    return (
        f"{len(found.new)} new, {len(found.changed)} changed, {len(found.fixed)} fixed, "
        f"{len(found.untold)} no longer told, {found.same} as before"
    )


def _new(found: Comparison, page: Sheet, *, verbose: bool) -> Iterator[str]:
    for new in found.new:
        yield from _finding(new.finding, page, verbose=verbose)
        if new.instead_of is not None:
            yield from page.wrapped(f"Before, {new.instead_of} said the same of other offsets.", 4)


def _changed(found: Comparison, page: Sheet, *, verbose: bool) -> Iterator[str]:
    for each in found.changed:
        yield from _finding(each.after, page, verbose=verbose)
        for change in each.changes:
            yield from page.wrapped(_words(change, verbose=verbose), 4, hanging=2)


def _words(change: Change, *, verbose: bool) -> str:
    whole = [verbose or len(text) <= LONGEST_VALUE for text in _pair(change)]
    pairs = zip(_pair(change), whole, strict=True)
    before, after = (text if is_whole else f"{text[:LONGEST_VALUE]}…" for text, is_whole in pairs)
    return f"{change.field}: {before} → {after}" if change.field != "message" else f"before: {before}"


def _pair(change: Change) -> tuple[str, str]:
    return change.before, change.after


def _fixed(found: Comparison, page: Sheet, *, verbose: bool) -> Iterator[str]:
    for finding in found.fixed:
        yield from _finding(finding, page, verbose=verbose)


def _untold(found: Comparison, page: Sheet, *, verbose: bool) -> Iterator[str]:
    for each in found.untold:
        yield from _finding(each.finding, page, verbose=verbose)
        yield from page.wrapped(f"Not counted as fixed: {each.because}.", 4)


def _finding(finding: ToldFinding, page: Sheet, *, verbose: bool) -> Iterator[str]:
    weight = "open" if finding.verdict == "undecided" else finding.severity.label.upper()
    yield from page.wrapped(f"{weight}  {finding.rule}  {finding.place}  {finding.id}", INDENT)
    yield from page.wrapped(finding.message, 4)
    if verbose and finding.sources:
        yield from page.wrapped(f"Evidence in {', '.join(finding.sources)}.", 4)


def _seen(found: Comparison) -> list[list[str]]:
    sides = (found.before, found.after)
    rows = [
        ["findings", *(_weighed(side) for side in sides)],
        ["questions that leave the verdict open", *(str(_open(side)) for side in sides)],
        ["partitions", *(str(side.counts["partitions"]) for side in sides)],
        ["replicas", *(str(side.counts["replicasSeen"]) for side in sides)],
        ["replicas missing", *(str(side.counts["replicasMissing"]) for side in sides)],
        ["bytes read", *(size(side.counts["bytesRead"]) for side in sides)],
        ["offsets compared", *(str(side.counts["offsetsCompared"]) for side in sides)],
        ["files unread", *(str(side.counts["filesUnread"]) for side in sides)],
    ]
    kinds = sorted({*found.before.kinds, *found.after.kinds})
    return rows + [[kind, *("read" if kind in side.kinds else "-" for side in sides)] for kind in kinds]


def _weighed(side: ComparedReport) -> str:
    """Findings by severity, the gravest first."""
    violated = [finding.severity for finding in side.findings.values() if finding.verdict == "violated"]
    counts = [f"{violated.count(each)} {each.label}" for each in sorted(set(violated), reverse=True)]
    return ", ".join(counts) or "none"


def _open(side: ComparedReport) -> int:
    return sum(finding.verdict == "undecided" for finding in side.findings.values())
