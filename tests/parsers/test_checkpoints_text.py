"""The text grammar of leader-epoch-checkpoint and the offset checkpoints."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.checkpoints import read_leader_epoch_checkpoint, read_offset_checkpoint
from parsers.checkpoints.decimals import ENTRY_LIMIT, REFUSAL_LIMIT
from parsers.provenance import Origin
from parsers.writers.checkpoints import epoch_lines, offset_lines
from tests.lab.effort import cases
from tests.lab.written_bytes import write_leader_epoch_checkpoint, write_offset_checkpoint

EPOCHS = Origin(source="d/t-0/leader-epoch-checkpoint", broker=1, log_dir="d", topic="t", partition=0)
OFFSETS = Origin(source="d/replication-offset-checkpoint", broker=1, log_dir="d")
INT64 = st.integers(-(2**63), 2**63 - 1)
TOPIC = st.text("abcXYZ019._-", min_size=1, max_size=40)


def epochs(data: bytes) -> list[tuple[int, int]]:
    return [(entry.epoch, entry.start_offset) for entry in read_leader_epoch_checkpoint(data, EPOCHS).entries]


def offsets(data: bytes) -> list[tuple[str | None, int | None, int]]:
    parsed = read_offset_checkpoint(data, OFFSETS, "replication")
    return [(row.topic, row.partition, row.offset) for row in parsed.rows]


def test_an_empty_file_is_not_a_file_without_entries() -> None:
    assert read_leader_epoch_checkpoint(b"", EPOCHS).state == "empty"
    none = read_leader_epoch_checkpoint(b"0\n0\n", EPOCHS)
    assert (none.state, none.entries, none.refusals) == ("entries", (), ())


def test_a_version_line_alone_holds_no_entries_and_is_no_error() -> None:
    assert read_leader_epoch_checkpoint(b"0\n", EPOCHS).state == "entries"


def test_entries_carry_their_place_and_their_bytes() -> None:
    first, second = read_leader_epoch_checkpoint(b"0\n2\n0 0\n1 120\n", EPOCHS).entries
    assert (first.epoch, first.start_offset, first.span_start, first.span_end) == (0, 0, 4, 8)
    assert (second.epoch, second.start_offset, second.span_start, second.span_end) == (1, 120, 8, 14)
    assert (second.topic, second.partition, second.broker, second.source) == ("t", 0, 1, EPOCHS.source)


@pytest.mark.parametrize(
    "data",
    [
        b"0\n2\n0 0\n1 120",
        b"0\r\n2\r\n0 0\r\n1 120\r\n",
        b"0\r2\r0 0\r1 120\r",
        b"0\n2\n0\t0\n1 \t 120  \n",
        b"0\n2\n0 0\n+1 0120\n",
    ],
)
def test_every_spelling_that_a_broker_reads(data: bytes) -> None:
    parsed = read_leader_epoch_checkpoint(data, EPOCHS)
    assert (parsed.state, epochs(data)) == ("entries", [(0, 0), (1, 120)])


@pytest.mark.parametrize("data", [b"0 0\n1 120\n", b"0 0\n1 300\n2 500\n"])
def test_a_file_without_header_lines_is_refused_with_just_that_sentence(data: bytes) -> None:
    parsed = read_leader_epoch_checkpoint(data, EPOCHS)
    assert (parsed.state, parsed.entries) == ("malformed", ())
    assert [refusal.found for refusal in parsed.refusals] == ["the file lacks its two header lines"]
    assert (parsed.refusals[0].span_start, parsed.refusals[0].span_end) == (0, len(data))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b"", ""),
        (b" 1 120", " 1 120"),
        (b"# note", "# note"),
        (b"1", "1"),
        (b"1 120 5", "1 120 5"),
        (b"one 120", "one 120"),
        (b"-1 120", "-1 120"),
        (b"1 -5", "1 -5"),
        (b"2147483648 1", "2147483648 1"),
        (b"1 9223372036854775808", "1 9223372036854775808"),
        (b"1 1_0", "1 1_0"),
        (b"1 1.0", "1 1.0"),
        (b"\xff\xfe 1", "\\ufffd\\ufffd 1"),
    ],
)
def test_a_malformed_line_is_refused_by_itself(line: bytes, found: str) -> None:
    data = b"0\n3\n0 0\n" + line + b"\n2 200\n"
    parsed = read_leader_epoch_checkpoint(data, EPOCHS)
    assert (parsed.state, epochs(data)) == ("malformed", [(0, 0), (2, 200)])
    (refusal,) = parsed.refusals
    assert (refusal.kind, refusal.found) == ("malformed", found)
    assert data[refusal.span_start : refusal.span_end] == line + b"\n"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"1\n0\n", "unknown_version"),
        (b"zero\n0\n", "malformed"),
        (b"\n", "malformed"),
        (b"\xef\xbb\xbf0\n0\n", "malformed"),
        (b"0 \n0\n", "malformed"),
    ],
)
def test_a_version_that_is_not_zero_is_refused(data: bytes, kind: str) -> None:
    parsed = read_leader_epoch_checkpoint(data, EPOCHS)
    assert (parsed.state, [refusal.kind for refusal in parsed.refusals]) == ("malformed", [kind])


@pytest.mark.parametrize(("count", "found"), [(1, "2 entries"), (3, "2 entries")])
def test_a_count_that_the_lines_contradict_is_refused_and_the_lines_kept(count: int, found: str) -> None:
    data = b"0\n%d\n0 0\n1 120\n" % count
    parsed = read_leader_epoch_checkpoint(data, EPOCHS)
    assert (parsed.state, epochs(data)) == ("malformed", [(0, 0), (1, 120)])
    assert [(refusal.found, refusal.span_start, refusal.span_end) for refusal in parsed.refusals] == [
        (found, 2, len(data))
    ]


@pytest.mark.parametrize("count", [b"-1", b"two", b"9" * 1_000_000])
def test_a_count_that_is_no_number_is_refused_and_the_lines_kept(count: bytes) -> None:
    parsed = read_leader_epoch_checkpoint(b"0\n" + count + b"\n0 0\n", EPOCHS)
    assert len(parsed.refusals) == 1
    assert len(parsed.refusals[0].found) <= 81
    assert [entry.epoch for entry in parsed.entries] == [0]


def test_offset_checkpoints_keep_file_order_and_duplicates() -> None:
    data = b"0\n3\nb 1 5\na 0 7\nb 1 9\n"
    assert offsets(data) == [("b", 1, 5), ("a", 0, 7), ("b", 1, 9)]
    row = read_offset_checkpoint(data, OFFSETS, "recovery-point").rows[1]
    assert (row.kind, row.broker, row.log_dir, data[row.span_start : row.span_end]) == (
        "recovery-point",
        1,
        "d",
        b"a 0 7\n",
    )


@pytest.mark.parametrize("line", [b"t\xc3\xa4st 0 1", b"a" * 250 + b" 0 1", b"t -1 1", b"t 0", b"t 0 1 2", b"a/b 0 1"])
def test_an_offset_line_of_no_possible_partition_is_refused(line: bytes) -> None:
    parsed = read_offset_checkpoint(b"0\n2\n" + line + b"\nt 0 -1\n", OFFSETS, "cleaner")
    assert [row.offset for row in parsed.rows] == [-1]
    assert [refusal.kind for refusal in parsed.refusals] == ["malformed"]


def test_a_file_of_nothing_but_damage_gives_a_bounded_report() -> None:
    parsed = read_offset_checkpoint(b"0\n5\n" + b"\n" * 100_000, OFFSETS, "replication")
    assert len(parsed.refusals) == REFUSAL_LIMIT + 1
    last = parsed.refusals[-1]
    assert (last.kind, last.span_end) == ("too_large", 4 + 100_000)


def test_the_entry_limit_is_beyond_any_broker() -> None:
    assert ENTRY_LIMIT >= 1_000_000


@settings(max_examples=cases(40))
@given(st.lists(st.tuples(st.integers(0, 2**31 - 1), st.integers(0, 2**63 - 1)), max_size=20))
def test_epochs_written_are_read_back(pairs: list[tuple[int, int]]) -> None:
    data = epoch_lines(pairs)
    parsed = read_leader_epoch_checkpoint(data, EPOCHS)
    assert (parsed.state, epochs(data), parsed.refusals) == ("entries", pairs, ())
    assert write_leader_epoch_checkpoint(parsed.entries) == data


@settings(max_examples=cases(40))
@given(st.lists(st.tuples(TOPIC, st.integers(0, 2**31 - 1), INT64), max_size=20))
def test_offsets_written_are_read_back(entries: list[tuple[str, int, int]]) -> None:
    data = offset_lines(entries)
    parsed = read_offset_checkpoint(data, OFFSETS, "log-start")
    assert (offsets(data), parsed.refusals) == (entries, ())
    assert write_offset_checkpoint(parsed.rows) == data


@given(st.binary(max_size=200) | st.text("0123 \t\r\n-ab", max_size=200).map(str.encode))
def test_no_bytes_raise_and_none_vanish(data: bytes) -> None:
    parsed = read_offset_checkpoint(b"0\n1\n" + data, OFFSETS, "replication")
    read_leader_epoch_checkpoint(data, EPOCHS)
    covered = [(row.span_start, row.span_end) for row in parsed.rows]
    covered += [(refusal.span_start, refusal.span_end) for refusal in parsed.refusals]
    assert all(0 <= start <= end <= 4 + len(data) for start, end in covered)
    assert sum(row.span_end - row.span_start for row in parsed.rows) <= len(data)
    if not parsed.refusals:
        assert len(parsed.rows) == 1


@given(st.integers(0, 30))
def test_a_cut_file_never_reads_as_whole_and_different(cut: int) -> None:
    whole = epoch_lines([(0, 0), (1, 120), (2, 500)])
    parsed = read_leader_epoch_checkpoint(whole[:cut], EPOCHS)
    if parsed.state == "entries" and parsed.entries:
        assert len(parsed.entries) == 3
