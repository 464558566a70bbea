"""A topic that was deleted and created again before topics had ids: a replica that was left behind is no divergence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from parsers.writers.segments import Record, batch_bytes
from rules.finding import Severity
from rules.history.last_life import left_behind, of_the_last_life
from rules.sketch.moments import read_event
from tests.rules.broken_dumps import Batch, Yard

BEFORE, SINCE = 1_795_341_012_000, 1_795_341_042_000

MADE = """\
[2026-11-22 09:50:{at},892] INFO [Broker id={broker}] {role} t-0 starts at leader epoch 0 from offset 0 with high \
watermark 0{isr}. Previous leader epoch was -1. (state.change.logger)
"""
GONE = """\
[2026-11-22 09:50:29,660] INFO Log for partition t-0 is renamed to /d/t-0.24563d40234a483abf46d3086ce10e96-delete and \
is scheduled for deletion (kafka.log.LogManager)
"""
ISR = " ISR [1,2{third}] addingReplicas [] removingReplicas []"


def records(since: int, end: int) -> list[Batch]:
    values = [Record(offset_delta=delta, value=f"{since}-{delta}".encode()) for delta in range(10)]
    made = (
        (base, batch_bytes(base_offset=base, leader_epoch=0, records=values, base_timestamp=since + base))
        for base in range(0, end, 10)
    )
    return [Batch(base, base + 10, 0, content) for base, content in made]


def roles(broker: int, at: int, third: str = "") -> str:
    isr = ISR.format(third=third) if broker == 1 else ""
    return MADE.format(at=at, broker=broker, role="Leader" if broker == 1 else "Follower", isr=isr)


def write_logs(yard: Yard, broker: int, stated: str, server: str = "") -> None:
    logs = yard.root / yard.cluster / f"broker-{broker}" / "logs"
    logs.mkdir(parents=True)
    (logs / "state-change.log").write_text(stated)
    if server:
        (logs / "server.log").write_text(server)


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    yard = Yard(tmp_path)
    for broker in (1, 2):
        yard.broker(broker, records(SINCE, 60), topic_id=None)
    yard.broker(3, records(BEFORE, 40), topic_id=None)
    return yard


def test_disks_alone_leave_open_whether_it_is_one_topic(yard: Yard) -> None:
    assert yard.told() == []
    assert yard.undecided() == [("LOG001", (1, 3)), ("LOG001", (2, 3))]


def test_an_id_that_one_directory_lacks_leaves_it_open_too(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.broker(1, records(SINCE, 60))
    yard.broker(2, records(BEFORE, 40), topic_id=None)
    assert yard.told() == []
    assert yard.undecided() == [("LOG001", (1, 2))]


def test_logs_tell_that_a_replica_is_of_an_earlier_life(yard: Yard) -> None:
    for broker in (1, 2):
        write_logs(yard, broker, roles(broker, 10, ",3") + roles(broker, 40), GONE)
    write_logs(yard, 3, roles(3, 11))
    assert yard.told(least=Severity.INFO) == [("LOG006", "info", (3,), None, None)]
    assert yard.undecided() == []


def test_brokers_that_tell_of_one_life_hold_one_topic(yard: Yard) -> None:
    for broker in (1, 2, 3):
        write_logs(yard, broker, roles(broker, 10, ",3"))
    assert {rule for rule, *_ in yard.told(least=Severity.CRITICAL)} == {"LOG001", "LOG003"}


@pytest.mark.parametrize(
    ("goes_on", "behind"),
    [
        ("t5 deletes 1\nt5 deletes 2\nt7 leads 2 epoch 0 at 0 hw 0\nt8 follows 1 epoch 0 at 0 hw 0", {3}),
        ("t5 deletes 1\nt5 deletes 2\nt7 leads 2 epoch 0 at 0 hw 0", {1, 3}),
        ("t5 deletes 1\nt5 deletes 2\nt7 leads 2 epoch 0 at 0 hw 0\nt8 fetch 3@0 from 2 hw=0", {1}),
        ("t5 leads 1 epoch 1 at 4 hw 4", set()),
    ],
)
def test_who_is_named_in_the_last_life_was_not_left_behind(goes_on: str, behind: set[int]) -> None:
    begun = "t1 leads 1 epoch 0 at 0 hw 0\nt1 follows 2 epoch 0 at 0 hw 0\nt1 follows 3 epoch 0 at 0 hw 0\n"
    told = [read_event(line) for line in (begun + goes_on).splitlines()]
    assert left_behind(told, of_the_last_life(told)) == behind


def test_ids_in_logs_tell_lives_apart() -> None:
    begun = "t1 leader 1 epoch 0 isr 1,2,3\nt2 fetch 3@0 from 1 hw=0\nt5 leader 1 epoch 0 isr 1,2"
    first, fetch, last = (read_event(line) for line in begun.splitlines())
    told = [replace(first, topic_id="a"), replace(fetch, topic_id="a"), replace(last, topic_id="b")]
    assert left_behind(told, told[2:]) == {3}
    assert left_behind(told, told) == set()
