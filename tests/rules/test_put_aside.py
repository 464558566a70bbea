"""Before a broker is restarted: its start removes what waits for deletion, and with it perhaps the last copy."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from rules.advice import advise
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


@pytest.mark.parametrize(
    ("drawing", "held", "going", "words"),
    [
        ("broker 1 0011|\nbroker 2 0011|\n" + ANSWERED, "@2:0000|", "no-go", "removes a deleted file with lost"),
        ("broker 1 0011|\nbroker 2 0011|", "@2:0000|", "unknown", "It removes a deleted file with offsets 2–5 of"),
        ("broker 1 0000|\nbroker 2 0000|", "@2:00|", "go", "cuts nothing"),
        ("broker 1 @6:11|\nbroker 2 @6:11|", "@2:0000|", "go", "cuts nothing"),
    ],
    ids=["billed", "nobody tells whether it was answered", "the log has it", "deleted by its age"],
)
def test_a_file_that_a_start_removes_is_weighed_like_a_cut(drawing: str, held: str, going: str, words: str) -> None:
    told, because = restart(drawing, f"broker 1 {held}")
    assert (told, words in because) == (going, True), because
