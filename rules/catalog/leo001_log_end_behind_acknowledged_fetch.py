"""LEO001: a replica had more than its log reaches to when it was loaded again, or after an orderly stop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from parsers.tables import BatchHeader, BrokerEvent, Fetch
from rules.evidence import Closing, Moment, PartitionEvidence, Unclosed, gives_role, translated
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.history.shortened import in_words, told_as_leader, watermark_told
from rules.rule import rule


@rule(
    id="LEO001",
    severity=Severity.HIGH,
    needs=(Fetch, BrokerEvent, BatchHeader),
    law="LogMatchingProperty",
    message="broker {broker} {held} and so held all below it, but its log {ends}",
)
def log_end_behind_acknowledged_fetch(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A log ended, when loaded or on disk, below an offset it had reached.

    A follower asks for its own log end. The leader counts that as held; pages that were not flushed can be lost with
    the machine all the same, and so can a leader's, which told what it held by its answers and its high watermark: above
    that, and what it answered for all replicas, this is information only. An orderly stop flushes them: the log on disk
    must reach as far as the broker's last fetches, its own appends and its own word say.

    Proves
    ------
    The replica held the records and lost them outside the protocol: lost pages, a restored disk, a damaged tail.

    Undecided when
    --------------
    Logs and traces do not reach to the orderly stop, or what the broker told last of its log's end stands before it met a
    leader whose epoch had opened below: the line of its cut may be missing. The log end at loading is not logged, a
    truncation or a reassignment in between cannot be excluded, or the broker's log does not tell in which epoch it was
    before. Where it went on in its epoch, only the clocks tell the fetch from later ones: likely. A log that was loaded
    empty may be on a new disk: where its broker tells that it created the log, nothing is said.

    Upheld
    ------
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0
    t1 follows 2 epoch 0 at 0 hw 0
    t2 fetch 2@4 from 1 hw=4
    t3 loads 2 at 4
    t4 leads 2 epoch 1 at 4 hw 4

    Violated
    --------
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0
    t1 follows 2 epoch 0 at 0 hw 0
    t2 fetch 2@4 from 1 hw=4
    t3 loads 2 at 2
    t4 leads 2 epoch 1 at 2 hw 2
    """
    fetches = _furthest_fetches(evidence.moments)
    loading = {m.broker for m in evidence.moments if m.kind == "log-loaded" and m.broker is not None}
    for broker in sorted(loading - _once_unassigned(evidence)):
        own = [m for m in evidence.moments if m.clock == f"broker {broker}" and m.broker == broker]
        for load in (m for m in own if _tells_its_end(m)):
            furthest = fetches.get((broker, load.term))
            if furthest is None or furthest.offset is None or load.end_offset is None:
                continue
            placed, before = _between_epochs(evidence, load), _before_by_clocks(evidence, furthest, load)
            if before is False or not (placed or before):
                continue
            if furthest.offset > load.end_offset and not _cut_before(own, load, furthest):
                yield from _loaded_short(evidence, own, load, furthest, placed=placed)
        yield from _led_and_loaded_short(evidence, broker)
    yield from _cut_since(evidence)


def _loaded_short(
    evidence: PartitionEvidence, own: Sequence[Moment], load: Moment, fetch: Moment, *, placed: bool
) -> Iterator[Violation | Undecided]:
    """What a log shows that was loaded with less than its broker had asked for."""
    if load.end_offset == 0:
        yield from () if _begun_anew(own, load) else (_perhaps_emptied(load, f"asked for offset {fetch.offset}"),)
    elif _perhaps_cut_untold(evidence, load, fetch.offset or 0):
        yield _undecided(load, f"asked for offset {fetch.offset}")
    else:
        yield Violation(
            brokers=() if load.broker is None else (load.broker,),
            start_offset=load.end_offset,
            end_offset=fetch.offset,
            confidence="certain" if placed else "likely",
            facts={
                "broker": load.broker,
                "held": f"asked for offset {fetch.offset}",
                "ends": f"ended at {load.end_offset} when it was loaded again",
                "leader": fetch.witness,
                "epoch": fetch.term,
            },
            exhibits=(
                Exhibit(span=fetch.span, role="the fetch"),
                Exhibit(span=load.span, role="the log as it was loaded"),
            ),
        )


def _led_and_loaded_short(evidence: PartitionEvidence, broker: int) -> Iterator[Violation | Undecided]:
    """What a log shows that was loaded with less than its broker had told as the leader, by the broker's own clock."""
    own = [m for m in evidence.moments if m.clock == f"broker {broker}"]
    for place, load in enumerate(own):
        if load.kind != "log-loaded" or load.end_offset is None or load.term is None:
            continue
        told = max(told_as_leader(own[:place], load.term), key=lambda word: word[0], default=None)
        if told is None or told[0] <= load.end_offset:
            continue
        held, moment = told
        if load.end_offset == 0:
            yield from () if _begun_anew(own, load) else (_perhaps_emptied(load, f"led up to offset {held}"),)
        elif load.latest_term not in (None, load.term) and _perhaps_cut_untold(evidence, load, held):
            yield _undecided(load, f"led up to offset {held}")
        else:
            yield _led(load, moment, held, watermark_told(own[:place], load.term))


def _led(load: Moment, told: Moment, held: int, watermark: int) -> Violation:
    """Above the high watermark a crash takes what was not flushed, and no replica in sync was promised it."""
    committed = (load.end_offset or 0) < watermark
    return Violation(
        brokers=() if load.broker is None else (load.broker,),
        start_offset=load.end_offset,
        end_offset=held,
        severity=None if committed else Severity.INFO,
        facts={
            "broker": load.broker,
            "held": in_words(told, held),
            "ends": f"ended at {load.end_offset} when it was loaded again",
            "leader": load.broker,
            "epoch": load.term,
            "committed_end": watermark,
        },
        exhibits=(Exhibit(span=told.span, role="what it told"), Exhibit(span=load.span, role="the log as it was loaded")),
    )


def _cut_since(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Logs that are shorter on disk than they were when their broker stopped in order."""
    replicas = {replica.broker: replica for replica in evidence.current}
    for closing in evidence.closings:
        replica = replicas[closing.broker]
        if isinstance(closing, Unclosed) or not replica.end_known or closing.log_end.low is None:
            continue
        held, end = closing.log_end.low, replica.log_end_offset
        if end < held.offset and _told_before_a_cut(evidence, closing):
            yield _cut_untold(closing, held.offset, end)
        elif end < held.offset:
            proof = () if closing.proof is None else (Exhibit(span=closing.proof.span, role="what tells it"),)
            yield Violation(
                brokers=(closing.broker,),
                start_offset=end,
                end_offset=held.offset,
                facts={
                    "broker": closing.broker,
                    "held": f"had reached offset {held.offset} ({held.because})",
                    "ends": f"ends at {end} on its disk, although it stopped in order",
                    "leader": closing.leader,
                    "epoch": closing.epoch,
                    "subject": "on disk",
                },
                exhibits=(*proof, Exhibit(span=closing.stopped.span, role="the orderly stop")),
            )


def _told_before_a_cut(evidence: PartitionEvidence, closing: Closing) -> bool:
    """Whether a follower told its log end before it met a leader that had begun below: the line of a cut may be missing."""
    if closing.proof is None or closing.proof.kind not in ("follower-starts", "log-loaded"):
        return False
    if closing.proof.term is not None and closing.proof.term >= closing.epoch:
        return False
    opening = evidence.openings.get(closing.epoch)
    told = closing.proof.offset if closing.proof.end_offset is None else closing.proof.end_offset
    return opening is None or opening.offset is None or opening.offset < (told or 0)


def _cut_untold(closing: Closing, held: int, end: int) -> Undecided:
    reason = f"broker {closing.broker}'s log reached {held} when it followed in epoch {closing.epoch}, and ends at {end}"
    missing = f"broker {closing.broker}'s server.log whole: its line of a cut may be missing, which that leader made it do"
    return Undecided(reason=reason, missing=missing, brokers=(closing.broker,), blocking=False)


def _between_epochs(evidence: PartitionEvidence, load: Moment) -> bool:
    """Whether a role is told before the loading, and a newer one next after it.

    Only then was the former term over when the log was loaded, with all its fetches: a broker that goes on in its epoch
    fetches on, and one whose former role is not told was in some epoch or other. Where the log has grown when it takes
    that role, or may have, it was in one before of which the line is not here.
    """
    before, first = evidence.chronicle.roles_around(load)
    newer = first is not None and first.epoch is not None and load.term is not None and first.epoch > load.term
    grew = first is None or first.offset is None or first.offset > (load.end_offset or 0)
    return before is not None and newer and not grew


def _perhaps_cut_untold(evidence: PartitionEvidence, load: Moment, held: int) -> bool:
    """Whether it may have been, before the loading, in a role of which its log has no word, and that made it cut.

    An epoch that opened with all that the replica held made it cut nothing, nor did one that nobody led.
    """
    if load.latest_term is None or load.term is None:
        return False
    named = {m.epoch for m in evidence.moments if m.epoch is not None and load.term < m.epoch <= load.latest_term}
    led = named - evidence.chronicle.led_by_nobody
    openings = (evidence.openings.get(epoch) for epoch in led)
    return load.latest_term not in named if not led else _some_below(openings, held)


def _some_below(openings: Iterable[Moment | None], held: int) -> bool:
    return any(told is None or told.offset is None or told.offset < held for told in openings)


def _begun_anew(own: Sequence[Moment], load: Moment) -> bool:
    """Whether the broker tells, beside the loading, that it created the log: its directory is new."""
    place = next(place for place, moment in enumerate(own) if moment is load)
    before = takewhile(lambda moment: not gives_role(moment), reversed(own[:place]))
    behind = takewhile(lambda moment: not gives_role(moment), own[place:])
    return any(moment.kind == "log-created" for moment in (*before, *behind))


def _perhaps_emptied(load: Moment, held: str) -> Undecided:
    reason = f"broker {load.broker} {held}, and its log was empty when it was loaded again"
    missing = (
        f"what tells whether broker {load.broker}'s disk was replaced or emptied: its line that it created the log, or the"
        " ids of the log dir in meta.properties before and after"
    )
    return Undecided(reason=reason, missing=missing, brokers=(load.broker or 0,))


def _undecided(load: Moment, held: str) -> Undecided:
    reason = f"broker {load.broker} {held} and its log ended at {load.end_offset} when loaded"
    missing = f"broker {load.broker}'s state-change.log from epoch {load.term} on: a role that made it cut may be missing"
    return Undecided(reason=reason, missing=missing, blocking=False)


def _before_by_clocks(evidence: PartitionEvidence, fetch: Moment, load: Moment) -> bool | None:
    """Whether the leader logged the fetch before the follower loaded its log; null within the doubt of the clocks."""
    clocks = {clock.clock: clock for clock in evidence.replayed.clocks}
    window = translated(fetch.last_time or fetch.time, fetch.clock, load.clock, clocks)
    if window is None or load.time is None or window[0] <= load.time <= window[1]:
        return None
    before, _ = evidence.chronicle.roles_around(load)
    return window[1] < load.time and (None if before is None else True)


def _once_unassigned(evidence: PartitionEvidence) -> frozenset[int]:
    """Brokers that were at some time no replica: their logs were deleted in order, and begin anew when they return."""
    told = [frozenset(m.replicas) for m in evidence.moments if m.kind == "leadership" and m.replicas]
    return frozenset().union(*told) - told[0].intersection(*told) if told else frozenset()


def _tells_its_end(moment: Moment) -> bool:
    """Whether it is a loading of a log of which the end and the role before it are told."""
    return moment.kind == "log-loaded" and moment.end_offset is not None and moment.term is not None


def _furthest_fetches(moments: Sequence[Moment]) -> dict[tuple[int, int | None], Moment]:
    """The furthest fetch of each broker in each term."""
    furthest: dict[tuple[int, int | None], Moment] = {}
    for m in moments:
        answered = m.kind == "fetched" and m.error == 0 and not m.doubtful and m.answered_epoch is None
        if answered and m.broker is not None and m.offset is not None:
            known = furthest.get((m.broker, m.term))
            if known is None or m.offset > (known.offset or 0):
                furthest[m.broker, m.term] = m
    return furthest


def _cut_before(own: list[Moment], load: Moment, furthest: Moment) -> bool:
    """Whether the broker itself tells of a cut, or of another role, between the fetch's term and the loading."""
    kinds = ("truncated", "log-reset", "cut-by-high-watermark", "cut-by-epoch-answer")
    times = [m.time for m in own if m.kind in kinds and m.offset is not None and m.offset < (furthest.offset or 0)]
    return any(time is None or load.time is None or time <= load.time for time in times)
