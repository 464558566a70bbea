"""The replay on made-up histories: the true high watermark lies in every interval, and nothing told goes into them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rules.history.moments import Moment
from rules.history.terms import in_terms
from rules.replay import Replay, ToldWatermark, replay
from tests.replaced import replace
from tests.rules.recast import untold
from tests.rules.replay_model import BROKERS, history

Actions = list[tuple[str, int, int]]
ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["append", "append", "ask", "ask", "ask", "answer", "answer", "answer", "commit", "shrink", "elect"]
        ),
        st.sampled_from(BROKERS),
        st.integers(1, 5),
    ),
    max_size=80,
)
VERSIONS = st.sampled_from(["2.8.2", "3.5.0", "3.6.1", "3.9.1", None])


def replayed(moments: tuple[Moment, ...], version: str | None) -> Replay:
    return replay(moments, (), dict.fromkeys(BROKERS, version))


def answers(found: Replay) -> list[ToldWatermark]:
    return [told for told in found.told_watermarks if told.by_leader]


@given(ACTIONS, VERSIONS)
def test_every_told_high_watermark_lies_in_its_interval(actions: Actions, version: str | None) -> None:
    _, moments = history(actions)
    for told in replayed(moments, version).told_watermarks:
        assert told.standing == "inside", (told.moment, told.expected)


@given(ACTIONS, VERSIONS)
def test_blanked_high_watermarks_change_no_interval(actions: Actions, version: str | None) -> None:
    _, moments = history(actions)
    blank = tuple(untold(moment, "high_watermark") for moment in moments)
    seen, unseen = replayed(moments, version), replayed(blank, version)
    assert [told.expected for told in answers(seen)] == [told.expected for told in answers(unseen)]
    assert [course.rows == other.rows for course, other in zip(seen.courses, unseen.courses, strict=True)]
    assert [(c.start, c.end) for c in seen.courses] == [(c.start, c.end) for c in unseen.courses]


@given(ACTIONS)
def test_the_interval_is_exact_once_everybody_has_asked_twice_for_the_end(actions: Actions) -> None:
    quiet = [(step, broker, 999) for _ in range(5) for broker in BROKERS for step in ("ask", "answer", "commit")]
    model, moments = history([*actions, *quiet])
    # The very last fetches may have been followed by others that nobody logged: the round before them is complete.
    quiet_round = answers(replayed(moments, "3.5.0"))[-4:-2]
    assert [told.observed for told in quiet_round] == [model.watermark, model.watermark]
    assert model.watermark == model.ends[model.leader]
    assert [told.expected.interval.width for told in quiet_round] == [0, 0]


@given(ACTIONS, st.data())
def test_lost_answers_widen_and_never_exclude_the_truth(actions: Actions, data: st.DataObject) -> None:
    _, moments = history(actions)
    fetched = [index for index, moment in enumerate(moments) if moment.kind == "fetched"]
    lost = data.draw(st.sets(st.sampled_from(fetched), max_size=5)) if fetched else set()
    # Behind lost lines the session's values are doubtful until they are named again.
    doubtful = {min((later for later in fetched if later > index), default=-1) for index in lost}
    kept = [replace(m, doubtful=i in doubtful) for i, m in enumerate(moments) if i not in lost]
    for told in replayed(in_terms(kept), "3.9.1").told_watermarks:
        assert told.standing != "above", (told.moment, told.expected)
