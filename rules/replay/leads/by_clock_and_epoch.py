"""The statements about a partition, found by clock and epoch: each is looked at once, however many leads there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Final, Generic, TypeAlias, TypeVar

from rules.chronicle.request_logs import NONE_HERE, RequestLogs
from rules.chronicle.stories import NO_STORY, TURNS, Story
from rules.history.moments import OF_SERVER_LOG, ROLE_KINDS, Moment
from rules.history.statements import Answered, Fetched, LogEvent, PartitionState, Produced, Role
from rules.replicas.replica import Replica
from rules.settings import Setting

Served = Fetched | Produced | LogEvent
"""What a leader writes of its log as it stands: its answers, and where the log now starts."""
OWN_LOG_KINDS: Final = ("log-loaded", "high-watermark-loaded", "isr", "isr-shrinking")
"""What a leader writes into the log in which it tells of its ISR."""
LED: Final = ("leader-starts", "leadership")

States: TypeAlias = Callable[[int], Sequence[Setting]]
"""What a broker's log tells of its starts and stops."""

K = TypeVar("K")
M = TypeVar("M", bound=Moment)


def untold_states(_broker: int) -> Sequence[Setting]:
    """No broker tells of its starts and stops."""
    return ()


class Shelf(Generic[K, M]):
    """Statements under a key, in their order."""

    def __init__(self) -> None:
        self.found: dict[K, list[tuple[int, M]]] = {}

    def put(self, key: K, place: int, moment: M) -> None:
        """One statement more."""
        self.found.setdefault(key, []).append((place, moment))

    def placed(self, keys: Iterable[K]) -> list[tuple[int, M]]:
        """The statements under some keys, in the order of all, with their places."""
        return sorted((one for key in keys for one in self.found.get(key, ())), key=itemgetter(0))

    def of(self, keys: Iterable[K]) -> Iterator[M]:
        """The same without their places."""
        return (moment for _, moment in self.placed(keys))


class Statements:
    """All statements about one partition, and the replicas that were found; lives only inside `replay`."""

    def __init__(
        self, moments: Sequence[Moment], replicas: Sequence[Replica], request_logs: RequestLogs = NONE_HERE,
        states: States = untold_states,
    ) -> None:
        self.moments, self.replicas, self.request_logs = moments, replicas, request_logs
        self.states = states
        self.stories: dict[str, Story] = {}
        self.answers: Shelf[tuple[str, int | None], Served] = Shelf()
        """Answers by clock and term."""
        self.befallen: Shelf[int | None, Moment] = Shelf()
        """What brokers tell of themselves, by term."""
        self.roles: Shelf[int | None, Role] = Shelf()
        """Who leads by anybody's word, by epoch."""
        self.isrs: Shelf[tuple[str, int | None], Role] = Shelf()
        """ISRs that a clock's own broker tells, by the epoch or term that they are of."""
        self.answered_isrs: Shelf[int | None, PartitionState] = Shelf()
        """ISRs that controllers tell, or answer to a leader, by epoch."""
        self.controlled: set[int | None] = set()
        """Epochs of which the controller tells."""
        self.own_logs: set[str] = set()
        """Clocks of brokers whose own log of ISRs is there."""
        self.first_states: dict[int | None, int] = {}
        """The smallest partition epoch that is told of each leader epoch."""
        self.server_logs: dict[str, tuple[Moment, Moment]] = {}
        """By clock the first and the last statement of its broker's server.log, which tells of restarts and cuts."""
        self.chain_starts = _chain_starts(replicas)
        roles = (m.epoch for m in moments if m.kind in (*ROLE_KINDS, "leadership") and m.epoch is not None)
        self.last_epoch = max((*roles, *(replica.last_known_epoch for replica in replicas)), default=-1)
        """The newest that a role, an order or a disk tells of."""
        for placed in enumerate(moments):
            self._put(*placed)

    def _put(self, place: int, moment: Moment) -> None:
        if moment.kind in OF_SERVER_LOG and moment.term is not None and moment.clock == f"broker {moment.broker}":
            self.server_logs[moment.clock] = self.server_logs.get(moment.clock, (moment, moment))[0], moment
        if isinstance(moment, Answered) or moment.kind == "log-start-moved":
            self.answers.put((moment.clock, moment.term), place, moment)
            return
        if moment.clock == "controller":
            self.controlled.add(moment.epoch)
        if moment.kind in TURNS:
            self.stories.setdefault(moment.clock, Story()).put((place, moment))
            if moment.clock == f"broker {moment.broker}":
                self.befallen.put(moment.term, place, moment)
        if isinstance(moment, Role):
            self._put_state(place, moment)
        # Orders to other leaders and their answers stand in a controller's trace; its own log names the broker itself.
        own = moment.kind in OWN_LOG_KINDS and not moment.doubtful and moment.clock == f"broker {moment.broker}"
        own = own and moment.epoch is None  # an ISR with its epoch stands in the log of roles
        # Since 2.6 a leader tells its beginning, with its ISR, in a log of its own.
        if own or (moment.kind == "leader-starts" and moment.isr is None):
            self.own_logs.add(moment.clock)

    def _put_state(self, place: int, moment: Role) -> None:
        led = moment.kind in LED
        if led:
            self.roles.put(moment.epoch, place, moment)
        if moment.isr is not None and isinstance(moment, PartitionState) and _tells_in_force(moment):
            self.answered_isrs.put(moment.epoch, place, moment)
        if moment.isr is not None and not moment.doubtful and (led or moment.kind in ("isr", "isr-shrinking")):
            self.isrs.put((moment.clock, moment.epoch if led else moment.term), place, moment)
        if moment.kind == "leadership" and moment.partition_epoch is not None:
            first = self.first_states.get(moment.epoch, moment.partition_epoch)
            self.first_states[moment.epoch] = min(first, moment.partition_epoch)

    def disturbances_told(self, role: Moment, before: int) -> bool:
        """Whether its server.log reaches from below an epoch to a role: a restart or a cut would stand there."""
        if role.clock not in self.server_logs:
            return False
        first, last = self.server_logs[role.clock]
        begun = first.term is not None and first.term < before
        return begun and (last.time is None or role.time is None or last.time >= role.time)

    def story_of(self, clock: str) -> Story:
        """What befell the replica of a clock's broker."""
        return self.stories.get(clock, NO_STORY)


def _tells_in_force(state: PartitionState) -> bool:
    return state.clock == "controller" or state.kind == "isr"


def _chain_starts(replicas: Sequence[Replica]) -> Mapping[int, tuple[int, int]]:
    """Where epoch files have each epoch begin, and whose says so first."""
    found: dict[int, tuple[int, int]] = {}
    for replica in replicas:
        # The first entry moves with the log start: only from offset 0 is it still the epoch's own beginning.
        for index, entry in enumerate(replica.file_chain):
            if index > 0 or entry.start_offset == 0:
                found.setdefault(entry.epoch, (replica.broker, entry.start_offset))
    return found
