"""The Java client's own assignors as referees: what they give to groups that change is not accused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from parsers.internal_topics.group_members import RawMember, in_order
from parsers.provenance import Span
from rules.evidence.group_assignments import Contradiction, Unjudged, contradictions
from rules.replicas.commits_of_groups import GroupAssignment, GroupMember, TopicPartitions
from rules.replicas.partition_counts import PartitionCount, PartitionCounts, counts_of
from tests.referee.maven import compiled, missing_tools, run_java

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(bool(missing_tools()), reason=f"needs {', '.join(missing_tools())} on the PATH"),
]
GROUPS: Final = 600
RARE: Final = 0.01
"""Of all generations, those in which the sticky assignors may do what they must not."""
SPAN: Final = Span(source="log", start=0, end=1)
FOREIGN: Final = "members have partitions that are not theirs to read"
Told = Sequence[Contradiction | Unjudged]


def generations(release: str, racks: str) -> Iterator[dict[str, Any]]:
    source = Path(__file__).parent / "java" / "ChangingGroups.java"
    told = run_java(compiled(source, release), "ChangingGroups", str(GROUPS), racks)
    yield from map(json.loads, told.splitlines())


def held(by_topic: Mapping[str, Sequence[int]]) -> tuple[TopicPartitions, ...]:
    return tuple(TopicPartitions(topic=topic, partitions=tuple(own)) for topic, own in by_topic.items())


def group_of(told: Mapping[str, Any]) -> GroupAssignment:
    raw = {
        RawMember(id=each["id"], instance=each["instance"], subscription=b"", assignment=b""): each
        for each in told["members"]
    }
    members = [
        GroupMember(
            topics=tuple(raw[each]["topics"]), rack=raw[each]["rack"],
            owned=held(raw[each]["owned"]), assigned=held(raw[each]["has"]),
        )
        for each in in_order(raw)
    ]  # fmt: skip
    return GroupAssignment(
        group="g", generation=1, assignor=told["assignor"], state_time=10, told_until=1 << 40,
        members=tuple(members), span=SPAN,
    )  # fmt: skip


def counts(told: Mapping[str, Any]) -> PartitionCounts:
    return counts_of(
        (
            PartitionCount(
                topic=topic, count=len(homes), topic_id=topic, since=1, homes=tuple(map(tuple, homes)), span=SPAN
            )
            for topic, homes in told["homes"].items()
        ),
        {},
    )


def judged(told: Mapping[str, Any], group: GroupAssignment) -> Told:
    racks = {int(broker): rack for broker, rack in told["racks"].items()}
    return list(contradictions(group, counts(told), racks))


def reads_unlike(group: GroupAssignment) -> bool:
    return len({frozenset(member.topics) for member in group.members}) > 1


@pytest.mark.parametrize(("release", "racks"), [("2.8.2", "none"), ("4.3.0", "none"), ("4.3.0", "racks")])
def test_what_the_assignors_give_is_not_accused(release: str, racks: str) -> None:
    seen, foreign = 0, 0
    for told in generations(release, racks):
        group = group_of(told)
        seen += 1
        for said in judged(told, group):
            # Where members read different topics, the sticky assignors do so themselves, if rarely.
            assert isinstance(said, Contradiction), said
            assert (said.what, reads_unlike(group)) == (FOREIGN, True), told
            assert "sticky" in said.assignor
            foreign += 1
    assert seen > GROUPS
    assert foreign < seen * RARE


def test_what_they_give_to_another_member_is_accused() -> None:
    """The twin: every member has what is due to the next one."""
    accused, asked = 0, 0
    for told in generations("4.3.0", "none"):
        group = group_of(told)
        shares = [member.assigned for member in group.members]
        if len(set(shares)) > 1 and group.assignor in {"range", "roundrobin"}:
            moved = tuple(
                replace(member, assigned=share)
                for member, share in zip(group.members, (*shares[1:], shares[0]), strict=True)
            )
            asked += 1
            accused += bool(judged(told, replace(group, members=moved)))
    assert asked == accused > GROUPS
