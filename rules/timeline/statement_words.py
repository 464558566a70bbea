"""A statement in words, for a line of a timeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rules.history.moments import ZOOKEEPER_CLOCK, Moment
from rules.history.statements import (
    Answered,
    Fetched,
    Inquiry,
    LogCut,
    LogEvent,
    Notice,
    PartitionState,
    Produced,
    RoleTaken,
)
from rules.timeline.error_names import named_error


def words(moment: Moment) -> str:
    """What happened, in one line."""
    text = _said(moment)
    if moment.error:
        text += f", {named_error(moment.error)}"
    if moment.count > 1:
        text += f" (x{moment.count})"
    if isinstance(moment, Answered) and moment.left_out:
        text += f", {moment.left_out} more like it left out"
    return text + (" (doubtful)" if moment.doubtful else "")


def _who(broker: int | None) -> str:
    """Kafka writes -1 where there is no leader yet."""
    return "?" if broker is None else "nobody" if broker < 0 else str(broker)


def _ids(isr: tuple[int, ...] | None) -> str:
    return "{" + ",".join(map(str, isr or ())) + "}"


def _at(offset: int | None) -> str:
    """An offset, or that none is told."""
    return "@?" if offset is None else f"@{offset}"


def _epoch(epoch: int | None) -> str:
    return "?" if epoch is None else str(epoch)


def _fetched(m: Fetched) -> str:
    if m.kind == "consumed":
        return f"consumer reads {_at(m.offset)} from {_who(m.leader)}, told {_answer(m)}"
    text = f"{_who(m.broker)} fetches {_at(m.offset)} from {_who(m.leader)}"
    if m.answer_offset is not None and (m.answered_epoch or 0) >= 0:
        return f"{text}, diverging: epoch {m.answered_epoch} ends at {m.answer_offset}"
    return text if m.high_watermark is None else f"{text}, told {_answer(m)}"


def _answer(m: Fetched) -> str:
    """The high watermark, and the last stable offset where a transaction holds that below it."""
    open_from = m.last_stable_offset
    held = open_from is not None and m.high_watermark is not None and open_from < m.high_watermark
    return f"hw {m.high_watermark}" + (f", lso {open_from}" if held else "")


def _leadership(m: PartitionState) -> str:
    leader = "nobody" if m.leader in (None, -1) else _who(m.leader)
    if m.clock == ZOOKEEPER_CLOCK:
        return f"znode holds leader {leader}, epoch {_epoch(m.epoch)}, isr {_ids(m.isr)}"
    kind = "elects uncleanly" if m.unclean else "sets leader"
    return f"controller {kind} {leader}, epoch {_epoch(m.epoch)}, isr {_ids(m.isr)}"


def _unclean(m: PartitionState) -> str:
    """Newer controllers call it so too where the last leader goes and nobody follows it; old ones name no epoch."""
    epoch = "" if m.epoch is None else f", epoch {_epoch(m.epoch)}"
    if m.leader is not None and m.leader < 0:
        return f"controller leaves the partition without a leader{epoch}"
    return f"controller calls the election of {_who(m.leader)} unclean{epoch}"


def _asked(m: Inquiry) -> str:
    """Kafka writes -1 for an epoch that a replica has not, and for an end that its leader does not know."""
    if m.kind == "offset-asked":
        return f"{_who(m.broker)} lists offsets of {_who(m.leader)}: {m.answer_offset}"
    named = m.answered_epoch not in (None, -1)
    answer = f"{m.answered_epoch}:{m.answer_offset}" if named else str(m.answer_offset)
    end = "unknown" if m.answer_offset in (None, -1) else answer
    if m.asked_epoch == -1:
        return f"{_who(m.broker)}, without an epoch, asks {_who(m.leader)} where it ends: {end}"
    return f"{_who(m.broker)} asks {_who(m.leader)} where epoch {_epoch(m.asked_epoch)} ends: {end}"


def _described(m: PartitionState) -> str:
    if m.end_offset is not None:
        return f"a tool printed: {_who(m.broker)}'s log ends {_at(m.end_offset)}"
    leader = "nobody" if m.leader in (None, -1) else _who(m.leader)
    parts = [f"a tool printed: leader {leader}"]
    parts += [f"epoch {_epoch(m.epoch)}"] if m.epoch is not None else []
    parts += [f"hw {m.high_watermark}"] if m.high_watermark is not None else []
    parts += [f"isr {_ids(m.isr)}"] if m.isr is not None else []
    parts += [f"elr {_ids(m.elr)}"] if m.elr else []
    return ", ".join(parts)


def _role(m: RoleTaken) -> str:
    if m.kind == "follower-starts":
        return f"{_who(m.broker)} follows {_who(m.leader)} in epoch {_epoch(m.epoch)} from {_at(m.offset)}"
    isr = "" if m.isr is None else f", isr {_ids(m.isr)}"
    return f"{_who(m.broker)} leads epoch {_epoch(m.epoch)} from {_at(m.offset)}{isr}"


def _told_to_a_client(m: PartitionState) -> str:
    leader = "nobody" if m.leader in (None, -1) else m.leader
    epoch = "" if m.epoch is None else f", epoch {_epoch(m.epoch)}"
    return f"a client is told by {_who(m.witness)}: leader {leader}{epoch}"


_STATES: Final[Mapping[str, Callable[[PartitionState], str]]] = {
    "leadership": _leadership,
    "unclean-election": _unclean,
    "isr": lambda m: f"isr {_ids(m.isr)}" + ("" if m.witness is None else f", by {m.witness}"),
    "isr-shrinking": lambda m: f"{_who(m.broker)} proposes isr {_ids(m.isr)}",
    "described": _described,
    "leader-told": _told_to_a_client,
}
_CUTS: Final[Mapping[str, Callable[[LogCut], str]]] = {
    "truncated": lambda m: f"{_who(m.broker)} truncates to {_at(m.offset)}",
    "truncation-kept": lambda m: f"{_who(m.broker)} has nothing to cut, log end {m.end_offset}",
    "cut-by-high-watermark": lambda m: f"{_who(m.broker)} decides for its high watermark {m.offset}",
    "cut-by-epoch-answer": lambda m: (
        f"{_who(m.broker)} decides by the answer epoch {m.answered_epoch} ends at {m.answer_offset}"
    ),
    "cut-below-high-watermark": lambda m: f"cut below high watermark: {_who(m.broker)}",
    "epoch-answer-kept": lambda m: f"{_who(m.broker)} is answered {m.answer_offset} and cuts nothing",
    "epoch-round": lambda m: f"{_who(m.broker)} lacks epoch {_epoch(m.epoch)}, cuts to {_at(m.offset)} and asks again",
    "cut-refused": lambda m: f"{_who(m.broker)} stops rather than cut its log",
    "epoch-answer-unknown": lambda m: f"{_who(m.broker)} gets no epoch answer, its high watermark {m.offset} decides",
    "high-watermark-fell": lambda m: f"{_who(m.broker)}'s high watermark falls from {m.offset} to {m.high_watermark}",
    "log-reset": lambda m: f"{_who(m.broker)} drops its whole log",
}
_LOGS: Final[Mapping[str, Callable[[LogEvent], str]]] = {
    "log-loaded": lambda m: f"{_who(m.broker)} loads its log, end {m.end_offset}",
    "damaged-end-cut": lambda m: f"{_who(m.broker)} cannot read its log from {_at(m.offset)} on, and cuts it there",
    "producer-state-saved": lambda m: f"{_who(m.broker)} saves what producers wrote up to {_at(m.offset)}",
    "log-deleted": lambda m: f"{_who(m.broker)} gives its log up to be deleted",
    "taken-up": lambda m: f"taken up: {_who(m.broker)}",
    "log-created": lambda m: f"{_who(m.broker)} begins an empty log",
    "high-watermark-loaded": lambda m: f"{_who(m.broker)} loads high watermark {m.high_watermark}",
    "log-start-moved": lambda m: f"{_who(m.broker)}'s log starts at {_at(m.log_start_offset)} now",
}


def _said(m: Moment) -> str:  # noqa: PLR0911 - one line for each class of statement
    match m:
        case RoleTaken():
            return _role(m)
        case PartitionState():
            return _STATES[m.kind](m)
        case Fetched():
            return _fetched(m)
        case Produced():
            return f"{_who(m.leader)} appends {_at(m.offset)}, acks {'all' if m.acks == -1 else m.acks}"
        case Inquiry():
            return _asked(m)
        case LogCut():
            return _CUTS[m.kind](m)
        case LogEvent():
            return _LOGS[m.kind](m)
        case Notice(kind="leader-not-seen"):
            return f"{_who(m.broker)} takes no new role, it does not see the leader {m.leader}"
        case Notice():
            return f"{_who(m.broker)}'s fetcher marks the partition as failed"
