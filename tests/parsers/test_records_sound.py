"""What the prover calls sound decodes, whatever is done to the bytes; what clients wrote it calls sound."""

from __future__ import annotations

import sys
from pathlib import Path

import cramjam
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.provenance import Origin
from parsers.records import BATCH_LIMIT, Prover, decode_entry, header_of
from parsers.records.batch import CONTROL
from parsers.writers.segments import Record, batch_bytes
from tests.lab.effort import cases
from tests.parsers.test_records import entries
from tests.parsers.test_records_bytes import TWO_RECORDS, batch

ORIGIN = Origin(source="t-0/0.log")
SAMPLES = Path(__file__).parents[2] / "sample_logs"
PLAIN, COMPILED = Prover(BATCH_LIMIT), Prover(BATCH_LIMIT, worth_compiling=1)
LONG = b"x" * 200
ENTRIES = (
    bytes.fromhex(TWO_RECORDS),
    batch([(0, 0, b"k", b"v", [(b"h", None), (b"i", LONG)]), (70_000, 1, None, LONG, []), (-1, 2, b"", None, [])]),
    batch([(n, n, None, b"v", []) for n in range(20)]),
)


def decodes(entry: bytes) -> bool:
    return not decode_entry(entry, ORIGIN, 0).refusals


@pytest.mark.slow
@pytest.mark.parametrize("prover", [PLAIN, COMPILED], ids=["plain", "compiled"])
def test_recorded_batches_of_data_are_proved(prover: Prover) -> None:
    seen = 0
    for path in sorted(SAMPLES.glob("c*/dump/broker-1/data/*/*.log")):
        held = [entry for _, entry in entries(path)]
        headers = [header_of(entry) for entry in held]
        due = [
            header is not None and not header.attributes & CONTROL and decodes(entry)
            for header, entry in zip(headers, held, strict=True)
        ]
        assert prover.proves(held) == due
        seen += sum(due)
    assert seen > 1000


@settings(max_examples=cases(600), deadline=None)
@given(st.sampled_from(ENTRIES), st.data())
def test_what_is_proved_decodes_and_what_decodes_is_proved(entry: bytes, data: st.DataObject) -> None:
    """Bytes behind the checksum are changed, two at a time: the two walks and the rows are of one mind."""
    changed = bytearray(entry)
    for _ in range(data.draw(st.integers(1, 2))):
        at = data.draw(st.integers(21, len(entry) - 1))
        changed[at] = data.draw(st.one_of(st.integers(0, 3), st.integers(0x7D, 0x83), st.integers(0, 255)))
    held = bytes(changed)
    header = header_of(held)
    due = decodes(held) and header is not None and not header.attributes & CONTROL
    if header is not None and header.base_offset + header.last_offset_delta < 1 << 63:
        assert PLAIN.proves([held]) == COMPILED.proves([held]) == [due]


@pytest.mark.parametrize("cut", range(1, 60))
def test_a_batch_that_ends_too_early_is_not_proved(cut: int) -> None:
    entry = ENTRIES[1][:-cut]
    whole = entry[:8] + (len(entry) - 12).to_bytes(4, "big") + entry[12:]
    assert PLAIN.proves([whole]) == COMPILED.proves([whole]) == [False]
    assert not decodes(whole)


def test_without_numba_the_plain_walk_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "parsers.records.compiled_walk", None)
    prover = Prover(BATCH_LIMIT, worth_compiling=1)
    assert prover.proves([ENTRIES[0], ENTRIES[0][:-1]]) == [True, False]


def zstd(records: int, value: bytes = b"v", *, sized: bool = True) -> bytes:
    """A batch as one stream; that of the Java client does not state how much it holds."""
    held = [Record(offset_delta=delta, key=b"k", value=value) for delta in range(records)]
    whole = batch_bytes(base_offset=0, leader_epoch=0, records=held, codec="zstd")
    if sized:
        return whole
    stream = cramjam.zstd.Compressor()
    stream.compress(bytes(cramjam.zstd.decompress(whole[61:])))
    payload = bytes(stream.finish())
    return batch_bytes(
        base_offset=0, payload=payload, attributes=4, record_count=records, last_offset_delta=records - 1
    )


def broken(entry: bytes, at: int) -> bytes:
    return entry[:at] + bytes([entry[at] ^ 0x55]) + entry[at + 1 :]


MANY = [
    *(zstd(n % 5 + 1, b"%d" % n, sized=bool(n % 2)) for n in range(80)),
    zstd(3, bytes(range(0xE0, 0xF0)) * 2),  # what stands between streams that are read together
    zstd(2, bytes(range(0xE0, 0xEF))),
    zstd(1, b"x" * 5_000_000),
]


@settings(max_examples=cases(60), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(MANY), st.integers(0, 3), st.integers(61, 200)), max_size=40))
def test_batches_that_are_proved_together_are_proved_as_each_by_itself(told: list[tuple[bytes, int, int]]) -> None:
    held = [broken(entry, at) if how == 0 and at < len(entry) else entry for entry, how, at in told]
    assert PLAIN.proves(held) == [PLAIN.proves([entry])[0] for entry in held] == [decodes(entry) for entry in held]


def test_a_stream_that_is_cut_short_does_not_take_the_next_one_along() -> None:
    """Its last block reaches into the stream behind it, which is long enough."""
    short = zstd(40, b"abcdefgh" * 20)[:-7]
    short = short[:8] + (len(short) - 12).to_bytes(4, "big") + short[12:]
    assert PLAIN.proves([MANY[0], short, MANY[1], MANY[2]]) == [True, False, True, True]
