"""Epochs that no record carries, reconstructed: what each protocol would have done is what the simulator does."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.simulation.script_file import read_script
from rules.catalog import BY_ID
from rules.counterfactual import Counterfactual, counterfactuals
from rules.cut_tables import cut_tables
from rules.finding import Violation
from rules.protocol.epochs import EpochStart
from rules.protocol.offsets import Epoch, Offset
from rules.protocol.replica_log import ReplicaLog
from rules.protocol.truncation import truncate_by_end_offset
from tests.lab.effort import cases, fast_if
from tests.lab.expected_from_truth import SAMPLES
from tests.lab.sample_reports import report_on
from tests.replaced import replace
from tests.rules.textbook_goldens import TEXTBOOK, scripts
from tests.unwritten.law import SPOKEN, Tally, drawn, evidence_left, judge

BY_EPOCHS = ("kip-101", "kip-279", "truncate-on-fetch")


def is_of_a_loss(script: Path) -> bool:
    """Whether a script is one of those that tell a loss."""
    return script.stem.startswith("loss")


def rows(table: Counterfactual) -> dict[str, int | None]:
    """By rule where it cuts; null where it cuts nothing."""
    return {line.rule: line.cut_to if line.cuts else None for line in table.outcomes}


def test_a_cut_by_the_high_watermark_stands_beside_what_epochs_would_have_kept(tmp_path: Path) -> None:
    script = replace(read_script(TEXTBOOK / "loss.yaml"), version="1.1.1", inter_broker_protocol=SPOKEN)
    evidence = evidence_left(script, tmp_path / "dump")
    (table,) = cut_tables(evidence)
    assert (table.follower, table.leader, table.end_offset) == (2, 1, 2)
    assert rows(table) == {"hw-truncation": 1, **dict.fromkeys(BY_EPOCHS)}
    assert "Epochs are reconstructed from who led when" in table.because
    (met,) = counterfactuals(evidence)
    assert (met.follower, met.leader) == (1, 2)
    assert rows(met) == {"hw-truncation": 0, **dict.fromkeys(BY_EPOCHS, 1)}


def test_what_was_answered_in_either_reconstructed_epoch_is_committed_on_both_sides(tmp_path: Path) -> None:
    """Broker 1 was killed before it saved a high watermark: its answers tell how far its records were committed."""
    script = replace(read_script(TEXTBOOK / "loss.yaml"), version="1.1.1", inter_broker_protocol=SPOKEN)
    evidence = evidence_left(script, tmp_path / "dump")
    (apart,) = BY_ID["LOG001"].check(evidence)
    assert isinstance(apart, Violation)
    assert (apart.brokers, apart.start_offset, apart.end_offset) == ((1, 2), 1, 2)
    assert [*BY_ID["LOG002"].check(evidence)] == []


def test_what_the_high_watermark_kept_stands_beside_what_epochs_would_have_cut(tmp_path: Path) -> None:
    script = replace(read_script(TEXTBOOK / "divergence.yaml"), version="1.1.1", inter_broker_protocol=SPOKEN)
    (table,) = cut_tables(evidence_left(script, tmp_path / "dump"))
    assert (table.follower, table.leader, table.end_offset) == (1, 2, 2)
    assert rows(table) == {"hw-truncation": None, **dict.fromkeys(BY_EPOCHS, 1)}


def test_a_recording_of_brokers_that_lost_pages_tells_both_cuts_that_epochs_would_have_made() -> None:
    tables = [placed.table for placed in report_on(SAMPLES / "lost_pages_hw").counterfactuals]
    first, second = (table for table in tables if "as its log tells" in table.because)
    assert [(table.follower, table.leader) for table in (first, second)] == [(1, 2), (2, 1)]
    assert rows(first) == {"hw-truncation": None, **dict.fromkeys(BY_EPOCHS, 40)}
    assert rows(second) == {"hw-truncation": None, "kip-101": None, "kip-279": 40, "truncate-on-fetch": 40}


def test_where_a_deposed_leader_alone_wrote_one_batch_no_evidence_tells_what_kip_101_would_have_cut(
    tmp_path: Path,
) -> None:
    """An answer names a batch's first offset, not its last: with 5 records the dumps are those with 12, byte by byte.

    Asked for epoch 2, broker 1 answers 21. With 5 records the log ends at 16 and keeps all; with 12 it is cut to 21.
    """
    text, left = (TEXTBOOK / "kip279-15.yaml").read_text(encoding="utf-8"), {}
    leader = _log(((1, 0), (3, 21)), 21)
    for records, cut in ((5, None), (12, 21)):
        (tmp_path / "script.yaml").write_text(text.replace("c(5)", f"c({records})"), encoding="utf-8")
        script = replace(read_script(tmp_path / "script.yaml"), version="1.1.1", inter_broker_protocol=SPOKEN)
        (table,) = cut_tables(evidence_left(script, tmp_path / f"{records}"))
        assert rows(table) == {"hw-truncation": 11, "kip-279": 11, "truncate-on-fetch": 11}
        assert "Open: what kip-101 would have done depends on" in table.because
        left[records] = _files(tmp_path / f"{records}")
        asked = truncate_by_end_offset(_log(((1, 0), (2, 11)), 11 + records), leader)
        assert (asked.offset if asked.cuts else None) == cut
    assert left[5] == left[12]


def _files(dump: Path) -> dict[str, bytes]:
    return {str(path.relative_to(dump)): path.read_bytes() for path in dump.rglob("*") if path.is_file()}


def _log(epochs: tuple[tuple[int, int], ...], end: int) -> ReplicaLog:
    chain = tuple(EpochStart(epoch=Epoch(epoch), start_offset=Offset(start)) for epoch, start in epochs)
    return ReplicaLog(epochs=chain, log_end_offset=Offset(end), high_watermark=Offset(11))


@pytest.mark.slow
def test_random_scripts_agree_with_the_simulator(tmp_path: Path) -> None:
    tally = Tally()
    for seed in range(5000, 5000 + max(40, cases(200))):
        judge(drawn(seed), tmp_path / f"{seed}", tally)
    assert tally.wrong == []
    assert all(tally.decided[kind] > tally.left_open[kind] // 2 for kind in ("cuts", "keeps", "meetings"))


def test_a_broker_without_any_role_may_have_written_what_it_could_have_copied(tmp_path: Path) -> None:
    """Its state-change.log and request log are lost: its server.log names whom it asked for its cuts alone."""
    tally, script = Tally(), drawn(346)
    lost = {"broker-2/logs/server.log", "broker-3/logs/kafka-request.log", "broker-3/logs/state-change.log"}
    judge(script, tmp_path / "dump", tally, frozenset(lost))
    assert tally.wrong == []


def test_a_follower_that_never_fetched_in_an_epoch_tells_nothing_of_its_records(tmp_path: Path) -> None:
    """Broker 1 was told of epoch 2 and had a high watermark of epoch 1. Broker 2 led epoch 2 with another record."""
    tally = Tally()
    judge(drawn(9166), tmp_path / "dump", tally, frozenset({"broker-1/logs/kafka-request.log"}))
    assert (tally.wrong, tally.decided["committed"]) == ([], 1)


@pytest.mark.parametrize("script", fast_if(is_of_a_loss, scripts()), ids=lambda script: script.stem)
def test_the_textbook_agrees_with_the_simulator(script: Path, tmp_path: Path) -> None:
    tally = Tally()
    judge(replace(read_script(script), version="1.1.1", inter_broker_protocol=SPOKEN), tmp_path / "dump", tally)
    assert tally.wrong == []
