"""Partitions that nobody is in sync of, by what a controller wrote: who is left to recover from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from auditor.report.summary.actions import actions
from parsers.writers.metadata_log import partition_change_value, topic_config_value
from rules.finding import Finding, Severity
from tests.auditor.dumps_at_hand import audited
from tests.rules.broken_dumps import Yard, wrote
from tests.rules.cluster_dumps import MetadataLog, topic_id, with_metadata


def dump(
    root: Path, *, elr: Sequence[int] = (), known: Sequence[int] = (1,), least: int | None = 2, then: int | None = None,
    ends: Sequence[int] = (10, 20),
) -> Path:
    """Brokers 1 and 2, both stopped, with logs that end there; `then` led afterwards."""
    log = MetadataLog()
    log.topic("t", 1, [[1, 2]])
    if least is not None:
        log.tell([topic_config_value("t", "min.insync.replicas", str(least))])
    left = partition_change_value(topic_id(1), 0, isr=(), leader=-1, elr=elr, last_known_elr=known, version=2)
    log.tell([left], at=1000)
    if then is not None:
        log.tell([partition_change_value(topic_id(1), 0, isr=(then,), leader=then, elr=(), version=2)], at=2000)
    with_metadata(root, log)
    yard = Yard(root)
    for broker, end in enumerate(ends, start=1):
        yard.broker(broker, wrote(0, 0, end), topic_id=topic_id(1))
    return root


def found(root: Path) -> list[Finding]:
    return [finding for finding in audited(root).violations if finding.rule == "META002"]


def asked(root: Path) -> list[str]:
    return [point.reason for point in audited(root).coverage.undecided if point.rule == "META002"]


def test_one_last_known_leader_is_fewer_than_hold_each_record(tmp_path: Path) -> None:
    (finding,) = found(dump(tmp_path))
    assert (finding.brokers, finding.severity, finding.partition) == ((1,), Severity.MEDIUM, 0)
    assert finding.message == (
        "The partition is offline in epoch 1: its ISR and its eligible leader replicas (ELR) are empty. The"
        " controller elects broker 1, the last known leader, as soon as it is back. Broker 1 may lack committed"
        " records. Each committed record was once on at least 2 brokers (min.insync.replicas is 2),"
        " so another broker may still have them."
    )
    (exhibit,) = finding.exhibits
    assert "__cluster_metadata-0" in exhibit.span.source


@pytest.mark.parametrize(("ends", "lacks"), [((20, 20), True), ((20, 10), True), ((10, 20), False), ((20,), False)])
def test_where_all_logs_are_here_they_are_compared(ends: tuple[int, ...], lacks: bool, tmp_path: Path) -> None:
    """A log that is not here, or is longer, is still to be copied before broker 1 starts."""
    root = dump(tmp_path, ends=ends)
    (finding,) = found(root)
    nothing = "The logs of all assigned brokers are in this dump. Broker 1 lacks no record that another of them has."
    assert finding.message.endswith(nothing) is lacks
    to_do = [action.words for action in actions(audited(root)) if action.findings]
    assert [words.startswith("Before the last known leader starts") for words in to_do] == ([] if lacks else [True])


def test_nobody_to_recover_from_needs_no_setting(tmp_path: Path) -> None:
    (finding,) = found(dump(tmp_path, known=(), least=None))
    knows = "The controller knows no broker to elect."
    assert finding.message.endswith(f"{knows} At least one broker is needed.")


@pytest.mark.parametrize(
    "how", [{"elr": (2,)}, {"least": 1}, {"known": (1, 2)}, {"then": 1}],
    ids=["an eligible leader", "one broker is enough", "two are known", "somebody leads again"],
)  # fmt: skip
def test_what_is_lawful_is_no_finding(tmp_path: Path, how: dict[str, object]) -> None:
    root = dump(tmp_path, **how)  # type: ignore[arg-type]
    assert (found(root), asked(root)) == ([], [])


def test_without_the_setting_it_is_left_open(tmp_path: Path) -> None:
    root = dump(tmp_path, least=None)
    assert found(root) == []
    assert len(asked(root)) == 1
