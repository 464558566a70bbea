"""Known defects of truncation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rules.evidence import Moment, PartitionEvidence, Replica, gives_role
from rules.finding import Exhibit, Severity, offsets_told
from rules.signatures.signature import Hit, Signature


def _by_high_watermark(evidence: PartitionEvidence) -> Iterator[Hit]:
    for cut in evidence.chronicle.cuts:
        if cut.log_end_offset is not None and cut.offset < cut.log_end_offset:
            yield Hit(
                broker=cut.broker,
                at=cut.moment,
                says=f"broker {cut.broker} truncated its log from {cut.log_end_offset} to {cut.offset}, and did not ask"
                f" for leader epochs; it removed {offsets_told(cut.offset, cut.log_end_offset)}",
                exhibits=(Exhibit(span=cut.moment.span, role="the cut"),),
                start_offset=cut.offset,
                end_offset=cut.log_end_offset,
            )


def _answered_without_epoch(evidence: PartitionEvidence) -> Iterator[Hit]:
    held = {replica.broker: replica for replica in evidence.current}
    for m in evidence.moments:
        leader = held.get(-1 if m.leader is None else m.leader)
        if m.kind != "epoch-asked" or leader is None or m.error not in (None, 0) or (m.answered_epoch or -1) >= 0:
            continue
        asked, answer = m.asked_epoch, m.answer_offset
        chain = leader.file_chain or leader.log_chain
        newer = next((entry for entry in chain if asked is not None and entry.epoch >= asked), None)
        if asked is None or asked < 0 or newer is None or newer.epoch == asked or newer.start_offset != answer:
            continue
        known = max((entry.epoch for entry in chain if entry.epoch < asked), default=-1)
        if known < 0 < leader.log_start_offset:
            continue  # retention may have deleted the epoch since
        asking = held.get(-1 if m.broker is None else m.broker)
        if not any(start < answer for start in _starts_between(evidence, asking, known, asked)):
            continue
        yield Hit(
            broker=m.broker,
            at=m,
            says=f"broker {m.broker} asked broker {leader.broker} where epoch {asked} ends; broker {leader.broker} had"
            f" no epoch {asked}; it answered {answer}, {_where(known, newer.epoch)}, but its answer names no epoch",
            exhibits=(Exhibit(span=m.span, role="the question and its answer"),),
            end_offset=answer,
        )


def _where(older: int, newer: int) -> str:
    """What an answer is that names no epoch: the end of the older one, if the leader had any."""
    return f"where epoch {newer} begins" if older < 0 else f"where epoch {older} ends in its log"


def _starts_between(evidence: PartitionEvidence, follower: Replica | None, known: int, asked: int) -> Iterator[int]:
    """Where epochs of the follower above the last that the leader knew begin: with it in the answer one cuts there."""
    if follower is not None:
        chain = (*follower.file_chain, *follower.log_chain)
        yield from (entry.start_offset for entry in chain if known < entry.epoch <= asked)
    # The epoch that it asks for it held, whatever its disk has become.
    opened = (m for m in evidence.moments if m.kind == "leader-starts" and m.epoch == asked)
    yield from (m.offset for m in opened if m.offset is not None)


def _watermark_before_cut(evidence: PartitionEvidence) -> Iterator[Hit]:
    cut: dict[str, Moment] = {}
    for m in evidence.moments:
        if m.kind == "truncated":
            cut[m.clock] = m
        elif m.kind == "high-watermark-fell" and m.offset is not None:
            before = cut.pop(m.clock, None)
            if before is not None and before.offset == m.high_watermark and m.offset > (m.high_watermark or 0):
                yield Hit(
                    broker=m.broker,
                    at=m,
                    says=f"broker {m.broker} took over its leader's high watermark {m.offset}, and only then truncated"
                    f" its log to {m.high_watermark}",
                    exhibits=(Exhibit(span=before.span, role="the cut"), Exhibit(span=m.span, role="the fall")),
                    start_offset=m.high_watermark,
                    end_offset=m.offset,
                )
        elif m.kind in ("leader-starts", "follower-starts", "log-loaded"):
            cut.pop(m.clock, None)


def _watermark_after_reset(evidence: PartitionEvidence) -> Iterator[Hit]:
    reset: dict[str, Moment] = {}
    for m in evidence.moments:
        if m.kind == "log-reset" and m.offset is not None:
            reset[m.clock] = m
        elif m.kind == "log-loaded":
            reset.pop(m.clock, None)
        elif m.kind == "leader-starts" and m.clock in reset and m.high_watermark is not None:
            before = reset.pop(m.clock)
            if m.high_watermark < (before.offset or 0):
                yield Hit(
                    broker=m.broker,
                    at=m,
                    says=f"broker {m.broker} began its log again at {before.offset} and led with high watermark"
                    f" {m.high_watermark}, below its log start",
                    exhibits=(Exhibit(span=before.span, role="the reset"), Exhibit(span=m.span, role="the election")),
                    start_offset=m.high_watermark,
                    end_offset=before.offset,
                )


def _cut_while_leading(evidence: PartitionEvidence) -> Iterator[Hit]:
    moving = {replica.broker for replica in evidence.replicas if replica.state == "future"}
    role: dict[str, Moment] = {}
    for m in evidence.moments:
        if gives_role(m) or m.kind == "log-loaded":
            role[m.clock] = m
        opened = role.get(m.clock)
        if m.kind != "truncated" or opened is None or opened.kind != "leader-starts" or m.broker in moving:
            continue
        if (m.time or 0) > (opened.time or 0):
            yield Hit(
                broker=m.broker,
                at=m,
                says=f"broker {m.broker} cut its log to {m.offset} while it led epoch {opened.epoch}, as by a late"
                " answer of a leader that it followed before",
                exhibits=(Exhibit(span=opened.span, role="the election"), Exhibit(span=m.span, role="the cut")),
                start_offset=m.offset,
            )


def _cut_unwarned(evidence: PartitionEvidence) -> Iterator[Hit]:
    warned = {(m.clock, m.offset) for m in evidence.moments if m.kind == "cut-below-high-watermark"}
    for cut in evidence.chronicle.cuts:
        below = cut.high_watermark is not None and cut.offset < cut.high_watermark
        if below and (cut.moment.clock, cut.offset) not in warned:
            yield Hit(
                broker=cut.broker,
                at=cut.moment,
                says=f"broker {cut.broker} cut its log to {cut.offset}, below its high watermark {cut.high_watermark},"
                " and its server.log does not warn of it",
                exhibits=(Exhibit(span=cut.moment.span, role="the cut"),),
                start_offset=cut.offset,
                end_offset=cut.high_watermark,
            )


CUTTING: Final = (
    Signature(
        defect="KAFKA-1211",
        title="a follower truncates to its high watermark",
        costs="removed records that were committed are lost if this broker leads before it has fetched them again",
        releases=(),
        spoken_below="0.11.0-IV2",
        severity=Severity.HIGH,
        confidence="certain",
        find=_by_high_watermark,
        drawing="""
            kafka 2 1.1.1 ibp 0.10.2
            broker 1 0000|
            broker 2 0000|
            t1 loads 2 at 4
            t2 truncates 2 to 3
        """,
    ),
    Signature(
        defect="KAFKA-6361",
        title="a leader that lacks the epoch it is asked for answers with another epoch's end",
        costs="where the two logs differ since then, Kafka does not make them equal again",
        releases=(((0, 11), (2, 0)),),
        besides="Leader and follower both need it, and both need inter.broker.protocol.version 2.0 or later.",
        severity=Severity.HIGH,
        confidence="certain",
        find=_answered_without_epoch,
        drawing="""
            kafka 2 1.1.1
            broker 1 00000000022222|
            broker 2 00000111122222|
            t1 asks 2 of 1 epoch 1 answer 9
        """,
    ),
    Signature(
        defect="KAFKA-14704",
        title="a follower takes over a high watermark although it has to truncate first",
        costs="consumers that fetched from this follower may have read records that it then removed",
        releases=(((2, 8), (3, 4, 1)),),
        severity=Severity.INFO,
        confidence="likely",
        find=_watermark_before_cut,
        drawing="""
            kafka 2 3.3.2
            broker 1 0011|
            broker 2 0011|
            t1 follows 2 epoch 1 at 4 hw 1 from 1
            t2 truncates 2 to 2
            t3 fell 2 from 3 to 2
        """,
    ),
    Signature(
        defect="KAFKA-9491",
        title="a log begun again keeps an older high watermark",
        costs="fetches from it fail as out of range until its watermark has caught up",
        releases=(((2, 4), (2, 4, 1)),),
        severity=Severity.MEDIUM,
        confidence="certain",
        find=_watermark_after_reset,
        drawing="""
            kafka 2 2.4.0
            broker 1 @7:000|
            broker 2 @7:000|
            t1 follows 2 epoch 0 at 3 hw 3
            t2 resets 2 to 7
            t3 leads 2 epoch 1 at 7 hw 3
        """,
    ),
    Signature(
        defect="KAFKA-13207",
        title="a fetcher that was stopped cuts the log all the same",
        costs="records that the leader of the new epoch has committed may be lost",
        releases=(((2, 8), (2, 8, 1)),),
        severity=Severity.HIGH,
        confidence="likely",
        find=_cut_while_leading,
        drawing="""
            kafka 1 2.8.0
            broker 1 0011|
            broker 2 0011|
            t1 leads 1 epoch 1 at 4 hw 2
            t5 truncates 1 to 3
        """,
    ),
    Signature(
        defect="KAFKA-19474",
        title="no warning of a cut below the high watermark",
        costs="so an alarm on that warning did not fire",
        releases=(((2, 4), (4, 2)),),
        severity=Severity.INFO,
        confidence="likely",
        find=_cut_unwarned,
        drawing="""
            kafka 2 3.9.1
            broker 1 0011|
            broker 2 0011|
            t1 follows 2 epoch 1 at 4 hw 4 from 1
            t2 truncates 2 to 2
        """,
    ),
)
