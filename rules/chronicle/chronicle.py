"""The chronicle of one partition: the questions about its past, each answered once and for all who ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from msgspec import Struct

from rules.chronicle.acknowledged import Acknowledged
from rules.chronicle.damaged_ends import DamagedEnd, damaged_ends
from rules.chronicle.deposed import Deposed, deposed
from rules.chronicle.leaders import (
    Fall,
    Follower,
    falls,
    followed,
    furthest_fetches,
    leaders_by_epoch,
    led_by_nobody,
    once_unassigned,
)
from rules.chronicle.log_starts import RisenStart, risen_starts
from rules.chronicle.made_anew import MadeAnew, made_anew
from rules.chronicle.reigns import Reign, reigns
from rules.chronicle.stories import NO_STORY, Story, stories
from rules.history.last_life import NO_EARLIER_LIFE, EarlierLife, gave_up
from rules.history.log_cuts import Cut, cuts, decided_by
from rules.history.moments import (
    OF_SERVER_LOG,
    ROLE_KINDS,
    Committed,
    Moment,
    committed,
    epoch_starts,
    first_states,
    gives_role,
)
from rules.history.statements import Fetched, LogCut, PartitionState, Role, RoleTaken
from rules.history.terms import telling_every_role
from rules.history.turns import (
    LeaderChange,
    epochs_begin_anew,
    last_isr,
    last_leader,
    leader_changes,
    partition_states,
    roles_fall_back,
    taking_part,
)
from rules.history.unnamed_epochs import led_by_record


class Chronicle(Struct, frozen=True, dict=True):
    """What is told of a partition's past; an answer is worked out when somebody asks first."""

    moments: tuple[Moment, ...] = ()
    """Every statement, in the term in which it was learnt."""
    earlier: EarlierLife = NO_EARLIER_LIFE
    """Whose logs are or may be of an earlier life of the topic."""

    @cached_property
    def leaders(self) -> Mapping[int, int]:
        """Who led each epoch."""
        return leaders_by_epoch(self.moments)

    @cached_property
    def perhaps_leaders(self) -> Mapping[int, int]:
        """Who led each epoch, or may have: of some epochs only those who followed tell whom."""
        return {**followed(self.moments), **self.leaders}

    @cached_property
    def last_leader(self) -> tuple[int, int]:
        """The newest epoch in which somebody is told to lead, and who: -1 and -1 where nobody is."""
        return last_leader(self.moments)

    @property
    def last_isr(self) -> PartitionState | None:
        """The newest state of the partition, where no leader may have changed its ISR by itself since."""
        return last_isr(self.moments)

    @cached_property
    def led_by_nobody(self) -> frozenset[int]:
        """Epochs that the controllers gave to nobody."""
        return led_by_nobody(self.moments)

    @cached_property
    def opened(self) -> Mapping[int, RoleTaken]:
        """Who opened each epoch, and from which offset, by the leader's own word."""
        return epoch_starts(self.moments)

    @cached_property
    def first_states(self) -> Mapping[int, int]:
        """By leader epoch the first of its partition epochs that anybody names."""
        return first_states(self.moments)

    @cached_property
    def stories(self) -> Mapping[str, Story]:
        """By clock what befell the replica of its broker."""
        return stories(self.moments)

    @cached_property
    def reigns(self) -> tuple[Reign, ...]:
        """Every reign that its own leader tells of, whatever order epochs have."""
        return tuple(reigns(self.moments))

    @cached_property
    def made_anew(self) -> tuple[MadeAnew, ...]:
        """Every leader's log that its broker made anew before it led again: what it had held is no more."""
        return tuple(made_anew(self.reigns, self._by_clock, self.leaders))

    @cached_property
    def damaged_ends(self) -> tuple[DamagedEnd, ...]:
        """Every log that was cut where it could not be read, and with which its broker led next."""
        return tuple(damaged_ends(self._by_clock.values(), self.leaders))

    @cached_property
    def risen_starts(self) -> tuple[RisenStart, ...]:
        """Every log that began higher when it was loaded than its broker tells, and with which it led next."""
        return tuple(risen_starts(self._by_clock.values(), self.leaders))

    @cached_property
    def deposed(self) -> tuple[Deposed, ...]:
        """Every leader that followed straight after it had led."""
        return tuple(deposed(self.stories))

    @cached_property
    def acknowledged(self) -> Acknowledged:
        """What leaders answered to producers, and when by their own clocks."""
        return Acknowledged(self.moments)

    @cached_property
    def loaded_first(self) -> Mapping[str, int]:
        """When each witness first told of a loading."""
        loads = [m for m in self.moments if m.kind in ("log-loaded", "high-watermark-loaded") and m.time is not None]
        return {m.clock: m.time or 0 for m in sorted(loads, key=lambda m: m.time or 0, reverse=True)}

    def told_by(self, broker: int) -> Sequence[Moment]:
        """What a broker wrote into its own logs, in that order."""
        return self._by_clock.get(f"broker {broker}", ())

    def has_server_log(self, broker: int) -> bool:
        """Whether a broker told anything of which only its server.log tells."""
        return any(moment.kind in OF_SERVER_LOG for moment in self.told_by(broker))

    @cached_property
    def _by_clock(self) -> Mapping[str, Sequence[Moment]]:
        found: dict[str, list[Moment]] = {}
        for moment in self.moments:
            found.setdefault(moment.clock, []).append(moment)
        return found

    @cached_property
    def furthest_fetches(self) -> Mapping[Follower, Fetched]:
        """The furthest fetch of each broker in each term that its leader counted."""
        return furthest_fetches(self.moments)

    def fetched_up_to(self, broker: int, term: int) -> int:
        """How far a broker's log had reached when it fetched in a term, as far as its leader agreed; else 0."""
        fetch = self.furthest_fetches.get((broker, term))
        return 0 if fetch is None else fetch.offset or 0

    @cached_property
    def falls(self) -> Mapping[Follower, Sequence[Fall]]:
        """Where followers asked for less than just before, within a term and by its leader's order."""
        return falls(self.moments)

    @cached_property
    def once_unassigned(self) -> frozenset[int]:
        """Brokers that were at some time no replica: their logs were deleted in order, and begin anew."""
        return once_unassigned(self.moments)

    @cached_property
    def gave_up(self) -> frozenset[int]:
        """Brokers that tell of a log's deletion, in the topic's last life or before it."""
        return gave_up(self.moments) | self.earlier.deleted_before

    def roles_around(self, moment: Moment) -> tuple[Role | None, Role | None]:
        """The role that a statement's writer had taken before it, and the one that it took next."""
        story = self.stories.get(moment.clock, NO_STORY)
        return story.roles_around(self._places[id(moment)])

    @cached_property
    def _places(self) -> Mapping[int, int]:
        return {id(moment): place for place, moment in enumerate(self.moments)}

    @cached_property
    def elections(self) -> tuple[LeaderChange, ...]:
        """Every election of which the ISR before it is known."""
        return tuple(leader_changes(self.moments, self.states))

    @cached_property
    def states(self) -> tuple[PartitionState, ...]:
        """The partition's states in the order of leader epoch and partition epoch, each once."""
        return tuple(partition_states(self.moments))

    @cached_property
    def cuts(self) -> tuple[Cut, ...]:
        """Every truncation that a broker logged and that removed something or may have."""
        return tuple(cuts(self.moments, self.earlier))

    def decision(self, cut: Cut) -> LogCut | None:
        """What decided a cut, by its broker's own log."""
        own = self.told_by(cut.broker)
        return decided_by(own, own.index(cut.moment))

    @cached_property
    def proofs(self) -> tuple[Committed, ...]:
        """Every proof of committed records that is told, as it is told.

        What a broker knew of its own log may be an earlier life's, if the log was not made in this one.
        """
        clocks = {f"broker {broker}" for broker in self.earlier.not_made}
        own = (*ROLE_KINDS, "high-watermark-loaded")
        found = committed(self.moments)
        return tuple(proof for proof in found if proof.moment.clock not in clocks or proof.moment.kind not in own)

    @cached_property
    def telling_every_role(self) -> frozenset[str]:
        """Clocks of brokers that log every role that they take."""
        return telling_every_role(self.moments)

    @cached_property
    def sure_terms(self) -> frozenset[tuple[str, int]]:
        """Witnesses and the terms that their own words open, or the record gives them."""
        terms = {(m.clock, m.epoch) for m in self.moments if m.kind in ROLE_KINDS and m.epoch is not None}
        recorded = {(f"broker {broker}", e) for broker, own in led_by_record(self.moments).items() for e in own}
        return frozenset(terms | recorded)

    @cached_property
    def taken_terms(self) -> frozenset[tuple[str, int]]:
        """Witnesses and the terms of the roles that they took, by a line or by an order."""
        return frozenset((m.clock, m.epoch) for m in self.moments if gives_role(m) and m.epoch is not None)

    @cached_property
    def given_terms(self) -> frozenset[tuple[str, int]]:
        """The two together: no line of theirs need open a term that an order gave."""
        return self.sure_terms | self.taken_terms

    def earliest_term(self, moment: Moment) -> int:
        """The oldest epoch in which the values of a statement can have been learnt; 0 where nothing bounds it.

        It is by its own word, or by the role that its writer had taken: nobody answers for a newer epoch than its own.
        """
        if moment.kind in _NAMING_THEIRS and moment.epoch is not None and moment.epoch >= 0:
            return moment.epoch
        place = moment.clock, -1 if moment.term is None else moment.term
        known = place in self.taken_terms or (moment.latest_term is None and place in self.sure_terms)
        return place[1] if known else 0

    @cached_property
    def taking_part(self) -> frozenset[int]:
        """Every broker that is told to have a replica."""
        return taking_part(self.moments)

    @cached_property
    def wait_for_all(self) -> bool:
        """Whether any producer is told of that waits for all replicas."""
        return any(m.acks == -1 for m in self.moments if m.kind == "produced")

    @cached_property
    def epochs_begin_anew(self) -> bool:
        """Whether leader epochs fall on some clock and no topic id tells why."""
        return epochs_begin_anew(self.moments)

    @cached_property
    def roles_fall_back(self) -> bool:
        """Whether a broker took a role in an older epoch than before, in one life of the topic, or may have done so."""
        return roles_fall_back(self.moments)


_NAMING_THEIRS: Final = ("fetched", "produced", "consumed", "described")
NOTHING_TOLD: Final = Chronicle()
