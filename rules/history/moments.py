"""What happened to a partition: dated statements of brokers, requests and controllers, each with its address.

Clocks of different witnesses are never compared as they stand; the logical clock is the leader epoch (`terms`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from parsers.provenance import Span
from rules.history.drafts import drafted
from rules.history.rotated import FileOrder, Place

MomentKind = Literal[
    "leader-starts",  # a broker opens an epoch as leader: epoch, offset (its log end), high watermark, ISR
    "follower-starts",  # a broker follows in an epoch: epoch, offset (its log end), high watermark, leader
    "leadership",  # the controller's word: leader, epoch, ISR, partition epoch; unclean, previous ISR
    "isr",  # an ISR in force, or before 2.8 one that a leader is about to expand to: ISR, partition epoch
    "isr-shrinking",  # a leader proposes a smaller ISR: high watermark and log end of the leader
    "unclean-election",  # the controller's own word for it
    "fetched",  # a replica's fetch: offset asked, epochs believed, answer's high watermark or divergence
    "consumed",  # a consumer's fetch
    "produced",  # a produce answer: acks, base offset, error
    "epoch-asked",  # OffsetsForLeaderEpoch: asked epoch, answered epoch and end offset
    "offset-asked",  # a follower's ListOffsets: it is out of range
    "truncated",  # a log was cut: offset
    "truncation-kept",  # a cut that cut nothing: log end
    "cut-by-high-watermark",  # a fetcher decides for its high watermark
    "cut-by-epoch-answer",  # a fetcher decides by an epoch answer
    "cut-below-high-watermark",  # the broker's own warning
    "high-watermark-fell",  # from offset to high watermark
    "epoch-answer-kept",  # the leader's answer is at or above the log end: nothing is cut
    "epoch-round",  # the leader's answer names an epoch that the follower lacks: it cuts to offset and asks again
    "epoch-answer-unknown",  # the leader does not know the epoch: the high watermark decides
    "cut-refused",  # the broker stops rather than cut
    "log-reset",  # everything was dropped
    "log-loaded",  # log end and log start after loading
    "producer-state-saved",  # offset where a batch ended: the log end at a roll or an orderly stop
    "log-deleted",  # its directory was renamed, to be deleted: the topic is, or the replica was moved away
    "taken-up",  # a broker knows the replica from now on: it is new, or the broker has started; see `terms`
    "log-created",  # a new, empty log: of a new replica, on a disk that was replaced, or for a move between log dirs
    "high-watermark-loaded",  # the checkpointed high watermark after clamping
    "log-start-moved",  # by retention or because a client deleted records: log start
    "leader-told",  # who leads, as a client was told by the broker that it asked: leader, epoch, ISR
    "marked-as-failed",
    "described",  # a tool's output: leader, ISR, ELR, or a quorum replica's log end; when, nobody wrote down
    "trace-begins",  # the first line of a request log, whatever it is about
]


@drafted
@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One statement about the partition; which fields are set depends on its kind."""

    kind: MomentKind
    clock: str
    """Whose clock the time is of: statements of one clock are ordered by it, those of two are not."""
    time: int | None = None
    """Milliseconds on that clock, in whatever zone it runs."""
    last_time: int | None = None
    arrived: int | None = None
    """When the request came in, of a fetch and of a produce, to within a millisecond: it may have been the next one."""
    taken_in: int | None = None
    """When its broker had taken it in, as exactly: a fetch's offset was counted, a produce's records were appended."""
    answered: int | None = None
    """When its answer was made, as exactly: later than `taken_in` if it lay in purgatory."""
    last_taken_in: int | None = None
    last_answered: int | None = None
    """The same of the last one; null where there is but one."""
    waited: bool = False
    """Whether each of them lay in purgatory: at first sight there was less than it waited for."""
    min_bytes: int | None = None
    """Bytes of records for which a fetch waits."""
    count: int = 1
    left_out: int = 0
    """Statements of the same asker between this one and its next that are not here: they lie between the two."""
    witness: int | None = None
    broker: int | None = None
    """The replica that the statement is about."""
    leader: int | None = None
    epoch: int | None = None
    term: int | None = None
    """Leader epoch in which the values were learnt, as `in_terms` works out."""
    latest_term: int | None = None
    """The latest one that it can have been, where the writer's logs may leave out roles or a restart; else null."""
    partition_epoch: int | None = None
    offset: int | None = None
    end_offset: int | None = None
    high_watermark: int | None = None
    log_start_offset: int | None = None
    last_stable_offset: int | None = None
    """Of a fetch answer; null where the answer leaves it open, as incremental ones and those of old releases do."""
    asked_epoch: int | None = None
    answered_epoch: int | None = None
    answer_offset: int | None = None
    isr: tuple[int, ...] | None = None
    previous_isr: tuple[int, ...] | None = None
    elr: tuple[int, ...] | None = None
    """Eligible leaders outside the ISR; null where the writer's version has none or does not tell."""
    last_known_elr: tuple[int, ...] | None = None
    """Who led last, where neither in-sync replicas nor eligible leaders are left."""
    replicas: tuple[int, ...] | None = None
    acks: int | None = None
    error: int | None = None
    unclean: bool = False
    implied: bool = False
    fresh: bool = False
    """Whether the broker took its role without having had one before: its process began since its last."""
    doubtful: bool = False
    """Values that rest on lines which are missing, or that the writer's version prints wrongly."""
    topic_id: str | None = None
    client_id: str | None = None
    """Who sent a produce request or a consumer's fetch."""
    session: int | None = None
    """The incremental session that a fetch is of."""
    records_size: int | None = None
    """Bytes of records in a produce request, or in the answer to a fetch; null where the line does not tell."""
    trust: str = "high"
    set_back: int | None = 0
    """How much was added to its times, because its clock was set back before it was written; null where it may be."""
    span: Span

    @property
    def clock_time(self) -> int | None:
        """Its time as it is written."""
        return None if self.time is None else self.time - (self.set_back or 0)

    @property
    def is_metadata(self) -> bool:
        """Whether it is the controllers' record of a state: no order to a broker, no one controller's log, no znode."""
        told = self.kind == "leadership" and self.witness is None
        return told and self.clock != ZOOKEEPER_CLOCK and not self.clock.startswith(ONE_CONTROLLER)


TIMES: Final = ("time", "last_time", "arrived", "taken_in", "answered", "last_taken_in", "last_answered")
"""What is on the clock of a statement."""
ONE_CONTROLLER: Final = "controller "
"""Clocks of ZooKeeper's controllers begin with this: what one of them logged, without its predecessors' words."""
ROLE_KINDS: Final = ("leader-starts", "follower-starts")
STARTING: Final = ("log-loaded", "log-created", "high-watermark-loaded")
"""What a broker says of a replica when it starts."""
OF_SERVER_LOG: Final = (
    *STARTING, "isr-shrinking", "producer-state-saved", "truncated", "truncation-kept", "log-start-moved",
)  # fmt: skip
"""What a broker's server.log alone tells of a partition."""
DISTURBED: Final = ("log-loaded", "log-created", "log-reset", "truncated")
"""After these a broker's log may end elsewhere than before."""
ZOOKEEPER_CLOCK: Final = "zookeeper"
"""Of states as ZooKeeper held them when somebody saved them: the cluster may have gone on since."""
DESCRIPTION_CLOCK: Final = "description"
"""Of what tools printed: it shows no time, and nothing is ordered by it."""


def ordered(moments: Iterable[Moment]) -> tuple[Moment, ...]:
    """By clock, then time, then place in the file: the order in which each witness wrote."""
    told = tuple(moments)
    files = FileOrder((moment.span.source, moment.time) for moment in told)

    def written(moment: Moment) -> tuple[str, int, Place, int]:
        time = -1 if moment.time is None else moment.time
        return moment.clock, time, files.place(moment.span.source), moment.span.start

    return tuple(sorted(told, key=written))


def gives_role(moment: Moment) -> bool:
    """Whether the clock's broker takes a role here: by its own line, or by an order that it took."""
    if moment.kind == "leadership":
        return moment.witness is not None and moment.error in (None, 0)
    return moment.kind in ROLE_KINDS


def succeeded(moment: Moment) -> bool:
    """Whether a producer was told that its records are written."""
    answered = moment.kind == "produced" and moment.error == 0 and moment.offset is not None and moment.offset >= 0
    return answered and moment.acks != 0


def first_role(moments: Iterable[Moment]) -> Moment | None:
    """The first role that a broker tells of itself; it may have had one already, and have started again."""
    return next((moment for moment in moments if moment.kind in ROLE_KINDS), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """A proof that everything below an offset was committed, and the epoch by which it was."""

    end_offset: int
    term: int
    because: str
    moment: Moment


def committed(moments: Iterable[Moment]) -> Iterator[Committed]:
    """Every proof of committed records among the statements; whose epoch is unknown proves nothing here."""
    for moment in moments:
        if moment.kind == "described" and moment.epoch is not None and (moment.high_watermark or 0) > 0:
            # The quorum's leader answers with its epoch and its high watermark at once.
            because = f"a tool printed the quorum's high watermark {moment.high_watermark} of epoch {moment.epoch}"
            yield Committed(end_offset=moment.high_watermark or 0, term=moment.epoch, because=because, moment=moment)
        if moment.term is None or moment.doubtful or moment.error not in (None, 0):
            continue
        term = moment.term if moment.latest_term is None else max(moment.term, moment.latest_term)
        if moment.kind == "produced" and moment.acks == -1 and moment.offset is not None and moment.offset >= 0:
            because = f"broker {moment.witness} acknowledged a record at offset {moment.offset} for all replicas"
            yield Committed(end_offset=moment.offset + 1, term=term, because=because, moment=moment)
        elif moment.kind in _WATERMARK_KINDS and moment.high_watermark is not None and moment.high_watermark > 0:
            because = f"broker {moment.witness} reported high watermark {moment.high_watermark}"
            yield Committed(end_offset=moment.high_watermark, term=term, because=because, moment=moment)


_WATERMARK_KINDS: Final = (
    "fetched", "consumed", "leader-starts", "follower-starts", "high-watermark-loaded", "isr-shrinking",
)  # fmt: skip


def epoch_starts(moments: Iterable[Moment]) -> dict[int, Moment]:
    """Who opened each leader epoch, and from which offset, by the leader's own word."""
    starts: dict[int, Moment] = {}
    for moment in moments:
        if moment.kind == "leader-starts" and moment.epoch is not None and moment.offset is not None:
            starts.setdefault(moment.epoch, moment)
    return starts
