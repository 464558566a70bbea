"""Wrappers of compressed messages, as formats before 2 have them, are billed by the messages in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.engines.read_survivors import read_copy
from parsers.provenance import Span
from rules.facts.stretch import LogFacts
from rules.loss.readable import without_transactions
from rules.loss.survivors import Survivor
from rules.loss.worth import ToldProducers, portions
from rules.replicas.replica import Replica
from tests.lab.written_bytes import legacy_set_bytes


@pytest.mark.parametrize(
    ("start", "end", "wrappers"),
    [
        (10, 30, [(10, 20, 10), (20, 30, 10)]),
        (10, 25, [(10, 20, 10), (20, 30, 10)]),  # it goes on beyond what is lost
        (15, 21, [(10, 20, 10), (20, 30, 10)]),
        (2, 10, [(0, 10, 10)]),
    ],
)
def test_messages_of_a_wrapper_are_counted_by_reading_them(
    start: int, end: int, wrappers: list[tuple[int, int, int]], tmp_path: Path
) -> None:
    values = [b"value"] * 10
    sets = (legacy_set_bytes(magic=1, base_offset=base, values=values, codec="gzip") for base in (0, 10, 20))
    log = tmp_path / "broker-1" / "t-0" / f"{0:020d}.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"".join(sets))
    whole = Span(source="broker-1/t-0/" + log.name, start=0, end=log.stat().st_size)
    copy = Survivor(
        broker=1, kind="replica", path="broker-1/t-0", epoch=-1, start_offset=start, end_offset=end, sound=True,
        spans=(whole,),
    )  # fmt: skip
    read = read_copy(copy, -1, "full", str(tmp_path))
    held = [(batch.base_offset, batch.end_offset, batch.records) for batch in read.batches]
    assert held == wrappers


def test_a_log_of_wrappers_is_not_called_damaged() -> None:
    log = LogFacts(batches=2, unknown_bases=2, end_offset=20)
    assert Replica(broker=1, log_dir="d", path="d/t-0", log=log).holds(10, 20)
    assert not Replica(broker=1, log_dir="d", path="d/t-0", log=log).holds(10, 30)


@pytest.mark.parametrize(("formats", "records"), [((0, 1), 3), ((1, 2), None), ((), None)])
def test_formats_that_know_no_transactions_have_a_record_at_each_offset(
    formats: tuple[int, ...], records: int | None
) -> None:
    """In a newer format, any of these offsets may be a transaction marker's."""
    markers = not without_transactions([Replica(broker=1, log_dir="d", path="d/t-0", log=LogFacts(magics=formats))])
    (portion,) = portions((0, 3), 3, ToldProducers(), [], dense=True, markers=markers)
    assert portion.records == records
