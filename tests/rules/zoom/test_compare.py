"""Comparison by digest and zoom: what is read again, what is told of what was not, and what stays open."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.provenance import Span
from rules.evidence import Level, OffsetClaim, PartitionEvidence, Replica
from rules.facts.read_again import BatchMark, Zoom
from rules.facts.stretch import BUCKET_OFFSETS, BucketDigest, EpochRun, LogFacts
from rules.sketch.notation import read_sketch
from rules.zoom.differences import RUNS_TOLD, with_differences
from rules.zoom.unequal_buckets import BUCKETS_ZOOMED, shared_range, unequal_buckets, unread_buckets, wanted
from tests.replaced import replace
from tests.rules.broken_dumps import Yard, batch, wrote

SPAN = Span(source="s", start=0, end=1)


def mark(bucket: int, content: int, *, crc_valid: bool | None = True) -> BatchMark:
    base = bucket * BUCKET_OFFSETS
    return BatchMark(
        base_offset=base, end_offset=base + BUCKET_OFFSETS, leader_epoch=content // 100, magic=2, size=100, crc=content,
        crc_valid=crc_valid, control=False, span=Span(source="s", start=bucket * 100, end=bucket * 100 + 100),
    )  # fmt: skip


def replica(broker: int, contents: list[int], *, cleaner: int | None = None) -> Replica:
    """A log of one batch a bucket, each bucket of its content."""
    end = len(contents) * BUCKET_OFFSETS
    digests = tuple(BucketDigest(bucket=b, batches=1, digest=content) for b, content in enumerate(contents))
    run = EpochRun(epoch=0, start_offset=0, end_offset=end, batches=len(contents), first=SPAN, last=SPAN)
    return Replica(
        broker=broker,
        log_dir=f"d{broker}",
        path=f"d{broker}/t-0",
        log=LogFacts(batches=len(contents), first_offset=0, end_offset=end, epochs=(run,), digests=digests),
        high_watermark=OffsetClaim(offset=end, span=SPAN),
        cleaner_offset=None if cleaner is None else OffsetClaim(offset=cleaner, span=SPAN),
    )


def compared(*replicas: Replica, contents: dict[int, list[int]], level: Level = "full") -> PartitionEvidence:
    """The evidence after reading again what is wanted of these contents."""
    evidence = PartitionEvidence(cluster_id=None, topic="t", partition=0, replicas=replicas, level=level)
    requests = wanted(evidence)
    zoomed = [
        replace(one, zooms=tuple(
            Zoom(
                start_offset=request.start_offset,
                end_offset=request.end_offset,
                batches=tuple(
                    mark(bucket, content)
                    for bucket, content in enumerate(contents[one.broker])
                    if request.start_offset <= bucket * BUCKET_OFFSETS < request.end_offset
                ),
            )
            for request in requests
            if request.broker == one.broker
        ))
        for one in replicas
    ]  # fmt: skip
    return with_differences(replace(evidence, replicas=tuple(zoomed)))


def test_equal_logs_are_not_read_again() -> None:
    evidence = PartitionEvidence(
        cluster_id=None, topic="t", partition=0, replicas=(replica(1, [1, 2, 3]), replica(2, [1, 2]))
    )
    assert wanted(evidence) == ()


def test_neighbouring_buckets_are_read_in_one_go() -> None:
    evidence = PartitionEvidence(
        cluster_id=None, topic="t", partition=0, replicas=(replica(1, [1, 2, 3, 4, 5]), replica(2, [1, 9, 9, 4, 9]))
    )
    ranges = [(r.broker, r.start_offset // BUCKET_OFFSETS, r.end_offset // BUCKET_OFFSETS) for r in wanted(evidence)]
    assert ranges == [(1, 1, 3), (1, 4, 5), (2, 1, 3), (2, 4, 5)]


def test_a_long_difference_is_told_from_its_ends() -> None:
    width = 3 * BUCKETS_ZOOMED["full"]
    ours, theirs = [1] * (width + 2), [1] + [202] * width + [1]
    evidence = compared(replica(1, ours), replica(2, theirs), contents={1: ours, 2: theirs})
    (difference,) = evidence.differences
    assert (difference.start_offset, difference.end_offset) == (BUCKET_OFFSETS, (width + 1) * BUCKET_OFFSETS)
    assert not difference.exact
    assert evidence.uncompared == ()


def test_a_long_stretch_whose_ends_agree_record_by_record_stays_open() -> None:
    """Unequal digests of a cleaned log excuse themselves only where they were read."""
    width = 3 * BUCKETS_ZOOMED["full"]
    ours, theirs = [1] * width, [2] * width
    end = width * BUCKET_OFFSETS
    left, right = replica(1, ours, cleaner=end), replica(2, theirs, cleaner=end)
    evidence = compared(left, right, contents={1: ours, 2: theirs})
    assert evidence.differences == ()
    (gap,) = evidence.uncompared
    assert (gap.start_offset, gap.end_offset, gap.blocking) == (0, end, False)


def test_without_the_bytes_nothing_is_told() -> None:
    evidence = with_differences(PartitionEvidence(
        cluster_id=None, topic="t", partition=0, replicas=(replica(1, [1, 2]), replica(2, [1, 3]))
    ))  # fmt: skip
    assert evidence.differences == ()
    (gap,) = evidence.uncompared
    assert (gap.start_offset, gap.end_offset, gap.blocking) == (BUCKET_OFFSETS, 2 * BUCKET_OFFSETS, True)
    assert gap.missing == "the segments of both"


def test_a_zoom_that_was_broken_off_covers_only_what_it_holds() -> None:
    left, right = replica(1, [1, 2, 3]), replica(2, [4, 5, 6])
    whole = Zoom(start_offset=0, end_offset=3 * BUCKET_OFFSETS, batches=(mark(0, 1), mark(1, 2)), complete=False)
    right = replace(right, zooms=(replace(whole, complete=True),))
    assert unread_buckets(replace(left, zooms=(whole,)), right) == (1, 2)


def test_the_quick_level_is_not_certain() -> None:
    evidence = compared(replica(1, [1]), replica(2, [2]), contents={1: [1], 2: [2]}, level="quick")
    assert [difference.verified for difference in evidence.differences] == [True]
    left, right = (
        replace(one, zooms=(Zoom(start_offset=0, end_offset=BUCKET_OFFSETS, batches=(mark(0, c, crc_valid=None),)),))
        for one, c in ((replica(1, [1]), 1), (replica(2, [2]), 2))
    )
    quick = with_differences(replace(evidence, replicas=(left, right)))
    assert [difference.verified for difference in quick.differences] == [False]


def test_many_small_differences_become_one() -> None:
    ours = "".join("1a" if offset % 2 else "1" for offset in range(4 * RUNS_TOLD))
    theirs = "".join("1b" if offset % 2 else "1" for offset in range(4 * RUNS_TOLD))
    evidence = with_differences(read_sketch(f"broker 1 {ours}|\nbroker 2 {theirs}|").evidence)
    assert len(evidence.differences) == RUNS_TOLD
    assert [d.exact for d in evidence.differences] == [True] * (RUNS_TOLD - 1) + [False]
    assert evidence.differences[-1].end_offset == 4 * RUNS_TOLD


@pytest.mark.parametrize(
    ("drawing", "runs"),
    [
        ("broker 1 0000|\nbroker 2 0000|", []),
        ("broker 1 0022|\nbroker 2 0011|", [(2, 4, False)]),
        ("broker 1 01a1|\nbroker 2 01b1|", [(1, 2, True)]),
        ("broker 1 001a2|\nbroker 2 001b3|", [(2, 3, True), (3, 4, False)]),
        # A batch that fails its checksum is no witness; neither is a hole.
        ("broker 1 01a!1|\nbroker 2 01b1|", []),
        ("broker 1 0.1|\nbroker 2 001|", []),
        # One batch against several: records count, not batches.
        ("broker 1 (000)|\nbroker 2 000|", []),
        ("broker 1 (00a0)|\nbroker 2 00b0|", [(1, 2, True)]),
        # Cleaned records are missing on one side; what stands on both must be equal, differing neighbours are one run.
        ("broker 1 (0.0)0| ; cleaner 3\nbroker 2 0000|", []),
        ("broker 1 0a..0a0|\nbroker 2 0b000b0| ; cleaner 4", [(0, 4, True)]),
        ("broker 1 0a0.0a|\nbroker 2 0b000b| ; cleaner 4", [(0, 1, True), (3, 4, True)]),
        # Bytes that cannot be decoded are all there is to compare.
        ("broker 1 00?0|\nbroker 2 00a0|", [(1, 2, True)]),
        # What an old format cannot carry does not count.
        ("broker 1 ---|\nbroker 2 000|", []),
        ("broker 1 -a--|\nbroker 2 -b--|", [(0, 1, False)]),
        # Beyond the shared range nothing is compared.
        ("broker 1 0011|\nbroker 2 @2:<22|", [(2, 4, False)]),
        ("broker 1 00|22\nbroker 2 00|", []),
    ],
)
def test_what_differs(drawing: str, runs: list[tuple[int, int, bool]]) -> None:
    evidence = with_differences(read_sketch(drawing).evidence)
    assert [(d.start_offset, d.end_offset, d.same_epoch) for d in evidence.differences] == runs
    assert evidence.uncompared == ()


@pytest.mark.parametrize("start", [8180, 8191, 8192, 16380])
def test_a_difference_around_the_border_of_buckets(tmp_path: Path, start: int) -> None:
    """A batch belongs to the bucket in which it begins, and its records may reach into the next."""
    yard = Yard(tmp_path)
    head, tail = wrote(0, 0, start, size=1000), wrote(0, start + 20, 17_000, size=1000)
    yard.broker(1, [*head, batch(0, start, start + 20), *tail])
    yard.broker(2, [*head, batch(0, start, start + 20, "other"), *tail])
    assert [told[3:] for told in yard.told() if told[0] == "LOG003"] == [(start, start + 20)]


def test_a_shared_range_that_begins_inside_a_batch_of_the_bucket_before(tmp_path: Path) -> None:
    """Both logs begin inside one batch, by deleted records, and that batch differs."""
    yard = Yard(tmp_path)
    tail = wrote(0, 8210, 9000)
    for broker, letter in ((1, ""), (2, "other")):
        yard.broker(broker, [batch(0, 8180, 8210, letter), *tail], start=8195, epochs=[(0, 8195)])
    assert [told[3:] for told in yard.told() if told[0] == "LOG003"] == [(8195, 8210)]


def test_shared_ranges_and_unequal_buckets() -> None:
    left, right = read_sketch("broker 1 0x9000|\nbroker 2 @100:0x9000|").evidence.replicas
    assert shared_range(left, right) == (100, 9000)
    assert unequal_buckets(left, right) == (0, 1)
    assert unequal_buckets(left, replace(right, log=left.log)) == ()
