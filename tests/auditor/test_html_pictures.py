"""Pictures show what the report tells: logs from start to end; losses, copies and cuts at their offsets."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest
from dumps_at_hand import SAMPLES
from hypothesis import given
from hypothesis import strategies as st

from auditor.report.html.lanes import lanes
from auditor.report.html.over_time import over_time
from auditor.report.html.protocols import side_by_side
from auditor.report.html.reported_partitions import ReportedPartition, gravest_first, reported_partitions
from auditor.report.html.scale import scale_through
from auditor.report.html.shapes import LEFT, RIGHT, Box, Label, Picture, Polyline
from auditor.report.model import AuditReport
from auditor.report.sheet import between
from rules.verdict import EpochLine
from tests.lab.sample_reports import report_on
from tests.replaced import replace

CASES = ("fast_failover_kip101", "unclean_4x", "lost_pages_hw", "acks_one_lost", "unclean_rejoined", "bit_rot_payload")
offsets = st.lists(st.integers(min_value=0, max_value=(1 << 63) - 1), min_size=1, max_size=60)


def report(case: str) -> AuditReport:
    return report_on(SAMPLES / case)


def gravest(case: str) -> ReportedPartition:
    told = report(case)
    return replace(gravest_first(told, reported_partitions(told).values())[0], anchor="p1")


def drawn(case: str) -> Picture:
    told = report(case)
    picture = lanes(gravest(case), told.bearings)
    assert picture is not None
    return picture


def boxes(picture: Picture, look: str) -> list[Box]:
    return [shape for shape in picture.shapes if isinstance(shape, Box) and look in shape.look.split()]


@given(offsets)
def test_a_scale_keeps_the_order_and_its_edges(told: list[int]) -> None:
    scale = scale_through(told, 100, 800)
    places = [scale.at(offset) for offset in sorted(set(told))]
    assert all(low < high for low, high in pairwise(places))
    assert 100 <= min(places) <= max(places) <= 800.000001
    assert scale.at(-1) == scale.places[0]
    assert scale.at(1 << 64) == scale.places[-1]


@given(offsets, st.data())
def test_a_scale_never_turns_back_between_its_marks(told: list[int], data: st.DataObject) -> None:
    scale = scale_through(told, 0, 700)
    low, high = sorted((data.draw(st.sampled_from(told)), data.draw(st.integers(min_value=0, max_value=1 << 63))))
    assert scale.at(low) <= scale.at(high)


def test_a_short_stretch_beside_a_long_one_is_seen_and_the_long_one_is_marked() -> None:
    scale = scale_through((0, 1_000_000, 1_000_050), 0, 700)
    assert not scale.even
    assert scale.at(1_000_050) - scale.at(1_000_000) > 100
    assert len(list(scale.squeezed)) == 1
    assert list(scale_through((0, 10, 15, 20), 0, 700).squeezed) == []


def scale_of(picture: Picture) -> dict[str, float]:
    """Where the axis names offsets."""
    return {shape.text: shape.x for shape in picture.shapes if isinstance(shape, Label) and shape.look == "tick"}


@pytest.mark.parametrize("case", CASES)
def test_every_log_is_drawn_from_its_start_to_its_end(case: str) -> None:
    story, picture = gravest(case), drawn(case)
    ticks = scale_of(picture)
    runs: dict[float, list[Box]] = {}
    for box in boxes(picture, "log"):
        runs.setdefault(box.y, []).append(box)
    assert len(runs) >= len(story.replicas)
    for replica, own in zip(sorted(story.replicas, key=lambda r: r.broker), runs.values(), strict=False):
        assert all(one.x + one.width == pytest.approx(other.x) for one, other in pairwise(own))
        if str(replica.log_end_offset) in ticks:
            assert own[-1].x + own[-1].width == pytest.approx(ticks[str(replica.log_end_offset)])
        if str(replica.log_start_offset) in ticks:
            assert own[0].x == pytest.approx(ticks[str(replica.log_start_offset)])
        epochs = [line.epoch for line in replica.epochs if line.start_offset < replica.log_end_offset]
        said = [box.says.rpartition("epoch ")[2] for box in own if "epoch " in box.says]
        assert said == [str(epoch) for epoch in epochs if epoch >= 0] or "no epoch" in own[0].says


@pytest.mark.parametrize("case", CASES)
def test_losses_and_their_copies_stand_at_their_offsets(case: str) -> None:
    story, picture = gravest(case), drawn(case)
    ticks = scale_of(picture)
    gone = [loss for loss in story.losses if not loss.restored]
    hatched = boxes(picture, "lost")
    assert len(hatched) == len(gone)
    for loss, box in zip(gone, hatched, strict=True):
        assert box.x == pytest.approx(ticks[str(loss.start_offset)])
        assert box.x + box.width == pytest.approx(ticks[str(loss.end_offset)])
    copies = [survivor for loss in gone for survivor in loss.survivors]
    assert len(boxes(picture, "survivor")) == len(copies)


@pytest.mark.parametrize("case", CASES)
def test_each_protocol_cuts_where_the_table_says(case: str) -> None:
    for placed in gravest(case).tables:
        picture = side_by_side(placed.table)
        cuts = [shape for shape in picture.shapes if isinstance(shape, Polyline) and shape.look == "cut-line"]
        assert [line.says for line in cuts] == [f"Cut to {o.cut_to}" for o in placed.table.outcomes if o.cuts]
        words = [shape.text for shape in picture.shapes if isinstance(shape, Label)]
        assert [outcome.rule for outcome in placed.table.outcomes] == [w for w in words if "-" in w and " " not in w]
        assert words.count("in force") == sum(outcome.in_force for outcome in placed.table.outcomes)


@pytest.mark.parametrize("case", CASES)
def test_reigns_follow_one_another_and_told_values_are_dots(case: str) -> None:
    for history in gravest(case).histories:
        for told in history.drawn:
            picture = over_time(told, history.losses, {})
            assert picture is not None
            assert len(boxes(picture, "reign")) == len(told.reigns)
            red = sum(point.outside for replica in told.replicas for point in replica.points)
            assert len(boxes(picture, "outside")) == red
            in_order = sorted(told.reigns, key=lambda reign: reign.epoch)
            assert "leads epoch" in boxes(picture, "reign")[0].says
            assert [r.epoch for r in in_order] == sorted({r.epoch for r in told.reigns})


def places(picture: Picture) -> Iterable[tuple[float, float]]:
    for shape in picture.shapes:
        if isinstance(shape, Polyline):
            yield from shape.points
        elif isinstance(shape, Box):
            assert shape.width >= 0
            assert shape.height >= 0
            yield shape.x, shape.y
            yield shape.x + shape.width, shape.y + shape.height
        else:
            yield shape.x, shape.y


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_drawn_beside_the_sheet(case: str) -> None:
    story, told = gravest(case), report(case)
    pictures = [lanes(story, told.bearings), *(side_by_side(placed.table) for placed in story.tables)]
    pictures += [over_time(each, h.losses, {}) for h in story.histories for each in h.drawn]
    for picture in pictures:
        assert picture is not None
        assert all(0 <= x <= picture.width and -1 <= y <= picture.height for x, y in places(picture))


@pytest.mark.parametrize("epochs", [100, 500, 20_000])
def test_a_log_of_very_many_epochs_stays_small_and_whole(epochs: int) -> None:
    story = gravest("unclean_4x")
    lines = tuple(EpochLine(epoch=number, start_offset=number * 7) for number in range(epochs))
    replicas = [replace(r, log_end_offset=epochs * 7, epochs=lines) for r in story.replicas]
    picture = lanes(replace(story, replicas=replicas), report("unclean_4x").bearings)
    assert picture is not None
    assert len(picture.shapes) < 2000
    own = [box for box in boxes(picture, "log") if box.y == boxes(picture, "log")[0].y]
    assert own[0].x == pytest.approx(LEFT)
    assert own[-1].x + own[-1].width == pytest.approx(RIGHT, abs=100)
    assert all(one.x + one.width == pytest.approx(other.x, abs=1.01) for one, other in pairwise(own))


def test_the_greatest_offsets_and_empty_logs_are_drawn() -> None:
    story = gravest("unclean_4x")
    top = (1 << 63) - 1
    odd = [
        replace(story.replicas[0], log_start_offset=top - 1, log_end_offset=top, epochs=(), high_watermark_on_disk=top),
        replace(story.replicas[1], log_start_offset=5, log_end_offset=5, epochs=(), expected_high=None),
    ]
    picture = lanes(replace(story, replicas=odd, histories=[], findings=[], tables=[]), {})
    assert picture is not None
    assert len(boxes(picture, "empty")) == 1
    assert "no epoch is told" in boxes(picture, "hue-none")[0].says


def test_a_partition_of_which_no_log_is_here_has_no_lanes() -> None:
    assert lanes(ReportedPartition(place=(None, "t", 0)), {}) is None


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(None, None, "not told"), (3, 3, "3"), (3, 9, "3 to 9"), (3, None, "3 or more"), (None, 9, "9 or less")],
)
def test_what_is_known_of_an_offset_is_said_in_words(low: int | None, high: int | None, words: str) -> None:
    assert between(low, high) == words
