"""How the time grows of what is told beside the findings: bills, cut tables, advice, the timeline, incidents, reports.

`python -m tests.benchmarks.telling_growth` prints CPU seconds for a made-up partition in which every other epoch loses
a record of the one before, each time with twice as many epochs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import process_time

from rules.advice import advise
from rules.catalog import BEARINGS
from rules.chronicle.chronicle import Chronicle
from rules.counterfactual import counterfactuals
from rules.cut_tables import cut_tables
from rules.evidence import BrokerVersion, PartitionEvidence
from rules.finding import Finding, Severity, named_facts
from rules.history.milestones import milestones
from rules.history.moments import Moment, ordered
from rules.history.terms import in_terms
from rules.incident import group
from rules.loss.incurred import losses
from rules.sketch.notation import read_sketch
from rules.zoom.differences import with_differences
from tests.benchmarks.replay_growth import BROKERS, opening, round_of, told
from tests.replaced import replace


def losing_reigns(reigns: int) -> Iterator[Moment]:
    """A new leader after every three records, which opens without the last one; the former leader cuts it."""
    for turn in range(reigns):
        leader, former = BROKERS[turn % 3], BROKERS[(turn - 1) % 3]
        yield from opening(40 * turn, leader, turn, 2 * turn)
        if turn:
            yield told(40 * turn + 1, "log-loaded", former, broker=former, end_offset=2 * turn + 1)
            yield told(40 * turn + 2, "truncated", former, broker=former, offset=2 * turn, leader=leader)
        for end in range(3):
            yield from round_of(40 * turn + 5 + 5 * end, leader, turn, 2 * turn + end)


def partition(reigns: int) -> PartitionEvidence:
    """The partition at its end: every log holds two records of each epoch."""
    chain = "".join(f"[{epoch}]x2" for epoch in range(reigns))
    drawn = read_sketch("\n".join(f"broker {broker} {chain}|" for broker in BROKERS)).evidence
    return replace(
        drawn,
        # Of a real dump only the surroundings of differences are read batch by batch.
        replicas=tuple(replace(replica, zooms=()) for replica in drawn.replicas),
        chronicle=Chronicle(tuple(in_terms(list(ordered(losing_reigns(reigns)))))),
        versions=tuple(BrokerVersion(broker=broker, binary="3.5.0") for broker in BROKERS),
    )


def found(reigns: int) -> list[Finding]:
    """Two findings of every epoch, the one the cause of the other."""
    rules = (("LEAD002", ()), ("LEAD001", ("LEAD002", "LEO001")))
    return [
        Finding(
            rule=rule, severity=int(Severity.HIGH), confidence="certain", verdict="violated", cluster_id=None,
            topic="t", topic_id=None, partition=0, brokers=(1,), start_offset=epoch, end_offset=epoch + 1, message=rule,
            exhibits=(), facts=named_facts({"epoch": epoch, "subject": str(epoch)}), implied_by=implied_by,
        )
        for rule, implied_by in rules
        for epoch in range(reigns)
    ]  # fmt: skip


def parts(reigns: int) -> Iterator[tuple[str, float]]:
    """CPU seconds of each part."""
    evidence = with_differences(partition(reigns))
    told_of: list[tuple[str, Callable[[], object]]] = [
        ("replay", lambda: evidence.replayed),
        ("bills", lambda: losses(evidence)),
        ("cut tables", lambda: cut_tables(evidence)),
        ("pairs", lambda: counterfactuals(evidence)),
        ("timeline", lambda: milestones(evidence.moments, evidence.clocks.offsets)),
        ("advice", lambda: advise(evidence, losses(evidence))),
        ("incidents", lambda: group(found(reigns), {}, BEARINGS)),
    ]
    for name, tell in told_of:
        began = process_time()
        tell()
        yield name, process_time() - began


def main() -> None:
    """Print the table."""
    for reigns in (250, 500, 1_000, 2_000, 4_000):
        cells = "  ".join(f"{name} {took:6.2f} s" for name, took in parts(reigns))
        print(f"{reigns:6} epochs  {cells}", flush=True)


if __name__ == "__main__":
    main()
