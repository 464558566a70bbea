"""What happened to a partition: dated statements of brokers, requests and controllers, each with its address.

Clocks of different witnesses are never compared as they stand; the logical clock is the leader epoch (`terms`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeGuard

from msgspec import Struct

from rules.history.rotated import FileOrder, Place
from rules.history.statements import (
    Fetched,
    Inquiry,
    LogEvent,
    Moment,
    Notice,
    PartitionState,
    Produced,
    Role,
    RoleTaken,
)

__all__ = ["Moment"]

ONE_CONTROLLER: Final = "controller "
"""Clocks of ZooKeeper's controllers begin with this: what one of them logged, without its predecessors' words."""
ROLE_KINDS: Final = ("leader-starts", "follower-starts")
TELLING_ROLES: Final = (*ROLE_KINDS, "leadership")
STARTING: Final = ("log-loaded", "log-created", "high-watermark-loaded")
"""What a broker says of a replica when it starts."""
OF_SERVER_LOG: Final = (
    *STARTING, "isr-shrinking", "producer-state-saved", "truncated", "truncation-kept", "log-start-moved",
)  # fmt: skip
"""What a broker's server.log alone tells of a partition."""
DISTURBED: Final = ("log-loaded", "damaged-end-cut", "log-created", "log-reset", "truncated")
"""After these a broker's log may end elsewhere than before."""
BEGUN_ANEW: Final = ("log-created", "log-reset", "log-deleted")
"""After these a broker's log holds nothing of what it held before."""
WARNED_OF: Final = (
    "cut-below-high-watermark", "high-watermark-fell", "cut-refused", "damaged-end-cut", "marked-as-failed",
    "leader-not-seen",
)  # fmt: skip
"""What a broker logs as a warning or an error: logs at level WARN tell these, and neither roles nor loads nor cuts."""
ZOOKEEPER_CLOCK: Final = "zookeeper"
"""Of states as ZooKeeper held them when somebody saved them: the cluster may have gone on since."""
DESCRIPTION_CLOCK: Final = "description"
"""Of what tools printed: it shows no time, and nothing is ordered by it."""


_TELL_NO_END: Final = (Fetched, Inquiry, Notice)
_TELL_NO_WATERMARK: Final = (Produced, Inquiry, Notice)


def ordered(moments: Iterable[Moment]) -> tuple[Moment, ...]:
    """By clock, then time, then place in the file: the order in which each witness wrote."""
    statements = tuple(moments)
    files = FileOrder((moment.span.source, moment.time) for moment in statements)

    def written(moment: Moment) -> tuple[str, int, Place, int]:
        time = -1 if moment.time is None else moment.time
        return moment.clock, time, files.place(moment.span.source), moment.span.start

    return tuple(sorted(statements, key=written))


def gives_role(moment: Moment) -> TypeGuard[Role]:
    """Whether the clock's broker takes a role here: by its own line, or by an order that it took.

    An order that names no leader gives none: who leads or follows goes on in the epoch that it had.
    """
    if moment.kind == "leadership":
        named = moment.taken and (moment.leader is None or moment.leader >= 0)
        return named and moment.witness is not None and moment.error in (None, 0)
    return isinstance(moment, RoleTaken)


def leads(role: Moment) -> bool:
    """Whether its broker leads in a role, by its own word or by the order that it was given."""
    return role.kind == "leader-starts" or (role.leader is not None and role.leader == role.witness)


def falls(numbers: Iterable[tuple[Hashable, int]]) -> bool:
    """Whether any of some numbers, each told over and over under its key, falls."""
    newest: dict[Hashable, int] = {}
    for key, number in numbers:
        if number < newest.get(key, number):
            return True
        newest[key] = number
    return False


def is_metadata(moment: Moment) -> TypeGuard[PartitionState]:
    """Whether it is the controllers' record of a state: no order to a broker, no one controller's log, no znode."""
    recorded = moment.kind == "leadership" and moment.witness is None
    return recorded and moment.clock != ZOOKEEPER_CLOCK and not moment.clock.startswith(ONE_CONTROLLER)


def in_sync(moment: Moment) -> tuple[int, ...]:
    """The in-sync replicas that a statement names."""
    return (moment.isr or ()) if isinstance(moment, Role) else ()


def assigned(moment: Moment) -> tuple[int, ...]:
    """The replicas that a statement names."""
    return (moment.replicas or ()) if isinstance(moment, PartitionState) else ()


def log_end(moment: Moment) -> int | None:
    """Where its broker's log ended, as far as a statement says so."""
    if isinstance(moment, RoleTaken):
        return moment.offset
    return None if isinstance(moment, _TELL_NO_END) else moment.end_offset


def own_log_end(moment: Moment) -> int | None:
    """Where a broker's log ended after a role, a cut or a loading, by its own word."""
    if moment.kind in (*ROLE_KINDS, "truncated"):
        return moment.offset
    return moment.end_offset if moment.kind in ("log-loaded", "truncation-kept") else None


def held_up_to(moment: Moment) -> int | None:
    """How far a broker's log can hold what it held before, by its own word: a log that begins anew holds nothing."""
    return 0 if moment.kind in BEGUN_ANEW else own_log_end(moment)


def high_watermark(moment: Moment) -> int | None:
    """The high watermark that a statement tells."""
    return None if isinstance(moment, _TELL_NO_WATERMARK) else moment.high_watermark


def succeeded(moment: Moment) -> TypeGuard[Produced]:
    """Whether a producer was told that its records are written."""
    return (
        moment.kind == "produced" and moment.error == 0
        and moment.offset is not None and moment.offset >= 0 and moment.acks != 0 and not moment.unheard
    )  # fmt: skip


def accepted(fetch: Fetched) -> bool:
    """Whether the leader took the fetch's offset for the follower's log end."""
    diverges = fetch.answered_epoch is not None and fetch.answered_epoch >= 0
    return fetch.error in (None, 0) and not diverges and fetch.offset is not None


def agreed(fetch: Fetched) -> bool:
    """Whether the leader surely took it for that: no error, nothing to cut, and nothing of the fetch is in doubt."""
    return accepted(fetch) and fetch.error == 0 and not fetch.doubtful


def first_role(moments: Iterable[Moment]) -> RoleTaken | None:
    """The first role that a broker tells of itself; it may have had one already, and have started again."""
    return next((moment for moment in moments if isinstance(moment, RoleTaken)), None)


class Committed(Struct, frozen=True, kw_only=True):
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
        term = moment.newest_term(moment.term)
        if moment.kind == "produced" and moment.acks == -1 and moment.offset is not None and moment.offset >= 0:
            because = f"broker {moment.witness} acknowledged the batch that begins at offset {moment.offset} (acks=all)"
            yield Committed(end_offset=moment.offset + 1, term=term, because=because, moment=moment)
        elif _tells_of_committed(moment) and moment.high_watermark is not None and moment.high_watermark > 0:
            because = f"broker {moment.witness} reported high watermark {moment.high_watermark}"
            yield Committed(end_offset=moment.high_watermark, term=term, because=because, moment=moment)


def _tells_of_committed(moment: Moment) -> TypeGuard[Fetched | RoleTaken | LogEvent | PartitionState]:
    """Whether its high watermark is one that its writer had, or answered with."""
    return isinstance(moment, Fetched | RoleTaken) or moment.kind in ("high-watermark-loaded", "isr-shrinking")


def first_states(moments: Iterable[Moment]) -> dict[int, int]:
    """By leader epoch the first partition epoch of it that anybody names with a role."""
    first: dict[int, int] = {}
    for moment in moments:
        if isinstance(moment, RoleTaken) or moment.kind == "leadership":
            state = moment.partition_epoch
            if moment.epoch is not None and state is not None:
                first[moment.epoch] = min(state, first.get(moment.epoch, state))
    return first


def taken_again(role: RoleTaken, first: Mapping[int, int]) -> bool:
    """Whether its broker had just started when the epoch, by its first states, had begun before: it opened nothing."""
    state, begun = role.partition_epoch, first.get(-1 if role.epoch is None else role.epoch)
    return role.fresh and state is not None and begun is not None and begun < state


def epoch_starts(moments: Sequence[Moment]) -> dict[int, RoleTaken]:
    """Who opened each leader epoch, and from which offset, by the leader's own word."""
    starts: dict[int, RoleTaken] = {}
    first = first_states(moments)
    for moment in moments:
        if moment.kind != "leader-starts" or moment.epoch is None or moment.offset is None:
            continue
        if not taken_again(moment, first):
            starts.setdefault(moment.epoch, moment)
    return starts
