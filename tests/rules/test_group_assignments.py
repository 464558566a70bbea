"""What members of groups have, against what their assignor gives: from bytes as clients and coordinators write them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from auditor.report.model import AuditReport
from parsers.internal_topics import InternalRecord, StandingKeys, memberships
from parsers.provenance import Origin
from rules.finding import Finding, Severity
from tests.auditor.dumps_at_hand import audited
from tests.replaced import replace
from tests.rules.broken_dumps import Yard
from tests.rules.cluster_dumps import HOUR, OFFSETS, MetadataLog, entry, topic_id, with_metadata
from tests.rules.protocol.client_vectors import vectors

GROUP = "d"
"""At home in partition 0 of 50."""
LATER = 5 * HOUR
Has = dict[str, Sequence[int]]


def text(value: str | None) -> bytes:
    return struct.pack(">h", -1) if value is None else struct.pack(">h", len(value)) + value.encode()


def sized(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def partitions(has: Has) -> bytes:
    own = (text(topic) + struct.pack(f">i{len(held)}i", len(held), *held) for topic, held in has.items())
    return struct.pack(">i", len(has)) + b"".join(own)


def member(
    name: str, topics: Sequence[str], has: Has, *, owned: Has | None = None, rack: str | None = None,
    instance: str | None = None,
) -> bytes:  # fmt: skip
    """A member of a group's value of version 3, its subscription of version 3."""
    read = struct.pack(">i", len(topics)) + b"".join(map(text, topics))
    wanted = struct.pack(">h", 3) + read + struct.pack(">i", -1) + partitions(owned or {}) + struct.pack(">i", 1)
    given = struct.pack(">h", 3) + partitions(has) + struct.pack(">i", -1)
    client = text("client") + text("/10.0.0.1") + struct.pack(">ii", 60_000, 45_000)
    return text(name) + text(instance) + client + sized(wanted + text(rack)) + sized(given)


def group_value(
    assignor: str | None, members: Sequence[bytes], kind: str = "consumer", *, at: int = LATER
) -> bytes:
    head = struct.pack(">h", 3) + text(kind) + struct.pack(">i", 1) + text(assignor) + text("m1")
    return head + struct.pack(">qi", at, len(members)) + b"".join(members)


def group_key(kind: int = 2, *names: str, group: str = GROUP) -> bytes:
    return struct.pack(">h", kind) + text(group) + b"".join(map(text, names))


def audit(
    root: Path, records: Sequence[tuple[bytes, bytes]], *, told: bool = True, grown: bool = False, until: int = LATER
) -> AuditReport:
    """The audit of a cluster with topics t (5 partitions) and u (3), and these records of a group."""
    log = MetadataLog()
    log.topic(OFFSETS, 1, [[1]] * 50, at=HOUR)
    log.topic("t", 2, [[1]] * 5, at=HOUR)
    log.topic("u", 3, [[1]] * 3, at=HOUR)
    if grown:
        log.topic("t", 2, [[1]] * 4, at=LATER, first=5)
    if told:
        with_metadata(root, log)
    Yard(root, topic=OFFSETS).broker(1, [entry(0, records, base_timestamp=until)], topic_id=topic_id(1))
    return audited(root)


def judged(root: Path, assignor: str, members: Sequence[bytes], *, told: bool = True, grown: bool = False) -> list[str]:
    """What is found of a group, in words; what is left open, behind a question mark."""
    return words(audit(root, [(group_key(), group_value(assignor, members))], told=told, grown=grown))


def words(report: AuditReport) -> list[str]:
    open_points = [f"? {point.reason}" for point in report.coverage.undecided if point.rule == "GROUP001"]
    return [*(str(f.values()["what"]) for f in found(report)), *open_points]


def found(report: AuditReport) -> list[Finding]:
    return [finding for finding in report.findings if finding.rule == "GROUP001"]


def test_a_range_that_was_given_as_it_is_due(tmp_path: Path) -> None:
    first, second = {"t": (0, 1, 2), "u": (0, 1)}, {"t": (3, 4), "u": (2,)}
    members = [member("m1", ["t", "u"], first), member("m2", ["t", "u"], second)]
    assert judged(tmp_path, "range", members) == []


def test_static_members_come_first(tmp_path: Path) -> None:
    members = [member("m1", ["t"], {"t": (3, 4)}), member("m2", ["t"], {"t": (0, 1, 2)}, instance="z")]
    assert judged(tmp_path, "range", members) == []


def test_a_static_member_may_have_come_back_to_read_something_else(tmp_path: Path) -> None:
    members = [member("m1", ["u"], {"t": (0, 1, 2)}, instance="z"), member("m2", ["t"], {"t": (3, 4)})]
    (said,) = judged(tmp_path / "back", "range", members)
    assert said.startswith("? group 'd': a static member may have come back to read other topics")
    twice = [member("m1", ["t"], {"t": (0, 1, 2)}, instance="z"), member("m2", ["t"], {"t": (2, 3, 4)})]
    assert judged(tmp_path / "twice", "range", twice) == ["two members have a partition"]


def test_a_range_that_was_not(tmp_path: Path) -> None:
    members = [member("m1", ["t"], {"t": (0, 1)}), member("m2", ["t"], {"t": (2, 3, 4)})]
    report = audit(tmp_path, [(group_key(), group_value("range", members))])
    (finding,) = found(report)
    told = finding.values()
    assert (finding.severity, finding.topic, finding.partition, told["group"]) == (Severity.LOW, OFFSETS, 0, GROUP)
    assert (told["what"], told["partitions"]) == ("members have other partitions than it gives", ["t-2"])
    assert "10.0.0.1" not in repr(finding)


def test_round_robin(tmp_path: Path) -> None:
    first, second = {"t": (0, 2, 4), "u": (1,)}, {"t": (1, 3), "u": (0, 2)}
    members = [member("m1", ["t", "u"], first), member("m2", ["t", "u"], second)]
    assert judged(tmp_path / "due", "roundrobin", members) == []
    assert judged(tmp_path / "range", "range", members) == ["members have other partitions than it gives"]


@pytest.mark.parametrize("assignor", ["sticky", "cooperative-sticky"])
def test_sticky_members_keep_what_they_had_and_differ_by_one(tmp_path: Path, assignor: str) -> None:
    whole = [member("m1", ["t"], {"t": (4, 0, 2)}), member("m2", ["t"], {"t": (1, 3)})]
    assert judged(tmp_path / "whole", assignor, whole) == []
    lopsided = [member("m1", ["t"], {"t": (4, 0, 2, 1)}), member("m2", ["t"], {"t": (3,)})]
    assert judged(tmp_path / "lopsided", assignor, lopsided) == [
        "members that read the same differ by more than one partition"
    ]
    twice = [member("m1", ["t"], {"t": (0, 1, 2)}), member("m2", ["t"], {"t": (2, 3, 4)})]
    assert judged(tmp_path / "twice", assignor, twice) == ["two members have a partition"]


def test_what_a_cooperative_member_gives_up_first_stands_with_nobody(tmp_path: Path) -> None:
    members = [
        member("m1", ["t"], {"t": (0, 1, 2)}, owned={"t": (0, 1, 2, 3, 4)}),
        member("m2", ["t"], {}),
    ]
    assert judged(tmp_path / "lawful", "cooperative-sticky", members) == []
    assert "nobody has partitions that are read" in judged(tmp_path / "eager", "sticky", members)


def test_the_leader_may_have_seen_a_topic_before_it_grew(tmp_path: Path) -> None:
    members = [member("m1", ["t"], {"t": (0, 1, 2)}), member("m2", ["t"], {"t": (3, 4)})]
    assert judged(tmp_path, "range", members, grown=True) == []


def test_the_leader_may_have_seen_many_topics_before_and_after_they_were_made(tmp_path: Path) -> None:
    names = [f"t{number}" for number in range(9)]
    log = MetadataLog()
    log.topic(OFFSETS, 1, [[1]] * 50, at=HOUR)
    for number, name in enumerate(names):
        log.topic(name, 2 + number, [[1]] * 2, at=LATER - 1000)
    with_metadata(tmp_path, log)
    members = [member(f"m{own}", names, dict.fromkeys(names, (own,))) for own in range(2)]
    records = [(group_key(), group_value("range", members))]
    Yard(tmp_path, topic=OFFSETS).broker(1, [entry(0, records)], topic_id=topic_id(1))
    assert words(audited(tmp_path)) == []


@pytest.mark.parametrize("assignor", ["range", "sticky", "cooperative-sticky"])
def test_the_leader_may_have_heard_of_a_topic_a_moment_later(tmp_path: Path, assignor: str) -> None:
    members = [member("m1", ["t", "u"], {"t": (0, 1, 2)}), member("m2", ["t", "u"], {"t": (3, 4)})]
    told = group_key(), group_value(assignor, members)
    assert words(audit(tmp_path / "last", [told])) == []
    # In an hour it would have heard of it, and assigned anew.
    stood = audit(tmp_path / "stood", [told], until=LATER + HOUR)
    assert words(stood) == ["nobody has partitions that are read"]


def test_without_the_metadata_log_nobody_is_accused(tmp_path: Path) -> None:
    members = [member("m1", ["t"], {"t": (0, 1)}), member("m2", ["t"], {"t": (2, 3, 4)})]
    (said,) = judged(tmp_path, "range", members, told=False)
    assert said.startswith("? group 'd': its assignment is wrong, unless its topics have partitions of which")


def test_racks_that_were_not_compared_leave_a_range_open(tmp_path: Path) -> None:
    members = [member("m1", ["t"], {"t": (3, 4)}, rack="a"), member("m2", ["t"], {"t": (0, 1, 2)}, rack="b")]
    (said,) = judged(tmp_path, "range", members)
    assert said.startswith("? group 'd': members name their racks")


def racked(root: Path, members: Sequence[bytes], racks: dict[int, str], homes: Sequence[Sequence[int]]) -> list[str]:
    """What is said of a group by ranges over topic t, whose partitions are on these brokers of these racks."""
    log = MetadataLog()
    log.topic(OFFSETS, 1, [[1]] * 50, at=HOUR)
    log.topic("t", 2, homes, at=HOUR)
    with_metadata(root, log)
    for broker, rack in racks.items():
        yard = Yard(root, topic=OFFSETS)
        folder = yard.broker(broker, [entry(0, [(group_key(), group_value("range", members))])], topic_id=topic_id(1))
        properties = f"broker.id={broker}\nbroker.rack={rack}\n"
        (folder.parent.parent / "server.properties").write_text(properties, encoding="utf-8")
    return words(audited(root))


IN_TURN = [[1], [2], [1], [2]]
RACKS = {1: "a", 2: "b"}


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ((0, 2), (1, 3), []),  # by racks
        ((0, 1), (2, 3), []),  # no rack was seen: the brokers were down
        ((0, 3), (1, 2), ["members have other partitions than it gives"]),
    ],
)
def test_ranges_by_racks(tmp_path: Path, first: Sequence[int], second: Sequence[int], said: list[str]) -> None:
    members = [member("m1", ["t"], {"t": first}, rack="a"), member("m2", ["t"], {"t": second}, rack="b")]
    assert racked(tmp_path, members, RACKS, IN_TURN) == said


def test_ranges_by_racks_where_a_broker_names_none(tmp_path: Path) -> None:
    members = [member("m1", ["t"], {"t": (0, 3)}, rack="a"), member("m2", ["t"], {"t": (1, 2)}, rack="b")]
    (said,) = racked(tmp_path, members, {1: "a"}, IN_TURN)
    assert said.startswith("? group 'd': members name their racks")


def test_an_assignor_that_is_not_kafkas_is_not_judged(tmp_path: Path) -> None:
    members = [member("m1", ["t"], {"t": (0,)})]
    assert judged(tmp_path, "stream", members) == ["? group 'd': nothing is known of what the assignor stream gives"]


def newer(assigned: Has, targets: Has, epoch: int = 7) -> list[tuple[bytes, bytes]]:
    """A group of the newer protocol: what its members have of topic t, and what they should have."""

    def own(held: Sequence[int]) -> bytes:
        return bytes([2]) + bytes(16) + bytes([len(held) + 1]) + struct.pack(f">{len(held)}i", *held) + b"\0"

    records = [(group_key(6), struct.pack(">hi", 0, 7) + b"\0")]
    records += [(group_key(7, name), struct.pack(">h", 0) + own(held) + b"\0") for name, held in targets.items()]
    for name, held in assigned.items():
        records.append((group_key(8, name), struct.pack(">hiib", 0, epoch, 6, 0) + own(held) + bytes([1]) + b"\0"))
    return records


def test_members_of_the_newer_protocol_have_what_they_should(tmp_path: Path) -> None:
    assert words(audit(tmp_path, newer({"a": (0, 1), "b": (2,)}, {"a": (0, 1), "b": (2,)}))) == []


def test_members_of_the_newer_protocol_that_do_not(tmp_path: Path) -> None:
    twice = newer({"a": (0, 1), "b": (1,)}, {"a": (0, 1), "b": (2,)})
    assert words(audit(tmp_path / "twice", twice)) == [
        "members that are settled have other partitions than they should",
        "two members have a partition",
    ]
    # Of an older epoch a member may still have what it had.
    behind = newer({"a": (0, 1, 2)}, {"a": (0, 1), "b": (2,)}, epoch=6)
    assert words(audit(tmp_path / "behind", behind)) == []


def test_a_newer_group_of_which_a_record_cannot_be_read_is_not_told(tmp_path: Path) -> None:
    records = newer({"a": (0, 1)}, {"a": (0, 1)})
    place = next(number for number, (key, _) in enumerate(records) if key == group_key(7, "a"))
    later = struct.pack(">h", 1) + records[place][1][2:]
    assert words(audit(tmp_path / "read", [*records[:place], *records[place + 1 :]])) == [
        "members that are settled have other partitions than they should"
    ]
    records[place] = records[place][0], later
    assert words(audit(tmp_path / "unread", records)) == []


def test_a_newer_group_of_which_a_record_has_no_room_is_not_told() -> None:
    pairs = newer({"a": (0, 1)}, {"a": (0, 1)})
    told = [replace(record(value), offset=number, key=key) for number, (key, value) in enumerate(pairs)]
    sizes = sum(len(value) for _, value in pairs)
    for room in (sizes, sizes - 1):
        standing = StandingKeys(room=room)
        assert list(standing.passing(told)) == told
        assert len(standing.members()) == (room == sizes)


def record(value: bytes) -> InternalRecord:
    span = Origin(source="log").span(0, 1)
    return InternalRecord(offset=0, timestamp=0, key=group_key(), value=value, span=span)


@pytest.mark.parametrize(("case", "answer"), [*vectors("subscription"), *vectors("assignment")])
def test_the_java_clients_bytes_are_read(case: str, answer: str) -> None:
    kind, version, *told = case.split(" ")
    subscription = bytes.fromhex(answer) if kind == "subscription" else struct.pack(">hii", 0, 0, -1)
    given = bytes.fromhex(answer) if kind == "assignment" else b""
    client = text("client") + text("host") + struct.pack(">ii", 1, 1)
    raw = text("m1") + text(None) + client + sized(subscription) + sized(given)
    (group,) = memberships([record(group_value("range", [raw]))])
    (own,) = group.members
    held = (("t", (0, 2)), ("u", (1,)))
    if kind == "assignment":
        assert own.assigned == (() if told == ["-"] else held)
        return
    topics, owned, rack = told
    assert own.topics == tuple(topics.split("+"))
    assert own.owned == (held if owned != "-" and int(version) >= 1 else ())
    assert own.rack == (rack if rack != "-" and int(version) >= 3 else None)
