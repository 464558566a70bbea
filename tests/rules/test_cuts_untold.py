"""Cuts that rest on files which were not copied: whether a broker never wrote them, its copy does not tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from rules.advice import Advice, Gate, advise
from rules.evidence import PartitionEvidence
from rules.loss.incurred import losses
from rules.sketch.notation import read_sketch
from rules.zoom.differences import with_differences
from tests.auditor.dumps_at_hand import audited, copied
from tests.replaced import replace

NEW = "kafka 1 3.9.1 ibp 3.9\nkafka 2 3.9.1 ibp 3.9\n"
NOT_COPIED = frozenset({"replication-offset-checkpoint"})


def without_watermarks(drawing: str, *brokers: int) -> PartitionEvidence:
    """What is drawn, but that the files were not copied which hold the high watermarks of these brokers."""
    drawn = with_differences(read_sketch(NEW + drawing).evidence)
    replicas = (
        replace(r, high_watermark=None, untold=NOT_COPIED) if r.broker in brokers else r for r in drawn.replicas
    )
    return replace(drawn, replicas=tuple(replicas))


def advice_on(evidence: PartitionEvidence) -> Advice:
    (told,) = advise(evidence, losses(evidence))
    return told


def gate(told: Advice, action: str) -> Gate:
    return next(g for g in told.gates if g.action == action)


BARE = "broker 1 00011| ; epochs empty, hw {mark}\nbroker 2 000222|\n"


def test_a_broker_without_epochs_cuts_by_a_file_that_is_not_here_nobody_knows_how_far() -> None:
    told = advice_on(without_watermarks(BARE.format(mark=5), 1))
    restart, election = gate(told, "restart broker 1"), gate(told, "elect broker 2")
    assert (restart.going, told.doomed, election.going) == ("unknown", (), "no-go")
    assert restart.because.endswith("is not known: the replication-offset-checkpoint of broker 1 is not here.")
    (cut,) = next(c.cuts for c in told.candidates if c.broker == 2)
    assert cut.untold
    assert cut.cut_to == 5, "no more than what it cuts in any case"


@pytest.mark.parametrize(("mark", "cut_to"), [("none", 0), ("3", 3)])
def test_a_checkpoint_that_is_here_tells_how_far_also_where_it_has_no_line(mark: str, cut_to: int) -> None:
    told = advice_on(with_differences(read_sketch(NEW + BARE.format(mark=mark)).evidence))
    (cut,) = next(c.cuts for c in told.candidates if c.broker == 2)
    assert (cut.cut_to, cut.untold) == (cut_to, "")
    assert "cuts offsets 3–4 of epoch 1" in gate(told, "restart broker 1").because


def test_where_epochs_decide_no_high_watermark_is_missed() -> None:
    told = advice_on(without_watermarks("broker 1 0000|\nbroker 2 000011|\n", 1, 2))
    assert not any(cut.untold for each in told.candidates for cut in each.cuts)


@pytest.mark.parametrize("mark", [2, 5])
def test_a_file_of_epochs_that_was_not_copied_is_not_taken_for_none(mark: int) -> None:
    """By its epochs broker 1 keeps what broker 2 has too; without any it cuts to its high watermark."""
    drawing = f"{NEW}broker 1 00000| ; epochs missing, hw {mark}\nbroker 2 00000|\n"
    told = advice_on(with_differences(read_sketch(drawing).evidence))
    (cut,) = next(c.cuts for c in told.candidates if c.broker == 2)
    assert (cut.cut_to, bool(cut.untold)) == (5, mark < 5)
    assert gate(told, "restart broker 1").going == ("unknown" if mark < 5 else "go")


def test_what_a_leader_lacks_however_far_its_follower_cuts_is_still_told(tmp_path: Path) -> None:
    """Broker 1 holds records of epoch 0 where broker 2 has those of epoch 1: it keeps them or cuts them."""
    dump = copied("fast_failover_kip101", tmp_path / "dump", logs=True)
    for checkpoint in (dump / "broker-1").rglob("*-checkpoint"):
        checkpoint.unlink()
    (placed,) = audited(dump).advice
    restart, election = gate(placed.advice, "restart broker 1"), gate(placed.advice, "elect broker 2")
    assert (restart.going, election.going, placed.advice.doomed) == ("unknown", "no-go", ())
    named = "the leader-epoch-checkpoint of broker 1 and the replication-offset-checkpoint of broker 1 are not here"
    assert named in restart.because
    assert "offsets 10–14 of epoch 0" in election.because
