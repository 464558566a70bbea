"""Every mark of the sketch, read."""

from __future__ import annotations

import pytest

from rules.evidence import Replica
from rules.sketch.notation import SketchError, read_sketch


def one(line: str) -> Replica:
    return read_sketch(f"broker 1 {line}").evidence.replicas[0]


def runs(replica: Replica) -> list[tuple[int, int, int]]:
    return [(run.epoch, run.start_offset, run.end_offset) for run in replica.log.epochs]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ("0011", [(0, 0, 2), (1, 2, 4)]),
        ("0x500 1", [(0, 0, 500), (1, 500, 501)]),
        ("0\u00d73", [(0, 0, 3)]),
        ("9[12]x2", [(9, 0, 1), (12, 1, 3)]),
        ("--0", [(-1, 0, 2), (0, 2, 3)]),
        ("@7:00", [(0, 7, 9)]),
        ("0..0", [(0, 0, 4)]),
        ("(000)1", [(0, 0, 3), (1, 3, 4)]),
        ("(0x40)", [(0, 0, 40)]),
        ("00@9:1", [(0, 0, 2), (1, 9, 10)]),
    ],
)
def test_epochs_and_offsets(cells: str, expected: list[tuple[int, int, int]]) -> None:
    assert runs(one(cells)) == expected


def test_watermark_and_log_start() -> None:
    replica = one("@3:0<00|0")
    assert (replica.log_start_offset, replica.log_end_offset) == (4, 7)
    assert replica.high_watermark is not None
    assert replica.high_watermark.offset == 6


@pytest.mark.parametrize(
    ("cells", "gap"), [("0..0", (1, 3)), ("0.x9 0", (1, 10)), ("0##0", (1, 3)), ("0#x4 0", (1, 5))]
)
def test_holes_and_damage_leave_gaps(cells: str, gap: tuple[int, int]) -> None:
    replica = one(cells)
    assert [(step.expected, step.found) for step in replica.log.gaps] == [gap]
    assert bool(replica.log.unread) == ("#" in cells)


def test_flaws() -> None:
    replica = one("00!(00)!0?")
    assert [(f.base_offset, f.end_offset) for f in replica.log.checksum_faults] == [(1, 2), (2, 4)]
    assert [u.span.start for u in replica.zooms[0].undecodable] == [replica.zooms[0].batches[-1].span.start]


def test_tails_and_segments() -> None:
    replica = one("00/00~_")
    assert [segment.base_offset for segment in replica.segments] == [0, 2]
    assert [unread.kind for unread in replica.log.unread] == ["torn_tail", "zero_tail"]
    assert replica.log_end_offset == 4


def test_contents_of_one_epoch_differ_by_letter() -> None:
    left, right = read_sketch("broker 1 0a0\nbroker 2 0b0").evidence.replicas
    assert left.log.digests != right.log.digests
    hashes = [[record.content_hash for record in replica.zooms[0].records] for replica in (left, right)]
    assert [a == b for a, b in zip(*hashes, strict=True)] == [False, True]


def test_cleaned_batches_are_sparse() -> None:
    replica = one("(0.0)0")
    assert replica.cleaned
    assert [record.offset for record in replica.zooms[0].records] == [0, 2, 3]


def test_a_log_that_goes_on() -> None:
    replica = one("@5:00|1 ; leo 90")
    assert replica.log_end_offset == 90
    assert runs(replica) == [(0, 5, 7), (1, 7, 90)]
    assert not replica.cleaned


def test_notes() -> None:
    claims = "hw 9, start 1, recovery 1, cleaner 2, unclean, epochs 0@0 3@2, topic-id x, snapshots 1 2, voters 1 2"
    replica = one(f"00 ; {claims}")
    read = (replica.high_watermark, replica.log_start_claim, replica.recovery_point, replica.cleaner_offset)
    assert [claim and claim.offset for claim in read] == [9, 1, 1, 2]
    assert replica.clean_shutdown is None
    assert [(entry.epoch, entry.start_offset) for entry in replica.epoch_file.entries] == [(0, 0), (3, 2)]
    assert replica.topic_id == "x"
    assert [claim.offset for claim in replica.snapshot_offsets] == [1, 2]
    assert replica.voters == (1, 2)


@pytest.mark.parametrize("state", ["missing", "empty", "malformed"])
def test_states_of_the_epoch_file(state: str) -> None:
    assert one(f"00 ; epochs {state}").epoch_file.state == state


@pytest.mark.parametrize("state", ["future", "deleted", "stray"])
def test_copies_that_do_not_serve(state: str) -> None:
    evidence = read_sketch(f"broker 1 00 ; {state}").evidence
    assert evidence.replicas[0].state == state
    assert evidence.current == ()


def test_lines_before_the_brokers() -> None:
    sketch = read_sketch("topic pay\nlive\nkafka 1 3.9.1 ibp 3.9\nbroker 1 00\nbroker 2* 00")
    assert (sketch.evidence.topic, sketch.evidence.copied_live, sketch.leader) == ("pay", True, 2)
    assert [(v.broker, v.binary, v.inter_broker_protocol) for v in sketch.evidence.versions] == [(1, "3.9.1", "3.9")]


@pytest.mark.parametrize(
    "text", ["broker 1 0z!q", "broker 1 (0?)", "broker 1 00 ; hv 3", "brocker 1 00", "broker one 00"]
)
def test_what_is_no_sketch_is_refused(text: str) -> None:
    with pytest.raises(SketchError):
        read_sketch(text)


@pytest.mark.parametrize(
    "line", ["t3 fetch 2@4 from 1 hw=4 epoch=1 last=0", "t4 acks 1 at 3 acks=all", "t1 leads 1 epoch=0 at=0 hw=0"]
)
def test_named_values_of_event_lines_stand_in_either_spelling(line: str) -> None:
    assert read_sketch(line.replace("=", " ")) == read_sketch(line)


def test_producers_of_batches_and_the_times_that_they_bear() -> None:
    replica = one("0{7.1:5t}x2 (00){8:0}0{7.1c} ; pace 60, append-times")
    seven, eight = replica.log.producers
    assert (seven.producer_id, seven.producer_epoch, seven.first_sequence, seven.last_sequence) == (7, 1, 5, 6)
    assert (eight.producer_id, eight.last_sequence, eight.end_offset, eight.breaks) == (8, 1, 4, 0)
    assert (seven.last_time.time, seven.last_time.by_broker) == (60_000, True)
    assert replica.log.control_batches == 1
    (opened,) = replica.log.transactions.open
    assert (opened.producer_id, opened.head_start, opened.head_marker) == (7, 0, 4)
    assert replica.log.last_clock is not None
    assert replica.log.last_clock.time == 240_000


def test_a_producer_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(SketchError, match="cannot read the producer"):
        one("0{seven}")


def test_settings_over_time() -> None:
    """The topic's own outranks that of all topics, which has no time."""
    text = "t5 sets min.insync.replicas 3 by 1\nt9 sets min.insync.replicas none\nset min.insync.replicas 1\ntopic pay"
    told = read_sketch(text).evidence.settings.statements
    assert {(s.topic, s.since, s.clock, s.origin, s.value) for s in told} == {
        ("pay", 5, "broker 1", "applied", "3"),
        ("pay", 9, "controller", "metadata", None),
        (None, None, "", "metadata", "1"),
    }


LED = "t1 leads 1 epoch 0 at 0 hw 0\nt700 fetch 2@0 from 1 hw=0\nt1000 follows 2 epoch 0 at 0 hw 0\n"


@pytest.mark.parametrize(
    ("line", "steady", "gaps"),
    [
        ("", [(1, 1000)], []),
        ("t9 trace 1 begins", [(9, 1000)], []),
        ("t9 trace 1 pauses until 600", [(1, 9), (600, 1000)], []),
        ("t9 trace 1 lacks until 600", [(1, 9), (600, 1000)], [(9, 600, None)]),
        ("t800 trace 1 ends", [(1, 800)], [(800, 800, 800)]),
        ("t9 trace 2 pauses until 600", [(1, 1000)], []),
    ],
)
def test_where_a_trace_tells_nothing_its_clock_may_have_been_set(
    line: str, steady: list[tuple[int, int]], gaps: list[tuple[int, int, int | None]]
) -> None:
    evidence = read_sketch(LED + line).evidence
    assert evidence.steady["broker 1"] == steady
    assert [(gap.start, gap.end, gap.since) for log in evidence.request_logs.values() for gap in log.gaps] == gaps


def test_a_trace_that_begins_late_has_not_seen_the_lead_begin() -> None:
    seen = [read_sketch(LED.replace("t700", "t2700") + line).evidence for line in ("", "t2600 trace 1 begins")]
    assert [e.replayed.courses[0].lead.begun_unseen for e in seen] == [False, True]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("t5 sets min.insync.replicas", "expected 't5 sets min.insync.replicas 3 by 1', found"),
        ("t5 sets min.insync.replicas 3 from 1", "expected 't5 sets"),
        ("t9 trace 1 stops", "expected 't9 trace 1 begins', 't20 trace 1 pauses until 60000', "),
        ("t9 trace 1 pauses until 9", "expected a later time behind 'until', found"),
        ("t9 leads 1", "expected 't1 leads 1 epoch 0 at 0 hw 0' or the like, found"),
        ("t9 lead 1", "expected a time and one of acks, answers, asks"),
    ],
)
def test_an_event_line_that_cannot_be_read_is_refused_with_what_was_expected(line: str, wanted: str) -> None:
    with pytest.raises(ValueError, match=wanted):
        read_sketch(f"broker 1 00\n{line}")
