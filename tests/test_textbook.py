"""The textbook's examples: each script does what its row says, value by value, and its golden timeline holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from auditor.simulation.script_file import read_script
from parsers.checkpoints import read_leader_epoch_checkpoint
from parsers.provenance import Origin
from rules.protocol.epochs import EpochStart, end_offset_for
from rules.simulator.run_outcome import LINEUP, Outcome, compare, outcome
from rules.simulator.run_rows import ReplicaRow, Row, Run, run
from tests.rules.textbook_goldens import TEXTBOOK, golden_of, scripts, text_of

EPOCH_GENERATIONS = ("KIP-101", "KIP-279", "KIP-320", "truncate-on-fetch")
SINCE_KIP_279 = ("KIP-279", "KIP-320", "truncate-on-fetch")
NEW_AND_OLD = [
    ("0.10.2.2", "0.10.2"), ("1.1.1", "1.1"), ("2.0.1", "2.0"), ("2.6.3", "2.6"), ("3.2.0", "3.2"), ("3.5.0", "3.5"),
    ("3.6.0", "3.6"), ("3.9.1", "3.9"), ("4.0.0", "4.0"),
]  # fmt: skip


def played(name: str, version: str | None = None, spoken: str | None = None) -> Run:
    return run(read_script(TEXTBOOK / f"{name}.yaml"), version, spoken)


def compared(name: str) -> dict[str, Outcome]:
    return {column.name: column for column in compare(read_script(TEXTBOOK / f"{name}.yaml"))}


def replica(row: Row, broker: int) -> ReplicaRow:
    return next(found for found in row.replicas if found.broker == broker)


def leo_hw(row: Row, broker: int) -> tuple[int, int]:
    return replica(row, broker).log_end_offset, replica(row, broker).high_watermark


def remote(row: Row, leader: int, follower: int) -> int:
    return next(known.log_end_offset for known in replica(row, leader).remote if known.broker == follower)


def names(finished: Run, broker: int) -> list[str]:
    return [batch.name for batch in next(b for b in finished.end.brokers if b.id == broker).log.batches]


def epochs(finished: Run, broker: int) -> tuple[tuple[int, int], ...]:
    return replica(finished.rows[-1], broker).epochs


def answers(finished: Run) -> dict[str, str]:
    return {sent.name: sent.answer for sent in finished.end.produces}


def said(row: Row) -> str:
    return "\n".join(row.said)


def rows_of(finished: Run, event: str) -> Iterator[Row]:
    return (row for row in finished.rows if row.event == event)


@pytest.mark.parametrize("script", scripts(), ids=lambda path: path.stem)
def test_golden_timeline_holds(script: Path) -> None:
    assert text_of(script) == golden_of(script).read_text(encoding="utf-8")


def test_every_golden_timeline_has_its_script() -> None:
    assert {path.name.removesuffix(".golden.txt") for path in TEXTBOOK.glob("*.golden.txt")} == {
        script.stem for script in scripts()
    }


@pytest.mark.parametrize("script", scripts(), ids=lambda path: path.stem)
def test_every_script_stands_in_the_documentation(script: Path) -> None:
    documented = (TEXTBOOK.parents[1] / "docs" / "textbook.md").read_text(encoding="utf-8")
    assert f"sample_logs/textbook/{script.name}" in documented


def test_visible() -> None:
    end = outcome(played("visible"))
    assert leo_hw(end.run.rows[-1], 1) == (15, 8)
    assert end.visible == (0, 8)


def test_leo_end() -> None:
    finished = played("leo-end")
    assert leo_hw(finished.rows[-2], 1) == (10, 7)
    assert [batch.base_offset for batch in finished.states[-2].broker(1).log.batches] == list(range(10))
    assert leo_hw(finished.rows[-1], 1) == (14, 7)
    assert outcome(finished).visible == (0, 7)


def test_three_replicas() -> None:
    row = played("three-replicas").rows[-1]
    assert leo_hw(row, 1) == (6, 5)
    assert [leo_hw(row, broker)[0] for broker in (2, 3)] == [5, 5]


@pytest.mark.parametrize(("version", "spoken"), NEW_AND_OLD)
def test_two_rounds(version: str, spoken: str) -> None:
    columns = [
        (*leo_hw(row, 1), remote(row, 1, 2), *leo_hw(row, 2)) for row in played("two-rounds", version, spoken).rows[1:]
    ]
    assert columns == [(0, 0, 0, 0, 0), (1, 0, 0, 0, 0), (1, 0, 0, 1, 0), (1, 1, 1, 1, 1)]


def test_two_rounds_with_three() -> None:
    watermarks = [tuple(leo_hw(row, broker)[1] for broker in (1, 2, 3)) for row in played("two-rounds-3").rows]
    # append, fast, fast again, slow, slow again, fast
    assert watermarks[3:] == [(0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (1, 0, 1), (1, 1, 1)]


def test_ack_waits_for_the_isr() -> None:
    finished = played("ack-waits-isr")
    waiting = finished.rows[8]
    assert [leo_hw(waiting, broker)[0] for broker in (1, 2, 3)] == [5, 5, 4]
    assert waiting.isr == (1, 2, 3)
    assert leo_hw(waiting, 1)[1] == 4
    assert finished.states[8].produces[-1].answer == "waiting"
    assert outcome(finished).visible == (0, 5)
    assert answers(finished)["m5"] == "acknowledged"
    assert [leo_hw(finished.rows[-1], broker)[0] for broker in (1, 2, 3)] == [5, 5, 5]


def test_remote_leo() -> None:
    finished = played("remote-leo")
    kept = [(k.log_end_offset, k.last_caught_up_ms) for row in finished.rows for k in replica(row, 1).remote]
    assert kept == [(-1, 0), (-1, 0), (-1, 0), (0, 0), (0, 0), (3, 7_000), (3, 7_000), (3, 7_000)]
    assert not any("watermark" in field for field in type(replica(finished.rows[0], 1).remote[0]).__struct_fields__)


def test_high_watermark_above_the_minimum() -> None:
    finished = played("hw-above-min")
    away, again = finished.rows[10], finished.rows[13]
    assert away.isr == again.isr == (1, 2)
    assert (leo_hw(away, 1)[1], remote(away, 1, 3)) == (5, 3)
    assert (leo_hw(again, 1)[1], remote(again, 1, 3)) == (5, 3)
    assert (leo_hw(finished.rows[-1], 1), remote(finished.rows[-1], 1, 2)) == ((6, 5), 6)


@pytest.mark.parametrize(("version", "spoken"), NEW_AND_OLD)
def test_in_the_isr_is_counted_by_every_version(version: str, spoken: str) -> None:
    row = played("counted-set-isr", version, spoken).rows[-1]
    assert (leo_hw(row, 1), remote(row, 1, 2)) == ((5, 3), 5)


@pytest.mark.parametrize(
    ("version", "spoken", "held"),
    [
        ("0.10.2.2", "0.10.2", 3),
        ("2.6.3", "2.6", 3),
        ("3.2.0", "3.2", 3),
        ("3.5.0", "3.5", 3),
        ("3.6.0", "3.6", 5),
        ("4.0.0", "4.0", 5),
    ],
)
def test_caught_up_by_time_alone_is_counted_until_3_5(version: str, spoken: str, held: int) -> None:
    finished = played("counted-set-time", version, spoken)
    assert finished.rows[11].isr == (1, 2)
    assert leo_hw(finished.rows[11], 1) == (5, held)
    assert leo_hw(finished.rows[-1], 1) == (6, 5)


@pytest.mark.parametrize(("version", "spoken"), [("2.7.2", "2.7"), ("3.6.0", "3.6"), ("4.0.0", "4.0")])
def test_a_proposed_member_is_counted(version: str, spoken: str) -> None:
    finished = played("counted-set-proposed", version, spoken)
    assert finished.rows[13].isr == (1, 2)
    assert (leo_hw(finished.rows[13], 1), remote(finished.rows[13], 1, 2)) == ((2, 1), 2)
    assert leo_hw(finished.rows[-1], 1) == (3, 2)


def test_moment_becoming_leader() -> None:
    rows = played("moments-leader").rows
    assert (leo_hw(rows[-2], 2), leo_hw(rows[-1], 2)) == ((2, 1), (2, 2))


@pytest.mark.parametrize(
    ("version", "spoken", "after"), [("2.6.3", "2.6", 5), ("2.8.2", "2.8", 3), ("3.1.0", "3.1", 5), ("4.0.0", "4.0", 5)]
)
def test_moment_leaving_the_isr(version: str, spoken: str, after: int) -> None:
    rows = played("moments-shrink", version, spoken).rows
    assert (leo_hw(rows[-2], 1), rows[-2].isr) == ((5, 3), (1, 2, 3))
    assert (leo_hw(rows[-1], 1), rows[-1].isr) == ((5, after), (1, 2))


def test_moment_appending_alone() -> None:
    rows = played("moments-append").rows
    assert rows[-2].isr == (1,)
    assert (leo_hw(rows[-2], 1), leo_hw(rows[-1], 1)) == ((1, 1), (3, 3))


def test_moment_a_follower_fetches() -> None:
    rows = played("moments-fetch").rows
    assert [leo_hw(row, 1)[1] for row in rows[1:]] == [0, 0, 1, 1]
    assert [leo_hw(row, 2)[1] for row in rows[1:]] == [0, 0, 0, 1]


def test_follower_behind() -> None:
    row = played("follower-behind").rows[-1]
    assert row.isr == (1,)
    assert leo_hw(row, 1)[1] == 5
    assert leo_hw(row, 2) == (3, 3)


def test_throttled() -> None:
    finished = played("throttled")
    waiting, answered = finished.rows[9], finished.rows[10]
    assert replica(waiting, 2).role == "waiting"
    assert (leo_hw(answered, 1), leo_hw(answered, 2), answered.isr) == ((3, 3), (1, 1), (1,))
    assert (finished.rows[12].event, leo_hw(finished.rows[12], 2)) == ("fetch 2", (3, 3))
    assert finished.rows[-1].isr == (1, 2)


def test_loss() -> None:
    columns = compared("loss")
    by_watermark = columns["HW truncation"]
    before = by_watermark.run.rows[7]
    assert (leo_hw(before, 1), leo_hw(before, 2)) == ((2, 2), (2, 1))
    assert [(cut.broker, cut.from_offset, cut.to_offset) for cut in by_watermark.cuts if cut.removed] == [(2, 2, 1)]
    assert "leads epoch 1 from offset 1" in said(next(rows_of(by_watermark.run, "elect 2")))
    assert [sent.name for sent in by_watermark.lost] == ["m2"]
    for name in EPOCH_GENERATIONS:
        assert not any(cut.removed for cut in columns[name].cuts)
        assert columns[name].lost == ()
        assert epochs(columns[name].run, 2) == ((0, 0), (1, 2))
    for name in ("KIP-101", "KIP-279", "KIP-320"):
        (exchange,) = columns[name].cuts[0].exchanges
        assert (exchange.asked_epoch, exchange.answered_offset) == (0, 2)


def test_loss_with_two_in_sync_asked_for() -> None:
    columns = compared("loss-min-2")
    by_watermark = columns["HW truncation"]
    assert next(rows_of(by_watermark.run, "ask 2")).isr == (1, 2)
    assert [sent.name for sent in by_watermark.lost] == ["m2"]
    assert answers(by_watermark.run) == {"m1": "acknowledged", "m2": "acknowledged", "m3": "refused"}
    for name in EPOCH_GENERATIONS:
        assert columns[name].lost == ()


def test_loss_unanswered() -> None:
    columns = compared("loss-unanswered")
    for name in EPOCH_GENERATIONS:
        finished = columns[name].run
        assert "not answered" in said(finished.rows[12])
        assert leo_hw(finished.rows[12], 2)[0] == 2
        assert epochs(finished, 2) == epochs(finished, 1) == ((0, 0), (1, 2))
        assert not any(cut.removed for cut in columns[name].cuts)
        assert names(finished, 1) == ["m1", "m2", "m3"]
    (exchange,) = columns["KIP-101"].cuts[-1].exchanges
    assert (columns["KIP-101"].cuts[-1].broker, exchange.asked_epoch, exchange.answered_offset) == (1, 0, 2)


def test_loss_return() -> None:
    finished = played("loss-return")
    no_op, reset = finished.end.cuts[-2:]
    assert (no_op.broker, no_op.to_offset, no_op.removed) == (1, 2, ())
    assert (reset.broker, reset.rule, reset.from_offset, reset.to_offset) == (1, "out-of-range-reset", 2, 1)
    assert names(finished, 1) == names(finished, 2) == ["m1"]


def test_loss_return_after_a_write() -> None:
    end = outcome(played("loss-return-written"))
    assert [parting.offset for parting in end.partings] == [1]
    assert names(end.run, 1) == ["m1", "m2", "m4"]
    assert names(end.run, 2) == ["m1", "m3", "m4"]
    assert not any(cut.broker == 1 and cut.removed for cut in end.cuts)


def test_divergence() -> None:
    columns = compared("divergence")
    by_watermark = columns["HW truncation"]
    assert (names(by_watermark.run, 1), names(by_watermark.run, 2)) == (["m1", "m2"], ["m1", "m3"])
    for name in EPOCH_GENERATIONS:
        column = columns[name]
        assert names(column.run, 1) == names(column.run, 2) == ["m1", "m3"]
        assert [sent.name for sent in column.lost] == ["m2"]
        (asked,) = (exchange for cut in column.cuts if cut.removed for exchange in cut.exchanges)
        assert (asked.asked_epoch, asked.answered_offset) == (0, 1)
        assert [cut.to_offset for cut in column.cuts if cut.removed] == [1]


def test_divergence_causes() -> None:
    unclean, pages = outcome(played("divergence-unclean")), outcome(played("divergence-lost-pages"))
    for end in (unclean, pages):
        assert (names(end.run, 1), names(end.run, 2)) == (["m1", "m2"], ["m1", "m3"])
        assert [parting.offset for parting in end.partings] == [1]
    assert "unclean election" in said(next(rows_of(unclean.run, "fence 1")))
    assert next(rows_of(unclean.run, "check")).isr == (1,)
    elected = next(rows_of(pages.run, "elect"))
    assert "unclean" not in said(elected)
    assert elected.number > 0
    assert pages.run.rows[elected.number - 1].isr == (1, 2)
    assert max(remote(row, 1, 2) for row in pages.run.rows if replica(row, 1).remote) == 2
    assert max(remote(row, 1, 2) for row in unclean.run.rows if replica(row, 1).remote) == 1


@pytest.mark.parametrize(("n", "fate"), [(15, "stuck"), (20, "diverges"), (25, "hole")])
def test_kip_279(n: int, fate: str) -> None:
    columns = compared(f"kip279-{n}")
    old = columns["KIP-101"]
    (exchange,) = old.cuts[-1].exchanges
    assert (exchange.asked_epoch, exchange.answered_epoch, exchange.answered_offset) == (2, -1, 21)
    if fate == "stuck":
        assert "stuck" in said(old.run.rows[-1])
        assert leo_hw(old.run.rows[-1], 2)[0] == n + 1
    elif fate == "diverges":
        assert [parting.offset for parting in old.partings] == [11]
        assert (names(old.run, 1), names(old.run, 2)) == (["a", "b", "d"], ["a", "c", "d"])
    else:
        assert (old.cuts[-1].to_offset, old.cuts[-1].kept_log_end_offset) == (21, 11)
        assert names(old.run, 2) == ["a", "d"]
        assert leo_hw(old.run.rows[-1], 2)[0] == 31
    for name in SINCE_KIP_279:
        column = columns[name]
        (cut,) = (cut for cut in column.cuts if cut.removed)
        assert [(e.asked_epoch, e.answered_epoch, e.answered_offset) for e in cut.exchanges] == [(2, 1, 21)]
        assert (cut.from_offset, cut.to_offset) == (n + 1, 11)
        assert names(column.run, 1) == names(column.run, 2) == ["a", "b", "d"]


def test_end_offset() -> None:
    finished = played("end-offset")
    assert epochs(finished, 1)[1:] == ((1, 20), (2, 80), (3, 120))
    assert leo_hw(finished.rows[-1], 1)[0] == 150
    assert [row.said[0] for row in finished.rows[-3:]] == [
        "epoch 1: ends at 80 (v0), (1, 80) (v1+)",
        "epoch 3: ends at 150 (v0), (3, 150) (v1+)",
        "epoch 4: unknown (-1, -1)",
    ]


def test_end_offset_of_an_epoch_in_a_gap() -> None:
    finished = played("end-offset-gap")
    assert epochs(finished, 1) == ((1, 0), (3, 21))
    assert finished.rows[-1].said == ("epoch 2: ends at 21 (v0), (1, 21) (v1+)",)


@pytest.mark.parametrize(
    ("entries", "log_end", "held"),
    [
        (b"0 0\n1 120\n", 150, {0: (0, 120), 1: (120, 150)}),
        (b"0 0\n1 300\n2 500\n", 500, {0: (0, 300), 1: (300, 500), 2: (500, 500)}),
    ],
)
def test_checkpoint(entries: bytes, log_end: int, held: dict[int, tuple[int, int]]) -> None:
    """The file says where epochs begin; each ends where the next one does, and the last one with the log."""
    origin = Origin(source="leader-epoch-checkpoint")
    bare = read_leader_epoch_checkpoint(entries, origin)
    assert [refusal.found for refusal in bare.refusals] == ["the file lacks its two header lines"]
    whole = read_leader_epoch_checkpoint(b"0\n%d\n" % entries.count(b"\n") + entries, origin)
    chain = tuple(EpochStart(epoch=entry.epoch, start_offset=entry.start_offset) for entry in whole.entries)
    ends = [end_offset_for(chain, entry.epoch, log_end) for entry in chain]
    told = {end.epoch: (entry.start_offset, end.end_offset) for entry, end in zip(chain, ends, strict=True) if end}
    assert (told, whole.refusals) == (held, ())


@pytest.mark.parametrize(
    ("version", "spoken", "entries"),
    [
        ("1.1.1", "1.1", ((1, 0),)),
        ("2.0.0", "2.0", ((1, 0),)),
        ("2.0.1", "2.0", ((1, 0), (2, 130))),
        ("3.9.1", "3.9", ((1, 0), (2, 130))),
    ],
)
def test_entry_at_election(version: str, spoken: str, entries: tuple[tuple[int, int], ...]) -> None:
    finished = played("entry-at-election", version, spoken)
    assert epochs(finished, 3) == entries
    assert sum(batch.epoch == 2 for batch in finished.end.broker(3).log.batches) == 0


def test_lag() -> None:
    finished = played("lag")
    at_limit, over = list(rows_of(finished, "check"))
    assert (at_limit.time_ms, at_limit.isr) == (30_000, (1, 2, 3))
    assert (over.time_ms, over.isr) == (30_001, (1,))
    assert [line.split(":")[0] for line in over.said[:3]] == [
        "broker 2 slow",
        "broker 3 stuck",
        "broker 4 bootstrapping",
    ]


@pytest.mark.parametrize(("version", "spoken", "limit"), [("2.4.1", "2.4", 10_000), ("2.5.0", "2.5", 30_000)])
def test_default_lag_by_version(version: str, spoken: str, limit: int) -> None:
    check = next(rows_of(played("lag", version, spoken), "check"))
    assert f"limit {limit} ms" in said(check)
    assert check.isr == ((1,) if limit == 10_000 else (1, 2, 3))


def test_election() -> None:
    row = played("election").rows[-1]
    assert (row.leader, row.isr) == (2, (2, 3))


def test_election_triggers() -> None:
    finished = played("election-triggers")
    elected = [(row.leader, row.said[0].split(":")[0]) for row in finished.rows if "election" in said(row)]
    assert elected == [
        (2, "election (leader offline)"),
        (1, "election (preferred replica)"),
        (3, "election (reassignment)"),
        (2, "election (controlled shutdown)"),
    ]


def test_reassignment() -> None:
    finished = played("reassignment")
    begun, refused, over = finished.rows[4], finished.rows[5], finished.rows[11]
    assert (finished.states[4].assignment, begun.epoch, begun.isr) == ((2, 3, 1), 0, (1, 2))
    assert "neither replaced nor cancelled" in said(refused)
    assert leo_hw(finished.rows[10], 1) == (2, 2)
    assert (finished.states[11].assignment, over.epoch, over.leader, over.isr) == ((2, 3), 1, 2, (2, 3))
    assert not finished.end.broker(1).holds
    assert names(finished, 2) == names(finished, 3) == ["m1", "m2", "m3"]


def test_reassignment_with_zookeeper_takes_an_epoch_a_step() -> None:
    finished = played("reassignment", "2.6.3", "2.6")
    steps = [(d.epoch, d.leader, sorted(d.isr), d.replicas) for d in finished.end.decided]
    assert steps == [
        (0, 1, [1, 2], (1, 2)),
        (1, 1, [1, 2], (2, 3, 1)),
        (1, 1, [1, 2, 3], (2, 3, 1)),
        (2, 2, [1, 2, 3], (2, 3)),
        (3, 2, [2, 3], (2, 3)),
    ]


def test_a_leader_does_not_count_who_is_not_of_the_assignment() -> None:
    finished = played("reassignment-uncounted")
    before, after = finished.rows[6], finished.rows[7]
    assert (replica(before, 1).isr, leo_hw(before, 1), leo_hw(before, 3)) == ((1, 2, 3), (1, 1), (0, 0))
    assert replica(after, 1).isr == (1, 2)
    assert not finished.end.broker(3).holds


def test_unclean_election_off_bills_the_offline_span() -> None:
    end = outcome(played("unclean-off"))
    assert (end.leader, end.lost, end.offline_ms) == (1, (), 3_600_000)
    assert answers(end.run)["m3"] == "failed"


def test_unclean_election_on_bills_the_records() -> None:
    end = outcome(played("unclean-on"))
    assert (end.leader, [sent.name for sent in end.lost], end.offline_ms) == (2, ["m2"], 0)


@pytest.mark.parametrize(
    ("acks", "least", "first", "second", "lost"),
    [
        ("0", 1, "none", "none", []),
        ("0", 2, "none", "none", []),
        ("1", 1, "acknowledged", "acknowledged", ["m1"]),
        ("1", 2, "acknowledged", "acknowledged", ["m1"]),
        ("all", 1, "untold", "acknowledged", []),
        ("all", 2, "untold", "refused", []),
    ],
)
def test_acks(acks: str, least: int, first: str, second: str, lost: list[str]) -> None:
    end = outcome(played(f"acks-{acks}-min-{least}"))
    assert answers(end.run) == {"m1": first, "m2": second}
    assert [sent.name for sent in end.lost] == lost
    assert "m1" not in names(end.run, 2)


def test_sets() -> None:
    rows = played("sets").rows
    seen = [(row.isr, row.under_replicated, row.under_min_isr) for row in rows if row.event.startswith("fence")]
    assert seen == [((1, 2, 3, 5), True, False), ((1, 2, 3), True, False), ((1, 2), True, True)]
    assert answers(played("sets")) == {"a": "acknowledged", "b": "acknowledged", "c": "refused"}


def test_the_lineup_is_every_generation() -> None:
    rules = [next(iter(column.run.generations.values())).rule for column in compared("loss").values()]
    assert rules == ["hw-truncation", "kip-101", "kip-279", "kip-279", "truncate-on-fetch", "truncate-on-fetch"]
    assert len({column.version for column in LINEUP}) == 6


def test_the_newest_generation_elects_an_eligible_replica_where_the_one_before_it_waits() -> None:
    columns = compared("eligible")
    assert {name: column.leader for name, column in columns.items()} == {**dict.fromkeys(columns, 3), "KIP-966": 2}
    assert any(row.elr for row in columns["KIP-966"].run.rows)
    assert not any(row.elr for name, column in columns.items() if name != "KIP-966" for row in column.run.rows)
