"""Keys in the partitions of a topic: where each known partitioner places them, and where it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from auditor.report.model import AuditReport
from parsers.provenance import Span
from parsers.writers.segments import Record, batch_bytes
from rules.evidence.topic import FEW
from rules.finding import Finding, Severity
from rules.narrow.key_tallies import PlacingLedger
from rules.protocol.partitioning import PARTITIONERS, crc32, murmur2
from rules.replicas.keyless import KeylessTally
from rules.replicas.partition_counts import SLACK_MS
from tests.auditor.dumps_at_hand import audited
from tests.rules.broken_dumps import Batch, Yard
from tests.rules.cluster_dumps import HOUR, MetadataLog, entry, topic_id, with_metadata

KEYS = [b"user-%d" % number for number in range(120)]
OTHER_KEYS = [b"shop-%d" % number for number in range(120)]
Place = Callable[[bytes], int]


def entry_span(offset: int) -> Span:
    return Span(source="log", start=offset, end=offset + 1)


def by(name: str, count: int) -> Place:
    return lambda key: PARTITIONERS[name](key) % count


class Topic:
    """A topic whose keys are written one a batch, at a time, by a producer."""

    def __init__(self, root: Path, *counts: int, told: bool = True) -> None:
        self.root, self.logs = root, [list[Batch]() for _ in range(counts[-1])]
        log = MetadataLog()
        for number, (before, count) in enumerate(zip((0, *counts), counts, strict=False)):
            log.topic("t", 1, [[1]] * (count - before), at=(number + 1) * HOUR, first=before)
        if told:
            with_metadata(root, log)

    def write(self, keys: Iterable[bytes | None], place: Place, *, at: int = HOUR, producer: int = -1) -> None:
        for number, key in enumerate(keys):
            log = self.logs[place(key) if key is not None else number % len(self.logs)]
            log.append(entry(len(log), [(key, b"%d" % number)], base_timestamp=at, producer_id=producer))

    def write_batches(self, told: Mapping[int, KeylessTally]) -> None:
        """Batches without keys, with the times of their first and last records."""
        for partition, tally in told.items():
            log = self.logs[partition]
            for batch in tally.batches:
                base = log[-1].end if log else 0
                delta = (batch.last_time - batch.first_time) / max(batch.records - 1, 1)
                records = [
                    Record(offset_delta=n, timestamp_delta=round(n * delta), value=b"v") for n in range(batch.records)
                ]
                content = batch_bytes(
                    base_offset=base, leader_epoch=0, records=records, base_timestamp=HOUR + batch.first_time
                )
                log.append(Batch(base, base + batch.records, 0, content))

    def audit(self, level: str = "deep") -> AuditReport:
        for partition, log in enumerate(self.logs):
            Yard(self.root).broker(1, log, partition=partition, topic_id=topic_id(1))
        return audited(self.root, level=level)

    def judged(self) -> tuple[list[Finding], list[str]]:
        report = self.audit()
        found = [finding for finding in report.findings if finding.rule == "PLACE001"]
        return found, [point.reason for point in report.coverage.undecided if point.rule == "PLACE001"]


@pytest.mark.parametrize("name", PARTITIONERS)
def test_keys_where_a_known_partitioner_places_them(tmp_path: Path, name: str) -> None:
    topic = Topic(tmp_path, 3)
    topic.write(KEYS, by(name, 3))
    assert topic.judged() == ([], [])


def test_a_key_in_a_foreign_partition_is_told_with_its_place(tmp_path: Path) -> None:
    topic = Topic(tmp_path, 3)
    topic.write(KEYS, by("murmur2", 3), producer=7)
    foreign = next(key for key in KEYS if murmur2(key) % 3 != 2)
    at = len(topic.logs[2])
    topic.write([foreign], lambda _: 2, producer=7)
    (finding,), left = topic.judged()
    told = finding.values()
    assert (finding.severity, finding.confidence, finding.topic, finding.partition) == (
        Severity.LOW, "likely", "t", None,
    )  # fmt: skip
    assert (told["partitioner"], told["apart"], told["keys"], told["partition"], told["offset"], told["percent"]) == (
        "murmur2", 1, 121, 2, at, "99.2",
    )  # fmt: skip
    assert finding.message.startswith("1 key of producer 7 is in another partition than murmur2 gives. It chooses")
    assert finding.message.endswith(f" The first that does not is at offset {at} of partition 2.")
    assert left == []
    span = finding.exhibits[0].span
    assert foreign in (tmp_path / span.source).read_bytes()[span.start : span.end]
    assert foreign.decode() not in repr(finding)


def test_keys_from_before_partitions_were_added_stay_where_they_are(tmp_path: Path) -> None:
    topic = Topic(tmp_path, 2, 5)
    topic.write(KEYS, by("murmur2", 2), at=HOUR)
    topic.write(KEYS, by("murmur2", 2), at=2 * HOUR + SLACK_MS // 2)
    topic.write(KEYS, by("murmur2", 5), at=3 * HOUR)
    assert topic.judged() == ([], [])


def test_a_producer_that_never_learnt_of_added_partitions_is_found(tmp_path: Path) -> None:
    topic = Topic(tmp_path, 2, 5)
    topic.write(KEYS, by("murmur2", 2), at=HOUR, producer=7)
    topic.write(KEYS * 4, by("murmur2", 5), at=3 * HOUR, producer=7)
    topic.write(KEYS[:30], by("murmur2", 2), at=3 * HOUR, producer=7)
    (finding,), _ = topic.judged()
    assert finding.confidence == "likely"
    assert finding.values()["counts"] == [5]
    assert finding.values()["count"] == "5 since 1970-01-01 02:00:00 UTC"


@pytest.mark.parametrize("place", [lambda key: len(key) % 3, lambda key: key[-1] % 3, lambda _: 1])
def test_partitions_chosen_by_hand_or_by_ones_own_partitioner_accuse_nobody(tmp_path: Path, place: Place) -> None:
    topic = Topic(tmp_path, 3)
    topic.write(KEYS, place)
    found, left = topic.judged()
    assert found == []
    assert left == ["of producers without an id, or of few keys no known partitioner places its keys where they lie"]


def test_records_without_keys_may_lie_anywhere(tmp_path: Path) -> None:
    topic = Topic(tmp_path, 3)
    topic.write([None] * 60, by("murmur2", 3))
    found, left = topic.judged()
    assert found == []
    few = "its records without keys are in too few batches to show which partitioner placed them"
    assert left == [f"of producers without an id {few}"]


def test_each_producer_has_a_partitioner_of_its_own(tmp_path: Path) -> None:
    topic = Topic(tmp_path, 4)
    topic.write(KEYS, by("murmur2", 4), producer=1)
    topic.write(OTHER_KEYS, by("crc32", 4), producer=2)
    topic.write(KEYS[:5], lambda _: 3, producer=3)
    found, left = topic.judged()
    assert found == []
    assert left == ["of producers without an id, or of few keys too few keys tell which partitioner it uses"]


@pytest.mark.parametrize(
    ("at", "words"),
    [(2, " up to 1970-01-01 01:00:00 UTC. Producer 2 placed some of the same keys by crc32 from 1970-01-01 02:00:00"),
     (1, ". Producer 2 placed some of the same keys by crc32, in the same time.")],
)  # fmt: skip
def test_a_producer_that_another_replaced_with_another_partitioner(tmp_path: Path, at: int, words: str) -> None:
    topic = Topic(tmp_path, 4)
    topic.write(KEYS, by("murmur2", 4), producer=1)
    before = [len(log) for log in topic.logs]
    topic.write(KEYS, by("crc32", 4), producer=2, at=at * HOUR)
    topic.write(OTHER_KEYS, by("crc32", 4), producer=3, at=at * HOUR)
    (finding,), left = topic.judged()
    told = finding.values()
    alike = sum(crc32(key) % 4 == murmur2(key) % 4 for key in KEYS)
    assert (told["partitioner"], told["agreeing"], told["keys"]) == ("murmur2", alike, 120)
    assert finding.confidence == "likely"
    assert words in finding.message
    apart = (
        (partition, before[partition] + number)
        for partition in range(4)
        for number, key in enumerate(key for key in KEYS if crc32(key) % 4 == partition)
        if murmur2(key) % 4 != partition
    )
    assert (told["partition"], told["offset"]) == min(apart)
    assert left == []


def test_without_ids_a_change_of_the_partitioner_is_a_question(tmp_path: Path) -> None:
    topic = Topic(tmp_path, 4)
    topic.write(KEYS, by("murmur2", 4))
    topic.write(KEYS, by("crc32", 4), at=2 * HOUR)
    found, left = topic.judged()
    assert found == []
    assert left == ["of producers without an id, or of few keys no known partitioner places its keys where they lie"]


@pytest.mark.parametrize("ids", [(-1, -1), (1, 2)])
@pytest.mark.parametrize("main", ["murmur2", "crc32"])
def test_a_second_producer_with_a_partitioner_and_keys_of_its_own_is_not_accused(
    tmp_path: Path, main: str, ids: tuple[int, int]
) -> None:
    """With ids they are told apart; without, the few keys that lie elsewhere are a question, with their place."""
    topic = Topic(tmp_path, 4)
    (other,) = {"murmur2", "crc32"} - {main}
    for number in range(0, len(KEYS), 10):
        topic.write(KEYS[number : number + 10], by(main, 4), producer=ids[0])
        topic.write(OTHER_KEYS[number // 10 : number // 10 + 1], by(other, 4), producer=ids[1])
    apart = [key for key in OTHER_KEYS[:12] if PARTITIONERS[main](key) % 4 != PARTITIONERS[other](key) % 4]
    found, left = topic.judged()
    assert found == []
    asked = f"of producers without an id, or of few keys {len(apart)} of 132 keys lie elsewhere than {main} places them"
    assert [reason.split(", from offset")[0] for reason in left] == [asked] * (ids[0] < 0)


def test_one_of_several_producers_without_ids_may_have_put_the_same_keys_elsewhere(tmp_path: Path) -> None:
    topic = Topic(tmp_path, 4)
    topic.write(KEYS, by("murmur2", 4), producer=1)
    topic.write(KEYS[:60], by("crc32", 4), at=2 * HOUR)
    found, left = topic.judged()
    assert found == []
    assert left == [
        "of producer 1 and of producers without an id, or of few keys some of the same keys lie in different partitions"
    ]


def test_the_same_keys_in_the_same_partitions_tell_no_replacement(tmp_path: Path) -> None:
    """A few keys lie alike by both partitioners; all others of the two producers differ."""
    topic = Topic(tmp_path, 4)
    shared = [key for key in KEYS if murmur2(key) % 4 == crc32(key) % 4]
    assert len(shared) > FEW
    topic.write(KEYS, by("murmur2", 4), producer=1)
    topic.write([*shared, *OTHER_KEYS], by("crc32", 4), producer=2, at=2 * HOUR)
    assert topic.judged() == ([], [])


def test_where_only_directories_show_the_number_of_partitions_nobody_is_accused(tmp_path: Path) -> None:
    topic = Topic(tmp_path, 3, told=False)
    topic.write(KEYS, by("murmur2", 3))
    topic.write(KEYS[:4], lambda _: 2)
    found, left = topic.judged()
    assert found == []
    assert len(left) == 1


def test_below_level_deep_the_question_is_named(tmp_path: Path) -> None:
    topic = Topic(tmp_path, 3)
    topic.write(KEYS, by("murmur2", 3))
    points = [p for p in topic.audit("full").coverage.undecided if p.rule == "PLACE001"]
    assert [point.asked_at_level for point in points] == ["deep"]


def test_tallies_do_not_depend_on_where_a_log_is_cut() -> None:
    ledgers: Sequence[PlacingLedger] = (PlacingLedger(1), PlacingLedger(1))
    spans = [entry_span(offset) for offset in range(len(KEYS))]
    ledgers[0].batch(7, (3,), KEYS, range(len(KEYS)), spans)
    for offset, key in enumerate(KEYS):
        ledgers[1].batch(7, (3,), [key], [offset], [spans[offset]])
    assert ledgers[0].close(1) == ledgers[1].close(1)
