"""What every generation of the protocol would have asked, been answered and cut, for each diverging pair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, structs
from msgspec.structs import replace

from rules.evidence import BrokerVersion, Difference, PartitionEvidence, Replica
from rules.evidence.follower_rule import rule_run_by
from rules.protocol import replica_log as protocol
from rules.protocol.truncation import RULES, Exchange, Truncation, end_offset_rule
from rules.protocol.versions import parse_kafka_version
from rules.unwritten.asking import Asked


class ProtocolOutcome(Struct, frozen=True, kw_only=True):
    """What one generation of the protocol makes of the pair."""

    rule: str
    exchanges: tuple[Exchange, ...]
    cut_to: int
    cuts: bool
    kept_start: int
    kept_end: int
    lost_start: int
    lost_end: int
    because: str
    in_force: bool
    """Whether the follower goes by this rule: by its versions, or because its records carry no epochs."""
    exact: bool = True
    """Whether it asked and was answered just so; else other answers are possible, to the same effect."""


class Counterfactual(Struct, frozen=True, kw_only=True):
    """The table for one follower and one leader, at the moment when their logs parted for these offsets."""

    follower: int
    leader: int
    start_offset: int
    end_offset: int
    outcomes: tuple[ProtocolOutcome, ...]
    because: str
    differ: bool = False
    """Whether the logs are known to hold different records from the start offset on."""
    reconstructed: bool = False
    """Whether the logs carry no epochs, so that protocols are asked over those that they would have carried."""

    def parts_at(self, outcome: ProtocolOutcome) -> int | None:
        """From where the follower keeps what its leader does not hold, as the newest generation finds; else None."""
        newest = next((each for each in self.outcomes if each.rule == "truncate-on-fetch"), outcome)
        # Epochs do not tell records apart that bear the same one, or none.
        parted = min(newest.kept_end, self.start_offset) if self.differ else newest.kept_end
        return parted if outcome.kept_end > parted else None


def counterfactuals(evidence: PartitionEvidence) -> tuple[Counterfactual, ...]:
    """The table of every pair of replicas whose contents differ."""
    leaders = evidence.leaders_at_the_end if evidence.unwritten.applies else evidence.presumed_leaders
    tables: list[Counterfactual] = []
    for left, right in evidence.pairs:
        own = [d for d in evidence.differences if d.left is left and d.right is right]
        for first, end in _stretches(own):
            tables.extend(_table(roles, end, evidence, leaders) for roles in _roles(first, leaders))
    return tuple(tables)


def _stretches(found: Iterable[Difference]) -> Iterator[tuple[Difference, int]]:
    """A pair parts once for all the offsets up to the next place where its logs agree again: where, and up to there."""
    first, end = None, -1
    for difference in found:
        if first is None or difference.start_offset > end:
            if first is not None:
                yield first, end
            first = difference
        end = max(end, difference.end_offset)
    if first is not None:
        yield first, end


def _roles(difference: Difference, leaders: tuple[Replica, ...]) -> Iterator[tuple[Replica, Replica, Difference]]:
    """Follower and leader; both ways round where the disks cannot tell who would lead."""
    left, right = difference.left, difference.right
    if left in leaders or right not in leaders:
        yield right, left, difference
    if right in leaders or left not in leaders:
        yield left, right, difference


def _table(
    roles: tuple[Replica, Replica, Difference], end: int, evidence: PartitionEvidence, leaders: tuple[Replica, ...]
) -> Counterfactual:
    follower, leader, difference = roles
    versions = {version.broker: version for version in evidence.versions}
    # Where the leader's log ends amid what differs, the follower's goes on with what the leader never had.
    whole = end >= leader.log_end_offset and follower.end_known
    stood_at = follower.log_end_offset if whole else difference.end_offset
    asking = as_run(follower, versions.get(follower.broker), stood_at)
    if evidence.unwritten.applies:
        return _reconstructed(roles, asking, evidence, leaders)
    answering = as_run(leader, versions.get(leader.broker), leader.log_end_offset)
    in_force = rule_run_by(versions.get(follower.broker))
    sure = leader in leaders and len(leaders) == 1
    known = "are taken by newest epoch and log end" if sure else "are open: either could lead"
    return Counterfactual(
        follower=follower.broker,
        leader=leader.broker,
        start_offset=difference.start_offset,
        end_offset=stood_at,
        outcomes=tuple(
            outcome(rule(asking, answering), asking, in_force=name == in_force) for name, rule in RULES.items()
        ),
        because=f"broker {follower.broker} as it stood at offset {asking.log_end_offset}. Roles {known}.",
        differ=True,
    )


def _reconstructed(
    roles: tuple[Replica, Replica, Difference],
    asking: protocol.ReplicaLog,
    evidence: PartitionEvidence,
    leaders: tuple[Replica, ...],
) -> Counterfactual:
    """The same of logs that carry no epochs: asked over those that they would have carried."""
    follower, leader, difference = roles
    asked = evidence.unwritten.meeting(follower, leader, asking.log_end_offset, asking.high_watermark)
    known = f"Broker {leader.broker} led last" if leader in leaders and len(leaders) == 1 else "Either could lead"
    return Counterfactual(
        follower=follower.broker,
        leader=leader.broker,
        start_offset=difference.start_offset,
        end_offset=asking.log_end_offset,
        outcomes=reconstructed_outcomes(asked, asking),
        because=f"broker {follower.broker} as it stood at offset {asking.log_end_offset}. {known}. {origin_of(asked)}",
        differ=True,
        reconstructed=True,
    )


def reconstructed_outcomes(asked: Asked, asking: protocol.ReplicaLog) -> tuple[ProtocolOutcome, ...]:
    """The lines that can be told; of logs without epochs all releases cut by the high watermark."""
    by_watermark = RULES["hw-truncation"](asking, asking)
    lines = [outcome(by_watermark, asking, in_force=True)]
    for name, answer in asked.answers.items():
        if name != "hw-truncation" and answer.decided:
            line = outcome(answer.truncation, asked.asking or asking, in_force=False)
            lines.append(replace(line, exact=answer.exact))
    return tuple(lines)


def origin_of(asked: Asked) -> str:
    """Where the epochs of a table come from that no record carries, and what of them is open."""
    if asked.asking is None and asked.open is not None:
        why, missing = asked.open.reason, asked.open.missing
        return f"No record carries an epoch, and none can be reconstructed: {why}. Add {missing}"
    held = f" The follower's records were of {named_epochs(asked.epochs)}." if asked.epochs else ""
    origin = f"No record carries an epoch. Epochs are reconstructed from who led when and from where logs ended.{held}"
    left = f" Open: {asked.open.reason}. Add {asked.open.missing}" if asked.open is not None else ""
    return f"{origin}{left}"


def named_epochs(epochs: Sequence[int]) -> str:
    """Epochs as people say them."""
    distinct = list(dict.fromkeys(epochs))
    return f"epoch {distinct[0]}" if len(distinct) == 1 else f"epochs {', '.join(map(str, distinct))}"


def as_run(replica: Replica, version: BrokerVersion | None, end_offset: int) -> protocol.ReplicaLog:
    """The replica at an offset, searching its epochs as its broker's version does."""
    return run_by(version, replica.at(end_offset))


def run_by(version: BrokerVersion | None, state: protocol.ReplicaLog) -> protocol.ReplicaLog:
    """A log that is searched for epochs as its broker's version does."""
    binary = parse_kafka_version(version.binary) if version and version.binary else None
    return state if binary is None else structs.replace(state, end_offset_rule=end_offset_rule(binary))


def outcome(truncation: Truncation, asking: protocol.ReplicaLog, *, in_force: bool) -> ProtocolOutcome:
    """One line of the table."""
    return ProtocolOutcome(
        rule=truncation.rule,
        exchanges=truncation.exchanges,
        cut_to=truncation.offset,
        cuts=truncation.cuts,
        kept_start=asking.log_start_offset,
        kept_end=min(truncation.kept_log_end_offset, asking.log_end_offset),
        lost_start=min(truncation.kept_log_end_offset, asking.log_end_offset),
        lost_end=asking.log_end_offset,
        because=truncation.because,
        in_force=in_force,
    )
