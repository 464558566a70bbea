"""Where a batch ends whose first record an answer to a producer names."""

from __future__ import annotations

from parsers.provenance import Span
from rules.chronicle.chronicle import Chronicle
from rules.chronicle.request_logs import NONE_HERE, RequestLogs, request_logs
from rules.history.moments import Committed, Moment
from rules.history.statements import Fetched, LogEvent, Produced, RoleTaken
from rules.history.trace_ends import SpokenStretch, TraceEnd
from rules.replicas.batch_ends import BatchEnds, boundaries
from rules.replicas.openings import first_openings
from rules.replicas.replica import Replica
from rules.sketch.notation import read_sketch
from tests.replaced import replace

SPAN = Span(source="broker-1/logs/kafka-request.log", start=0, end=1)


def opened(broker: int, epoch: int, offset: int, time: int) -> Moment:
    return RoleTaken(
        kind="leader-starts", clock=f"broker {broker}", witness=broker, broker=broker, epoch=epoch, term=epoch,
        offset=offset, time=time, span=SPAN,
    )  # fmt: skip


ANSWERED = Produced(
    kind="produced", clock="broker 1", witness=1, broker=1, acks=-1, error=0, term=0, offset=348, time=2000, span=SPAN
)
LOADED = LogEvent(
    kind="log-loaded", clock="broker 1", witness=1, broker=1, term=0, end_offset=350, time=9000, span=SPAN
)


def whole(moments: tuple[Moment, ...], replicas: tuple[Replica, ...], logs: RequestLogs = NONE_HERE) -> list[Committed]:
    chronicle = Chronicle(moments)
    ends = BatchEnds(boundaries(chronicle, replicas, logs), replicas, first_openings(moments, replicas))
    return [ends.whole(proof) for proof in chronicle.proofs]


def ends(*moments: Moment) -> list[int]:
    return [proof.end_offset for proof in whole(moments, ()) if proof.moment is ANSWERED]


def test_a_batch_ends_at_the_first_boundary_behind_it() -> None:
    assert ends(opened(1, 0, 0, 1000), ANSWERED, LOADED) == [350]


def test_an_answer_that_may_be_of_a_later_epoch_ends_no_batch_of_this_one() -> None:
    later = replace(ANSWERED, offset=400, time=9500)
    assert ends(opened(1, 0, 0, 1000), ANSWERED, later) == [400]
    assert ends(opened(1, 0, 0, 1000), ANSWERED, replace(later, latest_term=5)) == [349]


def test_an_answer_that_may_be_of_a_later_epoch_keeps_the_batch_before_it_from_going_on() -> None:
    loaded = replace(LOADED, end_offset=408)
    assert ends(opened(1, 0, 0, 1000), ANSWERED, loaded) == [408]
    assert ends(opened(1, 0, 0, 1000), ANSWERED, replace(ANSWERED, offset=399, latest_term=1), loaded) == [399]


def test_a_batch_of_one_of_two_epochs_ends_at_least_where_a_thinned_log_says() -> None:
    thin = replace(ANSWERED, latest_term=1, end_offset=349)
    proofs = whole((opened(1, 0, 0, 1000), opened(1, 1, 408, 1500), thin, replace(LOADED, end_offset=408)), ())
    assert [proof.end_offset for proof in proofs if proof.moment is thin] == [349]


def test_no_batch_goes_on_beyond_what_a_later_leader_opened_at() -> None:
    """The killed leader's log went on with a record that was never answered; the next one had all before it."""
    assert ends(opened(1, 0, 0, 1000), ANSWERED, opened(3, 1, 349, 3000), LOADED) == [349]


def test_a_leader_that_opened_at_or_below_it_ends_no_batch() -> None:
    assert ends(opened(1, 0, 0, 1000), ANSWERED, opened(3, 1, 348, 3000), LOADED) == [350]


def test_what_leaders_opened_at_after_the_batch_was_left_out_ends_it_no_more() -> None:
    """Their logs had a batch's end there, of the records that were written in its place."""
    later = (opened(2, 1, 340, 3000), opened(2, 2, 349, 4000))
    assert ends(opened(1, 0, 0, 1000), ANSWERED, *later, LOADED) == [350]


def test_a_leader_whose_log_shows_an_older_record_there_ends_no_batch() -> None:
    """It opened behind the batch, on a log of its own."""
    replicas = read_sketch("broker 2 0x349 2222").evidence.replicas
    moments = (opened(1, 1, 300, 1000), replace(ANSWERED, term=1), opened(2, 2, 349, 3000), replace(LOADED, term=1))
    assert next(proof.end_offset for proof in whole(moments, replicas) if proof.term == 1) == 350


def held_by(drawing: str) -> list[int]:
    moments = (opened(1, 0, 0, 1000), ANSWERED, opened(3, 3, 349, 4000), LOADED)
    proofs = whole(moments, read_sketch(drawing).evidence.replicas)
    return [proof.end_offset for proof in proofs if proof.moment is ANSWERED]


def test_whoever_led_after_one_that_the_disks_show_without_it_ends_no_batch() -> None:
    assert held_by("broker 3 0x340 111111111333") == [350]
    assert held_by("broker 3 0x340 111111111444") == [350]


def test_a_leader_whose_log_goes_on_from_a_newer_record_there_ends_no_batch() -> None:
    """The logs disagree about where the epoch between began, so that no disk tells its opening."""
    assert held_by("broker 2 0x341 11111111\nbroker 3 0x340 111111111333") == [350]


def test_what_was_written_since_a_leader_opened_does_not_show_that_it_lacked_the_batch() -> None:
    assert held_by("broker 3 0x340 444444444444") == [349]
    assert held_by("broker 2 0x341 11111111\nbroker 3 0x340 111111111444") == [349]


def logged(*spoken: tuple[int, int]) -> RequestLogs:
    """Broker 1's log of requests, of which lines are here that follow each other closely at some times."""
    stretches = tuple(SpokenStretch(first=first, last=last) for first, last in spoken)
    end = TraceEnd(
        broker=1, source=SPAN.source, end=1, begun=spoken[0][0], is_last=True, spoken=stretches
    )
    return request_logs([end], [])


def last_end(logs: RequestLogs, *since: Moment) -> int:
    """Where the batch at 348 ends, of an epoch in which a broker's disk shows 408 records."""
    replicas = read_sketch("broker 1 0x408").evidence.replicas
    proofs = whole((opened(1, 0, 0, 1000), ANSWERED, *since), replicas, logs)
    return next(proof.end_offset for proof in proofs if proof.moment is ANSWERED)


def test_where_logs_end_amid_a_lead_the_disk_does_not_tell_how_far_its_last_answer_reached() -> None:
    assert last_end(logged((1000, 2100))) == 349
    fetched = Fetched(kind="fetched", clock="broker 1", witness=1, broker=2, epoch=0, term=0, time=2050, span=SPAN)
    asked = replace(fetched, offset=352, error=0, answered_epoch=None)
    assert last_end(logged((1000, 2100)), asked) == 352


def test_a_lead_that_another_one_or_its_own_log_end_has_closed_is_heard_to_its_end() -> None:
    loaded = replace(LOADED, end_offset=408)
    assert last_end(logged((1000, 2100)), opened(3, 1, 348, 3000)) == 408
    assert last_end(logged((1000, 2100)), loaded) == 408
    assert last_end(NONE_HERE) == 408


def test_a_log_that_ends_long_before_its_lead_does_not_hear_its_end() -> None:
    """Once it speaks again since then, its broker was only down."""
    late = replace(LOADED, end_offset=408, time=900_000)
    assert last_end(logged((1000, 2100)), late) == 349
    assert last_end(logged((1000, 2100), (901_000, 902_000)), late) == 408


def test_a_batch_before_a_pause_of_its_log_does_not_go_on_to_the_next_answer() -> None:
    """A rotated file may be missing there: who wrote the records between, and for whom, is not told."""
    later = replace(ANSWERED, offset=400, time=900_000)
    loaded = replace(LOADED, end_offset=408, time=900_500)
    assert last_end(logged((1000, 2100), (899_000, 901_000)), later, loaded) == 349
    assert last_end(logged((1000, 901_000)), later, loaded) == 400


def test_the_log_end_of_a_broker_that_tells_no_role_in_the_epoch_ends_no_batch_of_it() -> None:
    """The head of its log is missing: it may have written that far itself, as the leader of an older epoch."""
    other = replace(LOADED, clock="broker 3", witness=3, broker=3, end_offset=355)
    follows = RoleTaken(
        kind="follower-starts", clock="broker 3", witness=3, broker=3, epoch=0, term=0, offset=340, time=1500, span=SPAN
    )
    assert ends(opened(1, 0, 0, 1000), ANSWERED, other) == [349]
    assert ends(opened(1, 0, 0, 1000), follows, ANSWERED, other) == [355]
