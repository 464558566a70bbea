"""KAFKA-15583: a high watermark that rose while fewer replicas were in sync than `min.insync.replicas` asks for."""

from __future__ import annotations

from collections.abc import Iterator

from rules.evidence import Course, LeaderRow, Moment, PartitionEvidence, Setting
from rules.finding import Exhibit
from rules.history.moments import succeeded
from rules.history.statements import Fetched
from rules.protocol.numbers import whole_number
from rules.settings import MIN_IN_SYNC
from rules.signatures.signature import Hit


def committed_below_min_isr(evidence: PartitionEvidence) -> Iterator[Hit]:
    """Records that counted as committed then, and that a later leader had not."""
    # What only a disk shows may have been committed in a reign that is not told.
    for lost in (lost for lost in evidence.lost_terms if not lost.inferred):
        course = next((c for c in evidence.replayed.courses if lost.committed.term in c.lead.epochs), None)
        hits = () if course is None else _rose_below_min_isr(evidence, course, lost.start_offset)
        for m, least in hits:
            yield Hit(
                broker=m.witness,
                at=m,
                says=f"broker {m.witness} told high watermark {m.high_watermark} while fewer than"
                f" {MIN_IN_SYNC}={least.value} replicas were in sync, and epoch {lost.epoch} began at"
                f" {lost.opening.offset}",
                exhibits=(
                    Exhibit(span=m.span, role="the high watermark"),
                    Exhibit(span=least.span, role=f"{MIN_IN_SYNC} as set"),
                    Exhibit(span=lost.opening.span, role="the epoch that lost it"),
                ),
                start_offset=lost.start_offset,
                end_offset=m.high_watermark,
            )
            break


def _rose_below_min_isr(evidence: PartitionEvidence, course: Course, beyond: int) -> Iterator[tuple[Fetched, Setting]]:
    """Answers with a watermark beyond an offset, which rose there while too few were in sync for the setting.

    Where the leader acknowledges for all while too few are in sync, it goes by another setting than is told.
    """
    few = {row: least for row in range(len(course.rows)) if (least := _missed(evidence, course, course.rows[row]))}
    answers = [row.moment for row in course.rows]
    if any(place in few and succeeded(m) and m.acks == -1 for place, m in enumerate(answers)):
        return
    below, written = False, 0
    for place, m in enumerate(answers):
        below = place in few and (below or _was_at_most(m, beyond, written))
        written = max(written, (m.offset or 0) if succeeded(m) else 0)
        if below and isinstance(m, Fetched) and not m.doubtful and (m.high_watermark or 0) > beyond:
            yield m, few[place]


def _missed(evidence: PartitionEvidence, course: Course, row: LeaderRow) -> Setting | None:
    """The setting that too few were in sync for when an answer was given, where it is certain and who was is told."""
    least = evidence.setting(row.moment.witness, MIN_IN_SYNC, row.moment)
    asked = whole_number(least.value) if least is not None and evidence.settings.is_certain(least) else None
    if asked is None or not row.isr:
        return None
    return least if max(map(len, row.isr)) < min(asked, course.rank.assigned or len(course.rank.replicas)) else None


def _was_at_most(answer: Moment, offset: int, written: int) -> bool:
    """Whether a high watermark was no higher when a leader answered: it told so, or had just appended a record there.

    Of a record that was sent twice the second answer may name a lower offset than one before.
    """
    if isinstance(answer, Fetched):
        return answer.high_watermark is not None and answer.high_watermark <= offset
    return succeeded(answer) and written <= (answer.offset or 0) <= offset
