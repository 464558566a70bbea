"""Indexes beside their logs, on a real cluster's bytes: one entry is changed, and just that index is told of."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.engines.plan.pieces import Piece, part
from auditor.engines.plan.selection import Selection
from auditor.engines.plan.units import ReadUnit, plan
from auditor.engines.reading import read_unit
from auditor.report.model import AuditReport
from parsers.inventory import take_inventory
from rules.facts import transactions
from rules.facts.indexes import IndexFacts, join_all_indexes
from rules.finding import Severity
from tests.auditor.dumps_at_hand import SAMPLES, audited, copied
from tests.lab.effort import cases
from tests.replaced import replace

CLEAN = SAMPLES / "clean_2_8" / "dump"
BROKER = 2
SEGMENT = f"broker-{BROKER}/data/my-topic.v2-0/{200:020d}"
OFFSET = struct.Struct(">ii")
TIME = struct.Struct(">qi")
ABORTED = struct.Struct(">hqqqq")
Change = Callable[[bytearray], None]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied("clean_2_8", tmp_path_factory.mktemp("index") / "dump")


@pytest.fixture
def dump(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "dump"))


def put(layout: struct.Struct, entry: int, **fields: int) -> Change:
    """Fields of an entry by their places, `f0`, `f1`, …; each is raised by so much."""

    def change(data: bytearray) -> None:
        values = list(layout.unpack_from(data, entry * layout.size))
        for name, more in fields.items():
            values[int(name[1:])] += more
        layout.pack_into(data, entry * layout.size, *values)

    return change


def changed(path: Path, change: Change) -> Path:
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(bytes(data))
    return path


def told(report: AuditReport) -> list[tuple[str, str, tuple[int, ...], object]]:
    own = [found for found in report.violations if found.rule.startswith("IDX")]
    return [(found.rule, Severity(found.severity).label, found.brokers, found.values()["flaws"]) for found in own]


def test_the_sample_has_entries_of_every_kind() -> None:
    """Else nothing below would show that a sound index passes."""
    kinds = ("index", "timeindex", "txnindex")
    sizes = {kind: sum(path.stat().st_size for path in CLEAN.rglob(f"*.{kind}")) for kind in kinds}
    assert all(size > 100 for size in sizes.values()), sizes


OFFSET_DEFECTS: dict[str, tuple[Change, str]] = {
    "a position inside a batch": (put(OFFSET, 0, f1=1), "inside a batch"),
    "a position behind the file": (put(OFFSET, 0, f1=1 << 24), "beyond the log"),
    "an offset below the batch": (put(OFFSET, 0, f0=-40), "another batch"),
    "an offset behind the segment": (put(OFFSET, 0, f0=5000), "beyond the log"),
    "part of an entry": (lambda data: data.extend(b"\1\2\3"), "malformed"),
    "part of an entry of zeros": (lambda data: data.extend(bytes(3)), "malformed"),
    "a zero tail of an odd length": (lambda data: data.extend(bytes(803)), "malformed"),
    "a negative offset": (put(OFFSET, 0, f0=-(1 << 20)), "malformed"),
    "an entry twice": (lambda data: data.extend(data[-8:]), "falls"),
}
TIME_DEFECTS: dict[str, tuple[Change, str]] = {
    "a later time": (put(TIME, 0, f0=1), "another time"),
    "another batch's offset": (put(TIME, 0, f1=-60), "another time"),
    "an offset behind the segment": (put(TIME, 0, f1=5000), "beyond the log"),
    "an entry twice": (lambda data: data.extend(data[-12:]), "falls"),
    "part of an entry": (lambda data: data.extend(b"\1\2\3"), "malformed"),
    "part of an entry of zeros": (lambda data: data.extend(bytes(5)), "malformed"),
}
ABORT_DEFECTS: dict[str, tuple[Change, str]] = {
    "another producer": (put(ABORTED, 0, f1=1), "no marker"),
    "a record for its marker": (put(ABORTED, 0, f3=-1), "no marker"),
    "a marker behind the log": (put(ABORTED, 0, f3=100_000), "beyond the log"),
    "a beginning inside its batch": (put(ABORTED, 0, f2=1), "not its beginning"),
    "the place of records of no transaction": (put(ABORTED, 0, f2=-20), "not its beginning"),
    "another producer's beginning": (put(ABORTED, 0, f2=-91), "not its beginning"),
    "a beginning behind the log": (put(ABORTED, 0, f2=100_000), "beyond the log"),
    "another version": (put(ABORTED, 0, f0=1), "malformed"),
    "an entry twice": (lambda data: data.extend(data[-34:]), "falls"),
    "part of an entry": (lambda data: data.extend(bytes(5)), "malformed"),
    "a last stable offset that never was": (put(ABORTED, 0, f4=-20), "another stable offset"),
}


@pytest.mark.parametrize("name", OFFSET_DEFECTS)
def test_an_offset_index_that_leads_astray(dump: Path, name: str) -> None:
    change, flaw = OFFSET_DEFECTS[name]
    changed(dump / f"{SEGMENT}.index", change)
    ((rule, severity, brokers, flaws),) = told(audited(dump, topic="my-topic.v2"))
    assert (rule, severity, brokers) == ("IDX001", "low", (BROKER,))
    assert isinstance(flaws, list)
    assert flaw in flaws


@pytest.mark.parametrize("name", TIME_DEFECTS)
def test_a_time_index_of_other_times(dump: Path, name: str) -> None:
    change, flaw = TIME_DEFECTS[name]
    changed(dump / f"{SEGMENT}.timeindex", change)
    ((rule, severity, brokers, flaws),) = told(audited(dump, topic="my-topic.v2"))
    assert (rule, severity, brokers) == ("IDX002", "low", (BROKER,))
    assert isinstance(flaws, list)
    assert flaw in flaws


@pytest.mark.parametrize("name", ABORT_DEFECTS)
def test_a_transaction_index_of_other_aborts(dump: Path, name: str) -> None:
    change, flaw = ABORT_DEFECTS[name]
    changed(dump / f"broker-{BROKER}/data/orders-0/{0:020d}.txnindex", change)
    ((rule, severity, brokers, flaws),) = told(audited(dump, topic="orders"))
    assert (rule, severity, brokers) == ("IDX003", "low", (BROKER,))
    assert isinstance(flaws, list)
    assert flaw in flaws


ABORTS = f"broker-{BROKER}/data/orders-0/{0:020d}.txnindex"


def markers(dump: Path) -> dict[int, tuple[int, int]]:
    """Producer and type of every marker of the log, by its offset, as Kafka lays them out."""
    data, found, place = (dump / ABORTS).with_suffix(".log").read_bytes(), dict[int, tuple[int, int]](), 0
    while place + 61 < len(data):
        base, length = struct.unpack_from(">qi", data, place)
        if data[place + 22] & 0x30 == 0x30:
            found[base] = struct.unpack_from(">q", data, place + 43)[0], struct.unpack_from(">h", data, place + 68)[0]
        place += 12 + length
    return found


def flaws_found(dump: Path) -> list[object]:
    return [flaws for rule, _, _, flaws in told(audited(dump, topic="orders")) if rule == "IDX003"]


def test_every_abort_of_records_has_its_entry_in_the_sample(dump: Path) -> None:
    """A second marker behind the first one ends no record, and has none."""
    entries = {(entry[1], entry[3]) for entry in ABORTED.iter_unpack((dump / ABORTS).read_bytes())}
    aborts = {(producer, offset) for offset, (producer, kind) in markers(dump).items() if kind == 0}
    assert entries == {(producer, offset) for producer, offset in aborts if (producer, offset - 1) not in aborts}
    assert 1 < len(entries) < len(aborts) < len(markers(dump))
    assert flaws_found(dump) == []


def test_an_abort_without_an_entry(dump: Path) -> None:
    changed(dump / ABORTS, lambda data: data.__delitem__(slice(0, ABORTED.size)))
    assert flaws_found(dump) == [["no entry"]]


def test_an_emptied_index_tells_of_no_abort(dump: Path) -> None:
    (dump / ABORTS).write_bytes(b"")
    (finding,) = (each for each in audited(dump, topic="orders").violations if each.rule == "IDX003")
    assert "No entry tells of producer" in finding.message
    assert finding.values()["entries"] == 2


def test_the_newest_aborts_may_be_missing_after_a_crash_and_others_may_not(dump: Path) -> None:
    (dump / f"broker-{BROKER}/data/.kafka_cleanshutdown").unlink()
    whole = (dump / ABORTS).read_bytes()
    (dump / ABORTS).write_bytes(whole[: -ABORTED.size])
    assert flaws_found(dump) == []
    (dump / ABORTS).write_bytes(whole[ABORTED.size :])
    assert flaws_found(dump) == [["no entry"]]


def test_an_entry_for_what_the_log_commits(dump: Path) -> None:
    """Readers of committed records would pass over it."""
    commits = sorted((offset, producer) for offset, (producer, kind) in markers(dump).items() if kind == 1)
    last = max(offset for offset, (_, kind) in markers(dump).items() if kind == 0)
    offset, producer = next(each for each in commits if each[0] > last)
    entry = ABORTED.pack(0, producer, offset - 1, offset, offset)
    changed(dump / ABORTS, lambda data: data.extend(entry))
    (finding,) = (each for each in audited(dump, topic="orders").violations if each.rule == "IDX003")
    says = f"for offset {offset} says that producer {producer}'s transaction was aborted there"
    assert f"{says}. The log's marker commits it" in finding.message


def test_headers_alone_tell_of_no_missing_abort(dump: Path) -> None:
    """At level quick no checksum vouches for what a marker says."""
    (dump / ABORTS).write_bytes(b"")
    assert [found for found in audited(dump, level="quick", topic="orders").violations if found.rule == "IDX003"] == []


LAWFUL: dict[str, Callable[[Path], object]] = {
    "no index at all": lambda index: index.unlink(),
    "an empty index": lambda index: index.write_bytes(b""),
    "the zero tail of a running broker": lambda index: index.write_bytes(index.read_bytes().ljust(10_485_760, b"\0")),
    "an index that lags behind": lambda index: index.write_bytes(index.read_bytes()[:-8]),
}


@pytest.mark.parametrize("name", LAWFUL)
@pytest.mark.parametrize("kind", ["index", "timeindex"])
def test_what_brokers_leave_behind_is_lawful(dump: Path, name: str, kind: str) -> None:
    index = dump / f"{SEGMENT}.{kind}"
    LAWFUL[name](index)
    if kind == "timeindex" and index.is_file():
        index.write_bytes(index.read_bytes()[: index.stat().st_size // 12 * 12])
    assert told(audited(dump, topic="my-topic.v2")) == []


def test_an_index_ahead_of_a_log_that_lost_its_tail_is_lawful_after_a_crash_only(dump: Path) -> None:
    """The log's last batches are gone, as after a loss of power: the next start recovers it and indexes it anew."""
    home = dump / f"broker-{BROKER}" / "data"
    log = max((home / "orders-0").glob("*.log"))
    written = log.read_bytes()
    log.write_bytes(written[: 12 + int.from_bytes(written[8:12], "big")])
    assert "IDX001" in {rule for rule, *_ in told(audited(dump, topic="orders"))}
    (home / ".kafka_cleanshutdown").unlink()
    (home / "recovery-point-offset-checkpoint").unlink()
    assert told(audited(dump, topic="orders")) == []


def test_an_index_that_the_next_start_makes_anew_is_information(dump: Path) -> None:
    changed(dump / f"{SEGMENT}.index", put(OFFSET, 0, f1=1))
    (dump / f"broker-{BROKER}/data/.kafka_cleanshutdown").unlink()
    (dump / f"broker-{BROKER}/data/recovery-point-offset-checkpoint").unlink()
    assert [told_of[:2] for told_of in told(audited(dump, topic="my-topic.v2"))] == [("IDX001", "info")]


# --- the split law ---------------------------------------------------------------------------------------------------


@cache
def long_unit(root: Path) -> ReadUnit:
    units = plan(str(root), take_inventory(root), Selection())
    own = [unit for unit in units if unit.kind == "log" and unit.broker == BROKER]
    return max(own, key=lambda unit: (len(unit.indexes), unit.bytes))


def indexes_of(unit: ReadUnit, pieces: list[Piece]) -> IndexFacts:
    return read_unit(replace(unit, pieces=tuple(pieces)), "quick")[0].indexes


@settings(max_examples=cases(25))
@given(st.data())
def test_every_cut_of_a_log_gives_the_same_facts(sound: Path, data: st.DataObject) -> None:
    unit = long_unit(sound)
    whole = indexes_of(unit, list(unit.pieces))
    assert whole.entries > 10
    parts: list[list[Piece]] = []
    for piece in unit.pieces:
        cuts = sorted(data.draw(st.sets(st.integers(1, piece.size - 1), max_size=2))) if piece.size > 1 else []
        bounds = [0, *cuts, piece.size]
        parts += [[part(piece, a, b)] for a, b in pairwise(bounds)]
    assert join_all_indexes(indexes_of(unit, own) for own in parts) == whole


@settings(max_examples=cases(25), deadline=None)
@given(st.data())
def test_every_cut_gives_the_same_faults(broken: Path, data: st.DataObject) -> None:
    unit = long_unit(broken)
    whole = indexes_of(unit, list(unit.pieces))
    assert whole.fault_count >= 3
    assert whole.by_offset_count >= 3
    parts: list[list[Piece]] = []
    for piece in unit.pieces:
        cut = data.draw(st.integers(1, piece.size - 1))
        parts += [[part(piece, 0, cut)], [part(piece, cut, piece.size)]]
    assert join_all_indexes(indexes_of(unit, own) for own in parts) == whole


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every index of the replica has an entry that its log contradicts."""
    root = copied("clean_2_8", tmp_path_factory.mktemp("broken") / "dump")
    for index in sorted((root / f"broker-{BROKER}/data/my-topic.v2-0").glob("*.*index")):
        layout, place = (OFFSET, "f1") if index.suffix == ".index" else (TIME, "f0")
        if index.stat().st_size >= layout.size:
            changed(index, put(layout, 0, **{place: 1}))
    return root


def idx003_asked(dump: Path) -> list[str]:
    return [each.reason for each in audited(dump, topic="orders").coverage.undecided if each.rule == "IDX003"]


def test_aborts_of_a_segment_without_a_transaction_index_are_a_question(dump: Path) -> None:
    (dump / ABORTS).unlink()
    reason = f"no transaction index is here of segments in which broker {BROKER}'s log aborts transactions"
    assert (flaws_found(dump), idx003_asked(dump)) == ([], [reason])


@pytest.mark.parametrize(("most", "questions"), [(transactions.KEEP, 0), (1, 3)])
def test_more_transactions_than_are_kept_leave_the_entries_of_older_ones_a_question(
    dump: Path, monkeypatch: pytest.MonkeyPatch, most: int, questions: int
) -> None:
    """Of three brokers, one of which lacks the first entry."""
    monkeypatch.setattr(transactions, "KEEP", most)
    changed(dump / ABORTS, lambda data: data.__delitem__(slice(0, ABORTED.size)))
    found, asked = flaws_found(dump), idx003_asked(dump)
    assert len(asked) == questions
    assert (found == []) == (questions > 0)
    assert all("log has too many transactions to tell which aborts need an entry" in reason for reason in asked)
