"""What every generation would have cut at each cut by the high watermark, by the simulator itself.

The same script runs once for each way of keeping epoch caches: brokers go on cutting by their high watermarks, so that
the logs are what they were, and remember the epochs that their record format could have carried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rules.protocol.keeping import KEPT_BY, WAYS, Keeping
from rules.protocol.offsets import BrokerId, Offset
from rules.protocol.replica_log import ReplicaLog, truncate_to
from rules.protocol.truncation import RULES, Exchange, RuleName, Truncation
from rules.protocol.watermarks import high_watermark_at_start
from rules.simulator.events import Restart
from rules.simulator.log_changes import recovered
from rules.simulator.run_rows import versions_of
from rules.simulator.script import Script, cluster_of
from rules.simulator.state import Batch, Broker, Cluster, ReconciledCut, replica_of
from rules.simulator.step import step
from tests.replaced import replace

Made = tuple[int, bool, tuple[Exchange, ...]]
"""Where a rule has a log end, whether it cuts, and what was asked and answered."""
Found = Mapping[RuleName, frozenset[Made]]
"""By rule what it made of a follower: one for each time at which that may ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrueCut:
    """A cut by the high watermark, and what the others would have made of it."""

    broker: int
    leader: int
    epoch: int
    log_end_offset: int
    offset: int
    found: Found
    """Empty where nobody ever led the epoch in which it was made."""
    otherwise: Found
    """The same of its leader as it led any epoch, from then on or at last."""


class Shadows:
    """One run of a script, once for each way of keeping caches."""

    def __init__(self, script: Script) -> None:
        self.runs = [_remembering(script, way) for way in WAYS]
        self.events = script.events

    def cuts(self) -> Iterator[TrueCut]:
        """Every cut by the high watermark in its order, those that cut nothing too."""
        for number, event in enumerate(self.events, start=1):
            before, after = (self.runs[0][place] for place in (number - 1, number))
            for cut in after.cuts[len(before.cuts) :]:
                leader = next(decided.leader for decided in after.decided if decided.epoch == cut.epoch)
                if cut.rule == "hw-truncation" and leader is not None:
                    restarted = isinstance(event, Restart) and event.broker == cut.broker
                    yield self._cut(number, cut, leader, restarted=restarted)

    def _cut(self, number: int, cut: ReconciledCut, leader: BrokerId, *, restarted: bool) -> TrueCut:
        found: dict[RuleName, frozenset[Made]] = {}
        otherwise: dict[RuleName, frozenset[Made]] = {}
        for rule, way in KEPT_BY.items():
            states = self.runs[WAYS.index(way)]
            stood = states[number - 1].broker(cut.broker)
            follower = _plain(_started(stood) if restarted else stood)
            assert follower.log_end_offset == cut.from_offset
            told = [RULES[rule](follower, then) for then in _asked_then(states, leader, cut.epoch, number)]
            if told:
                found[rule] = frozenset(map(made, told))
            otherwise[rule] = frozenset(
                made(RULES[rule](follower, then)) for then in _asked_then(states, leader, None, number)
            )
        return TrueCut(
            broker=cut.broker,
            leader=leader,
            epoch=cut.epoch,
            log_end_offset=cut.from_offset,
            offset=cut.to_offset,
            found=found,
            otherwise=otherwise,
        )

    def lives(self, broker: int) -> bool:
        """Whether a broker runs in the end."""
        return self.runs[0][-1].broker(BrokerId(broker)).alive

    def uncommitted(self, broker: int) -> set[int]:
        """Offsets of the records in a broker's last log that no leader ever counted as committed."""
        seen = (self.runs[0][place] for place in range(len(self.events) + 1))
        leaders = [own for state in seen for own in state.brokers if own.leading is not None]
        committed = {record for own in leaders for record in _records(own) if record[0] < own.high_watermark}
        (last,) = (own for own in self.runs[0][-1].brokers if own.id == broker)
        return {offset for offset, batch in _records(last) if (offset, batch) not in committed}

    def meeting(self, rule: RuleName, follower: int, leader: int, end_offset: int, high_watermark: int) -> Truncation:
        """What a rule makes of two logs as they are in the end, the follower's up to an offset."""
        end = self.runs[WAYS.index(KEPT_BY[rule])][-1]
        asking, answering = (_plain(end.broker(BrokerId(broker))) for broker in (follower, leader))
        asking = replace(truncate_to(asking, Offset(end_offset)), high_watermark=Offset(high_watermark))
        return RULES[rule](asking, answering)


def _records(broker: Broker) -> Iterator[tuple[int, Batch]]:
    return ((offset, batch) for batch in broker.log.batches for offset in range(batch.base_offset, batch.end_offset))


def made(account: Truncation) -> Made:
    """What a rule made of a follower."""
    return account.offset, account.cuts, account.exchanges


def _remembering(script: Script, way: Keeping) -> list[Cluster]:
    generations = {
        broker: replace(
            own,
            keeps_epochs=True,
            assign=way.assign,
            end_offset_rule=way.end_offset_rule,
            enters_at_election=way.enters_at_election,
        )
        for broker, own in versions_of(script).items()
    }
    states = [cluster_of(script, generations)]
    for event in script.events:
        states.append(step(states[-1], event))
    return states


def _asked_then(states: list[Cluster], leader: BrokerId, epoch: int | None, number: int) -> set[ReplicaLog]:
    """A leader at every time from a cut on at which it led an epoch; else as it last did."""
    led = [(place, state.broker(leader)) for place, state in enumerate(states) if _leads(state.broker(leader), epoch)]
    later = [broker for place, broker in led if place >= number]
    return set(map(_plain, later or [broker for _, broker in led[-1:]]))


def _leads(broker: Broker, epoch: int | None) -> bool:
    return broker.leads and broker.heard is not None and epoch in (None, broker.heard.epoch)


def _started(broker: Broker) -> Broker:
    loaded = recovered(broker)
    watermark = high_watermark_at_start(loaded.checkpoint, loaded.log.start_offset, loaded.log.end_offset)
    return replace(loaded, high_watermark=watermark)


def _plain(broker: Broker) -> ReplicaLog:
    """Messages of old formats stand one by one: no cut lies inside a batch."""
    return replace(replica_of(broker), batches=())
