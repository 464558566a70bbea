"""What the incident report bills: a line a loss, equal losses of several partitions in one line with their ranges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from auditor.report.bill import answered, details, who_led
from auditor.report.markdown import text
from auditor.report.model import AuditReport, Loss, PlacedHistory
from auditor.report.postmortem.parts import billed, capped, place, places, shortened
from auditor.report.summary.folded_findings import folded
from auditor.report.summary.perhaps import at_stake, perhaps_lost_elsewhere, perhaps_words, unadvised
from auditor.report.summary.unseen import unseen
from auditor.report.unbilled import sentence, unbilled
from auditor.report.utc_times import moment
from auditor.report.worths import acknowledged, acknowledged_in_all, span, surely_acknowledged
from rules.finding import offsets_told
from rules.words import counted

COLUMNS: Final = (
    "partition", "offsets", "certainly committed", "acknowledged", "lost in the change", "reused", "still on disk of",
)  # fmt: skip
NOT_KNOWN: Final = "not known"
ROWS_SHOWN: Final = 12
DETAILED: Final = 3
RANGES_SHOWN: Final = 8

Billed = tuple[PlacedHistory, Loss]


def impact(report: AuditReport) -> Iterator[str]:
    """The section."""
    losses, gone, perhaps = billed(report), unbilled(report), list(_perhaps(report))
    yield "## Impact\n"
    yield from (f"- {place(history)}: {text(sentence(each))}" for history, each in gone[:ROWS_SHOWN])
    yield from capped(len(gone), "unbilled stretch", ROWS_SHOWN)
    yield from perhaps
    if not losses:
        none = not_told(report)
        yield none or ("" if gone or perhaps else "No records are known to be lost.")
        return
    yield from [""] if gone or perhaps else []
    alike = equal_losses(losses)
    yield from table([row(together) for together in alike[:ROWS_SHOWN]])
    yield from shortened(len(alike), "row", ROWS_SHOWN)
    for together in alike[:DETAILED]:
        yield from _more(together)
    yield from shortened(len(alike), "detailed bill", DETAILED)


def _perhaps(report: AuditReport) -> Iterator[str]:
    """What may be lost by findings and by open questions, as the first screen tells it."""
    stake = at_stake(report)
    lines = [] if stake is None else [f"Perhaps lost: {stake.words}"]
    lines += [f"Perhaps lost in {words}" for words in perhaps_words(folded(perhaps_lost_elsewhere(report)))]
    lines += [f"Perhaps lost. {each.words}" for each in unseen(report) if each.perhaps_lost]
    yield from (f"- {text(words)}" for words in lines[:ROWS_SHOWN])
    yield from capped(len(lines), "possible loss", ROWS_SHOWN)


def not_told(report: AuditReport) -> str:
    """Why a section is empty although there may be something to tell."""
    perhaps = [*perhaps_words(folded(perhaps_lost_elsewhere(report)))]
    return "\n".join(map(text, unadvised(report.untold, perhaps)))


def equal_losses(losses: Sequence[Billed]) -> list[list[Billed]]:
    """The losses in their order, those together that differ in their partition and offsets alone."""
    alike: dict[object, list[Billed]] = {}
    for history, loss in losses:
        alike.setdefault(_shape(loss), []).append((history, loss))
    return list(alike.values())


def _shape(loss: Loss) -> object:
    """What equal losses share: whose reigns, what it was worth to whom, and who still holds it."""
    committed = "all" if loss.committed_end >= loss.end_offset else loss.committed_end > loss.start_offset
    holders = tuple((survivor.broker, survivor.kind, survivor.sound) for survivor in loss.survivors)
    whole = loss.standing == ((loss.start_offset, loss.end_offset),)
    reign = (loss.epochs, loss.leader, loss.next_epoch, loss.next_leader, loss.again)
    known = (loss.end_known, loss.searched, loss.unsearched, loss.unread, loss.restored, loss.restored_seen)
    worths = frozenset(portion.worth for portion in loss.portions)
    return reign, committed, holders, whole, known, worths, loss.reused_end > loss.start_offset, loss.reused_epochs


def table(rows: Sequence[str]) -> Iterator[str]:
    """Rows under their heads."""
    yield f"| {' | '.join(COLUMNS)} |"
    yield "|---|---|---|---|---|---|---|"
    yield from rows


def row(together: Sequence[Billed]) -> str:
    """One loss, or equal ones in one sum."""
    first = together[0][1]
    by = f"{first.epochs} ({who_led(first.leader)}) to {_following(first)}"
    own = _single(*together[0]) if len(together) == 1 else _sum(together)
    return f"| {' | '.join((*own[:4], by, *own[4:]))} |"


def _following(loss: Loss) -> str:
    """Who left it out; of what no log holds, nobody did."""
    if loss.next_epoch is None:
        return "no log here"
    return f"epoch {loss.next_epoch} ({who_led(loss.next_leader)})"


def _single(history: PlacedHistory, loss: Loss) -> tuple[str, ...]:
    offsets = f"{span(loss.start_offset, loss.end_offset)} ({loss.offsets})"
    committed, reused = span(loss.start_offset, loss.committed_end), span(loss.start_offset, loss.reused_end)
    known = reused if _reuse_known(loss) else NOT_KNOWN
    return place(history), offsets, committed, acknowledged(loss), known, _standing(loss)


def _sum(together: Sequence[Billed]) -> tuple[str, ...]:
    losses = [loss for _, loss in together]
    offsets = sum(loss.offsets for loss in losses)
    committed = sum(max(0, loss.committed_end - loss.start_offset) for loss in losses)
    reused = sum(max(0, loss.reused_end - loss.start_offset) for loss in losses)
    return (
        places(history for history, _ in together),
        f"{offsets} in {counted(len(losses), 'range')}",
        str(committed) if committed else "none",
        acknowledged_in_all(losses),
        str(reused) if reused else "none" if _reuse_known(losses[0]) else NOT_KNOWN,
        _held(losses),
    )


def _reuse_known(loss: Loss) -> bool:
    """Whether other records are seen there, or the log that leads is here to show that none are."""
    return loss.reused_end > loss.start_offset or loss.restored_seen


def _standing(loss: Loss) -> str:
    """Who still holds what of the lost records."""
    standing = (
        f"broker {s.broker}, {s.kind}: {span(s.start_offset, s.end_offset)}" + ("" if s.sound else ", damaged")
        for s in loss.survivors
    )
    remote = [f"remote storage: {span(*stretch)}" for stretch in loss.kept_remotely]
    return ("; ".join([*standing, *remote]) or _none(loss)) + (" (led again)" if loss.restored else "")


def _none(loss: Loss) -> str:
    """Where no copy is known: whether the disks are here, and whole, to say that there is none."""
    return "nobody" if loss.searched and not loss.unsearched else "none was found" if loss.searched else NOT_KNOWN


def _held(losses: Sequence[Loss]) -> str:
    """The same of equal losses: each has the same holders, of its own offsets."""
    first = losses[0]
    copies = (f"broker {s.broker}, {s.kind}{'' if s.sound else ', damaged'}" for s in first.survivors)
    part = sum(end - start for loss in losses for start, end in loss.standing)
    count = f": {part} offsets" if first.survivors else ""
    return ("; ".join(copies) or _none(first)) + count + (" (led again)" if first.restored else "")


def _more(together: Sequence[Billed]) -> Iterator[str]:
    """The ranges of equal losses, and what is known of the first."""
    history, loss = together[0]
    if len(together) > 1:
        yield f"\nOf {loss.epochs}: {_ranges(together)}."
    first = f", the first of these {len(together)}" if len(together) > 1 else ""
    offsets = offsets_told(loss.start_offset, loss.end_offset)
    yield f"\n{place(history)} {offsets} of {loss.epochs}{first}:\n"
    yield from in_detail(loss)


def _ranges(together: Sequence[Billed]) -> str:
    """Which offsets in which partitions; partitions of equal ranges by their ends."""
    alike: dict[str, list[PlacedHistory]] = {}
    for history, loss in together:
        alike.setdefault(span(loss.start_offset, loss.end_offset), []).append(history)
    ranges = [f"{offsets} in {places(histories)}" for offsets, histories in alike.items()]
    rest = f"; {len(ranges) - RANGES_SHOWN} more in the appendix" if len(ranges) > RANGES_SHOWN else ""
    return "; ".join(ranges[:RANGES_SHOWN]) + rest


def in_detail(loss: Loss) -> Iterator[str]:
    """What is known of a loss beyond its row."""
    yield from (f"- {text(line)}" for line in details(loss))
    yield from (f"- {text(line)}" for line in _told_of(loss))


def _told_of(loss: Loss) -> Iterator[str]:
    """When producers were answered, and why the range ends where it ends."""
    first, last = moment(loss.first_time), moment(loss.last_time)
    if first and last:
        when = f"at {first}" if first == last else f"between {first} and {last}"
        perhaps = "" if surely_acknowledged(loss) else "perhaps "
        yield f"{perhaps}acknowledged {when} ({loss.clock or 'unknown'}'s clock, {answered(loss.answers, loss)})"
    yield f"offset {loss.end_offset - 1} is the last of them because {loss.because}"
