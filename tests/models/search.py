"""One action on the model and on the simulator at once; random walks over actions, and what they find, made short."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rules.protocol.offsets import BrokerId
from rules.simulator.generation import generation
from rules.simulator.script import read_event
from rules.simulator.state import Batch, Broker, Cluster, TopicSettings
from rules.simulator.step import create, step
from tests.models.invariants import INVARIANTS, History, violated
from tests.models.oracle import Model, Version

SPOKEN: Final = {
    version: version.rpartition(".")[0]
    for version in ("0.10.2.2", "0.11.0.3", "1.1.1", "2.0.1", "2.6.3", "2.7.2", "3.2.0", "3.9.1", "4.0.0", "4.3.0")
}
ALWAYS_HOLD: Final = frozenset({"LeaderInIsr", "MonotonicHighWatermark", "ValidControllerIsrAndElr"})
"""What no generation breaks: these concern one decision and one term."""
CANDIDATES: Final = frozenset({"LeaderCandidateCompleteness", "LeaderCompleteness"})
_EPOCH: Final = re.compile(r"epoch=(\d+)")


class Disagreement(AssertionError):
    """The simulator and the model do not hold the same state."""


@dataclass
class Pair:
    """The model, the simulator, and the script that brought them here."""

    model: Model
    cluster: Cluster
    history: History
    lines: list[str]

    @classmethod
    def created(cls, version: Version, replicas: int, min_isr: int = 1, others: int = 0) -> Pair:
        """Both at their beginning."""
        found = generation(version.name, SPOKEN[version.name])
        ids = tuple(map(BrokerId, range(1, replicas + 1)))
        settings = TopicSettings(unclean_leader_election=False, min_insync_replicas=min_isr)
        more = tuple(map(BrokerId, range(replicas + 1, replicas + others + 1)))
        cluster = create(ids, [found] * (replicas + others), settings, others=more)
        return cls(Model(version, replicas, min_isr=min_isr, others=others), cluster, History(), [])

    def act(self, line: str) -> set[str]:
        """The same action on both; the invariants that are broken then."""
        act_on_model(self.model, line)
        self.cluster = step(self.cluster, read_event(named(line, len(self.lines))))
        self.lines.append(line)
        wrong = difference(self.model, self.cluster)
        if wrong:
            raise Disagreement(f"{wrong} after {self.lines}")
        return violated(self.model, self.history)


def named(line: str, number: int) -> str:
    """The script's line for an action: a record needs a name of its own, the model's fetches bring one at most."""
    if line.startswith("produce"):
        to, _, acks = line.partition(" acks=")
        return f"{to} r{number} acks={acks or 1}"
    return f"{line} batches=1" if line.startswith(("fetch", "ask", "reconcile")) else line


def act_on_model(model: Model, line: str) -> None:  # noqa: C901, PLR0912, PLR0915 - one branch an action
    """The model's action for a line of a script."""
    words = line.split()
    broker = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
    match words[0]:
        case "produce":
            model.leader_write(broker, acks=words[2].removeprefix("acks=") if words[2:] else "1")
        case "fetch":
            model.follower_replicate(broker)
        case "ask":
            model.fetch_arrives(broker)
        case "answer":
            model.answer_arrives(broker)
        case "reconcile":
            model.follower_reconcile(broker)
        case "reassign":
            model.controller_reassign(tuple(map(int, words[1].split(","))))
        case "elect" if "unclean" in words:
            model.controller_elect_unclean(broker)
        case "elect":
            model.controller_elect_leader(broker)
        case "lose":
            model.lose_pages(broker, int(words[3]))
        case "delete":
            model.leader_delete_records(broker, int(words[3]))
        case "expire":
            model.delete_segments(broker, int(words[3]))
        case "fence":
            model.controller_shrink_isr(broker)
        case "tell":
            epoch = int(words[2].removeprefix("epoch="))
            request = [found for found in model.requests if found.leader_epoch == epoch][-1]
            model.observe(broker, request)
        case "shrink" | "expand":
            change = model.leader_shrink_isr if words[0] == "shrink" else model.leader_expand_isr
            change(int(words[-1].removeprefix("by=")), broker, answered="proposed" not in words)
        case "commit":
            model.controller_answers(int(words[-1].removeprefix("by=")))
        case "throttle":
            model.over_quota.add(broker)
        case "unthrottle":
            model.over_quota.discard(broker)
        case "configure":
            model.configure_min_isr(int(words[2]))
        case "crash":
            model.crash(broker)
        case "restart":
            model.restart(broker)
        case "checkpoint":
            model.checkpoint(broker)
        case "wait":
            model.now += int(words[1].removesuffix("s")) * 1000
        case _:
            raise ValueError(line)


def difference(model: Model, cluster: Cluster) -> str:
    """Where the two differ: logs, ends, high watermarks, epoch caches, roles, ISRs."""
    quorum, held = model.quorum, cluster.in_force
    decided = (
        held.leader, held.epoch, held.isr, held.version, held.elr, held.last_known_leader, held.unclean,
        held.replicas, held.adding, held.removing,
    )  # fmt: skip
    if tuple(quorum) != decided:
        return f"quorum {quorum} and {held}"
    answers = [sent.answer for sent in cluster.produces]
    if answers != model.answers:
        return f"producers: simulator {answers}, model {model.answers}"
    for broker in cluster.brokers:
        replica = model.replicas[broker.id]
        ours = (
            [batch.epoch for batch in readable(broker)],
            broker.log.start_offset,
            broker.log.end_offset,
            broker.high_watermark,
            [(entry.epoch, entry.start_offset) for entry in broker.epochs],
            broker.leads,
            broker.leading.committed_isr if broker.leading else None,
            broker.leading.proposed_isr if broker.leading else None,
            broker.holds,
        )
        theirs = (
            [record.epoch for record in replica.log[replica.start :]],
            replica.start,
            replica.end,
            replica.hw,
            replica.starts,
            replica.alive and replica.presumes,
            replica.isr if replica.alive and replica.presumes else None,
            replica.proposed if replica.alive and replica.presumes else None,
            replica.exists,
        )
        if ours != theirs:
            return f"broker {broker.id}: simulator {ours}, model {theirs}"
    return same_records(model, cluster)


def readable(broker: Broker) -> tuple[Batch, ...]:
    """The batches from the log start on."""
    return tuple(batch for batch in broker.log.batches if batch.base_offset >= broker.log.start_offset)


def same_records(model: Model, cluster: Cluster) -> str:
    """Records that are one in the model are one in the simulator, and the other way round."""
    names: dict[int, str] = {}
    ids: dict[str, int] = {}
    for broker in cluster.brokers:
        for record, batch in zip(
            model.replicas[broker.id].log[broker.log.start_offset :], readable(broker), strict=True
        ):
            if (
                names.setdefault(record.id, batch.name) != batch.name
                or ids.setdefault(batch.name, record.id) != record.id
            ):
                return f"broker {broker.id}: {batch.name} is record {record.id}"
    return ""


Chooser = Callable[[Model, random.Random, int], str]


def of_data(_model: Model, rng: random.Random, broker: int) -> str:
    """Something that moves records."""
    return f"{rng.choice(('fetch', 'fetch', 'fetch', 'ask', 'answer', 'reconcile'))} {broker}"


def of_producers(_model: Model, _rng: random.Random, broker: int) -> str:
    """A write, to whoever it may reach."""
    return f"produce {broker}"


def of_news(model: Model, rng: random.Random, broker: int) -> str:
    """A broker hears of a decision that it did not know, the latest or an older one."""
    replica = model.replicas[broker]
    known = replica.state.leader_epoch if replica.state else replica.started_in - 1
    news = [request.leader_epoch for request in model.requests if request.leader_epoch > known]
    return f"tell {broker} epoch={rng.choice(news)}" if news else f"fetch {broker}"


def of_elections(model: Model, rng: random.Random, broker: int) -> str:
    """A clean election of anyone who may be elected."""
    able = [other for other in sorted(model.quorum.isr) if model.replicas[other].alive]
    return f"elect {rng.choice(able)} told=none" if able else f"fetch {broker}"


def of_isr(model: Model, rng: random.Random, broker: int) -> str:
    """A change of the ISR by anyone who believes to lead."""
    leaders = [other for other, replica in model.replicas.items() if replica.alive and replica.presumes]
    if not leaders:
        return f"fetch {broker}"
    leader = rng.choice(leaders)
    if rng.random() < 0.2:
        return f"commit by={leader}"
    proposed = " proposed" if model.version.controller_owns_isr and rng.random() < 0.3 else ""
    return f"{rng.choice(('shrink', 'expand'))} {broker}{proposed} by={leader}"


def of_time(_model: Model, rng: random.Random, _broker: int) -> str:
    """Time passes: less than any limit of lag, or more."""
    return f"wait {rng.choice((5, 12, 40))}s"


def of_processes(model: Model, rng: random.Random, broker: int) -> str:
    """A process dies or comes back, or its high watermark goes to disk."""
    dead = [other for other, replica in model.replicas.items() if not replica.alive]
    if dead:
        chosen = rng.choice(dead)
        return f"restart {chosen} untold" if rng.random() < 0.6 else f"fence {chosen} told=none"
    return f"{rng.choice(('crash', 'checkpoint', 'checkpoint'))} {broker}"


def of_durable_producers(_model: Model, _rng: random.Random, broker: int) -> str:
    """A write that asks for the whole ISR."""
    return f"produce {broker} acks=all"


def of_log_starts(model: Model, rng: random.Random, broker: int) -> str:
    """A client deletes records, or a broker's retention does."""
    replica = model.replicas[broker]
    verb = rng.choice(("delete", "expire"))
    return f"{verb} {broker} below {rng.randint(replica.start, max(replica.start, replica.hw) + 1)}"


def of_several_deaths(model: Model, rng: random.Random, broker: int) -> str:
    """Any process dies whatever else is dead, or a dead one comes back."""
    if model.replicas[broker].alive:
        return rng.choice((f"crash {broker}", f"checkpoint {broker}"))
    return rng.choice((f"restart {broker} untold", f"restart {broker} untold", f"fence {broker} told=none"))


def of_lost_pages(model: Model, rng: random.Random, broker: int) -> str:
    """The power goes: a dead broker's disk lacks the end of its log."""
    replica = model.replicas[broker]
    return f"fetch {broker}" if replica.alive else f"lose {broker} to {rng.randint(0, replica.end)}"


def of_unclean_elections(model: Model, rng: random.Random, _broker: int) -> str:
    """Whoever lives is elected."""
    alive = sorted(model.alive)
    return f"elect {rng.choice(alive)} unclean told=none" if alive else "wait 5s"


def of_settings(model: Model, rng: random.Random, _broker: int) -> str:
    """Somebody sets another min.insync.replicas."""
    return f"configure min.insync.replicas {rng.randint(1, min(3, len(model.replicas)))} told=none"


def of_quotas(model: Model, _rng: random.Random, broker: int) -> str:
    """A follower gets over its replication quota, or under it again."""
    return f"{'unthrottle' if broker in model.over_quota else 'throttle'} {broker}"


def of_moves(model: Model, rng: random.Random, _broker: int) -> str:
    """Other brokers are to hold the partition, or the same ones in another order; one that is in sync stays.

    While that goes on, who is new catches up and joins.
    """
    joins = sorted((model.quorum.adding - model.quorum.isr) & model.alive)
    if joins and model.quorum.leader in model.alive:
        return to_join(model, joins[0], model.quorum.leader)
    kept = rng.choice(sorted(model.quorum.isr & frozenset(model.quorum.replicas)) or list(model.quorum.replicas))
    others = [broker for broker in model.replicas if broker != kept]
    target = [kept, *rng.sample(others, rng.randint(0, min(2, len(others))))]
    rng.shuffle(target)
    return f"reassign {','.join(map(str, target))} told=none"


def to_join(model: Model, broker: int, leader: int) -> str:
    """The next thing that a broker and a leader have to do for the one to enter the other's ISR."""
    epoch = model.quorum.leader_epoch
    for one in (leader, broker):
        told = model.replicas[one].state
        if told is None or told.leader_epoch != epoch or broker not in told.replicas:
            return f"tell {one} epoch={epoch}"
    known = model.replicas[leader].followers.get(broker)
    if known is not None and known.end >= max(model.replicas[leader].hw, model.replicas[leader].epoch_start):
        return f"expand {broker} by={leader}"
    return f"{'ask' if model.replicas[broker].awaits is None else 'answer'} {broker}"


def of_work(model: Model, rng: random.Random, broker: int) -> str:
    """Everyday work: a record reaches the leader, a follower asks, or is answered; who missed the news hears them."""
    leader, epoch = model.quorum.leader, model.quorum.leader_epoch
    heard = {
        other for other, replica in model.replicas.items() if replica.state and replica.state.leader_epoch == epoch
    }
    ignorant = sorted(model.alive - heard)
    if leader is None or leader not in model.alive:
        return of_elections(model, rng, broker)
    if ignorant:
        return f"tell {ignorant[0]} epoch={epoch}"
    follower = rng.choice(sorted(model.alive - {leader}) or [broker])
    asks = "answer" if model.replicas[follower].awaits is not None else "ask"
    return rng.choice((f"produce {leader}", *(f"{asks} {follower}" for _ in range(3))))


CHOOSERS: Final[tuple[Chooser, ...]] = (
    of_data, of_producers, of_news, of_elections, of_isr, of_time, of_processes,
)  # fmt: skip
WEIGHTS: Final = (30, 14, 24, 10, 12, 3, 7)
EVERYDAY: Final[tuple[Chooser, ...]] = (of_durable_producers, of_log_starts)
"""What the oldest models leave out, and does no harm."""
PERILS: Final[tuple[Chooser, ...]] = (of_several_deaths, of_lost_pages, of_unclean_elections)
"""What may cost records."""
OFTEN: Final = 6


def choice(model: Model, rng: random.Random, *, processes: bool, more: Sequence[Chooser] = ()) -> str:
    """An action that may do something now."""
    weights = WEIGHTS if processes else (*WEIGHTS[:-1], 0)
    chooser = rng.choices((*CHOOSERS, *more), (*weights, *(OFTEN for _ in more)))[0]
    return chooser(model, rng, rng.choice(list(model.replicas)))


@dataclass(frozen=True, kw_only=True)
class World:
    """What may happen beside the protocol's own actions."""

    name: str
    min_isr: int = 1
    processes: bool = True
    more: tuple[Chooser, ...] = ()
    others: int = 0
    """Brokers that hold no replica at first."""

    def must_hold(self, version: Version, *, forgot_epochs: bool = False) -> frozenset[str]:
        """The invariants that a version keeps in this world, unless a broker forgot which epoch wrote what it holds."""
        if not version.fenced or forgot_epochs:
            return ALWAYS_HOLD
        lost, unclean = of_lost_pages in self.more, of_unclean_elections in self.more
        if not lost and not unclean:
            early = {"LogMatching"} if version.takes_diverging_high_watermark else set()
            return frozenset(INVARIANTS) - early
        kept = ALWAYS_HOLD | {"MonotonicEpoch", "ReplicationQuorumSuperset", "FirstNonMatchingOffsetFromTail"}
        return kept | CANDIDATES if not lost or version.keeps_eligible else kept


WORLDS: Final = (
    World(name="protocol", processes=False),
    World(name="processes"),
    World(name="everyday", min_isr=2, more=(*EVERYDAY, of_several_deaths)),
    World(name="lost pages", min_isr=2, more=(*EVERYDAY, of_several_deaths, of_lost_pages)),
    World(name="unclean", min_isr=2, more=(*EVERYDAY, of_several_deaths, of_unclean_elections)),
    World(name="perils", more=(*EVERYDAY, *PERILS)),
    World(name="throttled", more=(*EVERYDAY, of_quotas)),
    World(name="settings", min_isr=2, more=(*EVERYDAY, of_several_deaths, of_settings, of_durable_producers)),
    World(name="moves", more=(*EVERYDAY, of_moves), others=1),
)


@dataclass(frozen=True, kw_only=True)
class Walk:
    """What a search came to: steps made, and the first script for each invariant that broke."""

    steps: int
    found: dict[str, list[str]]
    """The shortest script for each invariant that broke."""
    wrong: dict[str, list[str]]
    """The same of those that had to hold."""


def walk(version: Version, world: World, *, seed: int, steps: int, replicas: int = 3, length: int = 60) -> Walk:
    """Random walks of a length, from the beginning each time, until the steps are made."""
    rng = random.Random(seed)  # noqa: S311 - the same walks every time
    found: dict[str, list[str]] = {}
    wrong: dict[str, list[str]] = {}
    made = 0
    while made < steps:
        pair = Pair.created(version, replicas, world.min_isr, world.others)
        for _ in range(min(length, steps - made)):
            made += 1
            broken = pair.act(choice(pair.model, rng, processes=world.processes, more=world.more))
            owed = world.must_hold(version, forgot_epochs=pair.model.forgot_epochs) if broken else frozenset()
            for name in broken:
                for kept in (found, wrong) if name in owed else (found,):
                    if name not in kept or len(pair.lines) < len(kept[name]):
                        kept[name] = list(pair.lines)
            if broken >= set(INVARIANTS) - ALWAYS_HOLD:
                break
    return Walk(steps=made, found=found, wrong=wrong)


def breaks(version: Version, replicas: int, lines: Sequence[str], name: str) -> bool:
    """Whether a script still breaks an invariant."""
    pair = Pair.created(version, replicas)
    try:
        return any(name in pair.act(line) for line in lines)
    except IndexError:  # it tells of an epoch that is not decided any more
        return False


def shrunk(version: Version, replicas: int, lines: Sequence[str], name: str) -> list[str]:
    """The script with every line left out that is not needed, until none can be."""
    kept, smaller = list(lines), True
    while smaller:
        smaller = False
        for size in (4, 2, 1):
            place = 0
            while place + size <= len(kept):
                shorter = next((s for s in without(kept, place, size) if breaks(version, replicas, s, name)), None)
                if shorter is None:
                    place += 1
                else:
                    kept, smaller = shorter, True
    return kept


def without(lines: list[str], place: int, size: int) -> tuple[list[str], list[str]]:
    """A script without some lines, and the same with its later epochs moved down by the elections among them."""
    gone, rest = lines[place : place + size], lines[place + size :]
    fewer = sum(line.startswith(("elect", "fence")) for line in gone)
    moved = [_EPOCH.sub(lambda found: f"epoch={max(0, int(found[1]) - fewer)}", line) for line in rest]
    return lines[:place] + rest, lines[:place] + moved
