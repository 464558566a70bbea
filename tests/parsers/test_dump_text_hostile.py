"""Payloads that forge lines, texts that are cut, numbers without end: no row without proof, nothing in silence."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.dump_text import DumpChunk, read_dump_text
from parsers.provenance import Origin
from parsers.tables import BatchHeader, Refusal
from parsers.tables.column import to_arrow
from tests.lab.effort import cases

TEXTS = Path(__file__).parents[2] / "sample_logs/dump_log_text"
FRAME = b"Dumping /data/t-0/00000000000000000000.log\nLog starting offset: 0\n"
NAMES = [
    "3.9.1/orders-0.data.out",
    "2.8.2/oldformat.data.out",
    "1.1.1/orders-0.data.out",
    "4.3.0/snapshot.out",
    "1.1.1/orders-0.plain.out",
]


def read(text: bytes, *, head_limit: int = 65536) -> list[DumpChunk]:
    return list(read_dump_text(io.BytesIO(text), Origin(source="dump.txt"), chunk_rows=50, head_limit=head_limit))


def rows(text: bytes) -> list[BatchHeader]:
    return [row for chunk in read(text) for row in chunk.rows]


def refusals(text: bytes) -> list[Refusal]:
    return [refusal for chunk in read(text) for refusal in chunk.refusals]


def batch(base: int, last: int, position: int, *, size: int = 100, epoch: int = 3) -> bytes:
    return (
        f"baseOffset: {base} lastOffset: {last} count: {last - base + 1} baseSequence: -1 lastSequence: -1 "
        f"producerId: -1 producerEpoch: -1 partitionLeaderEpoch: {epoch} isTransactional: false isControl: false "
        f"deleteHorizonMs: OptionalLong.empty position: {position} "
        f"CreateTime: 1700000000001 size: {size} magic: 2 compresscodec: none crc: 5 isvalid: true\n"
    ).encode()


def record(offset: int, payload: bytes = b"v") -> bytes:
    return (
        b"| offset: %d CreateTime: 1700000000001 keySize: -1 valueSize: 9 sequence: -1 headerKeys: [] payload: %s\n"
        % (offset, payload)
    )


def test_payloads_may_hold_newlines_and_lines_that_chain_nowhere() -> None:
    evil = (
        b"a\n\n"
        + batch(50, 60, 9999, epoch=99)
        + record(7)
        + b"Dumping ground\nStarting offset: 9\nplain text\n\x1b[2J\xff"
    )
    text = FRAME + batch(0, 1, 0) + record(0, evil) + record(1, evil) + batch(2, 2, 100) + record(2)
    assert [(row.base_offset, row.leader_epoch) for row in rows(text)] == [(0, 3), (2, 3)]
    assert refusals(text) == []


def test_a_forged_line_that_chains_is_no_batch_while_records_are_missing() -> None:
    text = (
        FRAME
        + batch(0, 1, 0)
        + record(0, b"a\n" + batch(2, 9, 100, epoch=99))
        + record(1)
        + batch(2, 2, 100)
        + record(2)
    )
    assert [(row.base_offset, row.leader_epoch) for row in rows(text)] == [(0, 3), (2, 3)]
    assert refusals(text) == []


def test_a_forged_line_at_the_true_place_leaves_no_row_and_is_no_secret() -> None:
    forged = record(0, b"a\n" + batch(1, 9, 100, size=77, epoch=99))
    text = FRAME + batch(0, 0, 0) + forged + batch(1, 1, 100) + record(1) + batch(2, 2, 200) + record(2)
    assert [(row.base_offset, row.leader_epoch) for row in rows(text)] == [(0, 3), (2, 3)]
    assert [refusal.kind for refusal in refusals(text)] == ["ambiguous", "ambiguous"]


def test_a_batch_that_does_not_chain_to_the_end_is_refused_not_dropped() -> None:
    text = FRAME + batch(0, 0, 0) + record(0) + batch(5, 5, 500) + record(5) + batch(6, 6, 600) + record(6)
    assert [row.base_offset for row in rows(text)] == [0]
    (refusal,) = refusals(text)
    assert refusal.kind == "ambiguous"
    assert text[refusal.span_start :].startswith(batch(5, 5, 500))


def test_without_contents_a_gap_is_a_gap_and_the_rows_stand() -> None:
    text = FRAME + batch(0, 0, 0) + batch(5, 5, 500)
    assert [row.base_offset for row in rows(text)] == [0, 5]
    assert [refusal.kind for refusal in refusals(text)] == ["malformed"]


def test_missing_record_lines_are_named() -> None:
    text = FRAME + batch(0, 2, 0) + record(0)
    assert [row.base_offset for row in rows(text)] == [0]
    (refusal,) = refusals(text)
    assert refusal.expected.startswith("2 more record lines")


def test_a_forged_frame_is_undone_when_the_chain_goes_on() -> None:
    forged = b"a\nDumping /data/other-7/00000000000000000000.log\nLog starting offset: 0\n"
    text = FRAME + batch(0, 0, 0) + record(0, forged) + batch(1, 1, 100) + record(1)
    assert [(row.topic, row.partition, row.base_offset) for row in rows(text)] == [("t", 0, 0), ("t", 0, 1)]
    assert [refusal.kind for refusal in refusals(text)] == ["ambiguous"]


def test_a_forged_index_is_undone_too() -> None:
    forged = b"a\nDumping /data/other-7/00000000000000000000.index\noffset: 5 position: 9\n"
    text = FRAME + batch(0, 0, 0) + record(0, forged) + batch(1, 1, 100) + record(1)
    assert [(row.topic, row.partition, row.base_offset) for row in rows(text)] == [("t", 0, 0), ("t", 0, 1)]
    assert [refusal.kind for refusal in refusals(text)] == ["ambiguous"]


def test_a_frame_inside_a_batch_is_payload() -> None:
    forged = b"a\nDumping /data/other-7/00000000000000000000.log\n"
    text = FRAME + batch(0, 1, 0) + record(0, forged) + record(1)
    assert [(row.topic, row.partition) for row in rows(text)] == [("t", 0)]


def test_deep_lines_must_grow_once_contents_are_printed() -> None:
    def deep(offset: int, position: int, payload: bytes = b"v") -> bytes:
        return (
            b"offset: %d position: %d CreateTime: 1 isvalid: true keysize: -1 valuesize: 1 magic: 2 "
            b"compresscodec: NONE producerId: -1 "
            b"producerEpoch: -1 sequence: -1 isTransactional: false headerKeys: [] payload: %s\n"
            % (offset, position, payload)
        )

    text = FRAME + deep(0, 0, b"v\n" + deep(50, 30) + deep(0, 900)[:-1]) + deep(1, 69) + deep(2, 69)
    assert [(row.base_offset, row.last_offset, row.size) for row in rows(text)] == [(0, 0, 69), (1, 2, 77)]


def test_record_lines_outside_their_batch_are_payload_or_refused() -> None:
    assert [
        refusal.kind for refusal in refusals(FRAME + batch(5, 5, 0) + record(4, b"x").replace(b" payload: x", b""))
    ] == ["malformed"]


def test_only_lines_that_end_count() -> None:
    text = FRAME + batch(0, 0, 0) + batch(1, 1, 100)[:-1]
    assert [row.base_offset for row in rows(text)] == [0]
    assert [refusal.kind for refusal in refusals(text)] == ["truncated_line"]


@pytest.mark.parametrize("number", [b"9" * 19, b"9" * 30, b"9" * 5000, b"-1"])
def test_numbers_that_fit_no_field(number: bytes) -> None:
    text = FRAME + batch(0, 0, 0).replace(b"size: 100", b"size: " + number)
    assert not rows(text)
    assert [refusal.kind for refusal in refusals(text)] == ["malformed"]


@pytest.mark.parametrize("magic", [3, 8, 9])
def test_a_format_that_nobody_knows_is_refused(magic: int) -> None:
    deep = b"offset: %d position: 0 CreateTime: 5 isvalid: true keysize: -1 valuesize: 1 magic: %d compresscodec: NONE"
    deep += b" producerId: -1 producerEpoch: -1 sequence: -1 isTransactional: false headerKeys: []\n"
    frame = b"Dumping /d/t-0/00000000000000000000.log\nStarting offset: 0\n"
    assert [(row.base_offset, row.last_offset) for row in rows(frame + deep % (0, 2) + deep % (1, 2))] == [(0, 1)]
    text = frame + deep % (0, magic)
    assert (rows(text), [refusal.kind for refusal in refusals(text)]) == ([], ["unknown_version"])


def test_long_lines_are_read_without_being_held() -> None:
    class Endless(io.RawIOBase):
        """Three lines, the middle one 64 MiB long; remembers the longest piece that was ever asked for."""

        def __init__(self) -> None:
            self.parts = (
                [FRAME + batch(0, 0, 0) + record(0)[:-1]]
                + [b"x" * 65536] * 1024
                + [b"\n" + batch(1, 1, 100) + record(1)]
            )
            self.left = b""
            self.longest = 0

        def readline(self, size: int | None = -1) -> bytes:  # type: ignore[override]
            assert size is not None
            assert size > 0
            if not self.left and self.parts:
                self.left = self.parts.pop(0)
            cut = self.left.find(b"\n", 0, size) + 1 or size
            piece, self.left = self.left[:cut], self.left[cut:]
            self.longest = max(self.longest, len(piece))
            return piece

    stream = Endless()
    found = list(read_dump_text(stream, Origin(source="x")))  # type: ignore[arg-type]
    assert [row.base_offset for chunk in found for row in chunk.rows] == [0, 1]
    assert not [refusal for chunk in found for refusal in chunk.refusals]
    assert stream.longest <= 65536


def test_text_in_utf_16_is_named() -> None:
    (refusal,) = refusals((FRAME + batch(0, 0, 0)).decode().encode("utf-16"))
    assert "UTF-16" in refusal.found


def test_a_file_of_anything_gives_one_refusal_for_a_run_of_lines() -> None:
    (refusal,) = refusals(b"hello\nworld\n" * 1000)
    assert (refusal.kind, refusal.span_start, refusal.span_end) == ("malformed", 0, 12000)


@settings(max_examples=cases(30), deadline=None)
@given(name=st.sampled_from(NAMES), share=st.floats(0, 1))
def test_a_cut_text_gives_a_prefix(name: str, share: float) -> None:
    text = (TEXTS / name).read_bytes()[:20_000]
    cut = text[: int(len(text) * share)]
    whole = [row.span_start for row in rows(text)]
    part = [row.span_start for row in rows(cut)]
    assert part == whole[: len(part)]
    assert len(whole) - len(part) <= text[len(cut) :].count(b"position") + 2
    assert not cut or cut.endswith(b"\n") or "truncated_line" in [refusal.kind for refusal in refusals(cut)]


@settings(max_examples=cases(60), deadline=None)
@given(data=st.data(), name=st.sampled_from(NAMES))
def test_no_mutation_raises_and_every_row_fits_its_table(data: st.DataObject, name: str) -> None:
    text = bytearray((TEXTS / name).read_bytes()[:6000])
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at : at + data.draw(st.integers(0, 3))] = data.draw(
            st.sampled_from([b"", b"\n", b"9", b"-", b"] ", b"\xff", b" payload: "])
        )
    for chunk in read(bytes(text)):
        chunk.headers.validate(full=True)
        to_arrow(chunk.refusals, Refusal)
        for row in chunk.rows:
            assert 0 <= row.span_start < row.span_end <= len(text)


@settings(max_examples=cases(40), deadline=None)
@given(
    payloads=st.lists(
        st.sampled_from([batch(1, 1, 100), batch(0, 0, 0), record(0), record(1), b"x\n", b"\n"]), max_size=6
    )
)
def test_no_payload_makes_rows_that_overlap(payloads: list[bytes]) -> None:
    text = FRAME + batch(0, 1, 0) + record(0, b"v\n" + b"".join(payloads)) + record(1) + batch(2, 2, 100) + record(2)
    said = [row for row in rows(text) if row.topic == "t"]
    positions = [(row.base_offset, row.last_offset) for row in said]
    assert positions == sorted(set(positions))
    assert (2, 2) in positions or refusals(text)
