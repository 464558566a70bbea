"""Request logs that end before their brokers ceased to answer: what nobody saw there is asked for, and never denied."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from dumps_at_hand import SAMPLES, told, told_of, violations

from auditor.engines.plan import trace_stretches as plan_traces
from parsers.provenance import Span
from rules.chronicle.request_logs import LoggedRequests
from rules.history.trace_ends import SessionBroken, SessionLeft, SpokenStretch, TraceEnd, TraceGap, ended_early
from tests.lab.effort import fast_if
from tests.lab.sample_histories import evidence_of, histories
from tests.mutants.surgery import split

SPAN = Span(source="broker-2/logs/server.log", start=10, end=20)


def cut(sample: str, home: Path, *, kept: float) -> Path:
    """A recorded incident whose request logs lack their last lines."""
    dump = Path(shutil.copytree(SAMPLES / sample / "dump", home))
    for log in dump.glob("*/logs/kafka-request.log"):
        lines = log.read_bytes().splitlines(keepends=True)
        log.write_bytes(b"".join(lines[: int(len(lines) * kept)]))
    return dump


@pytest.mark.parametrize("case", ["acks_one_lost", "unclean_rejoined", "unclean_4x", "fast_failover_kip101"])
def test_no_recorded_log_ends_early(case: str) -> None:
    assert not any(log.gaps for evidence in histories(case).values() for log in evidence.request_logs.values())


@pytest.mark.parametrize("kept", [0.3, 0.6])
def test_a_loss_of_which_no_answer_is_left_is_asked_for(kept: float, tmp_path: Path) -> None:
    whole = told_of("acks_one_lost")
    lost = [found for found in violations(whole) if found[0] == "ACK001"]
    report = told(cut("acks_one_lost", tmp_path / "dump", kept=kept))
    assert (report["verdict"], report["exitCode"]) == ("unknown", 3)
    (asked,) = asked_for(report)
    ((_, _, _, brokers, start, end),) = lost
    assert asked["brokers"] == brokers
    assert asked["startOffset"] <= start < end <= asked["endOffset"]


@pytest.mark.parametrize("at", [43_178, 43_718])
def test_answers_behind_the_last_line_that_a_killed_leader_wrote_are_asked_for(at: int, tmp_path: Path) -> None:
    """Cut amid a line, and at its end: nothing later tells that its log is whole, and all seen wait for all."""
    dump = Path(shutil.copytree(SAMPLES / "acks_one_lost" / "dump", tmp_path / "dump"))
    log = dump / "broker-1" / "logs" / "kafka-request.log"
    log.write_bytes(log.read_bytes()[:at])
    report = told(dump)
    assert (report["verdict"], [found[0] for found in violations(report)]) == ("unknown", [])
    assert [(asked["startOffset"], asked["endOffset"]) for asked in asked_for(report)] == [(50, 70)]


@pytest.mark.slow
@pytest.mark.parametrize("kept", [0.5, 0.83])
def test_epochs_that_were_given_behind_the_end_of_a_metadata_log_accuse_nobody(kept: float, tmp_path: Path) -> None:
    """Cut between two batches a log looks whole."""
    dump = Path(shutil.copytree(SAMPLES / "clean_4x" / "dump", tmp_path / "dump"))
    for log in dump.glob("*/data/__cluster_metadata-0/*.log"):
        batches = list(split(log.read_bytes()))
        log.write_bytes(b"".join(batches[: int(len(batches) * kept)]))
    report = told(dump)
    assert (report["verdict"], violations(report)) == ("unknown", [])
    assert {f["rule"] for f in report["findings"]} == {"EPOCH006"}


def asked_for(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [f for f in report["findings"] if f["verdict"] == "undecided" and f["rule"] == "ACK001"]


@pytest.mark.parametrize("case", fast_if("fast_failover_kip101".__eq__, ["fast_failover_kip101", "unclean_rejoined"]))
def test_less_of_a_log_proves_no_more(case: str, tmp_path: Path) -> None:
    whole = {(rule, start) for rule, _, _, _, start, _ in violations(told_of(case))}
    for share in (3, 6):
        report = told(cut(case, tmp_path / str(share), kept=share / 10))
        assert {(rule, start) for rule, _, _, _, start, _ in violations(report)} <= whole


def test_where_a_log_is_cut_into_stretches_makes_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = cut("unclean_4x", tmp_path / "dump", kept=0.6)
    whole = told(dump)
    logs = evidence_of(dump)["pay", 0].request_logs
    assert [(broker, gap.told_by is not None) for broker, log in logs.items() for gap in log.gaps] == [(2, True)]
    monkeypatch.setattr(plan_traces, "TRACE_BYTES", 9 << 10)
    assert told(dump) == whole


def broken(epoch: int, session: int = 7, time: int = 60_000) -> SessionBroken:
    return SessionBroken(leader=1, replica=2, session=session, epoch=epoch, time=time, span=SPAN)


def log(time: int, *sessions: tuple[int, int | None], is_last: bool = True) -> TraceEnd:
    left = tuple(SessionLeft(session=number, next_epoch=following) for number, following in sessions)
    spoken = (SpokenStretch(first=0, last=time),)
    return TraceEnd(broker=1, source="log", end=99, begun=0, spoken=spoken, is_last=is_last, sessions=left)


@pytest.mark.parametrize("answered", [9, 10, 11])
def test_a_log_lacks_what_its_follower_was_answered(answered: int) -> None:
    gaps = list(ended_early([log(50_000, (7, answered))], [broken(10)], {}))
    due = TraceGap(broker=1, source="log", start=99, end=99, since=50_000, told_by=SPAN)
    assert gaps == ([due] if answered < 10 else [])


@pytest.mark.parametrize(
    ("end", "word", "stops"),
    [
        (log(50_000, (7, None)), broken(10), {}),
        (log(50_000), broken(10, time=4_000), {}),
        (log(90_000, (7, 3)), broken(10), {}),
        (log(59_500, (7, 8)), broken(10), {1: [60_000]}),
    ],
    ids=["ended", "before-the-log", "log-goes-on", "as-it-stopped"],
)
def test_a_session_that_tells_nothing_of_a_logs_end(
    end: TraceEnd, word: SessionBroken, stops: dict[int, list[int]]
) -> None:
    assert not list(ended_early([end], [word], stops))


def test_a_log_whose_stretches_lie_in_disorder_is_not_judged() -> None:
    ends = [log(57_000, is_last=False), log(50_000, (7, 3))]
    assert not list(ended_early(ends, [broken(10)], {}))


@pytest.mark.parametrize(("until", "unseen"), [(None, True), (50_001, True), (50_000, False)])
def test_only_roles_that_went_on_behind_the_last_line_are_open(until: int | None, unseen: bool) -> None:
    gap = TraceGap(broker=1, source="log", start=99, end=99, since=50_000, told_by=SPAN)
    assert LoggedRequests(broker=1, here=True, gaps=(gap,)).ends_before(until) is unseen
