"""What brokers acknowledged and logs here do not hold, told where leader epochs have no order.

A batch keeps the epoch in which it was written. In which one its broker led when it answered is that broker's own word,
whatever the number stands for elsewhere: a log with records of another epoch at that offset does not hold what was
answered for. What bears the same number may be the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct

from rules.chronicle.reigns import Reign
from rules.evidence import PartitionEvidence, Replica, epoch_falls, epoch_held
from rules.finding import offsets_told, sentences
from rules.history.moments import succeeded
from rules.history.repetitions import times_told
from rules.history.statements import Produced
from rules.loss.after_succession import late_in_reign
from rules.loss.gone import Gone
from rules.loss.gone_words import WHERE_LATE, asked_for
from rules.loss.unsettled import FIRST, Unsettled, acknowledged
from rules.words import it_or_them, numbered

ANEW = ("log-created", "log-deleted")
"""After these a broker's log may be of another life of its topic."""
RESTORED: Final = "ask the operators whether metadata was restored from an older copy, and when"


class Stands(Struct, frozen=True, kw_only=True):
    """What stands in one log where a record was acknowledged."""

    broker: int
    epoch: int | None
    """Another epoch, whose records are there; null where the log ends before."""
    committed: bool
    """Whether the log counts them as committed."""


def not_held(evidence: PartitionEvidence) -> Iterator[Gone | Unsettled]:
    """Of every reign what no log holds, and what a log holds otherwise and counts as committed."""
    for reign in evidence.chronicle.reigns:
        begun = reign.start_offset
        own = [m for m in reign.said if begun is not None and succeeded(m) and (m.offset or 0) >= begun]
        in_order = sorted(own, key=lambda m: m.offset or 0)
        for elsewhere, answers in groupby(in_order, key=lambda m: _elsewhere(evidence, reign, m.offset or 0)):
            everywhere = len(elsewhere) == len(evidence.current)
            conflicting = tuple(one for one in elsewhere if one.committed)
            if everywhere or conflicting:
                found = _not_held(evidence, reign, tuple(answers), conflicting if not everywhere else elsewhere)
                doubt = _doubt(evidence, found.answers[0], everywhere=everywhere)
                yield found if doubt is None else _in_doubt(found, doubt)


def _in_doubt(found: Gone, missing: str) -> Unsettled:
    """The same as a question where something is to be known first."""
    what = acknowledged(found.leader, (found.start_offset, found.end_offset), found.epoch)
    return Unsettled(
        broker=found.leader,
        words=f"{what}. {sentences(str(found.facts['instead']))}",
        missing=missing,
        start_offset=found.start_offset,
        end_offset=found.end_offset,
        shown=found.shown,
    )


def _elsewhere(evidence: PartitionEvidence, reign: Reign, offset: int) -> tuple[Stands, ...]:
    """The logs that do not hold what the reign's broker wrote at an offset; those that may are left out."""
    found = (_stands(evidence, replica, reign, offset) for replica in evidence.current)
    return tuple(one for one in found if one is not None)


def _stands(evidence: PartitionEvidence, replica: Replica, reign: Reign, offset: int) -> Stands | None:
    held = epoch_held(replica, offset)
    if held is None:
        stopped = replica.clean_shutdown is not None or not evidence.copied_live
        ended = offset >= replica.log_end_offset and replica.end_known and stopped and not replica.cleaned
        return Stands(broker=replica.broker, epoch=None, committed=False) if ended else None
    if held < 0 or held in reign.lead:
        return None
    mark = replica.high_watermark
    return Stands(broker=replica.broker, epoch=held, committed=mark is not None and mark.offset > offset)


def _not_held(
    evidence: PartitionEvidence, reign: Reign, answers: tuple[Produced, ...], elsewhere: tuple[Stands, ...]
) -> Gone:
    first, last = answers[0].offset or 0, answers[-1].offset or 0
    runs = (run for replica in evidence.current for run in replica.runs_within(last, last + 1))
    ends = [*_ends(reign), *(run.end_offset for run in runs if run.epoch in reign.lead)]
    beyond = [end for end in ends if end > last]
    end, everywhere = min(beyond, default=last + 1), len(elsewhere) == len(evidence.current)
    held = {epoch_held(replica, last) for replica in evidence.current}
    there, nowhere = _instead(elsewhere, first), f"no log here holds {it_or_them(end - first)}"
    late = late_in_reign(evidence, reign, answers)
    return Gone(
        epoch=reign.epoch,
        answers=answers,
        start_offset=first,
        end_offset=end,
        # One file of its broker's log tells the role before the answers and the next, or a log bears it out.
        sure=not late and (reign.told_throughout or not held.isdisjoint(reign.lead)),
        late=late,
        shown=((answers[0], FIRST), (reign.opening, "the role in which it was given")),
        facts={
            "leader": answers[0].witness or 0,
            "answered": "answered a producer for" if late else "acknowledged",
            "answered_for": offsets_told(first, end),
            "only_epoch": reign.epoch,
            "epochs": f"epoch {reign.epoch}",
            "answers": times_told(answers),
            "rest": "" if beyond else f". That includes the rest of the batch that begins at offset {last}",
            "more": "",
            "acks": asked_for(answers),
            "instead": (": ".join(filter(None, (nowhere, there))) if everywhere else there)
            + WHERE_LATE[late].format(leader=answers[0].witness),
            "lacking": () if everywhere else tuple(one.broker for one in elsewhere),
        },
    )


def _instead(elsewhere: Sequence[Stands], offset: int) -> str:
    """What stands there, in words."""
    alike: dict[tuple[int | None, bool], list[int]] = {}
    for one in elsewhere:
        alike.setdefault((one.epoch, one.committed), []).append(one.broker)
    return "; ".join(_there(brokers, offset, *what) for what, brokers in alike.items())


def _ends(reign: Reign) -> Iterator[int]:
    """Where batches of it end: what was asked and answered, and where its log ended."""
    kinds = ("produced", "fetched", "producer-state-saved")
    yield from (m.offset or 0 for m in reign.said if m.error in (None, 0) and m.kind in kinds)
    if reign.end_offset is not None:
        yield reign.end_offset


def _doubt(evidence: PartitionEvidence, answer: Produced, *, everywhere: bool) -> str | None:
    """What else may explain that the records are not there."""
    who = f"broker {answer.witness}"
    if any(moment.set_back is None for moment in evidence.moments):
        files = "its log files were put together in another order"
        return f"ask the operators whether {who}'s clock was set back, or {files}"
    later = (m for m in evidence.moments if m.clock == answer.clock and (m.time or 0) > (answer.time or 0))
    anew = any(m.kind in ANEW for m in later)
    if anew or not any(True for r in evidence.current for _ in epoch_falls(r)):
        if any(replica.topic_id is not None for replica in evidence.current):  # nothing here is of another topic
            return f"find out why the log of {who} was deleted or made anew after it answered" if anew else RESTORED
        return f"find out whether the topic was deleted and created again after {who} answered, as its server.log tells"
    away = sorted(evidence.chronicle.taking_part - {replica.broker for replica in evidence.current})
    if everywhere and away:
        return f"the {'log' if len(away) == 1 else 'logs'} of {numbered('broker', away)}"
    return None


def _there(brokers: Sequence[int], offset: int, epoch: int | None, committed: bool) -> str:  # noqa: FBT001 - a fact of a log
    """What stands at an offset in some logs, in words."""
    if epoch is None:
        whose = f"the {'logs' if len(brokers) > 1 else 'log'} of {numbered('broker', brokers)}"
        return f"{whose} end before offset {offset}" if len(brokers) > 1 else f"{whose} ends before offset {offset}"
    counted = f", which {'it counts' if len(brokers) == 1 else 'they count'} as committed" if committed else ""
    return f"{numbered('broker', brokers, 'holds')} records of epoch {epoch} at offset {offset}{counted}"
