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
    assert (left.empty, left.width) == (not held, len(held))
