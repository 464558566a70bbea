"""Less evidence may open a verdict; it accuses nobody whom the whole does not accuse."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import cache

import pytest

from tests.ablations.bench import Bench, broken, freed, pieces
from tests.ablations.leave_out import (
    Ablation,
    draw,
    together_as_one,
    without_ends_of_kinds,
    without_middle,
    without_segments,
)
from tests.ablations.walks import walked
from tests.lab.effort import cases, fast_if

TRIED = {
    "acks_one_lost": 10, "bit_rot_payload": 10, "clean_mixed": 4, "compaction_race": 6, "epoch_checkpoint_deleted": 10,
    "fast_failover_kip101": 10, "fast_failover_kip279": 10, "lost_pages_hw": 10, "recreated_topic": 10,
    "unclean_4x": 10, "unclean_rejoined": 10, "clients_astray": 4, "controller_restored": 4, "power_cut": 5,
    "restored_by_hand": 4, "thawed_follower": 5, "zookeeper_restored": 5,
}  # fmt: skip
FAST = ("lost_pages_hw",)
WALKS = (225, 151, *range(100, 113))
"""Seeds of walks; of the first two a middle part of a leader's logs hides what was lost."""


BenchOf = Callable[[str], Bench]
BenchOfWalk = Callable[[int], Bench]


@pytest.fixture(scope="module")
def bench_of(tmp_path_factory: pytest.TempPathFactory) -> BenchOf:
    """The bench of a recording, whose whole is judged once for all tests here."""
    room = tmp_path_factory.mktemp("benches")
    return cache(lambda name: Bench(name, room, {}))


@pytest.fixture(scope="module")
def bench_of_walk(tmp_path_factory: pytest.TempPathFactory) -> BenchOfWalk:
    """The bench of a walk, by its seed."""
    room = tmp_path_factory.mktemp("walks")

    def made(seed: int) -> Bench:
        bench = Bench(walked(seed, room / "recorded"), room, {}, room / "recorded")
        assert bench.whole.refusals == ()
        return bench

    return cache(made)


@pytest.mark.parametrize("name", fast_if(FAST.__contains__, TRIED))
def test_less_evidence_accuses_no_more(name: str, bench_of: BenchOf) -> None:
    bench, rng = bench_of(name), random.Random(name)
    for _ in range(cases(TRIED[name])):
        ablation = draw(bench.files, rng)
        report = bench.judged(ablation)
        wrong = [] if report is None else [*broken(bench, report), *freed(bench, report)]
        assert not wrong, f"{ablation.name}: {wrong}"


@pytest.mark.parametrize("seed", fast_if(WALKS[:2].__contains__, WALKS))
def test_less_of_a_walk_accuses_no_more(seed: int, bench_of_walk: BenchOfWalk) -> None:
    bench = bench_of_walk(seed)
    for number in range(6):
        ablation = draw(bench.files, random.Random(seed * 1000 + number))
        report = bench.judged(ablation)
        wrong = [] if report is None else [*broken(bench, report), *freed(bench, report)]
        assert not wrong, f"{ablation.name}: {wrong}"


KINDS_CUT = [
    (30067, 1, "what a leader answered may be of an epoch for which it had been elected by then, and tells no role in"),
    (30092, 0, "records may be of several epochs: any of their leaders may have answered for them"),
    (30149, 0, "an answer that waited until its leader took its first told role may be of that epoch"),
    (30359, 2, "whoever had written older records there tells of those, where nobody names the epoch"),
    (30359, 4, "a leader whose log has older records there, and tells of no cut since, tells of those"),
    (30361, 4, "a log of requests that ends before a lead does leaves it open what was answered last"),
    (30395, 0, "the same where records stand behind the last answer that is told"),
    (30418, 6, "who acknowledges for all while alone in sync goes by another min.insync.replicas than is told"),
    (30475, 7, "a setting that others tell to be changed may have been taken over by whose log ends before"),
    (30521, 6, "logs of who led and holds the partition no more may end before its roles do"),
    (30646, 0, "of whom a log of requests sees dropped at its end, the next fetch may not be logged"),
    (30822, 1, "who cut its log below what it answered for, and holds older records there, is asked for its roles"),
    (30874, 1, "a cut of which no line tells how far the log went removed one record at least"),
    (30945, 4, "who led may have answered for records that it cut, though nothing tells of which epoch they were"),
    (30982, 7, "what no log here holds is gone, whoever leads"),
    (30996, 2, "what a broker told of its log's end is older than what it fetched since"),
    (30114, 3, "a high watermark that had risen before min.insync.replicas was set is no defect"),
]


@pytest.mark.parametrize("cut", fast_if(KINDS_CUT[:1].__contains__, KINDS_CUT))
def test_kinds_of_logs_that_end_early_accuse_nobody_and_clear_nobody(
    cut: tuple[int, int, str], bench_of_walk: BenchOfWalk
) -> None:
    seed, number, why = cut
    bench = bench_of_walk(seed)
    report = bench.judged(without_ends_of_kinds(bench.files, random.Random(seed * 1000 + number)))
    assert report is not None
    assert [*broken(bench, report), *freed(bench, report)] == [], why


BARRED = (
    (112, 6), (205, 6), (17, 7), (34, 1), (176, 0), (205, 8), (230, 7), (275, 6), (275, 9), (20344, 7), (9307, 0),
    (20603, 6),
)  # fmt: skip
"""Walks and ablations after which an action could be called safe that is not: logs of requests cut, a leader gone."""


@pytest.mark.parametrize("barred", fast_if(BARRED[:3].__contains__, BARRED))
def test_less_of_a_walk_frees_no_action(barred: tuple[int, int], bench_of_walk: BenchOfWalk) -> None:
    seed, number = barred
    bench = bench_of_walk(seed)
    report = bench.judged(draw(bench.files, random.Random(seed * 1000 + number)))
    assert report is not None
    assert [*broken(bench, report), *freed(bench, report)] == []


@pytest.mark.parametrize(
    ("kept", "left"),
    [
        (((0, 10),), b"one\ntwo\nth"),
        (((2, 14),), b"e\ntwo\nthree\n"),
        (((0, 6), (9, 18)), b"one\nfour"),
        (((0, 4), (4, 18)), b"one\nthree\nfour"),
        (((0, 2), (15, 18)), b""),
    ],
)
def test_what_is_missing_amid_a_log_takes_whole_lines(kept: tuple[tuple[int, int], ...], left: bytes) -> None:
    assert pieces(b"one\ntwo\nthree\nfour", kept) == left


@pytest.mark.parametrize("name", fast_if("clean_1_1".__eq__, ("clean_1_1", "clean_2_8", "clean_4x")))
def test_segments_that_are_left_out_accuse_nobody_and_are_never_clean(name: str, bench_of: BenchOf) -> None:
    bench, rng = bench_of(name), random.Random(name)
    for _ in range(4):
        folder = f"broker-{rng.randint(1, 3)}/data/{rng.choice(('my-topic.v2-0', 'state-0', 'state-1'))}"
        ablation = without_segments(bench.files, rng, folder)
        report = bench.judged(ablation)
        assert report is not None
        assert (report.verdict, [*broken(bench, report)]) == ("unknown", []), ablation.name


@pytest.mark.slow
def test_a_restart_that_nobody_tells_of_leaves_it_open_who_was_in_sync(bench_of: BenchOf) -> None:
    """Only broker 2's server.log tells that it restarted before its next role: it may have asked for more."""
    bench = bench_of("fast_failover_kip279")
    report = bench.judged(Ablation("no restart", frozenset({"broker-2/logs/server.log"})))
    assert report is not None
    assert [*broken(bench, report)] == []


@pytest.mark.slow
def test_an_answer_before_the_first_role_that_is_told_is_of_no_reign_that_came_later(bench_of: BenchOf) -> None:
    """Broker 2's word of its reign in epoch 3 is missing: what it answered then stands before its next role."""
    bench = bench_of("clean_4x")
    report = bench.judged(without_middle(bench.files, "broker-2", 0.033, 0.896))
    assert report is not None
    assert [*broken(bench, report)] == []


OPENED = [
    (20025, 0, "where epochs have no order another may have led before an answer with acks=1 as well"),
    (20047, 6, "an epoch whose leader's log of requests lacks its first lines may have answered nobody"),
    (20118, 1, "the line of a follower's next fetch may be missing where its leader's log falls silent"),
    (20215, 0, "a state of an older epoch is not the last where somebody led a newer one"),
    (20321, 1, "what a follower copied may be of an epoch before the one in which it followed"),
    (20387, 1, "below where one of some possible epochs opened, records need not be of any of them"),
    (20143, 0, "an end was told of some epoch, and nothing tells where any epoch up to it opened"),
    (9203, 3, "a broker's word before any role of it is of no epoch that is known"),
    (9073, 4, "its own word of a setting is older than what another broker told of it since"),
    (9081, 0, "what was surely answered is billed by itself, and not as what may have been written before"),
    (9630, 1, "a log of all roles that ends before the epochs of its broker's disk is cut short"),
    (9491, 5, "an order that its broker took is a role: it did not die in the one before"),
    (602, 2, "the log start was moved in whatever epoch"),
    (9333, 5, "a leader that has nothing of an epoch by its answer commits none of its records"),
    (86, 3, "answers before the first one that may be of another lead are judged in the whole as well"),
    (376, 6, "what whoever holds it cuts is kept nowhere"),
    (379, 3, "a later leader that had written older records there proves nothing of newer ones"),
    (394, 0, "what a follower cut is of an epoch since its log had ended there, and need not be of the newest"),
    (288, 7, "what two brokers acknowledged at one offset is billed of the epochs of both"),
    (521, 4, "a follower's cut is billed of every epoch since its log ended there"),
    (540, 2, "who led since without a line of its own here began at no known time"),
    (525, 1, "who led between two reigns of a broker tells nothing of when it began"),
    (58, 3, "of the epochs that an answer may be of, another broker may have led one"),
    (503, 4, "when it was started again before the first role that it tells is not known"),
    (411, 9, "who leads cuts nothing, so that a role is not told and it is open which records went"),
    (60, 3, "without the controllers' record nobody tells who was elected last"),
    (70, 4, "who led last may have the records, and its log is not here"),
    (77, 5, "of an election that nobody took up only controllers tell"),
    (30, 2, "the bill asks who may hold the records still, as ACK001 does"),
    (234, 6, "who was elected last may have come with them, and took no role"),
    (56, 5, "who led lacks a role since in which its log may have grown"),
    (36, 6, "the ISR up to an answer that may be of another lead is known without those after it"),
    (72, 2, "what lies between two answers of unsure epochs may have been of either"),
    (79, 7, "an answer to all replicas of an unsure epoch does not show that its leader led still"),
    (113, 9, "a cut beside a hole does not tell of which epoch the records were"),
    (121, 6, "an answer that may be of five epochs is not billed as of the first"),
    (148, 3, "without the log of requests of its leader nobody tells whether a record was sent again"),
    (179, 6, "records that may be older are not billed as of the epoch beside them"),
    (261, 2, "who started again beside a hole may have followed before"),
    (261, 5, "a follower whose log differs asks from where the leader's never ended"),
    (261, 6, "epochs of which nobody tells lie between the two that are told"),
    (261, 8, "nothing tells where the epoch opened"),
    (277, 5, "nothing tells where the epoch opened, and an older one had the records"),
]  # fmt: skip
"""Walks, ablations of them, and what they leave open: it was certain, or billed as of another epoch."""


@pytest.mark.parametrize("opened", fast_if(OPENED[:9].__contains__, OPENED))
def test_what_is_left_out_of_a_walk_opens_its_bill(opened: tuple[int, int, str], bench_of_walk: BenchOfWalk) -> None:
    seed, number, opens = opened
    bench = bench_of_walk(seed)
    report = bench.judged(draw(bench.files, random.Random(seed * 1000 + number)))
    assert report is not None
    assert [*broken(bench, report), *freed(bench, report)] == [], opens


SERVER = "broker-1/logs/server.log"
OF_BROKER_3 = {f"broker-{node}": (0.040, 0.531) for node in (1, 2, 3)}
LEFT_OUT = [
    ("restored_by_hand", ("broker-3/logs/state-change.log",), {}, "who failed to fetch may have a role since"),
    ("restored_by_hand", ("/__cluster_metadata-0/", SERVER), {}, "each of two folders may bear the other's topic id"),
    ("restored_by_hand", (".snapshot",), OF_BROKER_3, "nothing tells where a segment that is not copied begins"),
    (
        "restored_by_hand", (f"broker-2/data/epochs-0/{40:020d}", *(f"broker-{node}/logs/" for node in (1, 2, 3))), {},
        "batches behind a hole do not bear out a checkpoint's entry",
    ),
    ("restored_by_hand", (".kafka_cleanshutdown",), {}, "a log that ends at a snapshot may lack its next segment"),
    (
        "zookeeper_restored", ("partition.metadata",),
        dict.fromkeys(("broker-1", "broker-2", "zookeeper"), (0.068, 0.319)), "of one number two states were made",
    ),
    ("zookeeper_restored", ("broker-2/data/",), {}, "what a witness dated is as certain beside a checkpoint"),
    ("zookeeper_restored", ("broker-2/",), {}, "states were numbered twice, and one controller is not told"),
    (
        "zookeeper_restored", ("broker-2/",), dict.fromkeys(("broker-1", "broker-3", "zookeeper"), (0.086, 0.800)),
        "a broker took its log up in a role that it does not tell",
    ),
]  # fmt: skip
"""What is left out of a recording, whole files and stretches of logs, and what that leaves open."""


@pytest.mark.parametrize(("name", "gone", "stretches", "opens"), LEFT_OUT)
def test_what_is_left_out_accuses_nobody(
    name: str, gone: tuple[str, ...], stretches: Mapping[str, tuple[float, float]], opens: str, bench_of: BenchOf
) -> None:
    bench = bench_of(name)
    files = frozenset(source for source in bench.files if any(part in source for part in gone))
    parts = [without_middle(bench.files, node, *ends) for node, ends in stretches.items()]
    report = bench.judged(together_as_one([Ablation("files", files), *parts]))
    assert report is not None
    assert [*broken(bench, report)] == [], opens


DRAWN = [
    ("fast_failover_kip279", 40, "who told clients that it led lacks a role, and what it cut may be of that epoch"),
    ("lives_without_ids", 8, "nothing is left of the first life but that its log was deleted"),
    ("tiered_unclean", 21, "files that a broker put aside just before it stopped are there still, and not here"),
    ("lives_without_ids", 22, "a log that begins again shows a life before, whose log another broker has in use"),
]
"""Recordings, what is drawn to be left out of them, and what that leaves open."""


@pytest.mark.slow
@pytest.mark.parametrize("drawn", DRAWN)
def test_what_is_drawn_to_be_left_out_of_a_recording_accuses_nobody(
    drawn: tuple[str, int, str], bench_of: BenchOf
) -> None:
    name, number, opens = drawn
    bench = bench_of(name)
    report = bench.judged(draw(bench.files, random.Random(f"{name}-{number}")))
    assert report is not None
    assert [*broken(bench, report), *freed(bench, report)] == [], opens


def test_a_high_watermark_that_rests_may_have_advanced_before_the_trace_begins(bench_of: BenchOf) -> None:
    """Broker 1's log of requests begins when it alone is in sync; of two it takes none but what both hold."""
    bench, requests = bench_of("clients_astray"), "broker-1/logs/kafka-request.log"
    report = bench.judged(Ablation("its head", cuts=((requests, ((519069, bench.files[requests]),)),)))
    assert report is not None
    assert [*broken(bench, report)] == []


EVERY = ("broker-1", "broker-2", "broker-3", "controller-100", "zookeeper")
STRETCHES = [
    pytest.param(
        "clean_2_8", dict.fromkeys(EVERY, (0.060, 0.454)), "none tells who led, a restart tells what was committed",
        marks=pytest.mark.slow,
    ),
    ("fast_failover_kip101", {"broker-2": (0.706, 0.986), "zookeeper": (0.380, 0.683)}, "its last reign is not told"),
    ("fast_failover_kip101", dict.fromkeys(EVERY, (0.737, 1.0)), "no log reaches the last reign"),
    ("fast_failover_kip101", {"broker-1": (0.284, 0.921), "broker-2": (0.699, 0.932)}, "either may have led last"),
    ("acks_one_lost", dict.fromkeys(EVERY, (0.266, 1.0)), "no log reaches the loss"),
    ("acks_one_lost", dict.fromkeys(("broker-1", "broker-3", "controller-100"), (0.017, 1.0)), "its leader is silent"),
]  # fmt: skip
"""Stretches of logs that are missing of several brokers at once, and what they leave open."""


@pytest.mark.parametrize(
    ("kept", "brokers", "gone"),
    [
        # A server.log that tells no more than that its broker begins to start.
        (0.054, (1, 2, 3), ()),
        # Broker 1 was copied while it ran: another one shows that it followed later than its log of roles tells.
        (0.313, (1,), ("broker-1/data/.kafka_cleanshutdown",)),
    ],
)
def test_logs_that_end_before_what_disks_or_others_show_clear_nobody(
    kept: float, brokers: tuple[int, ...], gone: tuple[str, ...], bench_of: BenchOf
) -> None:
    bench = bench_of("acks_one_lost")
    parts = [without_middle(bench.files, f"broker-{broker}", kept, 1.0) for broker in brokers]
    report = bench.judged(together_as_one([*parts, Ablation("no marker", frozenset(gone))]))
    assert report is not None
    assert (report.verdict, report.coverage.scope.cut_short) == ("unknown", brokers)


@pytest.mark.parametrize(("name", "stretches", "opens"), STRETCHES)
def test_what_is_missing_of_all_logs_at_once_accuses_nobody_and_clears_nobody(
    name: str, stretches: Mapping[str, tuple[float, float]], opens: str, bench_of: BenchOf
) -> None:
    bench = bench_of(name)
    parts = [without_middle(bench.files, node, *ends) for node, ends in stretches.items()]
    report = bench.judged(together_as_one(parts))
    assert report is not None
    assert [*broken(bench, report)] == [], opens


@pytest.mark.parametrize(("gone", "first"), [("broker-1/", []), ("broker-1/data/", [((2,), False)])])
def test_who_began_first_without_committed_records_is_open_where_a_leader_before_is_not_here(
    gone: str, first: list[tuple[tuple[int, ...], bool]], bench_of: BenchOf
) -> None:
    """Broker 1 led epoch 4 without epoch 2's records, its log is not here; broker 2 followed it and led epoch 5."""
    bench = bench_of("fast_failover_kip279")
    report = bench.judged(Ablation("no broker 1", frozenset(s for s in bench.files if s.startswith(gone))))
    assert report is not None
    found = [f for f in report.violations if f.rule == "LEAD001"]
    opened = [(f.brokers, "Perhaps the leader of epoch 4 did so first" in f.message) for f in found]
    assert opened == [*first, ((), True)]


def test_what_a_cut_removed_beyond_the_proved_records_is_of_the_epoch_that_its_answer_names(bench_of: BenchOf) -> None:
    """Broker 1 tells no role since; its leader answered where epoch 0 ends, and led epoch 1 itself."""
    bench = bench_of("unclean_rejoined")
    report = bench.judged(Ablation("no roles", cuts=(("broker-1/logs/state-change.log", ((0, 211),)),)))
    assert report is not None
    assert [*broken(bench, report)] == []
    (loss,) = (loss for history in report.histories for loss in history.losses)
    assert (loss.epoch, loss.start_offset, loss.committed_end, loss.end_offset) == (0, 100, 141, 150)


def test_what_was_cut_in_the_first_role_that_is_told_is_of_no_epoch_that_may_have_been(bench_of: BenchOf) -> None:
    """Broker 2 wrote records 10–14 as the leader of epoch 2. Its word begins with epoch 4, and nobody led epoch 3."""
    bench = bench_of("fast_failover_kip279")
    report = bench.judged(without_middle(bench.files, "broker-2", 0.089, 0.493))
    assert report is not None
    assert [*broken(bench, report)] == []
    assert [loss.epoch for history in report.histories for loss in history.losses] == []
    assert not [finding for finding in report.violations if "epoch 3" in finding.message]


def test_a_cut_is_the_bills_open_point_as_a_whole_where_only_an_answers_first_record_is_in_question(
    bench_of: BenchOf,
) -> None:
    """Broker 1's word of epoch 4 is missing; of the batch that broker 2 acknowledged an answer names record 10."""
    bench = bench_of("fast_failover_kip279")
    server = Ablation("its end", cuts=(("broker-1/logs/server.log", ((0, 62936),)),))
    report = bench.judged(together_as_one([without_middle(bench.files, "broker-1", 0.483, 0.742), server]))
    assert report is not None
    assert [*broken(bench, report)] == []
    asked = [line.reason for line in report.coverage.undecided if line.rule == "the bill"]
    assert asked == ["broker 2 cut committed records 10–14. Their leader epoch is not known"]


def test_an_answer_beside_a_hole_is_not_proved_to_be_of_another_record_than_stands_there(bench_of: BenchOf) -> None:
    """Broker 2 may have answered in epoch 5 for a record of epoch 0 that was sent again: no roles are told between."""
    bench, requests = bench_of("fast_failover_kip279"), "broker-1/logs/kafka-request.log"
    holes = together_as_one([without_middle(bench.files, node, 0.5, 0.84) for node in ("broker-1", "broker-2")])
    cuts = (*(cut for cut in holes.cuts if cut[0] != requests), (requests, ((0, 39361),)))
    report = bench.judged(Ablation("roles and requests", cuts=cuts))
    assert report is not None
    assert [*broken(bench, report)] == []
    asked = [(f.start_offset, f.end_offset) for f in report.findings if f.rule == "ACK001" and f.verdict == "undecided"]
    assert (10, 11) in asked


@pytest.mark.slow
def test_a_folder_that_waits_for_its_deletion_ends_a_life_where_no_role_of_the_next_is_told(bench_of: BenchOf) -> None:
    """Broker 1 made its log anew behind the deletion, and its roles in the new topic are cut off."""
    bench, roles = bench_of("lives_without_ids"), "broker-1/logs/state-change.log"
    silent = frozenset(file for file in bench.files if file.startswith(("broker-2/logs/", "broker-3/logs/")))
    cut_short = Ablation("the first life", silent, ((roles, ((0, 18111),)),))
    report = bench.judged(cut_short)
    assert report is not None
    assert [*broken(bench, report)] == []
    assert [loss for h in report.histories if h.topic == "more" for loss in h.losses] == []


@pytest.mark.slow
def test_a_high_watermark_after_a_role_that_only_clients_were_told_of_accuses_no_leader(bench_of: BenchOf) -> None:
    """Broker 2 learnt it in epoch 3, of which only answers to clients tell; it may be of epoch 2, told before."""
    bench = bench_of("clean_2_8")
    holes = {"broker-1": (0.005, 0.970), "broker-2": (0.204, 0.502), "broker-3": (0.250, 0.729)}
    parts = [without_middle(bench.files, node, *ends) for node, ends in {**holes, "zookeeper": (0.207, 0.932)}.items()]
    roles = Ablation("no roles of broker 3", frozenset({"broker-3/logs/state-change.log"}))
    report = bench.judged(together_as_one([*parts, roles]))
    assert report is not None
    assert [*broken(bench, report)] == []
    asked = [line for line in report.coverage.undecided if line.rule == "LEAD001"]
    missing = {f"{topic}-{partition}": line.missing for line in asked for _, topic, partition in line.places}
    told = "broker 2's state-change.log (Kafka 2.5 and older: server.log) from epoch 2 on"
    assert (missing["orders-1"], missing["short-0"]) == (told, told)


@pytest.mark.parametrize("suffixes", [(".log",), (".log", ".index", ".timeindex", ".snapshot")])
@pytest.mark.parametrize("broker", [1, 2])
def test_a_segment_that_was_written_anew_behind_a_cut_is_asked_for(
    broker: int, suffixes: tuple[str, ...], bench_of: BenchOf
) -> None:
    """Broker 1 was cut to 120, which put the old segment 150 aside, and has had another one since."""
    bench, folder = bench_of("tiered_unclean"), f"broker-{broker}/data/tier-0/{150:020d}"
    report = bench.judged(Ablation("no segment 150", frozenset(f"{folder}{suffix}" for suffix in suffixes)))
    assert report is not None
    assert [*broken(bench, report)] == []
    assert [f.brokers for f in report.findings if f.rule == "SEG003"] == [(broker,)]


def test_segments_that_a_peer_put_aside_tell_where_segments_begin(bench_of: BenchOf) -> None:
    """Broker 2's own log no longer tells of segment 90; only what waits for its deletion at broker 3 does."""
    bench = bench_of("clean_1_1")
    gone = (f"broker-{broker}/data/short-0/{base:020d}" for broker in (1, 2) for base in (90, 120))
    files = frozenset(f"{stem}{suffix}" for stem in gone for suffix in (".log", ".index", ".timeindex"))
    parts = [without_middle(bench.files, "broker-2", 0.164, 0.638), Ablation("no segments", files)]
    report = bench.judged(together_as_one(parts))
    assert report is not None
    assert [*broken(bench, report)] == []
    assert (2,) in [f.brokers for f in report.findings if f.rule == "SEG003"]
