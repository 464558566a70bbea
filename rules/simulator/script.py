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
    shutdown 1                  broker 1 hands over and shuts down cleanly
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

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from msgspec import Struct, convert

from rules.event_lines import IDS, NUMBER, ids, verb_and_rest, words_of
from rules.protocol.offsets import BrokerId, Epoch
from rules.simulator import events
from rules.simulator.events import Event
from rules.simulator.generation import Generation
from rules.simulator.state import Cluster, TopicSettings
from rules.simulator.step import create

LONGEST_SCRIPT: Final = 1_000
MOST_BROKERS: Final = 16
MOST_RECORDS: Final = 100_000
_BROKER: Final = rf"(?P<broker>{NUMBER})"
_ASKING: Final = rf"(?P<follower>{NUMBER})(?: batches (?P<limit>\d{{1,6}}))?"
_BELOW: Final = rf"{_BROKER} below (?P<offset>{NUMBER})"
_MEMBER: Final = rf"(?P<member>{NUMBER})(?: (?P<only_proposed>proposed))?(?: by (?P<leader>{NUMBER}))?"
_BY: Final = rf"(?:by (?P<leader>{NUMBER}))?"
_HEARERS: Final = rf"told (?P<hearers>{IDS}|none)"


class _EventForm(NamedTuple):
    """Which event a verb tells, the words behind it by the event's fields, and what the verb says without any."""

    kind: type[Event]
    shape: str = ""
    said: Mapping[str, bool] = {}


_FORMS: Final[Mapping[str, _EventForm]] = {
    "produce": _EventForm(
        events.ProduceBatch,
        rf"{_BROKER} (?P<name>[A-Za-z][\w-]{{0,30}})(?:\((?P<count>\d{{1,6}})\))?"
        r"(?: x(?P<times>\d{1,4}))?(?: acks (?P<acks>0|1|all))?",
    ),
    "fetch": _EventForm(events.FetchBatches, _ASKING),
    "ask": _EventForm(events.Ask, _ASKING),
    "answer": _EventForm(events.Answer, rf"(?P<follower>{NUMBER})"),
    "reconcile": _EventForm(events.Reconcile, _ASKING),
    "throttle": _EventForm(events.Throttle, _BROKER),
    "unthrottle": _EventForm(events.Throttle, _BROKER, {"lifted": True}),
    "end-of": _EventForm(events.AskEnd, rf"{_BROKER} epoch (?P<epoch>{NUMBER})"),
    "elect": _EventForm(
        events.Elect,
        rf"(?:(?P<preferred>preferred)|(?P<chosen>{NUMBER})?)(?: ?(?P<unclean>unclean))?(?: ?{_HEARERS})?",
    ),
    "reassign": _EventForm(events.Reassign, rf"(?P<target>{IDS})(?: {_HEARERS})?"),
    "tell": _EventForm(events.Tell, rf"{_BROKER}(?: epoch (?P<epoch>{NUMBER}))?"),
    "fence": _EventForm(events.Fence, rf"{_BROKER}(?: {_HEARERS})?"),
    "crash": _EventForm(events.Crash, _BROKER),
    "lose": _EventForm(events.LosePages, rf"{_BROKER} to (?P<offset>{NUMBER})"),
    "restart": _EventForm(events.Restart, rf"{_BROKER}(?: (?P<hears>untold))?"),
    "shutdown": _EventForm(events.ShutDown, _BROKER),
    "checkpoint": _EventForm(events.Checkpoint, _BROKER),
    "delete": _EventForm(events.DeleteRecords, _BELOW),
    "expire": _EventForm(events.DeleteSegments, _BELOW),
    "shrink": _EventForm(events.ShrinkIsr, _MEMBER),
    "expand": _EventForm(events.ExpandIsr, _MEMBER),
    "commit": _EventForm(events.CommitIsr, _BY),
    "reject": _EventForm(events.CommitIsr, _BY, {"accepted": False}),
    "configure": _EventForm(
        events.Configure,
        r"(?:min\.insync\.replicas (?P<min_insync_replicas>\d{1,3})|"
        rf"unclean\.leader\.election\.enable (?P<unclean_leader_election>true|false))(?: {_HEARERS})?",
    ),
    "check": _EventForm(events.CheckLag),
    "wait": _EventForm(events.Wait, r"(?P<milliseconds>\d{1,9}(?:ms|s))"),
}
_READ_AS: Final[Mapping[str, Callable[[str], object]]] = {
    "name": str,
    "acks": str,
    "hearers": ids,
    "target": ids,
    "unclean": bool,
    "only_proposed": bool,
    "hears": lambda _: False,
    "unclean_leader_election": lambda text: text == "true",
    "milliseconds": lambda text: int(text.rstrip("ms")) * (1 if text.endswith("ms") else 1000),
}
"""How the words for a field become its value; those for all others are numbers."""
VERBS: Final = tuple(_FORMS)


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
        if not set(events.brokers_named(event)) <= set(known):
            raise ScriptError(f"expected brokers {', '.join(map(str, sorted(known)))} only, found {line!r}")


def read_event(line: str) -> Event:
    """The event that a line describes."""
    verb, rest = verb_and_rest(line)
    form = _FORMS.get(verb)
    if form is None:
        raise ScriptError(f"expected an event that begins with {', '.join(VERBS)}; found {line!r}")
    words = words_of(form.shape, rest)
    if words is None:
        raise ScriptError(f"expected {_example(verb)!r} or the like, found {line!r}")
    if words.get("preferred"):
        return events.ElectPreferred()
    fields = {name: _READ_AS.get(name, int)(text) for name, text in words.items() if text is not None}
    if 0 in (fields.get("count"), fields.get("times")):
        raise ScriptError("expected a batch of at least one record")
    if fields.get("min_insync_replicas") == 0:
        raise ScriptError("expected min.insync.replicas to be at least 1")
    return convert({**fields, **form.said}, form.kind)


def _example(verb: str) -> str:
    """The first line of the module's own account that shows the verb."""
    shown = (line.strip() for line in (__doc__ or "").splitlines())
    return next((line.partition("  ")[0] for line in shown if line.partition(" ")[0] == verb), verb)


def cluster_of(script: Script, generations: Mapping[BrokerId, Generation]) -> Cluster:
    """The partition of a script as it is created, under the versions given."""
    brokers = [generations[broker] for broker in (*script.assignment, *script.others)]
    return create(script.assignment, brokers, script.settings, first_epoch=script.first_epoch, others=script.others)
