"""Where no epoch decides a cut that is owed, the page says whose epochs are missing, and why."""

from __future__ import annotations

from parsers.provenance import Span
from rules.catalog.trunc004_truncation_owed import truncation_owed
from rules.evidence import NO_EPOCH_FILE, PartitionEvidence
from rules.finding import Undecided
from rules.sketch.notation import read_sketch
from tests.replaced import replace

STOPPED = Span(source=".kafka_cleanshutdown", start=0, end=1)


def said(evidence: PartitionEvidence) -> list[str]:
    return [each.reason for each in truncation_owed.check(evidence) if isinstance(each, Undecided)]


def test_an_empty_follower_owes_nothing_and_nothing_is_said_of_its_epochs() -> None:
    evidence = read_sketch("broker 1* 0000|\nbroker 2  |\n").evidence
    assert list(truncation_owed.check(evidence)) == []


def test_a_lost_epoch_file_is_named_with_its_broker() -> None:
    evidence = read_sketch("broker 1* 0011|\nbroker 2  0000|\n").evidence
    leader, follower = evidence.replicas
    lost = replace(follower, epoch_file=NO_EPOCH_FILE, clean_shutdown=STOPPED)
    (reason,) = said(replace(evidence, replicas=(leader, lost)))
    assert reason == (
        "in this dump, there is no leader-epoch-checkpoint of broker 2."
        " If that is so on broker 2 too, broker 2 will truncate to its high watermark 4"
        " when it follows broker 1."
        " Its log end offset is 4, so it then removes nothing."
        " If the file there has entries for these records, leader epochs may decide instead."
        " Whether broker 2 then keeps records that broker 1 lacks and that should go is not known"
    )


def test_records_without_epochs_are_named_as_such() -> None:
    evidence = read_sketch("broker 1* ----|\nbroker 2  ----|\n").evidence
    assert {reason.split(". ")[1] for reason in said(evidence)} == {
        "Broker 2's records carry no leader epochs (message format 0 or 1)"
    }
