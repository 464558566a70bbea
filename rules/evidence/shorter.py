"""Logs that end below what they had reached, when they were loaded or on disk: what was lost outside the protocol."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, dropwhile, islice, takewhile, zip_longest
from typing import Final

from msgspec import Struct

from rules.chronicle.chronicle import Chronicle
from rules.chronicle.extents import Possible
from rules.chronicle.silence import Silence
from rules.evidence import PartitionEvidence
from rules.history.clocks import Clocks
from rules.history.leaders_word import in_words, told_as_leader, watermark_told
from rules.history.moments import DISTURBED, Moment, gives_role
from rules.history.statements import Fetched, LogCut, LogEvent, RoleTaken
from rules.history.translation import if_none_was_set, translated
from rules.replay.closing import SAVED, Closing, Unclosed
from rules.replay.leads.own_words import CUTS
from rules.replicas.replica import Replica
from rules.words import listed

DECIDED: Final = ("cut-by-high-watermark", "cut-by-epoch-answer")


class Shorter(Struct, frozen=True, kw_only=True):
    """A log that does not hold what it had reached."""

    broker: int
    had: int
    """Where it had ended at least."""
    ends: int
    gone: Possible
    """What it had and has no more; what a silence may hold a lawful reason for is not sure."""
    proof: Moment | None
    """Who tells that it had it: its own fetch, its word as the leader, or what told its end last before it stopped."""
    as_leader: bool = False
    load: LogEvent | None = None
    """Its loading; null where its disk shows its end, after a clean shutdown."""
    closing: Closing | None = None
    """That stop."""
    committed_end: int = 0
    """Up to where what it had as the leader was committed, by its own word."""
    sure_of_epoch: bool = True
    """Whether its roles, or its log's unchanged end, tell that it had that before, and not the clocks alone."""
    silence: Silence | None = None
    """What may tell of a cut; null where nothing is to be asked, or only whether the disk was emptied."""

    @property
    def word(self) -> str:
        """What it told as the leader, as its broker's doing."""
        return "" if self.proof is None else in_words(self.proof, self.had)

    @property
    def lacks(self) -> str:
        """What its log lacks, and why not all of it counts."""
        each = (self.gone.sure, self.gone.possible, self.gone.possible - self.gone.sure)
        ranges = ([f"offsets [{start}, {end})" for start, end in gone.parts] for gone in each)
        sure, possible, rest = (listed(named or [""]) for named in ranges)
        one = sum(end - start for start, end in self.gone.sure.parts) == 1
        counted = f"{'is' if one else 'are'} reported as lost{'' if self.load is None else ' in this load'}"
        earlier = f"An earlier truncation that no log here shows may have removed {rest}"
        return f"{possible}. Of these, only {sure} {counted}. {earlier}" if rest else possible


def shorter_when_loaded(evidence: PartitionEvidence) -> Iterator[Shorter]:
    """Logs that were loaded with less than their brokers had asked for, or had told as leaders."""
    loads = [moment for moment in evidence.chronicle.moments if moment.kind == "log-loaded"]
    loading = {load.broker for load in loads if load.broker is not None}
    for broker in sorted(loading - evidence.chronicle.once_unassigned):
        own = evidence.chronicle.told_by(broker)
        about = [moment for moment in own if moment.broker == broker]
        for load in about:
            if load.kind == "log-loaded" and load.term is not None:
                yield from _below_its_fetch(evidence, about, load)
        yield from _below_its_word(evidence, own)


def shorter_on_disk(
    evidence: PartitionEvidence, closings: Iterable[Closing | Unclosed], replicas: Iterable[Replica]
) -> Iterator[Shorter]:
    """Logs that are shorter on disk than they were when their broker shut down cleanly."""
    by_broker = {replica.broker: replica for replica in replicas}
    for closing in closings:
        replica = by_broker[closing.broker]
        if isinstance(closing, Unclosed) or not replica.end_known or closing.log_end.low is None:
            continue
        had, end = closing.log_end.low.offset, replica.log_end_offset
        cut = "its line of a cut may be missing, which that leader made it do"
        asked = Silence(broker=closing.broker, log="server", window="whole", perhaps=cut)
        kept = _kept_by_its_cut(evidence, closing, had)
        if end < had:
            yield Shorter(
                broker=closing.broker,
                had=had,
                ends=end,
                gone=_gone(had, end, sure=kept),
                proof=closing.proof,
                closing=closing,
                silence=asked if kept < had else None,
            )


def _gone(had: int, end: int, *, sure: int) -> Possible:
    """What a log had and has no more: no cut may be the reason up to the offset from which on it is not sure."""
    return (Possible.known((0, sure)) | Possible.known((0, had)).in_doubt) - Possible.known((0, end))


def _below_its_fetch(evidence: PartitionEvidence, own: Sequence[Moment], load: LogEvent) -> Iterator[Shorter]:
    """A follower asks for its own log end: it held all below it."""
    placed, end, as_long = _between_epochs(evidence.chronicle, load), load.end_offset, _as_long_since(own, load)
    # With its roles as told it had that before: so much speaks against a clock that was set and shows it nowhere.
    clocks = if_none_was_set(evidence.clocks) if as_long else evidence.clocks
    fetch = _fetch_before(evidence.chronicle, clocks, load, placed=placed)
    if fetch is None or end is None or (had := fetch.offset) is None or had <= end:
        return
    if not _cut_between(clocks, own, fetch, load) and not (end == 0 and _begun_anew(own, load)):
        kept = _kept_by_untold_cuts(evidence, load, had)
        yield _loaded(load, fetch, had, kept, sure_of_epoch=placed or as_long)


def _fetch_before(chronicle: Chronicle, clocks: Clocks, load: LogEvent, *, placed: bool) -> Fetched | None:
    """The furthest fetch of the loading's term; or the last before the loading after which its leader tells a lesser.

    A healthy replica asks for less after no loading. So nobody is accused where clocks stand further apart than is
    known, and fetches from after the loading seem to come before it. What asks for less than was loaded tells of more
    than the loading.
    """
    follower = -1 if load.broker is None else load.broker, load.term
    furthest = chronicle.furthest_fetches.get(follower)
    before = None if furthest is None else _before_by_clocks(chronicle, clocks, furthest, load)
    if before or placed:
        return None if before is False else furthest
    falls = chronicle.falls.get(follower, ())
    place = bisect_left(falls, x=True, key=lambda fall: not _before_by_clocks(chronicle, clocks, fall[0], load))
    fetch, lesser = falls[place - 1] if place else (None, None)
    if lesser is None or (lesser.offset or 0) < (load.end_offset or 0):
        return None
    return None if _before_by_clocks(chronicle, clocks, lesser, load) else fetch


def _below_its_word(evidence: PartitionEvidence, own: Sequence[Moment]) -> Iterator[Shorter]:
    """What a leader tells of its log and its high watermark, it holds."""
    for place, load in enumerate(own):
        if load.kind != "log-loaded" or load.end_offset is None or load.term is None:
            continue
        had, proof = max(told_as_leader(own[:place], load.term), key=lambda word: word[0], default=(0, None))
        end = load.end_offset
        if proof is None or had <= end or (end == 0 and _begun_anew(own, load)):
            continue
        kept = had if load.latest_term in (None, load.term) else _kept_by_untold_cuts(evidence, load, had)
        committed = watermark_told(own[:place], load.term)
        yield _loaded(load, proof, had, kept, as_leader=True, committed=committed)


def _loaded(
    load: LogEvent,
    proof: Moment,
    had: int,
    kept: int,
    *,
    as_leader: bool = False,
    committed: int = 0,
    sure_of_epoch: bool = True,
) -> Shorter:
    """An empty log may be on a new disk; what cuts that nobody tells of left is surely gone by something else."""
    end = load.end_offset or 0
    return Shorter(
        broker=-1 if load.broker is None else load.broker,
        had=had,
        ends=end,
        gone=_gone(had, end, sure=kept if end else 0),
        proof=proof,
        as_leader=as_leader,
        load=load,
        committed_end=committed,
        sure_of_epoch=sure_of_epoch,
        silence=_perhaps_cut(load) if end and kept < had else None,
    )


def _perhaps_cut(load: LogEvent) -> Silence:
    role = "a role that made it cut may be missing"
    return Silence(broker=load.broker, log="state-change", since_epoch=load.term, perhaps=role)


def _kept_by_its_cut(evidence: PartitionEvidence, closing: Closing, had: int) -> int:
    """How much is left of what it had by a cut, if it told its end before it met a leader that had begun below."""
    if closing.proof is None or closing.proof.kind not in ("follower-starts", "log-loaded", SAVED):
        return had
    if closing.proof.term is not None and closing.proof.term >= closing.epoch:
        return had
    opening = evidence.openings.get(closing.epoch)
    end = closing.proof.offset if closing.proof.end_offset is None else closing.proof.end_offset
    begun = -1 if opening is None or opening.offset is None else opening.offset
    return had if begun >= (end or 0) else min(max(begun, 0), had)


def _between_epochs(chronicle: Chronicle, load: LogEvent) -> bool:
    """Whether a role is told before the loading, and a newer one next after it.

    Only then was the former term over when the log was loaded, with all its fetches: a broker that goes on in its epoch
    fetches on, and one whose former role is not told was in some epoch or other. Where the log has grown when it takes
    that role, or may have, it was in one before of which the line is not here.
    """
    before, after = chronicle.roles_around(load)
    newer = after is not None and after.epoch is not None and load.term is not None and after.epoch > load.term
    grew = after is None or after.offset is None or after.offset > (load.end_offset or 0)
    return before is not None and newer and not grew


def _as_long_since(own: Sequence[Moment], load: LogEvent) -> bool:
    """Whether the log ended in a newer role where it had ended when it was loaded, and nothing befell it in between.

    It did not get longer then, so the broker asked for no more either: that was before.
    """
    behind = dropwhile(lambda moment: moment is not load, own)
    for moment in islice(behind, 1, None):
        if moment.kind in DISTURBED or isinstance(moment, LogCut):
            return False
        if isinstance(moment, RoleTaken) and moment.offset is not None and (moment.epoch or 0) > (load.term or 0):
            return moment.offset == load.end_offset
    return False


def _before_by_clocks(chronicle: Chronicle, clocks: Clocks, fetch: Fetched, load: LogEvent) -> bool | None:
    """Whether the leader logged the fetch before the follower loaded its log; null within the doubt of the clocks."""
    window = translated(fetch.last_time or fetch.time, fetch.clock, load.clock, clocks)
    if window is None or load.time is None or window[0] <= load.time <= window[1]:
        return None
    before, _ = chronicle.roles_around(load)
    return window[1] < load.time and (None if before is None else True)


def _kept_by_untold_cuts(evidence: PartitionEvidence, load: LogEvent, had: int) -> int:
    """How much is left of what it had by cuts in roles, before the loading, of which its log may have no word.

    Where an epoch opened it cut no further, and nothing if nobody led it. One that nobody names may have opened lower.
    """
    if load.latest_term is None or load.term is None:
        return had
    moments = evidence.chronicle.moments
    named = {m.epoch for m in moments if m.epoch is not None and load.term < m.epoch <= load.latest_term}
    if max(named, default=0) - load.term > len(named):
        return 0
    led = named - evidence.chronicle.led_by_nobody
    unled = had if load.latest_term in named else 0
    return min((_opened_with(evidence, epoch, had) for epoch in led), default=unled)


def _opened_with(evidence: PartitionEvidence, epoch: int, had: int) -> int:
    """How much of that an epoch opened with at least, by its opening or by what its leader held after it.

    Who follows next and asks beyond that, behind a record of an older epoch, had it before it led, if it did lead.
    """
    opening, leader = evidence.openings.get(epoch), evidence.chronicle.leaders.get(epoch)
    if opening is not None:
        return min(opening.offset or 0, had)
    following = next(later for later in count(epoch + 1) if later not in evidence.chronicle.led_by_nobody)
    held_next = any(
        m.term == following and (m.offset or 0) >= had and -1 < (-1 if m.asked_epoch is None else m.asked_epoch) < epoch
        for m in evidence.chronicle.moments
        if isinstance(m, Fetched) and m.kind == "fetched" and m.broker == leader and m.error in (None, 0)
    )
    return had if held_next else 0


def _begun_anew(own: Sequence[Moment], load: LogEvent) -> bool:
    """Whether the broker tells, beside the loading, that it created the log: its directory is new."""
    place = next(place for place, moment in enumerate(own) if moment is load)
    before = takewhile(lambda moment: not gives_role(moment), reversed(own[:place]))
    behind = takewhile(lambda moment: not gives_role(moment), own[place:])
    return any(moment.kind == "log-created" for moment in (*before, *behind))


def _cut_between(clocks: Clocks, own: Sequence[Moment], fetch: Fetched, load: LogEvent) -> bool:
    """Whether the broker itself tells of a cut below what it had, before the loading and perhaps after the fetch."""
    below = (m for m in _cuts(own) if m.offset is not None and m.offset < (fetch.offset or 0))
    cuts = (m for m in below if m.time is None or load.time is None or m.time <= load.time)
    return any(not _precedes(clocks, cut, fetch) for cut in cuts)


def _cuts(own: Sequence[Moment]) -> Iterator[LogCut]:
    """The cuts of which a broker tells; a decision is none where its log says next that nothing was cut."""
    for moment, following in zip_longest(own, own[1:]):
        kept = following is not None and following.kind == "truncation-kept"
        if isinstance(moment, LogCut) and (moment.kind in CUTS or (moment.kind in DECIDED and not kept)):
            yield moment


def _precedes(clocks: Clocks, cut: LogCut, fetch: Fetched) -> bool:
    """Whether a cut surely came before a fetch: by the epochs, or by the clocks. The log has grown since."""
    latest = cut.term if cut.latest_term is None else cut.latest_term
    if latest is not None and fetch.term is not None and latest < fetch.term:
        return True
    window = translated(cut.time, cut.clock, fetch.clock, clocks)
    return window is not None and fetch.time is not None and window[1] < fetch.time
