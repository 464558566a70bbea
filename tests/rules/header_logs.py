"""Random stretches of log as rows of batch headers and refusals, laid out over files byte by byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from hypothesis import strategies as st

from parsers.tables import BatchHeader, Refusal, arrow_schema
from rules.facts.stretch import LogFacts
from rules.narrow.fold import fold

PHYSICAL = [
    "base_offset", "last_offset", "leader_epoch", "magic", "size", "crc", "crc_valid", "attributes", "record_count",
    "base_timestamp", "max_timestamp", "producer_id", "producer_epoch", "base_sequence", "span_start", "span_end",
]  # fmt: skip
SCHEMA = pa.schema([*(arrow_schema(BatchHeader).field(name) for name in PHYSICAL), ("file", pa.int32())])

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class Laid:
    """A batch or a refusal at its place in a log."""

    source: str
    row: Row | None
    refusal: Refusal | None


def rows(*, verified: bool) -> st.SearchStrategy[Row]:
    small = st.integers(-1, 3)
    return st.fixed_dictionaries({
        "jump": st.sampled_from([0, 0, 0, 1, 7, -2, 5000, 1 << 61]),
        "delta": st.sampled_from([0, 1, 4, 9000]),
        "leader_epoch": st.one_of(st.none(), small),
        "magic": st.sampled_from([0, 1, 2, 2]),
        "compressed": st.booleans(),
        "size": st.integers(14, 2**31 - 1),
        "crc": st.one_of(st.none(), st.integers(0, 2**32 - 1)),
        "crc_valid": st.one_of(st.none(), st.booleans()) if verified else st.none(),
        "attributes": st.one_of(st.none(), st.integers(0, 0x7F)),
        "record_count": st.one_of(st.none(), st.integers(-(2**31), 2**31 - 1)),
        "max_timestamp": st.one_of(st.none(), st.integers(-1, 5)),
        "producer_id": st.one_of(st.none(), small),
        "producer_epoch": st.integers(-1, 1),
        "base_sequence": st.one_of(st.none(), st.integers(-1, 2), st.just(2**31 - 1)),
        "new_file": st.booleans(),
    })  # fmt: skip


def logs(max_size: int = 12) -> st.SearchStrategy[list[Laid]]:
    """Logs of batches and unreadable stretches, checksums recomputed or not."""
    broken = st.sampled_from(["damage", "torn_tail", "zero_tail"])

    def items(verified: bool) -> st.SearchStrategy[list[Row | str]]:
        batch = rows(verified=verified)
        return st.lists(st.one_of(batch, batch, broken), max_size=max_size)

    return st.booleans().flatmap(items).map(lay_out)


def lay_out(items: Sequence[Row | str]) -> list[Laid]:
    laid: list[Laid] = []
    file, position, offset = 0, 0, 0
    for item in items:
        if isinstance(item, str):
            laid.append(Laid(f"d/t-0/{file:020d}.log", None, refusal(f"d/t-0/{file:020d}.log", item, position)))
            position += 10
            continue
        if item["new_file"]:
            file, position = file + 1, 0
        base = max(0, min(offset + int(str(item["jump"])), 2**62))
        row = header(item, base, position)
        laid.append(Laid(f"d/t-0/{file:020d}.log", row, None))
        position, offset = position + 100, int(str(row["last_offset"])) + 1
    return laid


def header(item: Row, base: int, position: int) -> Row:
    unknown = item["compressed"] and item["magic"] != 2
    row: Row = {name: item[name] for name in PHYSICAL if name in item}
    row |= {"base_offset": None if unknown else base, "last_offset": base + int(str(item["delta"]))}
    row |= {"base_timestamp": None, "span_start": position, "span_end": position + 100}
    return row


def refusal(source: str, kind: str, position: int) -> Refusal:
    return Refusal(
        cluster_id=None, broker=None, log_dir=None, topic=None, topic_id=None, partition=None,
        kind=kind, expected="a record batch", found="other bytes",  # type: ignore[arg-type]
        source=source, span_start=position, span_end=position + 10,
    )  # fmt: skip


def folded(log: Sequence[Laid]) -> LogFacts:
    """The facts of a stretch, its files numbered from 0 as a reader of just this stretch would."""
    sources = list(dict.fromkeys(laid.source for laid in log))
    batches = [{**laid.row, "file": sources.index(laid.source)} for laid in log if laid.row is not None]
    refusals = [laid.refusal for laid in log if laid.refusal is not None]
    return fold(pa.RecordBatch.from_pylist(batches, schema=SCHEMA), sources, refusals)
