"""Folders in wrong places of which no other broker's copy tells: what brokers logged belies them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from auditor.report.model import AuditReport
from rules.finding import Severity
from tests.auditor.dumps_at_hand import audited, copied
from tests.auditor.test_foreign_folders import foreign, swapped
from tests.rules.broken_dumps import Batch, Yard, wrote

ROLES = ("server.log", "state-change.log", "controller.log")


def kept_alone(dump: Path, *brokers: int) -> Path:
    """The dump with the disks and logs of these brokers, and of no other node."""
    for node in dump.iterdir():
        if node.name not in {f"broker-{broker}" for broker in brokers}:
            shutil.rmtree(node)
    return dump


def grave(report: AuditReport) -> set[tuple[str, tuple[int, ...]]]:
    return {(finding.rule, finding.brokers) for finding in report.violations if finding.severity > Severity.LOW}


def asked(report: AuditReport) -> set[tuple[int | None, tuple[int, ...]]]:
    found = (f for f in report.findings if f.rule == "LOG007" and f.verdict == "undecided")
    return {(finding.partition, finding.brokers) for finding in found}


@pytest.mark.parametrize("broker", [1, 2, 3])
def test_folders_of_one_length_that_changed_places_are_told_by_where_epochs_were_opened(
    broker: int, tmp_path: Path
) -> None:
    dump = kept_alone(copied("clean_4x", tmp_path / "dump", logs=True), broker)
    report = audited(swapped(dump, f"broker-{broker}", ("orders-1", "orders-2")), topic=("orders",))
    assert grave(report) == {("LOG007", (broker,))}
    assert ("orders", 1, broker) in foreign(report)
    told = {f.message for f in report.violations if f.rule == "LOG007"}
    assert any("opened epoch" in message and "has it so" in message for message in told)


@pytest.mark.parametrize("gone", [ROLES, ("kafka-request.log",)])
def test_less_of_the_logs_opens_the_verdict_and_accuses_nobody(gone: tuple[str, ...], tmp_path: Path) -> None:
    dump = copied("clean_4x", tmp_path / "dump", logs=True)
    for broker in (2, 3):
        shutil.rmtree(dump / f"broker-{broker}")
    for log in gone:
        for path in dump.glob(f"broker-1/logs/{log}"):
            path.unlink()
    report = audited(swapped(dump, "broker-1", ("orders-1", "orders-2")), topic=("orders",))
    assert grave(report) <= {("LOG007", (1,))}
    assert report.verdict != "clean"


def test_folders_that_changed_places_on_every_broker_accuse_nobody(tmp_path: Path) -> None:
    dump = copied("clean_4x", tmp_path / "dump", logs=True)
    for broker in (1, 2, 3):
        swapped(dump, f"broker-{broker}", ("orders-1", "orders-2"))
    report = audited(dump, topic=("orders",))
    assert grave(report) == set()
    assert foreign(report) == {("orders", partition, broker) for partition in (1, 2) for broker in (1, 2, 3)}
    assert asked(report) == {(partition, (broker,)) for partition in (1, 2) for broker in (1, 2, 3)}


def test_what_one_broker_has_is_told_as_it_was(tmp_path: Path) -> None:
    """A log in its place is belied by nothing that its broker told, whichever broker it is."""
    for broker in (1, 2, 3):
        dump = kept_alone(copied("clean_4x", tmp_path / str(broker), logs=True), broker)
        report = audited(dump)
        assert (grave(report), asked(report), foreign(report)) == (set(), set(), set())


def test_a_loss_is_told_of_one_broker_as_ever(tmp_path: Path) -> None:
    """A leader that cut what it had acknowledged told of it: its folder is in its place."""
    dump = copied("unclean_4x", tmp_path / "dump", logs=True)
    whole = {f.rule for f in audited(dump).violations}
    for broker in (2, 3):
        shutil.rmtree(dump / f"broker-{broker}", ignore_errors=True)
    report = audited(dump)
    assert "LEAD001" in whole
    assert "LEAD001" in {f.rule for f in report.violations}
    assert (asked(report), foreign(report)) == (set(), set())


def test_a_log_of_another_topic_that_is_nowhere_else_is_asked_about(tmp_path: Path) -> None:
    """Its folder bears the partition's own id, and no copy of that other topic is here."""
    dump = copied("clean_2_8", tmp_path / "dump", logs=True)
    own = (dump / "broker-1/data/orders-2/partition.metadata").read_bytes()
    shutil.rmtree(dump / "broker-1/data/orders-2")
    shutil.copytree(dump / "broker-1/data/state-1", dump / "broker-1/data/orders-2")
    (dump / "broker-1/data/orders-2/partition.metadata").write_bytes(own)
    for folder in dump.glob("broker-*/data/state-*"):
        shutil.rmtree(folder)
    report = audited(dump, topic=("orders",))
    assert (grave(report), asked(report), foreign(report)) == (set(), {(2, (1,))}, {("orders", 2, 1)})
    for logs in dump.glob("broker-*/logs"):
        shutil.rmtree(logs)
    disks = audited(dump, topic=("orders",))
    said = {(f.rule, f.verdict) for f in disks.findings if f.partition == 2}
    assert {("LOG004", "undecided"), ("LOG005", "undecided")} <= said
    assert not {("LOG004", "violated"), ("LOG005", "violated")} & said


@pytest.mark.parametrize("ids", ["stayed", "gone"])
def test_ids_that_did_not_move_with_the_logs_tell_nothing(ids: str, tmp_path: Path) -> None:
    dump = copied("clean_4x", tmp_path / "dump")
    folders = [dump / "broker-2/data" / name / "partition.metadata" for name in ("orders-0", "state-1")]
    own = [path.read_bytes() for path in folders]
    swapped(dump, "broker-2", ("orders-0", "state-1"))
    for path, content in zip(folders, own, strict=True):
        path.unlink() if ids == "gone" else path.write_bytes(content)
    report = audited(dump)
    assert grave(report) == {("LOG007", (2,))}
    assert foreign(report) == {("orders", 0, 2), ("state", 1, 2)}


def test_of_two_topics_the_one_that_bears_an_id_most_has_it(tmp_path: Path) -> None:
    """Two brokers of which one's folders changed places: as many folders of a small topic bear either id."""
    dump = copied("clean_2_8", tmp_path / "dump")
    shutil.rmtree(dump / "broker-3")
    report = audited(swapped(dump, "broker-1", ("__transaction_state-0", "my-topic.v2-0")))
    assert grave(report) == {("LOG007", (1,))}


def test_groups_of_a_log_in_a_wrong_folder_are_in_no_wrong_partition(tmp_path: Path) -> None:
    dump = copied("clean_4x", tmp_path / "dump")
    shutil.copytree(dump / "broker-3", tmp_path / "one" / "broker-3")
    shutil.copytree(dump / "controller-100", tmp_path / "one" / "controller-100")
    report = audited(swapped(tmp_path / "one", "broker-3", ("__consumer_offsets-0", "__consumer_offsets-1")))
    assert grave(report) == {("LOG007", (3,))}


def test_of_one_log_that_a_broker_has_twice_both_folders_are_asked_about(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    log = wrote(0, 0, 60, "a")
    for partition in (0, 1):
        yard.broker(1, log, partition=partition)
    report = yard.report()
    assert (grave(report), asked(report)) == (set(), {(0, (1,)), (1, (1,))})


def test_of_a_log_that_a_broker_has_twice_the_end_that_it_told_shows_the_copy(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.broker(1, wrote(0, 0, 60, "a"))
    yard.broker(1, wrote(0, 0, 60, "a"), partition=1, recovery=90)
    report = yard.report()
    assert (grave(report), asked(report)) == ({("LOG007", (1,))}, set())
    assert foreign(report) == {("t", 1, 1)}


def with_a_hole(log: list[Batch], start: int, end: int) -> list[Batch]:
    return [batch for batch in log if not start <= batch.base < end]


@pytest.mark.parametrize(("key", "told"), [(None, {1, 2, 3}), (b"k", set())])
def test_a_hole_that_every_replica_has_is_no_cleaners_work_beside_records_without_keys(
    key: bytes | None, told: set[int], tmp_path: Path
) -> None:
    yard = Yard(tmp_path)
    for broker in (1, 2, 3):
        yard.broker(broker, with_a_hole(wrote(0, 0, 100, key=key), 40, 60), cleaner=80)
    report = yard.report()
    open_ones = {b for f in report.findings if f.rule == "SEG005" and f.verdict == "undecided" for b in f.brokers}
    assert open_ones == told
    assert report.verdict == ("unknown" if told else "clean")


def test_records_without_keys_behind_a_hole_and_below_a_cleaners_point_are_seen(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    for broker in (1, 2, 3):
        log = [*wrote(0, 0, 40, key=b"k"), *wrote(0, 60, 100)]
        yard.broker(broker, log, cleaner=80)
    report = yard.report()
    assert report.verdict == "unknown"
    assert {f.rule for f in report.findings} == {"SEG005"}


def test_records_without_keys_beyond_every_cleaners_point_are_lawful(tmp_path: Path) -> None:
    """Nobody has cleaned them yet."""
    yard = Yard(tmp_path)
    for broker in (1, 2, 3):
        yard.broker(broker, [*with_a_hole(wrote(0, 0, 80, key=b"k"), 40, 60), *wrote(0, 80, 100)], cleaner=80)
    assert yard.report().verdict == "clean"


def test_logs_that_a_cleaner_took_the_beginning_of_are_known_by_the_segment_that_is_written(tmp_path: Path) -> None:
    """Each broker's cleaner left other batches in front; nothing was taken out of the last segment."""
    yard = Yard(tmp_path)
    folders = {}
    for (broker, partition) in ((b, p) for b in (1, 2) for p in (0, 1)):
        log = wrote(0, 0, 90, "ab"[partition], key=b"k")
        folders[broker, partition] = yard.broker(
            broker, log[broker:], partition=partition, segments=(0, 60), cleaner=60, topic_id=None
        )
    swapped(folders[1, 0].parents[2], "broker-1", ("t-0", "t-1"))
    report = yard.report()
    assert grave(report) == set()
    assert foreign(report) == {("t", partition, broker) for partition in (0, 1) for broker in (1, 2)}
