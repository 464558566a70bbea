"""Before a broker is restarted: its start removes what waits for deletion, and with it perhaps the last copy."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from rules.advice import advise
from rules.advice.put_aside import removes_unseen
from rules.evidence import SegmentFile
from rules.loss.incurred import losses
from rules.replicas.replica import Leftover
from rules.sketch.notation import read_sketch
from rules.zoom.differences import with_differences

VERSIONS = "kafka 1 3.9.1 ibp 3.9\nkafka 2 3.9.1 ibp 3.9\n"
ANSWERED = "t1 leads 1 epoch 0 at 0 hw 0\nt2 acks 1 at 2 acks=1\nt3 acks 1 at 5 acks=1\nt4 leads 2 epoch 1 at 2 hw 2\n"


def restart(drawing: str, held: str) -> tuple[str, str]:
    """How the restart of broker 1 is judged where a file of it that waits for deletion holds what is drawn."""
    drawn, aside = read_sketch(VERSIONS + drawing).evidence, read_sketch(held).evidence.current[0]
    left = Leftover(base_offset=aside.log_start_offset, source="2.log.deleted", size=210, epochs=aside.log.epochs)
    first, *others = drawn.replicas
    evidence = with_differences(replace(drawn, replicas=(replace(first, leftovers=(left,)), *others)))
    (told,) = advise(evidence, losses(evidence))
    gate = next(gate for gate in told.gates if gate.action == "restart broker 1")
    return gate.going, gate.because


def test_a_file_beside_a_copy_that_never_was_a_replica_may_be_the_last_copy_too() -> None:
    drawn = read_sketch(f"broker 1 0011|\nbroker 2 0011|\nbroker 3 00| ; future\n{ANSWERED}").evidence
    aside = read_sketch("broker 3 @2:0000|").evidence.current[0]
    left = Leftover(base_offset=aside.log_start_offset, source="2.log.deleted", size=210, epochs=aside.log.epochs)
    *others, future = drawn.replicas
    evidence = with_differences(replace(drawn, replicas=(*others, replace(future, leftovers=(left,)))))
    (told,) = advise(evidence, losses(evidence))
    assert {g.going for g in told.gates if g.action == "restart broker 3" or "all brokers" in g.action} == {"no-go"}


@pytest.mark.parametrize(
    ("drawing", "held", "going", "words"),
    [
        ("broker 1 0011|\nbroker 2 0011|\n" + ANSWERED, "@2:0000|", "no-go", "in a file set aside for deletion"),
        ("broker 1 0011|\nbroker 2 0011|", "@2:0000|", "unknown", "for deletion (.deleted), with offsets 2–5 of"),
        ("broker 1 0000|\nbroker 2 0000|", "@2:00|", "go", "cuts nothing"),
        ("broker 1 @6:11|\nbroker 2 @6:11|", "@2:0000|", "go", "cuts nothing"),
    ],
    ids=["billed", "nobody tells whether it was answered", "the log has it", "deleted by its age"],
)
def test_a_file_that_a_start_removes_is_weighed_like_a_cut(drawing: str, held: str, going: str, words: str) -> None:
    told, because = restart(drawing, f"broker 1 {held}")
    assert (told, words in because) == (going, True), because


def gates(drawing: str) -> dict[str, str]:
    """How each action is judged."""
    evidence = with_differences(read_sketch(VERSIONS + "kafka 3 3.9.1 ibp 3.9\n" + drawing).evidence)
    (told,) = advise(evidence, losses(evidence))
    return {gate.action: gate.going for gate in told.gates}


@pytest.mark.parametrize(
    ("folder", "going"),
    [("0000000", "unknown"), ("0000", None), ("@2:00", None)],
    ids=["it has more than every log", "every log has it", "deleted by its age"],
)
def test_a_folder_that_waits_for_its_deletion_may_be_the_last_copy_though_no_log_tells(
    folder: str, going: str | None
) -> None:
    begun = "@4:" if folder.startswith("@") else "0000"
    drawn = f"broker 1 {begun}00|\nbroker 2 {begun}00|\nbroker 3 {folder}| ; deleted\n"
    drawn = drawn.replace(f"{begun}00", "0000") if going else drawn
    assert gates(drawn).get("restart broker 3") == going


@pytest.mark.parametrize(
    ("brokers", "action"),
    [
        ("broker 1 0000|\nbroker 2 0000|\nbroker 3 0000000| ; stray", "delete "),
        # Broker 2 lacks its head, which its leader still has: nobody deleted it.
        ("broker 1* 0000|\nbroker 2 @3:0|\nbroker 3 1100| ; deleted", "restart broker 3"),
        ("broker 1 0000|\nbroker 2 0000|\nbroker 4 0000000| ; future\nbroker 3 0000000| ; deleted", "restart broker 3"),
    ],
    ids=["a stray folder", "beside a log without its head", "beside a copy that never was a replica"],
)
def test_a_last_copy_is_one_whatever_lies_beside_it(brokers: str, action: str) -> None:
    assert {going for told, going in gates(f"{brokers}\n").items() if told.startswith(action)} == {"unknown"}


def test_a_file_in_a_folder_that_waits_for_its_deletion_may_be_the_last_copy() -> None:
    drawn = read_sketch(f"{VERSIONS}broker 1 0000|\nbroker 2 0000|\nbroker 3 00| ; deleted\n").evidence
    held = read_sketch("broker 3 @4:000|").evidence.current[0]
    left = Leftover(base_offset=4, source="4.log.deleted", size=210, epochs=held.log.epochs)
    *others, folder = drawn.replicas
    evidence = with_differences(replace(drawn, replicas=(*others, replace(folder, leftovers=(left,)))))
    (told,) = advise(evidence, losses(evidence))
    assert {gate.going for gate in told.gates if gate.action == "restart broker 3"} == {"unknown"}


def test_a_folder_with_the_last_copy_of_one_loss_is_kept_whatever_stands_of_another_at_its_offsets() -> None:
    first = "t1 leads 1 epoch 0 at 0 hw 0\nt2 acks 1 at 6 acks=all\n"
    then = "t3 leads 2 epoch 1 at 4 hw 4\nt4 acks 2 at 6 acks=all\nt9 leads 1 epoch 2 at 4 hw 4\n"
    drawn = f"broker 1 0000222|\nbroker 2 0000111|\nbroker 3 0000000| ; stray\n{first}{then}"
    assert [action for action, going in gates(drawn).items() if action.startswith("delete ") and going == "no-go"]


@pytest.mark.parametrize(
    ("later", "going"),
    [("", "unknown"), ("t70000 fetch 2@4 from 1 hw=4\n", "go"), ("elsewhere", "go")],
    ids=["its logs end soon", "it ran on", "it told of other partitions"],
)
def test_who_may_have_been_killed_soon_after_a_cut_may_remove_files_that_are_not_here(later: str, going: str) -> None:
    steady, later = ({"broker 1": ((5, 90_000),)}, "") if later == "elsewhere" else ({}, later)
    told = f"{ANSWERED}t5 follows 1 epoch 1 at 6 hw 2 from 2\nt6 truncates 1 to 2\n{later}"
    drawn = read_sketch(f"{VERSIONS}broker 1 00/11|\nbroker 2 0011|\n{told}").evidence
    replicas = tuple(
        replace(r, segments=(*r.segments, SegmentFile(base_offset=4, source="4.log", size=0))) for r in drawn.replicas
    )
    evidence = with_differences(replace(drawn, replicas=replicas, steady=steady))
    gate = removes_unseen(evidence.replicas[0], losses(evidence), evidence)
    assert (gate.going if gate else "go") == going
    killed = "It may have been killed less than a minute after it had cut its log from 6 to 2."
    assert gate is None or killed in gate.because
