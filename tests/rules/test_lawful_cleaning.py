"""Compacted logs as cleaners leave them, byte by byte: on each replica they ran as far and as late as they liked."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.writers.segments import Record, batch_bytes
from tests.lab.effort import cases
from tests.rules.broken_dumps import Batch, Yard

KEYS, BROKERS = 8, (1, 2, 3)
Row = tuple[int, bytes, bytes | None]
"""Offset, key and value of a record."""


@dataclass(frozen=True)
class Written:
    """A batch as its leader wrote it, or as a cleaner left it: it keeps its bounds."""

    base: int
    end: int
    epoch: int
    rows: tuple[Row, ...]

    @property
    def stored(self) -> Batch:
        """Its bytes."""
        records = [Record(offset_delta=offset - self.base, key=key, value=value) for offset, key, value in self.rows]
        delta = self.end - self.base - 1
        content = batch_bytes(base_offset=self.base, leader_epoch=self.epoch, records=records, last_offset_delta=delta)
        return Batch(self.base, self.end, self.epoch, content)


def written(random: Random) -> list[Written]:
    """What leaders of several epochs wrote, a quarter of it deletes."""
    log: list[Written] = []
    end, epoch = 0, 0
    for _ in range(random.randint(8, 24)):
        epoch += random.random() < 0.1
        base, end = end, end + random.randint(1, 6)
        values = [None if random.random() < 0.25 else b"%d" % offset for offset in range(base, end)]
        rows = [(base + place, b"k%d" % random.randrange(KEYS), value) for place, value in enumerate(values)]
        log.append(Written(base, end, epoch, tuple(rows)))
    return log


def cleaned(log: Sequence[Written], point: int, horizon: int, keeps: Callable[[], bool]) -> list[Written]:
    """What a cleaner leaves below the point that it reached; deletes below the horizon are past their time."""
    last = {key: offset for one in log if one.base < point for offset, key, _ in one.rows}
    left: list[Written] = []
    for one in log:
        rows = tuple(
            (offset, key, value)
            for offset, key, value in one.rows
            if one.base >= point or (last[key] == offset and (value is not None or offset >= horizon))
        )
        if rows or keeps():
            left.append(Written(one.base, one.end, one.epoch, rows))
    return left


def copies(random: Random, yard: Yard) -> None:
    """Three replicas of one log, each cleaned twice up to where one of its segments begins."""
    log = written(random)
    bases = sorted(random.sample([one.base for one in log[1:]], random.randint(1, 5)))
    epochs = {one.epoch: one.base for one in reversed(log)}
    for broker in BROKERS:
        point = random.choice([0, *bases])
        before, horizon = random.choice([base for base in (0, *bases) if base <= point]), random.randint(0, point)
        own = cleaned(log, before, min(before, horizon), lambda: random.random() < 0.2)
        own = cleaned(own, point, horizon, lambda: random.random() < 0.2)
        kept = [base for base in bases if base >= point or random.random() < 0.5]
        folder = yard.broker(
            broker, [one.stored for one in own], cleaner=point or None, epochs=sorted(epochs.items()), segments=kept
        )
        first = min(folder.glob("*.log"))
        first.rename(folder / f"{0:020d}.log")


@given(st.randoms(use_true_random=False))
@settings(max_examples=cases(60), deadline=None)
def test_replicas_that_were_cleaned_each_by_itself_are_clean(random: Random) -> None:
    with tempfile.TemporaryDirectory() as room:
        yard = Yard(Path(room))
        copies(random, yard)
        assert (yard.told(), yard.report().verdict) == ([], "clean")


def test_batches_that_cleaners_emptied_to_the_same_bytes_stand_where_they_say(tmp_path: Path) -> None:
    """Broker 1's second batch and broker 2's first one are empty, and as long: neither is the other's."""
    rows = {base: tuple((base + n, b"k%d" % n, b"%d" % base) for n in range(4)) for base in (0, 4, 8, 12)}
    log = [Written(base, base + 4, 0, own) for base, own in rows.items()]
    emptied = [Written(one.base, one.end, 0, ()) for one in log]
    yard = Yard(tmp_path)
    for broker, own in ((1, [emptied[1], log[3]]), (2, [emptied[0], log[1], log[3]])):
        folder = yard.broker(broker, [one.stored for one in own], cleaner=12, epochs=[(0, 0)])
        min(folder.glob("*.log")).rename(folder / f"{0:020d}.log")
    assert (yard.told(), yard.report().verdict) == ([], "clean")
