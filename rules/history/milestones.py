"""The moments of a partition's history that a reader of an incident must know, in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from parsers.provenance import Span
from rules.history.chronology import PLACED_BY_EPOCH, in_order
from rules.history.clocks import ClockOffset
from rules.history.log_cuts import Cut, cuts
from rules.history.moments import ZOOKEEPER_CLOCK, Moment
from rules.history.statements import PartitionState, RoleTaken
from rules.words import numbered

_FOLLOWS: Final = re.compile(r"broker \d+ follows\b")
_LOADED: Final = "loads its log, which ends at offset"


class Milestone(Struct, frozen=True, kw_only=True):
    """One thing that happened, by whose word and on whose clock."""

    clock: str
    time: int | None
    """As the witness wrote it."""
    reference_time: int | None
    """The same on the reference clock, where the clocks stand apart by more than the estimate's uncertainty."""
    epoch: int | None
    text: str
    span: Span

    @property
    def only_follows(self) -> bool:
        """Whether it tells of a follower alone, which neither wrote nor cut by this."""
        return _FOLLOWS.match(self.text) is not None


def milestones(
    moments: Sequence[Moment], clocks: Sequence[ClockOffset], *, by_epoch: bool = True
) -> tuple[Milestone, ...]:
    """Elections, openings, loadings and cuts: by leader epoch, then by the reference clock, the undated last.

    By the clock alone where epochs have no order.
    """
    apart = {clock.clock: clock.milliseconds for clock in clocks if clock.stands_apart}

    def time(moment: Moment) -> int | None:
        return None if moment.time is None else moment.time - apart.get(moment.clock, 0)

    idle = frozenset(_cut_nothing(moments))
    shown = [moment for moment in moments if id(moment) not in idle]
    telling = [moment for moment in shown if moment.kind in PLACED_BY_EPOCH or _words(moment) is not None]
    placed = in_order(telling, time) if by_epoch else sorted(telling, key=lambda moment: time(moment) or 0)
    steps = [m for moment in placed if (m := _milestone(moment, time(moment))) is not None]
    return tuple(sorted(_without_repeats(steps), key=lambda milestone: milestone.reference_time is None))


def _without_repeats(steps: Sequence[Milestone]) -> Iterator[Milestone]:
    """Each once: a log that is loaded anew is another event, an election that names its epoch the same one again."""
    seen: set[tuple[str, str, int | None]] = set()
    called = {milestone.text.partition(" for epoch ")[0] for milestone in steps if " for epoch " in milestone.text}
    for milestone in steps:
        loaded = milestone.time if _LOADED in milestone.text else None
        key = milestone.clock, milestone.text, loaded
        if key not in seen and milestone.text not in called:
            seen.add(key)
            yield milestone


def _cut_nothing(moments: Sequence[Moment]) -> Iterator[int]:
    """The cuts of empty logs: new replicas begin with one. What was fetched in an older term was there to be cut."""
    for cut in cuts(moments):
        if cut.offset == 0 == cut.log_end_offset and not any(_had_more(moment, cut) for moment in moments):
            yield id(cut.moment)


def _had_more(moment: Moment, cut: Cut) -> bool:
    fetched = moment.kind == "fetched" and moment.broker == cut.broker and moment.error in (None, 0)
    older = moment.term is not None and cut.moment.term is not None and moment.term < cut.moment.term
    return fetched and older and (moment.offset or 0) > cut.offset


def _milestone(moment: Moment, time: int | None) -> Milestone | None:
    text = _words(moment)
    if text is None:
        return None
    return Milestone(
        clock=moment.clock,
        time=moment.clock_time,
        reference_time=time,
        epoch=moment.epoch,
        text=text,
        span=moment.span,
    )


def _words(moment: Moment) -> str | None:
    if isinstance(moment, RoleTaken):
        return _role_words(moment)
    return _state_words(moment) if isinstance(moment, PartitionState) else _log_words(moment)


def _role_words(role: RoleTaken) -> str | None:
    watermark = "" if role.high_watermark is None else f", high watermark {role.high_watermark}"
    if role.kind == "leader-starts":
        return f"broker {role.broker} becomes leader in epoch {role.epoch}, log end {role.offset}{watermark}"
    if (role.offset or 0) == 0:
        return None
    # Releases up to 2.7 do not say whom.
    leader = "" if role.leader is None else " nobody yet" if role.leader == -1 else f" broker {role.leader}"
    return f"broker {role.broker} follows{leader} in epoch {role.epoch} from offset {role.offset}{watermark}"


def _state_words(moment: PartitionState) -> str | None:
    if moment.kind == "unclean-election" and moment.leader is not None and moment.leader >= 0:
        opened = "" if moment.epoch is None else f" for epoch {moment.epoch}"
        return f"the controller elects broker {moment.leader} uncleanly{opened}"
    if moment.kind == "leadership" and moment.clock == ZOOKEEPER_CLOCK:
        leader = "nobody" if moment.leader in (None, -1) else f"broker {moment.leader}"
        return f"{leader} leads epoch {moment.epoch} with the in-sync replicas {_ids(moment.isr)}, as its znode held it"
    if moment.kind == "isr-shrinking":
        left = numbered("broker", moment.isr or ())
        return f"broker {moment.broker} proposes to shrink the in-sync replicas to {left}"
    return _described_words(moment) if moment.kind == "described" else None


def _log_words(moment: Moment) -> str | None:
    if moment.kind == "truncated" and moment.offset is not None:
        return f"broker {moment.broker} truncates its log to offset {moment.offset}"
    if moment.kind == "epoch-answer-kept":
        return f"broker {moment.broker} is told offset {moment.answer_offset} as the end of its epoch and cuts nothing"
    if moment.kind == "log-loaded" and (moment.end_offset or 0) > 0:
        return f"broker {moment.broker} {_LOADED} {moment.end_offset}"
    return None


def _described_words(moment: PartitionState) -> str:
    if moment.end_offset is not None:
        return f"broker {moment.broker}'s log ends at offset {moment.end_offset}, as a tool printed it"
    leader = "nobody leads" if moment.leader in (None, -1) else f"broker {moment.leader} leads"
    if moment.isr is None:
        return f"{leader} in epoch {moment.epoch}, high watermark {moment.high_watermark}, as a tool printed it"
    eligible = f", eligible leaders {_ids(moment.elr)}" if moment.elr else ""
    return f"{leader} with the in-sync replicas {_ids(moment.isr)}{eligible}, as a tool printed it"


def _ids(isr: tuple[int, ...] | None) -> str:
    return ", ".join(map(str, isr or ())) or "none"
