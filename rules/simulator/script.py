"""Scripts: events written one a line, and the partition that they befall.

    produce 1 m1                broker 1 is sent one record m1, acks=all
    produce 1 a(11) acks=1      one batch of eleven records; acks is 0, 1 or all
    produce 1 a x20             twenty batches of one record, a1 to a20
    fetch 2                     broker 2 asks its leader and is answered; it reconciles first if it owes that
    fetch 2 batches=1           the same, answered with at most one batch
    ask 2                       only the question arrives ...
    answer 2                    ... and later its answer
    reconcile 2                 OffsetsForLeaderEpoch where the version has it; since 2.8 a Fetch
    throttle 3                  broker 3 is over its replication quota: while it is out of sync it is sent no records
    unthrottle 3                ... and is so no more
    end-of 1 epoch=3            what broker 1 answers to: where does epoch 3 end?
    elect                       the controller elects by assignment, life and ISR
    elect 2                     ... this broker of the ISR
    elect 2 unclean             ... this one, in sync or not
    elect 2 told=2,3            ... and only these hear of it for now; told=none: nobody
    elect preferred             the preferred replica, if it is in sync
    reassign 3,1                these brokers are to hold the partition: who is new joins by catching up; when all of
                                those are in sync, the others are removed; told=2,3 or told=none as with `elect`
    tell 1                      broker 1 hears the latest decision; tell 1 epoch=2: an old one
    fence 1                     the controller notices that broker 1 is gone
    crash 1                     broker 1 dies; its disk stays
    lose 1 to 3                 ... but lacks everything from offset 3 on
    restart 1                   broker 1 starts; with `untold` nobody tells it anything yet
    shutdown 1                  broker 1 hands over and stops in order
    checkpoint 1                broker 1 writes its high watermark and its log start to disk
    delete 1 below 3            a client has the records below offset 3 deleted: the log start moves, the files stay
    expire 1 below 3            broker 1's retention deletes its segments below offset 3
    shrink 3                    the leader takes broker 3 out of the ISR; `by=1` names a leader
    expand 3                    the leader takes it in, if it may enter; `proposed` leaves either in flight ...
    commit                      ... until the controller accepts it, or with `reject` does not
    configure min.insync.replicas=2     a setting of the topic from now on, or unclean.leader.election.enable;
                                told=2,3 as with `elect`, of what the controller decides because of it
    check                       the leader looks at the clock: who lags leaves the ISR
    wait 30s                    time passes; also in ms

As in every event line, a named value stands as `epoch=2` or as `epoch 2`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from rules.event_lines import IDS, NUMBER, Words, brokers, number, verb_and_rest, words_of
from rules.protocol.acknowledgement import Acks
from rules.protocol.offsets import BrokerId, Epoch, Offset
from rules.simulator import events
from rules.simulator.events import Event
from rules.simulator.generation import Generation
from rules.simulator.state import Cluster, TopicSettings
from rules.simulator.step import create

LONGEST_SCRIPT: Final = 1_000
MOST_BROKERS: Final = 16
MOST_RECORDS: Final = 100_000
_SHAPES: Final[Mapping[str, str]] = {
    "produce": rf"(?P<id>{NUMBER}) (?P<name>[A-Za-z][\w-]{{0,30}})(?:\((?P<count>\d{{1,6}})\))?"
    r"(?: x(?P<times>\d{1,4}))?(?: acks (?P<acks>0|1|all))?",
    "fetch": rf"(?P<id>{NUMBER})(?: batches (?P<limit>\d{{1,6}}))?",
    "ask": rf"(?P<id>{NUMBER})(?: batches (?P<limit>\d{{1,6}}))?",
    "answer": rf"(?P<id>{NUMBER})",
    "reconcile": rf"(?P<id>{NUMBER})(?: batches (?P<limit>\d{{1,6}}))?",
    "throttle": rf"(?P<id>{NUMBER})",
    "unthrottle": rf"(?P<id>{NUMBER})",
    "end-of": rf"(?P<id>{NUMBER}) epoch (?P<epoch>{NUMBER})",
    "elect": rf"(?:(?P<preferred>preferred)|(?P<id>{NUMBER})?)(?: ?(?P<unclean>unclean))?"
    rf"(?: ?told (?P<told>{IDS}|none))?",
    "reassign": rf"(?P<ids>{IDS})(?: told (?P<told>{IDS}|none))?",
    "tell": rf"(?P<id>{NUMBER})(?: epoch (?P<epoch>{NUMBER}))?",
    "fence": rf"(?P<id>{NUMBER})(?: told (?P<told>{IDS}|none))?",
    "crash": rf"(?P<id>{NUMBER})",
    "lose": rf"(?P<id>{NUMBER}) to (?P<offset>{NUMBER})",
    "restart": rf"(?P<id>{NUMBER})(?: (?P<untold>untold))?",
    "shutdown": rf"(?P<id>{NUMBER})",
    "checkpoint": rf"(?P<id>{NUMBER})",
    "delete": rf"(?P<id>{NUMBER}) below (?P<offset>{NUMBER})",
    "expire": rf"(?P<id>{NUMBER}) below (?P<offset>{NUMBER})",
    "shrink": rf"(?P<id>{NUMBER})(?: (?P<proposed>proposed))?(?: by (?P<by>{NUMBER}))?",
    "expand": rf"(?P<id>{NUMBER})(?: (?P<proposed>proposed))?(?: by (?P<by>{NUMBER}))?",
    "commit": rf"(?:by (?P<by>{NUMBER}))?",
    "reject": rf"(?:by (?P<by>{NUMBER}))?",
    "configure": r"(?:min\.insync\.replicas (?P<least>\d{1,3})|"
    rf"unclean\.leader\.election\.enable (?P<unclean>true|false))(?: told (?P<told>{IDS}|none))?",
    "check": "",
    "wait": r"(?P<time>\d{1,9})(?P<unit>ms|s)",
}
VERBS: Final = tuple(_SHAPES)
_ONE_BROKER: Final = ("broker", "follower", "chosen", "member", "leader")
_SEVERAL_BROKERS: Final = ("hearers", "target")
"""Fields of events that name brokers."""


class ScriptError(ValueError):
    """A script that cannot be run; says which line and what was expected."""


class Script(Struct, frozen=True, kw_only=True):
    """A partition and what befalls it."""

    title: str
    about: str = ""
    assignment: tuple[BrokerId, ...]
    others: tuple[BrokerId, ...] = ()
    """Brokers that hold no replica at first."""
    version: str
    inter_broker_protocol: str | None = None
    own_versions: tuple[tuple[BrokerId, str, str | None], ...] = ()
    """Brokers that run another version than the rest: id, binary, inter-broker protocol."""
    settings: TopicSettings
    first_epoch: Epoch = Epoch(0)
    lines: tuple[str, ...]
    events: tuple[Event, ...]


def read_events(lines: Iterable[str]) -> tuple[Event, ...]:
    """The events that lines describe."""
    given = tuple(lines)
    if len(given) > LONGEST_SCRIPT:
        raise ScriptError(f"expected at most {LONGEST_SCRIPT} events, found {len(given)}")
    read = tuple(read_event(line) for line in given)
    names = [event.name for event in read if isinstance(event, events.ProduceBatch)]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise ScriptError(f"expected every batch to have a name of its own, found {twice} twice")
    records = sum(event.count * event.times for event in read if isinstance(event, events.ProduceBatch))
    if records > MOST_RECORDS:
        raise ScriptError(f"expected at most {MOST_RECORDS} records, found {records}")
    return read


def require_known_brokers(script: Script) -> None:
    """Refuse an event of a broker that the script does not have: nothing could come of it."""
    known = (*script.assignment, *script.others)
    for line, event in zip(script.lines, script.events, strict=True):
        if not set(_named_brokers(event)) <= set(known):
            raise ScriptError(f"expected brokers {', '.join(map(str, sorted(known)))} only, found {line!r}")


def _named_brokers(event: Event) -> Iterator[int]:
    yield from (one for name in _ONE_BROKER if (one := getattr(event, name, None)) is not None)
    yield from (one for name in _SEVERAL_BROKERS for one in _several(getattr(event, name, None)))


def _several(brokers: object) -> tuple[int, ...]:
    return brokers if isinstance(brokers, tuple) else ()


def read_event(line: str) -> Event:
    """The event that a line describes."""
    verb, rest = verb_and_rest(line)
    shape = _SHAPES.get(verb)
    if shape is None:
        raise ScriptError(f"expected an event that begins with {', '.join(VERBS)}; found {line!r}")
    words = words_of(shape, rest)
    if words is None:
        raise ScriptError(f"expected {_example(verb)!r} or the like, found {line!r}")
    return _READERS[verb](words)


def _example(verb: str) -> str:
    """The first line of the module's own account that shows the verb."""
    shown = (line.strip() for line in (__doc__ or "").splitlines())
    return next((line.partition("  ")[0] for line in shown if line.partition(" ")[0] == verb), verb)


def _broker(words: Words, name: str = "id") -> BrokerId:
    return BrokerId(int(words[name] or 0))


def _offset(words: Words) -> Offset:
    return Offset(int(words["offset"] or 0))


def _produce(words: Words) -> Event:
    acks: Acks = words["acks"] or "all"  # type: ignore[assignment]
    count, times = int(words["count"] or 1), int(words["times"] or 1)
    if count == 0 or times == 0:
        raise ScriptError("expected a batch of at least one record")
    return events.ProduceBatch(broker=_broker(words), name=words["name"] or "", count=count, acks=acks, times=times)


def _elect(words: Words) -> Event:
    if words["preferred"]:
        return events.ElectPreferred()
    chosen = _broker(words) if words["id"] else None
    return events.Elect(chosen=chosen, unclean=words["unclean"] is not None, hearers=_ids(words, "told"))


def _ids(words: Words, name: str) -> tuple[BrokerId, ...] | None:
    named = brokers(words, name)
    return None if named is None else tuple(map(BrokerId, named))


def _tell(words: Words) -> Event:
    epoch = number(words, "epoch")
    return events.Tell(broker=_broker(words), epoch=None if epoch is None else Epoch(epoch))


def _named(words: Words) -> BrokerId | None:
    by = number(words, "by")
    return None if by is None else BrokerId(by)


def _configure(words: Words) -> Event:
    least, unclean = number(words, "least"), words["unclean"]
    if least == 0:
        raise ScriptError("expected min.insync.replicas to be at least 1")
    allowed = None if unclean is None else unclean == "true"
    return events.Configure(
        min_insync_replicas=least, unclean_leader_election=allowed, hearers=_ids(words, "told")
    )


def _isr_change(kind: type[events.ShrinkIsr | events.ExpandIsr]) -> Callable[[Words], Event]:
    def read(words: Words) -> Event:
        return kind(member=_broker(words), only_proposed=words["proposed"] is not None, leader=_named(words))

    return read


_READERS: Final[Mapping[str, Callable[[Words], Event]]] = {
    "produce": _produce,
    "fetch": lambda words: events.FetchBatches(follower=_broker(words), limit=number(words, "limit")),
    "ask": lambda words: events.Ask(follower=_broker(words), limit=number(words, "limit")),
    "answer": lambda words: events.Answer(follower=_broker(words)),
    "reconcile": lambda words: events.Reconcile(follower=_broker(words), limit=number(words, "limit")),
    "throttle": lambda words: events.Throttle(broker=_broker(words)),
    "unthrottle": lambda words: events.Throttle(broker=_broker(words), lifted=True),
    "end-of": lambda words: events.AskEnd(broker=_broker(words), epoch=Epoch(int(words["epoch"] or 0))),
    "elect": _elect,
    "reassign": lambda words: events.Reassign(target=_ids(words, "ids") or (), hearers=_ids(words, "told")),
    "tell": _tell,
    "fence": lambda words: events.Fence(broker=_broker(words), hearers=_ids(words, "told")),
    "crash": lambda words: events.Crash(broker=_broker(words)),
    "lose": lambda words: events.LosePages(broker=_broker(words), offset=_offset(words)),
    "restart": lambda words: events.Restart(broker=_broker(words), hears=words["untold"] is None),
    "shutdown": lambda words: events.ShutDown(broker=_broker(words)),
    "checkpoint": lambda words: events.Checkpoint(broker=_broker(words)),
    "delete": lambda words: events.DeleteRecords(broker=_broker(words), offset=_offset(words)),
    "expire": lambda words: events.DeleteSegments(broker=_broker(words), offset=_offset(words)),
    "shrink": _isr_change(events.ShrinkIsr),
    "expand": _isr_change(events.ExpandIsr),
    "commit": lambda words: events.CommitIsr(leader=_named(words)),
    "reject": lambda words: events.CommitIsr(leader=_named(words), accepted=False),
    "configure": _configure,
    "check": lambda _: events.CheckLag(),
    "wait": lambda words: events.Wait(milliseconds=int(words["time"] or 0) * (1000 if words["unit"] == "s" else 1)),
}


def cluster_of(script: Script, generations: Mapping[BrokerId, Generation]) -> Cluster:
    """The partition of a script as it is created, under the versions given."""
    brokers = [generations[broker] for broker in (*script.assignment, *script.others)]
    return create(script.assignment, brokers, script.settings, first_epoch=script.first_epoch, others=script.others)
