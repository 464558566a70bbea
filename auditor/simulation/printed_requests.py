"""What a broker's request log says of a statement; fetches stand in sessions where the release has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from auditor.simulation.writing_place import CONTROLLER, TOPIC, TOPIC_ID, StatementStamp, blank, ids
from parsers.tables.metadata import NO_LEADER, join_ids
from parsers.tables.requests import EpochRequest, Fetch, IsrRequest, OffsetRequest, Produce, RequestEvent
from rules.protocol.versions import protocol
from rules.simulator import notes
from rules.simulator.generation import Generation
from rules.simulator.notes import Note

RequestRow = Fetch | Produce | EpochRequest | OffsetRequest | IsrRequest | RequestEvent
RECORD_SIZE: Final = 69
FETCH_VERSIONS: Final = (
    ("4.1", 18), ("3.9", 17), ("3.7", 16), ("3.5", 15), ("3.1", 13), ("2.7", 12), ("2.3", 11), ("2.1", 10),
    ("2.0", 8), ("1.1", 7), ("1.0", 6), ("0.11.0", 5),
)  # fmt: skip
"""The Fetch version of each inter-broker protocol, newest first."""
OLDEST_FETCH: Final = 3
EARLIEST: Final = -2
LATEST: Final = -1
SESSIONS_SINCE: Final = 7
TOPIC_IDS_SINCE: Final = 13


class _Session:
    def __init__(self, number: int) -> None:
        self.id, self.epoch = number, 0
        self.asked: tuple[object, ...] | None = None
        self.answered: tuple[object, ...] | None = None


class FetchSessions:
    """The session of every fetcher with its leader: opened by its first fetch, given up with its role."""

    def __init__(self) -> None:
        """No fetcher has asked yet."""
        self.open: dict[tuple[int, int], _Session] = {}
        self.count = 0

    def forget(self, broker: int) -> None:
        """A broker takes a new role, or stops: its fetchers and those that it served begin anew."""
        self.open = {pair: session for pair, session in self.open.items() if broker not in pair}

    def join(self, fetch: notes.AnsweredFetch) -> tuple[_Session, bool]:
        """The session of a fetch, and whether it opens it."""
        pair = (fetch.follower, fetch.leader)
        found = self.open.get(pair)
        if found is not None:
            found.epoch += 1
            return found, False
        self.count += 1
        self.open[pair] = _Session(1_000_000 + self.count)
        return self.open[pair], True


def fetch_version(generation: Generation) -> int:
    """The Fetch version that brokers of a generation use among each other."""
    return next((number for since, number in FETCH_VERSIONS if generation.spoken >= protocol(since)), OLDEST_FETCH)


def request_rows(
    said: Note, place: StatementStamp, generation: Generation, sessions: FetchSessions
) -> Iterator[RequestRow]:
    """The rows that a line of a request log is read into."""
    match said:
        case notes.AnsweredFetch():
            yield _fetch(said, place, generation, sessions)
        case notes.AnsweredProduce():
            if said.acks != "0" or generation.binary.at_least(2, 8):  # the text names partitions in the answer only
                yield _produce(said, place, generation)
        case notes.AnsweredEpoch():
            yield _epoch(said, place, generation)
        case notes.AnsweredEnd():
            yield _end(said, place, generation)
        case notes.AnsweredDeletion():
            yield _deletion(said, place, generation)
        case notes.Heard() if not generation.kraft:
            yield _order(said, place, generation)
        case notes.CommittedIsr() if generation.asynchronous_isr:
            yield from _alteration(said, place.by(CONTROLLER), generation)


def _fetcher(follower: int) -> str:
    return f"broker-{follower}-fetcher-0"


def _fetch(said: notes.AnsweredFetch, place: StatementStamp, generation: Generation, sessions: FetchSessions) -> Fetch:
    version = fetch_version(generation)
    values: dict[str, object] = {
        **blank(Fetch), **place.request(), "client_id": _fetcher(said.follower), "correlation_id": place.number,
        "api_version": version, "replica": said.follower, "min_bytes": 1, "implied": False, "answer_implied": False,
        "possibly_stale": False, "session_start_missing": False, "fetch_offset": said.offset,
        **_answer(said, version, sized=generation.binary.at_least(2, 8)), "error_code": said.error,
    }  # fmt: skip
    if version >= 5:
        values["log_start_offset"] = said.log_start_offset
    if version >= 9:
        values["current_leader_epoch"] = said.believed_epoch
    if version >= 12:
        values["last_fetched_epoch"] = -1 if said.last_epoch is None else said.last_epoch
    if version >= TOPIC_IDS_SINCE:
        values |= {"topic": None, "topic_id": TOPIC_ID}
    if version >= 15:
        values["replica_epoch"] = said.follower
    if version >= SESSIONS_SINCE:
        values |= _in_session(values, said, sessions)
    return Fetch(**values)  # type: ignore[arg-type]


def _answer(said: notes.AnsweredFetch, version: int, *, sized: bool) -> dict[str, object]:
    """The answer's columns; up to 2.7 a line tells only that there are no records, not how large they are."""
    refused = said.high_watermark is None
    start = -1 if refused else said.leader_log_start_offset
    answer: dict[str, object] = {
        "high_watermark": -1 if refused else said.high_watermark,
        "last_stable_offset": -1 if refused or version < 12 else said.high_watermark,
        "leader_log_start_offset": start if version >= 5 else None,
        "records_size": said.records * RECORD_SIZE if sized or not said.records else None,
    }
    if said.diverging is not None:
        answer |= {"diverging_epoch": said.diverging.epoch, "diverging_end_offset": said.diverging.end_offset}
    return answer


def _in_session(values: dict[str, object], said: notes.AnsweredFetch, sessions: FetchSessions) -> dict[str, object]:
    """Session ids, and what a session leaves unsaid: a request or an answer that repeats what both sides know."""
    session, opens = sessions.join(said)
    asked = tuple(
        values[name] for name in ("fetch_offset", "log_start_offset", "current_leader_epoch", "last_fetched_epoch")
    )
    answered = (said.high_watermark, said.leader_log_start_offset)
    same_request = not opens and session.asked == asked
    plain = said.error == 0 and said.diverging is None and not said.records
    same_answer = not opens and plain and session.answered == answered
    session.asked = asked
    session.answered = answered if said.error == 0 and said.diverging is None else None
    fields: dict[str, object] = {
        "session_id": 0 if opens else session.id,
        "session_epoch": session.epoch,
        "answer_session_id": session.id,
        "session_error": 0,
        "implied": same_request,
        "answer_implied": same_answer,
    }
    if same_answer:
        fields |= {"last_stable_offset": None, "records_size": 0}
    return fields


def _produce(said: notes.AnsweredProduce, place: StatementStamp, generation: Generation) -> Produce:
    failed = said.base_offset is None
    json = generation.binary.at_least(2, 8)
    values: dict[str, object] = {
        **blank(Produce), **place.request(), "client_id": "producer-1", "correlation_id": place.number,
        "api_version": 9 if json else 5 if generation.binary.at_least(1) else 2,
        "acks": -1 if said.acks == "all" else int(said.acks), "error_code": said.error,
        "base_offset": -1 if failed else said.base_offset,
    }  # fmt: skip
    if generation.binary.at_least(1):
        values["log_start_offset"] = -1 if failed else said.log_start_offset
    if json:
        values |= {"transactional": False, "records_size": said.count * RECORD_SIZE}
    if said.acks == "0":  # nobody is answered
        values |= {"error_code": None, "base_offset": None, "log_start_offset": None}
    return Produce(**values)  # type: ignore[arg-type]


def _epoch(said: notes.AnsweredEpoch, place: StatementStamp, generation: Generation) -> EpochRequest:
    version = 3 if generation.spoken >= protocol("2.3") else 2 if generation.sends_epoch_in_question else 0
    if version == 0 and generation.spoken >= protocol("2.0"):
        version = 1
    values: dict[str, object] = {
        **blank(EpochRequest), **place.request(), "client_id": _fetcher(said.follower),
        "correlation_id": place.number, "api_version": version, "asked_epoch": said.asked_epoch,
        "error_code": said.error, "end_offset": said.end_offset,
    }  # fmt: skip
    if version >= 1:
        values["answered_epoch"] = said.epoch
    if version >= 2:
        values["current_leader_epoch"] = said.believed_epoch
    if version >= 3:
        values["replica"] = said.follower
    return EpochRequest(**values)  # type: ignore[arg-type]


def _end(said: notes.AnsweredEnd, place: StatementStamp, generation: Generation) -> OffsetRequest:
    version = 5 if generation.spoken >= protocol("2.3") else 4 if generation.spoken >= protocol("2.1") else 1
    values: dict[str, object] = {
        **blank(OffsetRequest), **place.request(), "client_id": _fetcher(said.follower),
        "correlation_id": place.number, "api_version": version, "replica": said.follower,
        "timestamp": EARLIEST if said.earliest else LATEST, "error_code": 0, "offset": said.offset,
    }  # fmt: skip
    if version >= 4:
        values |= {"current_leader_epoch": said.believed_epoch, "leader_epoch": said.believed_epoch}
    return OffsetRequest(**values)  # type: ignore[arg-type]


def _deletion(said: notes.AnsweredDeletion, place: StatementStamp, generation: Generation) -> RequestEvent:
    values: dict[str, object] = {
        **blank(RequestEvent), **place.request(), "client_id": "admin-1", "correlation_id": place.number,
        "api_version": 2 if generation.binary.at_least(2, 8) else 1 if generation.binary.at_least(2) else 0,
        "api": "DELETE_RECORDS", "offset": said.offset, "low_watermark": said.low_watermark, "error_code": said.error,
    }  # fmt: skip
    return RequestEvent(**values)  # type: ignore[arg-type]


def _order(said: notes.Heard, place: StatementStamp, generation: Generation) -> IsrRequest:
    binary, decided = generation.binary, said.decided
    version = 5 if binary.at_least(2, 8) else 4 if binary.at_least(2, 4) else 2 if binary.at_least(2, 2) else 1
    values: dict[str, object] = {
        **blank(IsrRequest), **place.request(), "client_id": str(CONTROLLER), "correlation_id": place.number,
        "api_version": version if binary.at_least(1) else 0, "api": "LEADER_AND_ISR", "answered": False,
        "sender": CONTROLLER, "sender_epoch": 1, "leader": NO_LEADER if decided.leader is None else decided.leader,
        "leader_epoch": decided.epoch, "isr": ids(decided.isr), "replicas": join_ids(decided.replicas),
        "partition_epoch": decided.version, "error_code": said.error,
    }  # fmt: skip
    if binary.at_least(2, 8):
        values["topic_id"] = TOPIC_ID
    if binary.at_least(1):
        values["is_new"] = decided.version == 0
    return IsrRequest(**values)  # type: ignore[arg-type]


def _alteration(said: notes.CommittedIsr, place: StatementStamp, generation: Generation) -> Iterator[IsrRequest]:
    """A leader's proposal and the controller's answer, in one line."""
    binary, decided = generation.binary, said.decided
    version = 3 if binary.at_least(3, 5) else 2 if binary.at_least(3, 3) else 1 if binary.at_least(3, 2) else 0
    by_id = version >= 2
    both: dict[str, object] = {
        **blank(IsrRequest), **place.request(), "client_id": str(said.broker), "correlation_id": place.number,
        "api_version": version, "api": "ALTER_PARTITION", "sender": said.broker, "sender_epoch": said.broker,
        "leader_epoch": decided.epoch, "isr": ids(decided.isr), "error_code": 0,
        "topic": None if by_id else TOPIC, "topic_id": TOPIC_ID if by_id else None,
        "leader_recovery_state": 0 if version >= 1 else None,
    }  # fmt: skip
    yield IsrRequest(**{**both, "answered": False, "partition_epoch": decided.version - 1})  # type: ignore[arg-type]
    answer = {**both, "answered": True, "partition_epoch": decided.version, "leader": said.broker}
    yield IsrRequest(**answer)  # type: ignore[arg-type]
