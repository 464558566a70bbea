"""Segments that were not copied are no log that ends: they are named and counted, and nobody is judged by them."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from parsers.writers.checkpoints import epoch_lines
from tests.auditor.dumps_at_hand import audited, copied
from tests.rules.broken_dumps import Yard, chain, position, segment, wrote

LOG = wrote(0, 0, 60) + wrote(1, 60, 100)
TOPIC = ("my-topic.v2",)
"""A topic of five segments, each of 200 offsets, on three brokers that shut down cleanly."""
FILES = (".log", ".index", ".timeindex")


def accused(dump: Path) -> list[str]:
    return [finding.rule for finding in audited(dump).violations if finding.severity > 0]


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return copied("unclean_rejoined", tmp_path / "dump")


@pytest.mark.parametrize("also", ["", ".index", ".timeindex", "index"])
def test_a_replica_without_segments_is_no_log_that_ends_at_0(dump: Path, also: str) -> None:
    clean = copied("clean_mixed", dump.parent / "clean")
    for file in [file for file in clean.glob("broker-2/data/orders-*/*") if file.suffix == ".log" or also in file.name]:
        if file.suffix == ".log" or also:
            file.unlink()
    report = audited(clean, topic=("orders",))
    assert report.verdict == "unknown"
    assert report.violations == ()
    asked = [f.message for f in report.findings if f.rule == "SEG003"]
    assert len(asked) == 3
    assert all("of broker 2 is missing from this dump" in message for message in asked)


@pytest.mark.parametrize(("state", "whole"), [("stray", True), ("in use", False)])
def test_what_is_told_of_the_log_in_use_is_of_no_stray_one_that_ends_before(
    state: str, whole: bool, tmp_path: Path
) -> None:
    clean = copied("clean_mixed", tmp_path / "clean", logs=True)
    own = clean / "broker-2/data/orders-0"
    if state == "stray":
        own = shutil.copytree(own, own.with_name(f"orders-0.{'0' * 32}-stray"))
        (own / "partition.metadata").unlink()
        (own / "leader-epoch-checkpoint").write_bytes(b"0\n1\n0 0\n")
    for file in own.glob("0*[!g]"):
        file.unlink()
    log = own / f"{0:020d}.log"
    batch = log.read_bytes()[: 12 + struct.unpack_from(">i", log.read_bytes(), 8)[0]]
    log.write_bytes(batch)
    (own / f"{struct.unpack_from('>i', batch, 23)[0] + 1:020d}.snapshot").write_bytes(b"")
    report = audited(clean, topic=("orders",))
    assert bool([one for one in report.refusals if one.kind == "not_copied"]) is not whole


def test_what_was_not_copied_counts_in_the_coverage(dump: Path) -> None:
    whole = audited(dump).coverage
    next(dump.glob("broker-2/data/*-0/00000000000000000000.log")).unlink()
    part = audited(dump).coverage
    assert part.bytes_seen == pytest.approx(whole.bytes_seen, rel=0.1)
    assert part.ratio < 0.9


def test_checkpoints_alone_are_no_clean_cluster(dump: Path) -> None:
    for file in dump.rglob("*"):
        if file.is_file() and not file.name.endswith("checkpoint"):
            file.unlink()
    report = audited(dump, min_coverage=1.0)
    assert (report.verdict, report.exit_code, report.coverage.ratio) == ("unknown", 3, 0.0)
    assert accused(dump) == []


def test_epoch_checkpoints_alone_are_replicas_without_their_segments(dump: Path) -> None:
    for file in dump.rglob("*"):
        if file.is_file() and file.name != "leader-epoch-checkpoint":
            file.unlink()
    report = audited(dump)
    assert (report.verdict, report.exit_code) == ("unknown", 3)
    assert accused(dump) == []
    folders = [path.parent for path in dump.rglob("leader-epoch-checkpoint")]
    assert len([finding for finding in report.findings if finding.rule == "SEG003"]) == len(folders) > 0


def test_a_middle_segment_of_which_the_index_is_there_was_not_copied(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.healthy(LOG, 1, 2)
    folder = yard.broker(3, LOG, segments=[30, 60])
    (folder / f"{30:020d}.log").unlink()
    (folder / f"{30:020d}.index").write_bytes(b"")
    assert yard.told() == []
    assert ("SEG003", (3,)) in yard.undecided()


def test_a_last_segment_of_which_only_a_snapshot_tells_was_not_copied(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.healthy(LOG, 1, 2)
    folder = yard.broker(3, LOG, segments=[60])
    (folder / f"{60:020d}.snapshot").write_bytes(b"")
    assert yard.told() == []
    assert yard.undecided() == []
    (folder / f"{60:020d}.log").unlink()
    assert yard.told() == []
    assert ("SEG003", (3,)) in yard.undecided()


def without(dump: Path, bases: Sequence[int], brokers: Sequence[int], suffixes: Sequence[str] = FILES) -> Path:
    for broker in brokers:
        folder = dump / f"broker-{broker}/data/{TOPIC[0]}-0"
        for base in bases:
            for suffix in suffixes:
                (folder / f"{base:020d}{suffix}").unlink(missing_ok=True)
    return dump


@pytest.mark.parametrize("brokers", [(1, 2, 3), (1,)])
@pytest.mark.parametrize("bases", [(0,), (0, 200, 400), (400,), (600, 800)])
@pytest.mark.parametrize("sample", ["clean_4x", "clean_1_1"])
def test_whole_segments_that_are_not_here_are_never_clean(
    sample: str, bases: tuple[int, ...], brokers: tuple[int, ...], tmp_path: Path
) -> None:
    report = audited(without(copied(sample, tmp_path / "dump"), bases, brokers), topic=TOPIC)
    assert (report.verdict, report.exit_code) == ("unknown", 3)
    assert [finding.rule for finding in report.violations if finding.severity > 0] == []
    asked = {(f.rule, f.brokers) for f in report.findings if f.verdict == "undecided"}
    by_one = {("SEG003", (broker,)) for broker in brokers}
    assert asked == by_one or (sample == "clean_1_1" and asked == {("LOG008", brokers)})


@pytest.mark.parametrize("shortened", [False, True])
def test_a_last_segment_of_which_its_brokers_log_alone_tells_was_not_copied(shortened: bool, tmp_path: Path) -> None:
    """Without checkpoints and the snapshots of the stop the logs seem to end at 800; their brokers stopped at 1000."""
    dump = copied("clean_2_8", tmp_path / "dump", logs=True)
    for file in (*dump.rglob("*-checkpoint"), *dump.rglob(f"{1000:020d}.snapshot"), *dump.rglob("kafka-request.log")):
        file.unlink()
    for file in dump.glob(f"broker-*/data/{TOPIC[0]}-0/{800:020d}.*"):
        file.write_bytes(b"") if shortened else file.suffix == ".snapshot" or file.unlink()
    report = audited(dump, topic=TOPIC)
    asked = {(f.rule, f.brokers) for f in report.findings if f.verdict == "undecided"}
    accused = {(f.rule, f.brokers) for f in report.violations if f.severity > 0}
    assert (("SEG003", (3,)) in asked, ("LEO001", (3,)) in accused) == (not shortened, shortened)


@pytest.mark.parametrize("case", ["unclean_rejoined", "acks_one_lost"])
def test_a_log_that_ends_below_where_it_last_followed_may_have_been_cut(case: str, tmp_path: Path) -> None:
    """Only broker 1's server.log tells of that cut, and it is not here: no file of its log is missing."""
    dump = copied(case, tmp_path / "dump", logs=True)
    for file in dump.glob("broker-1/logs/server.log*"):
        file.unlink()
    report = audited(dump)
    assert not any(f.rule == "SEG003" for f in report.findings)


def test_where_the_cleaner_stopped_a_segment_began(tmp_path: Path) -> None:
    """It cleans no segment that is written to: the logs that seem to end at 320 went on in a file of that name."""
    dump = copied("clean_2_8", tmp_path / "dump")
    for file in dump.glob(f"broker-*/data/state-0/{320:020d}.*"):
        file.unlink()
    report = audited(dump, topic=("state",))
    assert [(f.rule, f.brokers) for f in report.violations if f.severity > 0] == []
    asked = {(f.rule, f.brokers) for f in report.findings if f.verdict == "undecided" and f.partition == 0}
    assert asked >= {("SEG003", (broker,)) for broker in (1, 2, 3)}


@pytest.mark.parametrize("brokers", [(2,), (2, 3)])
def test_a_log_of_which_indexes_alone_are_here_leaves_the_other_logs_to_be_judged(
    brokers: tuple[int, ...], tmp_path: Path
) -> None:
    dump = without(copied("clean_2_8", tmp_path / "dump"), (0, 200, 400, 600, 800), brokers, (".log",))
    report = audited(dump, topic=TOPIC)
    assert (report.verdict, report.violations, len(report.replicas)) == ("unknown", (), 3)
    asked = {(f.rule, f.brokers) for f in report.findings if f.verdict == "undecided"}
    assert asked == {("SEG003", (broker,)) for broker in brokers}


def test_a_peers_snapshot_tells_where_a_segment_began_too(tmp_path: Path) -> None:
    dump = without(copied("clean_4x", tmp_path / "dump"), (600, 800), (1, 2, 3))
    for file in dump.glob(f"broker-1/data/{TOPIC[0]}-0/*.snapshot"):
        file.unlink()
    assert [f.rule for f in audited(dump, topic=TOPIC).findings] == ["SEG003", "SEG003", "SEG003"]


def test_a_segment_without_a_byte_is_here(tmp_path: Path) -> None:
    dump = copied("clean_4x", tmp_path / "dump")
    for file in dump.glob(f"broker-*/data/{TOPIC[0]}-0/{400:020d}.*"):
        file.unlink() if file.suffix.endswith("index") else file.write_bytes(b"")
    report = audited(dump, topic=TOPIC)
    assert (report.verdict, [(f.rule, f.brokers) for f in report.findings]) == ("unknown", [("LOG008", (1, 2, 3))])


def test_the_head_of_a_log_is_named_by_where_its_epoch_file_begins(tmp_path: Path) -> None:
    report = audited(without(copied("clean_4x", tmp_path / "dump"), (0, 200), (2,)), topic=TOPIC)
    (asked,) = report.findings
    assert "a segment of broker 2 is missing from this dump" in asked.message
    assert f"broker-2/data/{TOPIC[0]}-0/{0:020d}.log" in asked.message
    assert report.coverage.ratio < 0.9


def test_what_a_replica_lost_from_its_end_is_found_though_its_head_is_not_here(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.healthy(LOG, 1, 2)
    folder = yard.broker(3, LOG[3:], epochs=chain(LOG))
    last = segment(folder, 30)
    last.write_bytes(last.read_bytes()[: position(LOG[3:], 80)])
    assert yard.told() == [("HW001", "high", (3,), 80, 100), ("SEG008", "high", (3,), 80, 100)]
    assert ("SEG003", (3,)) in yard.undecided()


HEADLESS = [(0, 0), (1, 60)]
"""An epoch file that was never cut."""


def test_the_head_of_a_log_whose_epoch_file_was_cut_was_deleted(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.healthy(LOG, 1, 2)
    folder = yard.broker(3, LOG[3:], epochs=[(0, 30), (1, 60)])
    assert yard.report().verdict == "clean"
    (folder / "leader-epoch-checkpoint").write_bytes(epoch_lines(HEADLESS))
    assert yard.undecided() == [("SEG003", (3,))]


def test_what_waits_for_its_deletion_is_the_head_of_its_log(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    folders = [yard.broker(broker, LOG[3:], epochs=HEADLESS) for broker in (1, 2)]
    assert yard.undecided() == [("SEG003", (1,)), ("SEG003", (2,))]
    for folder in folders:
        (folder / f"{0:020d}.log.deleted").write_bytes(b"".join(one.content for one in LOG[:3]))
    assert yard.report().verdict == "clean"


MOVED = "[2026-11-21 06:18:13,607] INFO [UnifiedLog partition=t-0, dir=/d] Incremented log start offset to {} due to {}"
INCREMENT = MOVED + " (kafka.log.UnifiedLog)\n"


@pytest.mark.parametrize(
    ("clean", "teller", "to", "asked"),
    [(True, 3, 30, []), (True, 3, 20, [3]), (True, 1, 30, [3]), (False, 1, 30, []), (False, 1, 20, [3])],
)
def test_a_log_start_that_a_broker_moved_explains_its_head_and_while_it_runs_its_peers_do(
    clean: bool, teller: int, to: int, asked: list[int], tmp_path: Path
) -> None:
    yard = Yard(tmp_path)
    for broker in (1, 2, 3):
        yard.broker(broker, LOG[3:] if broker > 2 else LOG, clean=clean, epochs=HEADLESS)
    logs = tmp_path / yard.cluster / f"broker-{teller}/logs"
    logs.mkdir()
    (logs / "server.log").write_text(INCREMENT.format(to, "segment deletion"))
    assert [brokers for rule, brokers in yard.undecided() if rule == "SEG003"] == [(broker,) for broker in asked]
    assert yard.told() == []


def test_a_peer_whose_log_begins_later_explains_the_head_of_a_copy_taken_live(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.broker(1, LOG[5:], clean=False, epochs=[(0, 50), (1, 60)])
    yard.broker(2, LOG[3:], clean=False, epochs=HEADLESS)
    assert yard.undecided() == []


REMOTELY = [("SEG003", (1, 2))]
"""One question of the partition: nobody tells of the copies in remote storage."""


@pytest.mark.parametrize(("system", "asked"), [("true", REMOTELY), ("false", [("SEG003", (1,)), ("SEG003", (2,))])])
def test_a_log_start_of_0_on_disk_tells_of_remote_storage_where_there_may_be_one(
    system: str, asked: list[object], tmp_path: Path
) -> None:
    yard = Yard(tmp_path)
    for broker in (1, 2):
        yard.broker(broker, LOG[3:], epochs=HEADLESS, start=0)
    assert yard.undecided() == REMOTELY
    for broker in (1, 2):
        properties = tmp_path / yard.cluster / f"broker-{broker}/server.properties"
        properties.write_text(f"node.id={broker}\nremote.log.storage.system.enable={system}\n")
    assert yard.undecided() == asked


def test_a_log_start_of_0_tells_nothing_where_another_broker_wrote_none_down(tmp_path: Path) -> None:
    """Each broker writes down the start of every log that is kept in remote storage too."""
    yard = Yard(tmp_path)
    yard.broker(1, LOG)
    yard.broker(2, LOG[3:], epochs=HEADLESS, start=0)
    assert [point for point in yard.report().findings if point.rule == "SEG003" and point.brokers == (2,)]
    assert yard.report().verdict == "unknown"


def test_a_log_start_to_which_a_client_had_records_deleted_does_not(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    for broker in (1, 2):
        yard.broker(broker, LOG[3:], epochs=[(0, 15), (1, 60)], start=15)
    assert yard.undecided() == [("SEG003", (1,)), ("SEG003", (2,))]


def test_remote_storage_explains_no_more_of_a_head_than_was_copied_there(tmp_path: Path) -> None:
    dump = copied("tiered", tmp_path / "dump")
    assert audited(dump).verdict == "clean"
    for folder in dump.glob("broker-*/data/tier-0"):
        for file in [*folder.glob("*.deleted"), *folder.glob(f"{240:020d}.*"), *folder.glob(f"{270:020d}.*")]:
            file.unlink()
    assert audited(dump).verdict == "clean"  # remote storage holds the offsets up to 300
    for folder in dump.glob("broker-*/data/tier-0"):
        last = folder / f"{300:020d}.log"
        last.rename(folder / f"{310:020d}.log")
    assert audited(dump).verdict == "unknown"


def test_what_waits_for_its_deletion_shows_no_cut_of_a_log_whose_end_is_not_here(tmp_path: Path) -> None:
    dump = copied("tiered", tmp_path / "dump")
    for file in dump.glob("broker-1/data/tier-0/*"):
        if file.suffix in FILES:
            file.unlink()
    assert accused(dump) == []
    assert [f.brokers for f in audited(dump).findings if f.rule == "SEG003"] == [(1,)]


def test_a_replica_that_is_not_here_whole_is_advised_for_nothing(dump: Path) -> None:
    next(dump.glob("broker-2/data/*-0/00000000000000000000.log")).unlink()
    (placed,) = [one for one in audited(dump).advice if one.topic != "__cluster_metadata"]
    going = {gate.action: gate.going for gate in placed.advice.gates}
    assert going["elect broker 2"] == "no-go"
    assert "go" not in {word for action, word in going.items() if action.startswith("elect")}
    assert going["restart broker 2"] == "unknown"
    assert [candidate.broker for candidate in placed.advice.candidates][-1] == 2


@pytest.mark.parametrize(("recovery", "asked"), [(60, []), (100, [("SEG003", (3,))])])
def test_a_cut_leaves_the_high_watermark_where_it_was_but_no_recovery_point(
    recovery: int, asked: list[object], tmp_path: Path
) -> None:
    yard = Yard(tmp_path)
    for broker in (1, 2):
        yard.broker(broker, LOG, segments=[30, 60])
    folder = yard.broker(3, LOG[:6], segments=[30], hw=100, recovery=recovery)
    (folder / f"{60:020d}.log.deleted").write_bytes(b"".join(one.content for one in LOG[6:]))
    assert [each for each in yard.undecided() if each[0] == "SEG003"] == asked
    assert ("SEG008" in {told[0] for told in yard.told()}) is False


LOADED = (
    "[2026-11-21 05:20:00,000] INFO Completed load of Log(dir=/d/t-0, topicId=AAAAAAAAAAAAAAAAAAAAAQ, topic=t, "
    "partition=0, highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset=80) with 1 segments, "
    "local-log-start-offset 0 and log-end-offset 80 in 4ms (1/1 completed in /d) (kafka.log.LogManager)\n"
)


@pytest.mark.parametrize(
    ("peers", "loaded", "copied", "asked"),
    [
        ((), False, "live", []),
        ((80,), False, "live", [("SEG003", (3,))]),
        ((80,), True, "live", []),
        ((), False, "stopped", [("SEG003", (3,))]),
    ],
)
def test_a_snapshot_of_an_earlier_stop_asks_for_no_segment_of_a_copy_taken_live(
    peers: tuple[int, ...], loaded: bool, copied: str, asked: list[object], tmp_path: Path
) -> None:
    yard = Yard(tmp_path)
    for broker in (1, 2):
        yard.broker(broker, LOG, clean=False, segments=peers)
    folder = yard.broker(3, LOG[:8], clean=False, hw=100, recovery=0)
    (folder / f"{80:020d}.snapshot").write_bytes(b"")
    if loaded:
        logs = folder.parents[1] / "logs"
        logs.mkdir()
        (logs / "server.log").write_text(LOADED, encoding="utf-8")
    report = audited(tmp_path, copied=copied)
    assert [(f.rule, f.brokers) for f in report.findings if f.rule == "SEG003"] == asked
    assert [f.rule for f in report.violations if f.severity > 1] == []


@pytest.mark.parametrize(("snapshot", "copied", "verdicts"), [
    (80, "live", ["undecided", "undecided"]),
    (80, "crashed", []),
    (70, "live", ["violated", "violated"]),
])  # fmt: skip
def test_a_log_that_ends_at_a_snapshot_is_not_said_to_have_lost_its_end(
    snapshot: int, copied: str, verdicts: list[str], tmp_path: Path
) -> None:
    """Its next segment may not have been copied: nobody here tells whether the broker ever began one there."""
    yard = Yard(tmp_path)
    for broker in (1, 2):
        yard.broker(broker, LOG, clean=False)
    folder = yard.broker(3, LOG[:8], clean=False, hw=100, recovery=100)
    (folder / f"{snapshot:020d}.snapshot").write_bytes(b"")
    report = audited(tmp_path, copied=copied)
    assert [f.verdict for f in report.findings if f.rule in ("HW001", "SEG008")] == verdicts
    assert ("SEG003" in [f.rule for f in report.findings]) is (copied == "crashed")


@pytest.mark.parametrize("kept", [False, True])
def test_without_the_snapshot_of_a_stop_no_end_of_its_log_is_known(kept: bool, tmp_path: Path) -> None:
    """Only the first segment was copied; where the snapshot of the stop is here, and none of a segment, its end is."""
    dump = copied("restored_by_hand", tmp_path / "dump")
    folder = dump / "broker-1/data/right-0"
    for file in folder.glob("000*"):
        if not (file.name.startswith(f"{0:020d}.") or (kept and file.name == f"{70:020d}.snapshot")):
            file.unlink()
    report = audited(dump, topic=("right",))
    assert {f.rule for f in report.violations if f.brokers == (1,)} == ({"HW001", "SEG008"} if kept else set())
    asked = [f.message for f in report.findings if f.rule == "SEG003"]
    assert len(asked) == (not kept)
    assert all(f"broker-1/data/right-0/{45:020d}.log" in message for message in asked)
