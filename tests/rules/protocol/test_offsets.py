"""Half-open offset ranges, against plain sets of offsets."""

from hypothesis import given
from hypothesis import strategies as st

from rules.protocol.offsets import Offset, OffsetRange

ranges = st.builds(
    lambda start, width: OffsetRange(start_offset=Offset(start), end_offset=Offset(start + width)),
    st.integers(0, 20),
    st.integers(-2, 12),
)


def offsets_of(span: OffsetRange) -> set[int]:
    return {offset for offset in range(40) if span.contains(Offset(offset))}


@given(ranges, ranges)
def test_ranges_behave_as_sets_of_offsets(left: OffsetRange, right: OffsetRange) -> None:
    held = offsets_of(left)
    assert offsets_of(left.intersection(right)) == held & offsets_of(right)
    rest = left.subtract(right)
    assert set().union(*map(offsets_of, rest)) == held - offsets_of(right)
    assert not any(part.empty for part in rest)
    assert (left.empty, left.width) == (not held, len(held))


def test_subtracting_from_the_middle_leaves_two_ranges_in_order() -> None:
    whole = OffsetRange(start_offset=Offset(0), end_offset=Offset(30))
    middle = OffsetRange(start_offset=Offset(11), end_offset=Offset(21))
    assert [(part.start_offset, part.end_offset) for part in whole.subtract(middle)] == [(0, 11), (21, 30)]
