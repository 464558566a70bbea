"""How far each epoch's leader had written before the next one opened, by the best word there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct

from rules.chronicle.chronicle import Chronicle
from rules.chronicle.extents import Extents
from rules.history.moments import Moment, agreed
from rules.history.statements import RoleTaken
from rules.replicas.batch_ends import later_ones_reach
from rules.replicas.replica import Replica


class EpochReach(Struct, frozen=True, kw_only=True):
    """An offset that the leader's log had reached in its epoch."""

    offset: int
    because: str
    witnessed: bool
    """Whether somebody wrote it down: copies that were cut since would show less."""
    last_epoch: int | None = None
    """The newest epoch of which it may have been, where nothing tells which one it was; else null."""


class EpochEnds(NamedTuple):
    """The highest end that anything tells of each epoch, and of some epoch from one on, under that one."""

    of_each: Mapping[int, EpochReach]
    of_some: Sequence[tuple[int, EpochReach]]


def epoch_ends(
    chronicle: Chronicle,
    openings: Mapping[int, RoleTaken],
    batch_end: Callable[[int, int], int],
    replicas: Sequence[Replica] = (),
) -> EpochEnds:
    """Where epochs ended; those of which nothing tells are left out.

    Who led an epoch counts whether or not anything tells where it opened. An answer that may be of a later epoch counts
    where it goes on without a break and no log reaches it.
    """
    ends, answered, perhaps, of_some = _statements(chronicle, openings, replicas)
    for epoch, last in answered.items():
        end = _answered_end(last, batch_end(last, epoch))
        ends[epoch] = max(ends.get(epoch, end), end)
    for epoch, latest, end in (*_gone_on(chronicle, openings), *_cut_off(chronicle, openings)):
        if latest > epoch:
            of_some.append((epoch, EpochReach(offset=end[0], because=end[1], witnessed=True, last_epoch=latest)))
        else:
            ends[epoch] = max(ends.get(epoch, (0, "")), end)
    reached = {epoch: furthest for epoch, (furthest, _) in ends.items()}
    for epoch, offset, latest in sorted(perhaps):
        if offset == reached.get(epoch) and _beyond_all(replicas, offset):
            end = _answered_end(offset, batch_end(offset, epoch))
            reached[epoch] = end[0]
            if _parted(epoch, latest, openings, chronicle.leaders):
                reach = EpochReach(offset=end[0], because=end[1], witnessed=True, last_epoch=latest)
                of_some.append((epoch, reach))
            else:
                ends[epoch] = end
    found = {epoch: EpochReach(offset=end, because=because, witnessed=True) for epoch, (end, because) in ends.items()}
    for epoch, copy in _copied(replicas, openings):
        if epoch not in found or found[epoch].offset < copy.offset:
            found[epoch] = copy
    return EpochEnds(found, of_some)


def _statements(
    chronicle: Chronicle, openings: Mapping[int, RoleTaken], replicas: Sequence[Replica]
) -> tuple[dict[int, tuple[int, str]], dict[int, int], list[tuple[int, int, int]], list[tuple[int, EpochReach]]]:
    """By epoch the furthest end and the last answer, and the answers and ends that are of it or of a later one."""
    ends: dict[int, tuple[int, str]] = {}
    answered: dict[int, int] = {}
    perhaps: list[tuple[int, int, int]] = []
    of_some: list[tuple[int, EpochReach]] = []
    led = chronicle.leaders
    for moment in chronicle.moments:
        epoch = -1 if moment.term is None else moment.term
        opening = openings.get(epoch)
        leader = led.get(epoch) if opening is None else opening.broker
        if leader is None or epoch < 0:
            continue
        latest = moment.newest_term(epoch)
        if _perhaps_later(moment, epoch):
            if _answers(moment, leader) and moment.offset is not None:
                perhaps.append((epoch, moment.offset, latest))
            continue
        end = _told_end(moment, leader)
        if end is not None and later_ones_reach(chronicle, replicas, moment, (epoch, end[0])):
            continue
        if end is not None and _parted(epoch, latest, openings, led):
            of_some.append((epoch, EpochReach(offset=end[0], because=end[1], witnessed=True, last_epoch=latest)))
        elif end is not None:
            ends[epoch] = max(ends.get(epoch, end), end)
        elif _answers(moment, leader) and moment.offset is not None:
            answered[epoch] = max(answered.get(epoch, 0), moment.offset)
    return ends, answered, perhaps, of_some


def _parted(epoch: int, latest: int, openings: Mapping[int, RoleTaken], led: Mapping[int, int]) -> bool:
    """Whether epochs lie between the oldest and the newest that a word may be of, and others opened after those.

    What every epoch left out of which it may be is gone in any case; the last one left nothing out.
    """
    return any(epoch < other <= latest for other in (*openings, *led)) and latest < max(openings, default=-1)


def _answers(moment: Moment, leader: int) -> bool:
    return _own(moment, leader) and moment.kind == "produced" and moment.error == 0


def _own(moment: Moment, leader: int) -> bool:
    return moment.broker == leader and moment.clock == f"broker {leader}"


def _told_end(moment: Moment, leader: int) -> tuple[int, str] | None:
    """How far a statement lets the epoch of a leader go."""
    if _own(moment, leader) and moment.kind in ("follower-starts", "log-loaded"):
        end = moment.offset if moment.end_offset is None else moment.end_offset
        return end or 0, f"broker {leader}'s log ended there when it was loaded again"
    if _own(moment, leader) and moment.kind == "producer-state-saved":
        return moment.offset or 0, f"broker {leader} saved what producers had written up to there"
    if moment.kind == "fetched" and moment.witness == leader and agreed(moment):
        return moment.offset or 0, "a follower asked for it"
    return None


def _gone_on(
    chronicle: Chronicle, openings: Mapping[int, RoleTaken]
) -> Iterator[tuple[int, int, tuple[int, str]]]:
    """How far epochs had been written, by what the next leader's log held, if it had led or followed in them.

    Epochs between the two of which nobody tells may have gone on where it ended: the newest of them is told too.
    """
    for epoch, following in pairwise(sorted(openings)):
        begun, opening = openings[epoch], openings[following]
        if begun.offset is None or opening.offset is None or opening.broker is None or opening.doubtful:
            continue
        had = opening.broker == begun.broker or chronicle.fetched_up_to(opening.broker, epoch) > begun.offset
        if had and opening.offset > begun.offset:
            between = (e for e in range(following - 1, epoch, -1) if e not in chronicle.led_by_nobody)
            because = f"broker {opening.broker} had its records up to there when it led next"
            yield epoch, next(between, epoch), (opening.offset, because)


def _cut_off(
    chronicle: Chronicle, openings: Mapping[int, RoleTaken]
) -> Iterator[tuple[int, int, tuple[int, str]]]:
    """How far an epoch, or a newer one, had been written of which a follower cut what its leader had not.

    The answer names the last epoch that both know: what is cut is of that or a newer one, and older than the leader's.
    Nor is it older than an epoch that the follower had opened there itself, or below.
    """
    for cut in chronicle.cuts:
        said, end = chronicle.decision(cut), cut.log_end_offset or 0
        shared = None if said is None or said.answer_offset != cut.offset else said.answered_epoch
        if said is None or shared is None or end <= cut.offset:
            continue
        led = (epoch for epoch, leader in chronicle.leaders.items() if leader == said.leader)
        before = max(led, default=None) if cut.epoch is None else cut.epoch
        if before is not None and before > shared:
            former = cut.former_epoch
            # Where its own log lacks a lead of the broker since, the records may be of that one, or of a later epoch.
            led_since = any(
                leader == cut.broker and (-1 if former is None else former) < epoch < before
                for epoch, leader in chronicle.leaders.items()
            )
            latest = before - 1 if former is None or led_since else min(before - 1, former)
            opened = ((e, o.offset) for e, o in openings.items() if o.broker == cut.broker and shared < e <= latest)
            oldest = max((e for e, offset in opened if offset is not None and offset <= cut.offset), default=shared)
            yield oldest, max(oldest, latest), (end, f"broker {cut.broker} held its records up to there and cut them")


def _copied(replicas: Sequence[Replica], openings: Mapping[int, RoleTaken]) -> Iterator[tuple[int, EpochReach]]:
    """How far copies hold records of each epoch: whoever wrote them, they were written."""
    for replica in replicas:
        older = replica.earlier.possible
        runs = [(run, "log") for run in replica.log.epochs if Extents.of([(run.start_offset, run.end_offset)]) - older]
        runs += [(run, "directory") for leftover in replica.leftovers for run in leftover.epochs]
        for run, where in runs:
            opening = openings.get(run.epoch)
            begun = 0 if opening is None or opening.offset is None else opening.offset
            if run.epoch >= 0 and run.start_offset >= begun:
                because = f"broker {replica.broker}'s {where} holds its records up to there"
                yield run.epoch, EpochReach(offset=run.end_offset, because=because, witnessed=False)


def _answered_end(last: int, end: int) -> tuple[int, str]:
    """An answer names the first record of a batch: that one may be all that is known of it."""
    if end == last + 1:
        return end, f"the last batch answered to a producer begins at {last}, and nothing tells of more in it"
    return end, "the last batch answered to a producer ends there"


def _perhaps_later(moment: Moment, epoch: int) -> bool:
    """Whether an answer may be of a later epoch than that."""
    return moment.kind in ("produced", "fetched") and moment.newest_term(epoch) > epoch


def _beyond_all(replicas: Sequence[Replica], offset: int) -> bool:
    """Whether every log ends before an offset: of whatever epoch a record there was, it went."""
    return bool(replicas) and all(r.end_known and r.log_end_offset <= offset for r in replicas)
