"""How the time of replay and rules grows with their input: of one long reign, many reigns, and many changes of an ISR.

`python -m tests.benchmarks.replay_growth` prints CPU seconds for made-up partitions, each ten times the one before, and
what every rule takes together for many reigns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import process_time

from parsers.provenance import Span
from rules.catalog import RULES
from rules.evidence import BrokerVersion, PartitionEvidence
from rules.history.moments import Moment, ordered
from rules.history.statements import statement
from rules.history.terms import in_terms
from rules.replay import lags, replay

BROKERS = (1, 2, 3)
STEP_MS = 10

Shape = Callable[[int], Iterator[Moment]]


def told(number: int, kind: str, of: int, **values: object) -> Moment:
    """A statement of a broker, later than those with smaller numbers."""
    span = Span(source=f"broker-{of}.log", start=number, end=number + 1)
    return statement(kind, clock=f"broker {of}", time=number * STEP_MS, witness=of, span=span, **values)


def opening(number: int, leader: int, epoch: int, end: int) -> Iterator[Moment]:
    """Everybody takes a role."""
    yield told(
        number, "leader-starts", leader, broker=leader, epoch=epoch, offset=end, high_watermark=end, isr=BROKERS,
        partition_epoch=None,
    )  # fmt: skip
    for broker in BROKERS:
        if broker != leader:
            yield told(
                number, "follower-starts", broker, broker=broker, leader=leader, epoch=epoch, offset=end,
                high_watermark=end,
            )  # fmt: skip


def round_of(number: int, leader: int, epoch: int, end: int) -> Iterator[Moment]:
    """A record, and a fetch of everybody else."""
    yield told(number, "produced", leader, broker=leader, offset=end, acks=-1, error=0)
    for place, broker in enumerate(b for b in BROKERS if b != leader):
        yield told(
            number + 1 + place, "fetched", leader, broker=broker, leader=leader, epoch=epoch, offset=end + 1, error=0,
            high_watermark=end, log_start_offset=0,
        )  # fmt: skip


def one_reign(moments: int) -> Iterator[Moment]:
    """Nothing but records and fetches."""
    yield from opening(0, 1, 0, 0)
    for end in range(moments // 3):
        yield from round_of(10 + 3 * end, 1, 0, end)


def many_reigns(moments: int) -> Iterator[Moment]:
    """A new leader after every two records."""
    for turn in range(moments // 9):
        leader = BROKERS[turn % 3]
        yield from opening(20 * turn, leader, turn, 2 * turn)
        for end in range(2):
            yield from round_of(20 * turn + 5 + 5 * end, leader, turn, 2 * turn + end)


def many_isr_changes(moments: int) -> Iterator[Moment]:
    """A follower leaves and joins with every record."""
    yield from opening(0, 1, 0, 0)
    for end in range(moments // 5):
        number = 10 + 10 * end
        yield from round_of(number, 1, 0, end)
        isr = BROKERS if end % 2 else BROKERS[:2]
        before = BROKERS[:2] if end % 2 else BROKERS
        kind = "isr" if end % 2 else "isr-shrinking"
        yield told(number + 4, kind, 1, broker=1, isr=isr, previous_isr=before)
        if end % 3:
            yield told(number + 5, "isr", 1, broker=1, isr=isr, partition_epoch=end + 1)


SHAPES: dict[str, Shape] = {"one reign": one_reign, "many reigns": many_reigns, "many ISR changes": many_isr_changes}


def seconds(shape: Shape, moments: int, version: str = "3.5.0") -> float:
    """CPU time of a replay and of the lags in it."""
    given = in_terms(list(shape(moments)))
    began = process_time()
    said = replay(given, (), dict.fromkeys(BROKERS, version))
    for course in said.courses:
        for _ in lags(course):
            pass
    return process_time() - began


def judged(reigns: int, version: str = "3.5.0") -> float:
    """CPU time of all rules on a partition of many reigns."""
    versions = tuple(BrokerVersion(broker=broker, binary=version) for broker in BROKERS)
    evidence = PartitionEvidence(
        cluster_id=None,
        topic="t",
        partition=0,
        replicas=(),
        moments=tuple(in_terms(list(ordered(many_reigns(9 * reigns))))),
        versions=versions,
    )
    began = process_time()
    for rule in RULES:
        list(rule.check(evidence))
    return process_time() - began


def main() -> None:
    """Print the tables."""
    for reigns in (500, 1_000, 2_000, 4_000):
        print(f"{'all rules':18} {reigns:8} reigns  {judged(reigns):8.2f} s", flush=True)
    for name, shape in SHAPES.items():
        for moments in (2_000, 20_000, 200_000):
            print(f"{name:18} {moments:8} moments {seconds(shape, moments):8.2f} s", flush=True)


if __name__ == "__main__":
    main()
