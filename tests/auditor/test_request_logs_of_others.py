"""A request log that is here, and names other partitions alone, is not asked for: it tells that nobody fetched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from dumps_at_hand import SAMPLES, copied

from rules.catalog import RULES
from rules.judging.judge import judge
from tests.lab.sample_histories import evidence_of

OPENED = datetime(2026, 11, 24, 18, 44, 8, tzinfo=UTC)
STOPPED = datetime(2026, 11, 24, 18, 56, 12, tzinfo=UTC)
NAMED = ("fzGfTV0uS3qHH3s3kOgykA", "vjM3eabtQqW00k5cL3v31A")
"""Ids of topics of the sample, `pay` not among them."""
EVERY = timedelta(milliseconds=400)


def lines(since: datetime, until: datetime) -> Iterator[str]:
    """Fetches of broker 3 from broker 2 without a session, of partitions 0 of some topics."""
    template = (SAMPLES / "unclean_4x/dump/broker-1/logs/kafka-request.log").read_text().partition("\n")[0]
    words, _, rest = template.partition("request:")[2].rpartition(" (")
    told = json.loads(words)
    told["request"]["sessionEpoch"], told["response"]["sessionId"] = -1, 0
    (asked,), (answered,) = told["request"]["topics"], told["response"]["responses"]
    told["request"]["topics"] = [{**asked, "topicId": each} for each in NAMED]
    told["response"]["responses"] = [{**answered, "topicId": each} for each in NAMED]
    line, time = json.dumps(told, separators=(",", ":")), since
    while time <= until:
        yield f"[{time:%Y-%m-%d %H:%M:%S},{time.microsecond // 1000:03}] DEBUG Completed request:{line} ({rest}\n"
        time += EVERY


def undecided(dump: Path) -> set[str]:
    """What would decide how high the high watermarks of `pay-0` may have been in its only epoch."""
    points = judge(evidence_of(dump)["pay", 0], RULES).undecided
    return {point.missing for point in points if point.rule in ("HW003", "HW006")}


@pytest.mark.parametrize(
    ("until", "asked"),
    [
        (STOPPED, "request log lines of fetches that broker 2 served. Its request log here has none"),
        (OPENED, "broker 2's request log (level DEBUG) of the time when it led: no line here is of it"),
        (None, "broker 2's request log (level DEBUG) of the time when it led"),
    ],
    ids=["goes-on", "ends-before", "not-here"],
)
def test_what_is_asked_for_depends_on_when_the_log_that_is_here_speaks(
    tmp_path: Path, until: datetime | None, asked: str
) -> None:
    dump = copied("left_open", tmp_path / "dump", logs=True)
    if until is not None:
        (dump / "broker-2/logs/kafka-request.log").write_text("".join(lines(OPENED - 4 * EVERY, until)))
    assert undecided(dump) == {asked}
    log = evidence_of(dump)["pay", 0].request_log(2)
    assert log.here is (until is not None)
