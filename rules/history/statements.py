"""What a statement can be: one class for each kind of witness's word, and each has the fields of that word alone.

`Moment` is any of them. `kind` says what happened; who asks for a field asks for its kind or its class first, and the
type checker holds it to that.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, Literal, cast, get_args, get_type_hints

from msgspec import Struct

from parsers.provenance import Span


class Witnessed(Struct, frozen=True, kw_only=True):
    """What every statement bears: who tells it and when, of whom and of which epoch, and how far it is believed."""

    clock: str
    """Whose clock the time is of: statements of one clock are ordered by it, those of two are not."""
    span: Span
    time: int | None = None
    """Milliseconds on that clock, in whatever zone it runs."""
    last_time: int | None = None
    """Of the last one, where it stands for several that say the same."""
    count: int = 1
    witness: int | None = None
    broker: int | None = None
    """The replica that the statement is about."""
    leader: int | None = None
    epoch: int | None = None
    term: int | None = None
    """Leader epoch in which the values were learnt, as `in_terms` works out."""
    latest_term: int | None = None
    """The latest one that it can have been, where the writer's logs may leave out roles or a restart; else null."""
    offset: int | None = None
    error: int | None = None
    doubtful: bool = False
    """Values that rest on lines which are missing, or that the writer's version prints wrongly."""
    topic_id: str | None = None
    trust: str = "high"
    set_back: int | None = 0
    """How much was added to its times, because its clock was set back before it was written; null where it may be."""

    @property
    def clock_time(self) -> int | None:
        """Its time as it is written."""
        return None if self.time is None else self.time - (self.set_back or 0)

    def newest_term(self, term: int) -> int:
        """The newest leader epoch in which its values can have been learnt, if it is told for this one."""
        return term if self.latest_term is None else max(term, self.latest_term)


class RoleTaken(Witnessed, frozen=True, kw_only=True):
    """A broker's own word that it leads or follows in an epoch; its offset is its log end."""

    kind: Literal["leader-starts", "follower-starts"]
    partition_epoch: int | None = None
    end_offset: int | None = None
    high_watermark: int | None = None
    isr: tuple[int, ...] | None = None
    fresh: bool = False
    """Whether the broker took its role without having had one before: its process began since its last."""
    former: int | None = None
    """The epoch in which the broker was until then, by this line; null where the line does not tell it."""

    @property
    def among_all_roles(self) -> bool:
        """Whether its broker logs every role that it takes: since 2.6, where a leader names its ISR too."""
        return self.kind == "follower-starts" or self.isr is not None


class PartitionState(Witnessed, frozen=True, kw_only=True):
    """Who leads in which epoch and who is in sync: as controllers decided, ordered or recorded it, or leaders."""

    kind: Literal[
        "leadership",  # the controller's word: leader, epoch, ISR, partition epoch; unclean, previous ISR
        "isr",  # an ISR in force, or before 2.8 one that a leader is about to expand to: ISR, partition epoch
        "isr-shrinking",  # a leader proposes a smaller ISR: high watermark and log end of the leader
        "unclean-election",  # the controller's own word for it
        "leader-told",  # who leads, as a client was told by the broker that it asked
        "described",  # a tool's output: leader, ISR, ELR, or a quorum replica's log end; when, nobody wrote down
    ]
    arrived: int | None = None
    """When the order came in, to within a millisecond."""
    partition_epoch: int | None = None
    end_offset: int | None = None
    high_watermark: int | None = None
    isr: tuple[int, ...] | None = None
    previous_isr: tuple[int, ...] | None = None
    elr: tuple[int, ...] | None = None
    """Eligible leaders outside the ISR; null where the writer's version has none or does not tell."""
    last_known_elr: tuple[int, ...] | None = None
    """Who led last, where neither in-sync replicas nor eligible leaders are left."""
    replicas: tuple[int, ...] | None = None
    unclean: bool = False
    controller_epoch: int | None = None
    """Of the controller that sent an order."""
    written: int | None = None
    """By when the controllers' record of it was surely written: its time is that of its batch, which began before."""
    taken: bool = True
    """Whether the broker that was ordered took the role, as far as its own log tells."""
    standing: bool = False
    """Whether it was so by its time, and since when is not told: a snapshot of the metadata log shows no beginning."""


class Requested(Witnessed, frozen=True, kw_only=True):
    """What a request log tells of any request that names a place in the log."""

    arrived: int | None = None
    """When it came in, to within a millisecond: it may have been the next one."""
    taken_in: int | None = None
    """When its broker had taken it in, as exactly: a fetch's offset was counted then, a produce's records appended."""
    answered: int | None = None
    """When its answer was made, as exactly: later than `taken_in` if it lay in purgatory."""
    waited: bool = False
    """Whether it lay in purgatory, and each one of several: at first sight there was less than it waited for."""
    left_out: int = 0
    """Statements of the same asker between this one and its next that are not here: they lie between the two."""
    log_start_offset: int | None = None
    client_id: str | None = None
    """Which consumer or producer asked."""
    records_size: int | None = None
    """Bytes of records in a fetch's answer, or that were produced; null where the line does not tell."""


class Fetched(Requested, frozen=True, kw_only=True):
    """A fetch and its answer: the offset asked, the epochs believed, the high watermark or divergence answered."""

    kind: Literal["fetched", "consumed"]
    """By a replica, or by a consumer."""
    last_taken_in: int | None = None
    last_answered: int | None = None
    """The times of the last one; null where there is but one."""
    min_bytes: int | None = None
    """Bytes of records for which a fetch waits."""
    high_watermark: int | None = None
    last_stable_offset: int | None = None
    """Null where the answer leaves it open, as incremental ones and those of old releases do."""
    asked_epoch: int | None = None
    answered_epoch: int | None = None
    answer_offset: int | None = None
    implied: bool = False
    session: int | None = None
    """The incremental session that it is of."""


class Produced(Requested, frozen=True, kw_only=True):
    """A produce request and its answer: which acknowledgements were asked for, and the base offset."""

    kind: Literal["produced"]
    end_offset: int | None = None
    acks: int | None = None
    request: int | None = None
    """The correlation id that its client gave it."""
    took: int | None = None
    """Microseconds from its coming to the time of its line."""
    unheard: bool = False
    """Whether its connection was closed when it was answered: see `unheard`."""


class Inquiry(Witnessed, frozen=True, kw_only=True):
    """A follower that asks where an epoch ended, or, out of range, where the log does; and the answer."""

    kind: Literal["epoch-asked", "offset-asked"]
    asked_epoch: int | None = None
    answered_epoch: int | None = None
    answer_offset: int | None = None


class LogCut(Witnessed, frozen=True, kw_only=True):
    """What a broker says about cutting its log: that it did, by which reason, or why not."""

    kind: Literal[
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
    ]
    end_offset: int | None = None
    high_watermark: int | None = None
    log_start_offset: int | None = None
    answered_epoch: int | None = None
    answer_offset: int | None = None


class LogEvent(Witnessed, frozen=True, kw_only=True):
    """What became of a log on its disk: it was loaded, made, deleted, saved; and its marks were."""

    kind: Literal[
        "log-loaded",  # log end and log start after loading
        "damaged-end-cut",  # from offset on it could not be read when it was loaded, and was cut there
        "producer-state-saved",  # offset where a batch ended: the log end at a roll or a clean shutdown
        "log-deleted",  # its directory was renamed, to be deleted: the topic is, or the replica was moved away
        "taken-up",  # a broker knows the replica from now on: it is new, or the broker has started; see `terms`
        "log-created",  # a new, empty log: of a new replica, on a disk that was replaced, by old releases for a move
        "high-watermark-loaded",  # the checkpointed high watermark after clamping
        "log-start-moved",  # by retention or because a client deleted records: log start
    ]
    end_offset: int | None = None
    high_watermark: int | None = None
    log_start_offset: int | None = None
    by_leader: bool = False
    """Whether a follower may have moved its log start after its leader's: before 2.6 the line gives no reason."""


class Notice(Witnessed, frozen=True, kw_only=True):
    """What happened without any value of the log."""

    kind: Literal[
        "marked-as-failed",
        "leader-not-seen",  # a broker cannot take its new role, since it does not see the leader that the order names
    ]


Moment = RoleTaken | PartitionState | Fetched | Produced | Inquiry | LogCut | LogEvent | Notice
"""One statement about the partition."""
Role = RoleTaken | PartitionState
"""What may give a broker its role: its own word, or an order."""
Answered = Fetched | Produced
"""What a request log tells of requests that name a place in the log."""

KINDS: Final = MappingProxyType(
    {kind: each for each in get_args(Moment) for kind in get_args(get_type_hints(each)["kind"])}
)
"""The class of each kind of statement."""

_FIELDS: Final = MappingProxyType({each: frozenset(each.__struct_fields__) for each in KINDS.values()})
_NAMES: Final = frozenset[str]().union(*_FIELDS.values())
_TIMES: Final = ("time", "last_time", "arrived", "written", "taken_in", "answered", "last_taken_in", "last_answered")
_TIMES_OF: Final = MappingProxyType(
    {each: [name for name in _TIMES if name in names] for each, names in _FIELDS.items()}
)


def times_of(moment: Moment) -> dict[str, int]:
    """What is on the clock of a statement, under the names of its fields."""
    named = ((name, getattr(moment, name)) for name in _TIMES_OF[type(moment)])
    return {name: time for name, time in named if time is not None}


def statement(kind: str, **values: object) -> Moment:
    """A statement of a kind out of what a line tells; what its kind has no place for is left out."""
    made = KINDS[kind]
    if not _NAMES.issuperset(values):
        raise TypeError(f"no statement has the fields {sorted(values.keys() - _NAMES)}")
    own = _FIELDS[made]
    return cast("Moment", made(kind=kind, **{name: value for name, value in values.items() if name in own}))
