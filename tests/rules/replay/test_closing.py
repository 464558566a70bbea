"""What stood at a clean shutdown, by the replay: recorded disks agree with it, and disks that were changed do not."""

from __future__ import annotations

from typing import Final

import pytest

from rules.catalog import RULES
from rules.chronicle.chronicle import Chronicle
from rules.evidence import METADATA_TOPIC, Closing, OffsetClaim, PartitionEvidence, Replica, Unclosed
from rules.evidence.expected import expected_high_watermark, expected_log_end
from rules.finding import Violation
from rules.settings import STARTED, STOPPED, settings_of
from tests.lab.effort import fast_if
from tests.lab.sample_histories import SAMPLES, histories
from tests.replaced import replace

CASES: Final = sorted(path.parent.name for path in SAMPLES.glob("*/truth.json") if path.parent.name != "dump_log_text")
FAST: Final = ("fast_failover_kip101", "lost_pages_hw", "unclean_4x")
ON_DISK: Final = ("the checkpoint of broker", "on disk")
STANDING: Final = ("HW002", "HW003", "HW004", "LEO001")


def closed(case: str) -> list[tuple[PartitionEvidence, Replica, Closing]]:
    found = [evidence for evidence in histories(case).values() if evidence.topic != METADATA_TOPIC]
    return [
        (evidence, replica, closing)
        for evidence in found
        for closing in evidence.closings
        for replica in evidence.current
        if isinstance(closing, Closing) and replica.broker == closing.broker
    ]


def said(evidence: PartitionEvidence) -> set[tuple[str, int, int | None, int | None]]:
    return {
        (rule.id, broker, found.start_offset, found.end_offset)
        for rule in RULES
        if rule.id in STANDING
        for found in rule.check(evidence)
        if isinstance(found, Violation) and str(found.facts.get("subject")).startswith(ON_DISK)
        for broker in found.brokers
    }


def claiming(evidence: PartitionEvidence, replica: Replica, high_watermark: int) -> PartitionEvidence:
    assert replica.high_watermark is not None
    claim = OffsetClaim(offset=high_watermark, span=replica.high_watermark.span)
    return with_replica(evidence, replica, replace(replica, high_watermark=claim))


def with_replica(evidence: PartitionEvidence, old: Replica, new: Replica) -> PartitionEvidence:
    return replace(evidence, replicas=tuple(new if replica is old else replica for replica in evidence.replicas))


@pytest.mark.parametrize("case", fast_if(FAST.__contains__, CASES))
def test_recorded_disks_hold_what_the_replay_says(case: str) -> None:
    for evidence, replica, closing in closed(case):
        assert replica.high_watermark is not None
        assert closing.high_watermark.interval.contains(replica.high_watermark.offset)
        # A log of which a segment was taken away may go on there.
        if replica.end_known:
            assert replica.log_end_offset >= (closing.log_end.interval.low or 0)
            assert replica.log_end_offset <= (closing.log_end.interval.high or replica.log_end_offset)
        assert said(evidence) == set()


@pytest.mark.parametrize("case", fast_if(FAST.__contains__, CASES))
def test_a_checkpoint_that_was_changed_is_named(case: str) -> None:
    for evidence, replica, closing in closed(case):
        broker, (low, high) = replica.broker, (closing.high_watermark.low, closing.high_watermark.high)
        if low is not None and low.offset > 0:
            lowered = claiming(evidence, replica, low.offset - 1)
            assert said(lowered) == {("HW002", broker, low.offset - 1, low.offset)}
            expected = expected_high_watermark(lowered.current[evidence.current.index(replica)], lowered)
            assert (expected.low, expected.high) == (low, high)
        if high is not None and high.offset < replica.log_end_offset:
            raised = claiming(evidence, replica, high.offset + 1)
            assert {found[1:] for found in said(raised)} <= {(broker, high.offset, high.offset + 1)}


def test_a_checkpoint_of_a_log_that_was_cut_itself_is_no_lowered_one() -> None:
    shorter = 0
    for evidence, replica, closing in closed("unclean_4x"):
        low = closing.high_watermark.low
        assert low is not None
        cut = replace(replica, log=replace(replica.log, end_offset=low.offset - 1))
        if cut.log_end_offset < low.offset:
            shorter += 1
            lowered = claiming(with_replica(evidence, replica, cut), cut, low.offset - 1)
            assert "HW002" not in {found[0] for found in said(lowered)}
    assert shorter > 0


def test_a_checkpoint_that_was_raised_is_named() -> None:
    evidence, leader, _ = next(found for found in closed("unclean_4x") if found[2].broker == found[2].leader)
    log = replace(leader.log, end_offset=leader.log_end_offset + 9)
    longer = with_replica(evidence, leader, replace(leader, log=log))
    raised = claiming(longer, longer.current[evidence.current.index(leader)], leader.log_end_offset + 5)
    assert {found[0] for found in said(raised)} == {"HW003"}


@pytest.mark.parametrize("case", fast_if(FAST.__contains__, CASES))
def test_a_log_that_was_cut_since_is_named(case: str) -> None:
    for evidence, replica, closing in closed(case):
        low = closing.log_end.interval.low
        if low is not None and replica.end_known and replica.segments[-1].base_offset < low:
            cut = with_replica(evidence, replica, replace(replica, log=replace(replica.log, end_offset=low - 1)))
            assert ("LEO001", replica.broker, low - 1, low) in said(cut)
            assert expected_log_end(cut.current[evidence.current.index(replica)], cut).interval.low == low


@pytest.mark.slow
def test_a_broker_that_ran_on_or_whose_logs_end_before_it_stopped_is_not_held_to_them() -> None:
    evidence, replica, _ = next(found for found in closed("clean_mixed") if found[2].high_watermark.interval.low)
    states = evidence.settings.states(replica.broker)
    others = [s for s in evidence.settings.statements if s not in states]
    lowered = claiming(evidence, replica, 0)
    running = replace(states[-1], value=STARTED, since=(states[-1].since or 0) + 1)
    earlier = replace(states[-1], since=(states[0].since or 0) - 1)
    assert states[-1].value == STOPPED
    for known in ([*states, running], [earlier], []):
        doubted = replace(lowered, settings=settings_of([*others, *known]))
        assert replica.broker in {found.broker for found in doubted.closings if isinstance(found, Unclosed)}
        assert not {found for found in said(doubted) if found[1] == replica.broker}
    roleless = [m for m in lowered.moments if not (m.clock == f"broker {replica.broker}" and m.kind.endswith("starts"))]
    unknown = replace(lowered, chronicle=Chronicle(tuple(roleless)))
    assert not {found for found in said(unknown) if found[1] == replica.broker}
