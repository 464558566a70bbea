"""A broker's log cut anywhere tells what it tells whole."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.audit import audit, prepare
from auditor.config import AuditConfig
from auditor.dumps import gather
from auditor.engines.plan import log_stretches
from auditor.engines.plan.pieces import part
from auditor.engines.plan.units import ReadUnit
from auditor.engines.witnesses.broker_settings import Printed, changed, informed, of_blocks
from auditor.engines.witnesses.log_statements import read_logs
from auditor.report.json import render
from parsers.provenance import Span
from parsers.tables import BrokerSetting, arrow_schema
from rules.history.moments import Moment
from rules.narrow.assemble import owned
from rules.narrow.facts import Surroundings
from rules.settings import KAFKA_VERSION, Setting
from tests.lab.effort import cases
from tests.lab.sample_reports import report_on
from tests.replaced import replace

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"


def unit_of(dump: Path, source: str) -> ReadUnit:
    """A log as one unit."""
    units = prepare(gather(dump), AuditConfig()).units
    return next(unit for unit in units if [piece.source for piece in unit.pieces] == [source])


@cache
def recorded(case: str, source: str) -> ReadUnit:
    return unit_of(SAMPLES / case / "dump", source)


def told(units: Sequence[ReadUnit]) -> tuple[list[Moment], Surroundings, list[object]]:
    """All that units of one log tell together: of partitions, of their cluster, and what could not be read."""
    facts = [fact for unit in units for fact in read_logs(unit)]
    around = {fact.cluster_id: Surroundings(cluster_id=fact.cluster_id) for fact in facts}
    (told_of,) = informed(around, [fact for fact in facts if fact.of_the_cluster]).values()
    moments = [moment for fact in owned(facts, told_of) for moment in fact.moments]
    refusals: list[object] = [refusal for fact in facts if fact.root for refusal in fact.root.refusals]
    return sorted(moments, key=lambda moment: (moment.span.start, repr(moment))), told_of, refusals


def stretches(unit: ReadUnit, cuts: Sequence[int]) -> list[ReadUnit]:
    (piece,) = unit.pieces
    bounds = sorted({0, piece.size, *(cut % piece.size for cut in cuts)})
    return [replace(unit, pieces=(part(piece, *pair),)) for pair in itertools.pairwise(bounds)]


LOGS = (
    ("clean_1_1", "broker-1/logs/server.log"),
    ("unclean_4x", "broker-1/logs/server.log"),
    ("clean_2_8", "broker-1/logs/state-change.log"),
    ("clean_mixed", "controller-100/logs/server.log"),
)


@settings(max_examples=cases(5), deadline=None)
@given(st.sampled_from(LOGS), st.lists(st.integers(0, 1 << 30), max_size=4))
def test_stretches_of_a_recorded_log_tell_together_what_it_tells(log: tuple[str, str], cuts: list[int]) -> None:
    unit = recorded(*log)
    assert told(stretches(unit, cuts)) == told([unit])


def statement(place: int, topic: str | None, value: str, inherited: bool) -> Setting:
    return Setting(
        name="retention.ms" if topic else "log.retention.ms", value=value, origin="log", clock="broker 1", topic=topic,
        broker=None if topic else 1, inherited=inherited and topic is not None,
        span=Span(source="server.log", start=place, end=place + 1),
    )  # fmt: skip


STATED = st.tuples(st.sampled_from([None, None, "a", "b"]), st.sampled_from("12"), st.booleans())


@settings(max_examples=cases(300), deadline=None)
@given(st.lists(STATED, max_size=14), st.lists(st.integers(0, 14), max_size=3))
def test_settings_of_stretches_join_to_those_of_the_whole(
    stated: list[tuple[str | None, str, bool]], cuts: list[int]
) -> None:
    every = [statement(place, *one) for place, one in enumerate(stated)]
    bounds = sorted({0, len(every), *(min(cut, len(every)) for cut in cuts)})
    parts = [changed(every[start:end], Printed()) for start, end in itertools.pairwise(bounds)]
    joined = changed(itertools.chain.from_iterable(parts), Printed())
    assert [*joined] == [*changed(every, Printed())]


PRINTED = st.tuples(
    st.sampled_from([1, 2, None]), st.sampled_from(["a", "b", KAFKA_VERSION]), st.sampled_from(["1", "2", None])
)


@settings(max_examples=cases(300), deadline=None)
@given(st.lists(PRINTED, max_size=20))
def test_settings_printed_again_tell_nothing_that_each_line_would(
    printed: list[tuple[int | None, str, str | None]],
) -> None:
    rows = pa.RecordBatch.from_pylist(
        [
            {
                "broker": broker,
                "name": name,
                "value": value,
                "source": "server.log",
                "span_start": place,
                "span_end": place,
            }
            for place, (broker, name, value) in enumerate(printed)
        ],
        schema=arrow_schema(BrokerSetting),
    )
    line_by_line = itertools.chain.from_iterable(of_blocks(rows.slice(place, 1)) for place in range(len(printed)))
    together = list(of_blocks(rows))
    assert list(changed(together, Printed())) == list(changed(line_by_line, Printed()))
    assert len(together) == len(printed) or len(printed) > 1


ENTRY = "[2026-11-21 05:25:18,155] INFO [Partition t-0 broker={}] ISR updated to 1,2 and version updated to [{}] (k)\n"


def test_a_log_is_nobodys_if_one_of_its_stretches_shows_it(tmp_path: Path) -> None:
    lines = [ENTRY.format(1, 3), ENTRY.format(1, 4), ENTRY.format(2, 5), ENTRY.format(1, 6)]
    (tmp_path / "broker-1").mkdir()
    log, size = tmp_path / "broker-1" / "server.log", len(lines[0])
    log.write_text(lines[0] * 4)
    unit = unit_of(tmp_path, "broker-1/server.log")
    # As in the midst of a long log, beyond what is looked at before it is read.
    log.write_text("".join(lines))
    for cut in range(0, 4 * size, 7):
        moments, around, refusals = told(stretches(unit, [cut]))
        assert moments == []
        assert around.disowned or not cut
        assert len(refusals) == 1
    assert len(told([replace(unit, pieces=(part(unit.pieces[0], 0, size),))])[0]) == 1


def test_only_a_log_as_its_broker_wrote_it_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_stretches, "LOG_BYTES", 100)
    line = ENTRY.format(1, 3)
    (tmp_path / "broker-1").mkdir()
    texts = {"server.log": line * 9, "state-change.log": "{}" * 200, "controller.log": f"broker-1  | {line}" * 9}
    for name, text in texts.items():
        (tmp_path / "broker-1" / name).write_text(text)
    units = [unit for unit in prepare(gather(tmp_path), AuditConfig()).units if unit.kind == "broker-log"]
    by_name = {name: [u for u in units if u.pieces[0].source.endswith(name)] for name in texts}
    assert {name: len(found) for name, found in by_name.items()} == {
        "server.log": -(-9 * len(line) // 100), "state-change.log": 1, "controller.log": 1
    }  # fmt: skip
    assert {unit.is_stretch for unit in by_name["server.log"]} == {True}


@pytest.mark.slow
@pytest.mark.parametrize("case", ["clean_1_1", "unclean_4x", "recreated_topic", "lost_pages_hw"])
def test_tiny_stretches_give_the_same_report(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_stretches, "LOG_BYTES", 5 << 10)
    config = AuditConfig(engine="local")
    dump = SAMPLES / case / "dump"
    assert sum(unit.is_stretch for unit in prepare(gather(dump), config).units) > 20
    assert render(audit(dump, config)) == render(report_on(SAMPLES / case))
