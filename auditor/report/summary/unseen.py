"""What was not seen, not read or not decided, each kind in one sentence; what leaves the verdict open comes first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from msgspec import Struct

from auditor.report.alike import AlikePoints, alike_points
from auditor.report.model import AuditReport, Coverage, RefusalLine
from auditor.report.sheet import size
from auditor.report.summary.clusters import rival
from auditor.report.summary.not_whole import WAY_OUT, not_whole
from rules.finding import Place, capital, question_told
from rules.words import counted, first_of, numbered

Kind = Literal["stopped", "brokers", "replicas", "unread", "question", "logs", "files", "names", "deeper"]
MISSING_SHOWN: Final = 6
FILES_SHOWN: Final = 2
"""Files that were not read; each is named by -v with its bytes."""
ANY: Final = -1
"""A log that may be any broker's."""
NO_RULE_BILLS: Final = "the bill"
"""What asks about losses that no rule speaks of."""


class Unseen(Struct, frozen=True, kw_only=True):
    """One thing that was not seen."""

    kind: Kind
    words: str
    blocking: bool
    """Whether it leaves the verdict open."""
    rules: tuple[str, ...] = ()
    """The rules that could not decide for want of it."""
    perhaps_lost: bool = False
    """Whether records may be lost by it that no finding and no bill names."""
    places: tuple[Place, ...] = ()
    """The partitions that a question is about."""
    asks: str = ""
    """What is not known, and what would tell, of a question: its words behind its rules and partitions."""


def unseen(report: AuditReport) -> tuple[Unseen, ...]:
    """All of it."""
    found = [
        *_stopped(report),
        *_replicas(report.coverage),
        *_unread(report),
        *_questions(report),
        *_logs(report.coverage),
        *_answers(report),
        *_files(report.coverage),
        *_deeper(report.coverage),
    ]
    return tuple(sorted(found, key=lambda each: not each.blocking))


def _stopped(report: AuditReport) -> Iterator[Unseen]:
    if report.interrupted:
        yield Unseen(kind="stopped", words="The audit was interrupted. This is what was known by then.", blocking=True)
    if not report.coverage.replicas_seen:
        yield Unseen(kind="brokers", words="No broker's disk is in this dump.", blocking=True)


def _replicas(coverage: Coverage) -> Iterator[Unseen]:
    """Replicas that something names and no directory here holds."""
    if coverage.missing:
        named = "; ".join(missing.words for missing in coverage.missing[:MISSING_SHOWN])
        rest = coverage.replicas_missing - MISSING_SHOWN
        more = f"; {rest} more" if rest > 0 else ""
        count = counted(coverage.replicas_missing, "replica")
        words = f"{count} named by checkpoints or logs and missing here: {named}{more}."
        opens = coverage.replicas_lacking > 0 and not coverage.scope.partial
        yield Unseen(kind="replicas", words=words, blocking=opens)
    if coverage.elsewhere:
        yield Unseen(kind="replicas", words=f"{coverage.elsewhere}.", blocking=not coverage.scope.partial)


def _unread(report: AuditReport) -> Iterator[Unseen]:
    """Files and bytes that could not be read; folders and logs whose owner nobody can tell are named."""
    coverage = report.coverage
    folders = [line for line in report.refusals if line.folder]
    logs = [line for line in report.refusals if line.blocking and line.kind == "ambiguous" and not line.folder]
    parts = [f"{size(coverage.bytes_refused)} of segments"] if coverage.bytes_refused else []
    unread = sorted((line for line in report.refusals if not line.folder), key=lambda line: not line.blocking)
    paths = [*dict.fromkeys(line.path for line in unread)]
    files = counted(coverage.files_unread, "file")
    parts += [f"{files} in part or whole ({first_of(paths, FILES_SHOWN, coverage.files_unread)})"] if paths else []
    for noun, lines in (("folder", folders), ("log file", logs)):
        for words in dict.fromkeys(map(_named, lines[:MISSING_SHOWN])):
            yield Unseen(kind="unread", words=words, blocking=True)
        if len(lines) > MISSING_SHOWN:
            more = f"Not read: {counted(len(lines) - MISSING_SHOWN, f'more {noun}')}, each named by -v."
            yield Unseen(kind="unread", words=more, blocking=True)
    blocking = sum(line.blocking for line in report.refusals if not line.folder)
    if parts or blocking:
        words = f"Not read: {', '.join(parts) or counted(blocking, 'part') + ' of the dump'}."
        yield Unseen(kind="unread", words=words, blocking=blocking > 0)


def _named(line: RefusalLine) -> str:
    """Why nothing of a folder or a log was read, and what to do about it."""
    if rival(line):
        return f"Not read: {line.found} claim to be the same. Leave one of them out of the dump."
    return f"Not read: {line.path}, for want of {line.expected}; found {line.found}."


def _questions(report: AuditReport) -> Iterator[Unseen]:
    """Rules that could not decide."""
    undecided = report.coverage.undecided
    for alike in alike_points(point for point in undecided if point.asked_at_level is None):
        yield Unseen(
            kind="question",
            words=question(alike),
            blocking=alike.first.blocking,
            rules=alike.rules,
            perhaps_lost=alike.first.perhaps_lost,
            places=alike.places,
            asks=question_told(alike.first.reason, alike.first.missing),
        )


def question(alike: AlikePoints) -> str:
    """An open question as a sentence that names what would decide it."""
    rules = ", ".join(alike.rules)
    named = rules and alike.rules != (NO_RULE_BILLS,)
    head = f"{rules} not decided in {alike.words}" if named else f"Open in {alike.words}"
    return question_told(f"{head}: {alike.first.reason}", alike.first.missing)


def _logs(coverage: Coverage) -> Iterator[Unseen]:
    """Logs that were not read, of brokers or of topics without a name."""
    for absent in coverage.absent_logs:
        yield Unseen(kind="logs", words=f"{absent.words}.", blocking=False)
    for words in _contradicted(coverage):
        yield Unseen(kind="logs", words=words, blocking=False)
    if coverage.nameless:
        yield Unseen(kind="names", words=f"{coverage.nameless}.", blocking=False)
    for words in () if coverage.scope.partial else not_whole(coverage):
        yield Unseen(kind="logs", words=f"{capital(words)}. {capital(WAY_OUT)}.", blocking=True)


def _answers(report: AuditReport) -> Iterator[Unseen]:
    """That more may be lost: watermarks tell what was committed, and requests alone who else was answered."""
    read = report.coverage.scope.requests_of
    lost = (loss for history in report.histories for loss in history.losses if loss.matters and not loss.restored)
    led = {loss.leader for loss in lost}
    unheard = sorted(leader for leader in led if leader is not None and leader not in read)
    if not led or ANY in read or (read and not unheard):
        return
    log, they = "No request log is here", "brokers"
    if read:
        log = f"No request log of {numbered('broker', unheard)}, which led before the loss, is here"
        they = "it" if len(unheard) == 1 else "they"
    words = f"{log}, so nothing tells which other records {they} had acknowledged."
    yield Unseen(kind="logs", words=words, blocking=False, perhaps_lost=True)


def _files(coverage: Coverage) -> Iterator[Unseen]:
    """Small files that are missing or empty, a sentence a kind; and files of no known kind."""
    for lacking in coverage.scope.files:
        rest = len(lacking.paths) - MISSING_SHOWN
        named = ", ".join(lacking.paths[:MISSING_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
        of = f"{len(lacking.paths)} of {counted(lacking.due, lacking.noun)}"
        words = f"Missing or empty: {of} ({named}). So nothing there tells {lacking.tells}"
        opens = lacking.opens and not coverage.scope.partial
        yield Unseen(kind="files", words=f"{words}.{f' {capital(WAY_OUT)}.' if opens else ''}", blocking=opens)
    if coverage.files_unknown:
        rest = coverage.files_unknown - MISSING_SHOWN
        named = ", ".join(coverage.unknown_files[:MISSING_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
        words = f"Not read, because of no known kind: {counted(coverage.files_unknown, 'file')} ({named})."
        yield Unseen(kind="files", words=words, blocking=False)


def _contradicted(coverage: Coverage) -> Iterator[str]:
    """Releases that were given and that logs deny, those of several brokers at once."""
    brokers: dict[tuple[str, str], list[int]] = {}
    for release in coverage.contradicted_releases:
        brokers.setdefault((release.given, release.logged), []).append(release.broker)
    for (given, printed), whose in brokers.items():
        logs = "the log" if len(whose) == 1 else "the logs"
        says = numbered("broker", whose, "says")
        yield f"--kafka-version says {given}, {logs} of {says} {printed}. The release that was given is taken."


def _deeper(coverage: Coverage) -> Iterator[Unseen]:
    """What nobody asked at this level, a sentence a level; a rule's question where it is the same everywhere."""
    unasked: dict[str, dict[str, set[str]]] = {}
    for point in coverage.undecided:
        if point.asked_at_level is not None:
            unasked.setdefault(point.asked_at_level, {}).setdefault(point.rule, set()).add(point.reason)
    for level, rules in sorted(unasked.items()):
        asked = (f"{next(iter(what))} ({rule})" if len(what) == 1 else rule for rule, what in sorted(rules.items()))
        words = f"Not checked without --level {level}: {', '.join(asked)}."
        yield Unseen(kind="deeper", words=words, blocking=False, rules=tuple(sorted(rules)))
