"""What a broker of some release prints of a statement, line by line; a release that prints nothing gives no line."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.simulation.writing_place import STATE_CHANGE, TOPIC, TOPIC_ID, StatementStamp, ids
from parsers.tables import BrokerEvent
from rules.protocol.truncation import Exchange
from rules.simulator import notes
from rules.simulator.generation import Generation
from rules.simulator.notes import Note


def event_rows(
    said: Note, place: StatementStamp, generation: Generation, former: notes.Decided | None
) -> Iterator[BrokerEvent]:
    """The lines of the writer's own log; `former` is the role that its process took before this one."""
    match said:
        case notes.TookRole():
            yield from _role(said, place, generation, former)
        case notes.Created() | notes.Dropped() | notes.Loaded():
            yield from _on_disk(said, place, generation)
        case notes.Reconciled():
            yield from _reconciled(said, place, generation)
        case notes.MovedStart():
            yield from _moved(said, place, generation)
        case notes.ProposedIsr():
            yield from _proposed(said, place, generation)
        case notes.Configured():
            yield _configured(said, place, generation)
        case notes.CommittedIsr() | notes.RefusedIsr():
            yield from _answered(said, place, generation)


def _role(
    said: notes.TookRole, place: StatementStamp, generation: Generation, former: notes.Decided | None
) -> Iterator[BrokerEvent]:
    binary, decided, end = generation.binary, said.decided, said.log_end_offset
    fields: dict[str, object] = {
        "epoch": decided.epoch,
        "offset": end,
        "log_end_offset": end,
        "previous_epoch": former.epoch if former else -1,
    }
    if binary.at_least(2, 4):
        fields["high_watermark"] = said.high_watermark
    if binary.at_least(2, 6):
        fields |= {"logger": STATE_CHANGE, "component": "Broker", "source": f"{place.folder}/logs/state-change.log"}
    if binary.at_least(3, 3):
        fields["partition_epoch"] = decided.version
    if said.leads:
        if binary.at_least(3, 3):
            fields |= {"topic_id": TOPIC_ID, "previous_leader": former.leader if former else None}
        isr = ids(decided.isr) if binary.at_least(2, 6) else None
        if binary.at_least(0, 11):
            yield place.event("leader-starts", **{"component": "Partition", **fields}, isr=isr)
        return
    if not binary.at_least(2, 6):
        return
    if binary.at_least(3, 6):  # up to 4.2 what is new is printed as what was before, once there was something before
        printed = decided if former is not None and not binary.at_least(4, 3) else former
        fields["previous_leader"] = printed.leader if printed else None
        fields["previous_epoch"] = printed.epoch if printed else -1
    leader = -1 if decided.leader is None else decided.leader
    yield place.event("follower-starts", **fields, leader=leader if binary.at_least(3, 5) else None)


def created_rows(place: StatementStamp, generation: Generation) -> Iterator[BrokerEvent]:
    """What a broker prints when it makes a replica of the new partition."""
    if generation.binary.at_least(1):
        yield place.event("no-checkpointed-high-watermark", component="Partition")
        yield _first_high_watermark(0, place, generation)


def _first_high_watermark(high_watermark: int, place: StatementStamp, generation: Generation) -> BrokerEvent:
    if generation.binary.at_least(2, 4):
        return place.event("initial-high-watermark", component="Partition", high_watermark=high_watermark)
    return place.event("replica-loaded", high_watermark=high_watermark)


def _on_disk(
    said: notes.Created | notes.Dropped | notes.Loaded, place: StatementStamp, generation: Generation
) -> Iterator[BrokerEvent]:
    """A replica is made, given up, or loaded."""
    match said:
        case notes.Created():
            yield place.event("replica-created", directory=place.directory)
            yield from created_rows(place, generation)
        case notes.Dropped():
            yield place.event("replica-deleted", detail=f"{place.directory}/{TOPIC}-0.{32 * '0'}-delete")
        case notes.Loaded() if said.held:
            yield from _loaded(said, place, generation)


def _loaded(said: notes.Loaded, place: StatementStamp, generation: Generation) -> Iterator[BrokerEvent]:
    binary = generation.binary
    if not binary.at_least(1):
        return
    yield place.event(
        "log-loaded",
        topic_id=TOPIC_ID if binary.at_least(3) else None,
        component=None if binary.at_least(2, 8) else "Log",
        count=1,
        log_start_offset=said.log_start_offset,
        log_end_offset=said.log_end_offset,
        directory=place.directory if not binary.at_least(2, 8) else f"{place.directory}/simulated-0",
    )
    if not said.checkpointed:
        yield place.event("no-checkpointed-high-watermark", component="Partition")
    yield _first_high_watermark(said.high_watermark, place, generation)


def _moved(said: notes.MovedStart, place: StatementStamp, generation: Generation) -> Iterator[BrokerEvent]:
    if generation.binary.at_least(1):
        yield place.event(
            "log-start-incremented",
            component="UnifiedLog" if generation.binary.at_least(3) else "Log",
            directory=place.directory,
            log_start_offset=said.log_start_offset,
            detail=said.because if generation.binary.at_least(2, 6) else None,
        )


def _answered(
    said: notes.CommittedIsr | notes.RefusedIsr, place: StatementStamp, generation: Generation
) -> Iterator[BrokerEvent]:
    """The controller's word on a proposed ISR."""
    if isinstance(said, notes.RefusedIsr):
        if not generation.asynchronous_isr:
            yield place.event("isr-update-rejected", component="Partition", partition_epoch=said.version)
    elif generation.binary.at_least(2, 4):
        isr, version = ids(said.decided.isr), said.decided.version
        yield place.event("isr-updated", component="Partition", isr=isr, partition_epoch=version)


def _configured(said: notes.Configured, place: StatementStamp, generation: Generation) -> BrokerEvent:
    """All that the topic has of its own: in Scala's words under ZooKeeper, in one line under KRaft."""
    arrows = [f"{name} -> {value}" for name, value in said.settings]
    if generation.kraft:
        detail = ",".join(arrows)
    elif generation.binary.at_least(1, 1):
        detail = f"Map({', '.join(arrows)})"
    else:
        detail = f"{{{', '.join(f'{name}={value}' for name, value in said.settings)}}}"
    return place.event("topic-configured", partition=None, detail=detail)


def _proposed(said: notes.ProposedIsr, place: StatementStamp, generation: Generation) -> Iterator[BrokerEvent]:
    fields: dict[str, object] = {"component": "Partition", "previous_isr": ids(said.before), "isr": ids(said.isr)}
    if said.before - said.isr:
        if generation.binary.at_least(2, 4):
            ends = " ".join(f"(brokerId: {broker}, endOffset: {end})" for broker, end in said.remote_ends)
            both = {"high_watermark": said.high_watermark, "log_end_offset": said.log_end_offset}
            fields |= {**both, "detail": f"{ends}."}
        yield place.event("isr-shrinking", **fields)
    elif not generation.binary.at_least(2, 8):
        yield place.event("isr-expanding", **fields)


def _reconciled(said: notes.Reconciled, place: StatementStamp, generation: Generation) -> Iterator[BrokerEvent]:
    if generation.binary.at_least(1) or said.to_offset < said.from_offset:
        yield from _decided(said, place, generation)
        yield from _cut(said, place, generation)


def _decided(said: notes.Reconciled, place: StatementStamp, generation: Generation) -> Iterator[BrokerEvent]:
    """By whose word the fetcher cuts."""
    if said.out_of_range:
        yield from _out_of_range(said, place, generation)
        return
    if not generation.binary.at_least(0, 11):
        return
    fetcher: dict[str, object] = {"component": "ReplicaFetcher", "leader": said.leader}
    last = said.exchanges[-1] if said.exchanges else None
    if last is None or last.answered_offset < 0:
        yield _by_high_watermark(said, place, generation, asked=last is not None)
    elif said.rule == "kip-101" and not generation.binary.at_least(2) and last.answered_offset >= said.from_offset:
        kept, end = last.answered_offset, said.from_offset
        yield place.event("epoch-answer-kept", **fetcher, answer_offset=kept, log_end_offset=end)
    elif said.rule == "truncate-on-fetch" and generation.binary.at_least(3, 1):
        yield _by_answer(said, place, last, fetcher)


def _by_answer(
    said: notes.Reconciled, place: StatementStamp, last: Exchange, fetcher: dict[str, object]
) -> BrokerEvent:
    return place.event(
        "truncating-by-epoch-answer",
        **fetcher,
        offset=said.to_offset,
        epoch=last.answered_epoch,
        answer_offset=last.answered_offset,
    )


def _by_high_watermark(
    said: notes.Reconciled, place: StatementStamp, generation: Generation, *, asked: bool
) -> BrokerEvent:
    fetcher: dict[str, object] = {"component": "ReplicaFetcher", "leader": said.leader, "offset": said.to_offset}
    watermark = said.high_watermark
    if asked or not generation.binary.at_least(2, 1):
        fields = {} if generation.binary.at_least(1, 1) else {"high_watermark": watermark}
        return place.event("epoch-answer-unknown", **{**fetcher, "offset": watermark}, **fields)
    return place.event("truncating-to-high-watermark", **{**fetcher, "offset": watermark}, high_watermark=watermark)


def _out_of_range(said: notes.Reconciled, place: StatementStamp, generation: Generation) -> Iterator[BrokerEvent]:
    fields: dict[str, object] = {
        "component": "ReplicaFetcher" if generation.binary.at_least(1, 1) else "ReplicaFetcherThread",
        "leader": said.leader if generation.binary.at_least(1, 1) else None,
        "previous_offset": said.from_offset,
        "offset": said.to_offset,
    }
    if said.to_offset < said.from_offset:
        yield place.event("reset-fetch-offset-to-latest", **fields, level="WARN")
    elif said.to_offset > said.from_offset:  # the leader's log starts there
        anew = generation.binary.at_least(3, 6)
        yield place.event("full-truncation" if anew else "reset-fetch-offset-to-start", **fields, level="WARN")
    elif generation.binary.at_least(3, 6):
        yield place.event("full-truncation-no-effect", **fields, level="WARN")
    if generation.binary.at_least(1, 1):
        yield place.event("fetch-offset-out-of-range", **fields, level="WARN")


def _cut(said: notes.Reconciled, place: StatementStamp, generation: Generation) -> Iterator[BrokerEvent]:
    """What the log says when it is cut."""
    binary = generation.binary
    log: dict[str, object] = {
        "component": "UnifiedLog" if binary.at_least(3) else "Log",
        "directory": place.directory,
    }
    if not binary.at_least(1):
        yield place.event("truncating", offset=said.to_offset)
        return
    below = said.to_offset < said.high_watermark
    if below and (not binary.at_least(2, 4) or binary.at_least(4, 3)) and binary.at_least(2):
        yield place.event(
            "truncating-below-high-watermark", **log, level="WARN", offset=said.to_offset,
            high_watermark=said.high_watermark,
        )  # fmt: skip
    if said.to_offset < said.from_offset:
        yield place.event("truncating", **log, offset=said.to_offset)
    elif not said.out_of_range:
        end = said.from_offset
        yield place.event("truncation-no-effect", **log, offset=said.to_offset, log_end_offset=end)
    if below and binary.at_least(2, 8):
        yield place.event(
            "non-monotonic-high-watermark", **log, level="WARN", previous_offset=said.high_watermark,
            high_watermark=said.to_offset,
        )  # fmt: skip
