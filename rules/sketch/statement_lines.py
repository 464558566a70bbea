"""Event lines of a sketch: what logs and traces say, one statement a line.

    t1 leads 1 epoch 0 at 0 hw 0          broker 1 opens epoch 0 as leader, at log end 0, with high watermark 0;
                                          with `isr 1,2` behind it the line names the ISR too, with `version 3`
                                          its partition epoch, as a leader under KRaft does
    t2 follows 2 epoch 0 at 0 hw 0        broker 2 follows in epoch 0, with log end 0 and high watermark 0
    t3 fetch 2@4 from 1 hw=4              broker 2 asks broker 1 for offset 4 and is told high watermark 4;
                                          behind it may stand what else the two say, in this order:
                                          `epoch 1 last 0 start 7 diverges 0:3 error 74 implied`
    t4 acks 1 at 3 acks=all               broker 1 answers a producer: base offset 3, acks=all (or acks=1); behind it
                                          may stand `error 19`
    t5 leader 2 epoch 1 isr 2,3           the controller makes broker 2 the leader of epoch 1; these are in sync;
                                          with `of 1,2,3` behind it the line names the assignment too, with
                                          `told 2` it is the order that broker 2 was given; `elr 3` names eligible
                                          leaders and `known 1` the last known ones, and `record` says that it
                                          stands in the metadata log; its partition epoch is its time
    t6 truncates 1 to 2                   broker 1 cuts its log to offset 2
    t7 keeps 1 at 2                       broker 1 finds nothing to cut, its log ends at 2
    t8 asks 2 of 1 epoch 0 answer 5       broker 2 asks broker 1 where epoch 0 ends: 5, or 0:5 with the epoch; behind
                                          it may stand `error 74`
    t9 loads 2 at 4                       broker 2 loads its log, which ends at 4; behind it may stand `start 2`
    t9 mends 2 to 4                       broker 2 loads its log, cannot read it from offset 4 on, and cuts it there
    t9 saves 2 at 4                       broker 2 saves what producers wrote up to its log end, 4
    t9 begins 2                           broker 2 begins a new, empty log
    t9 starts 2 at 4                      broker 2 moves the start of its log to 4, by retention or for a client; as a
                                          follower after its leader's start, `by leader`
    t9 deletes 2                          broker 2 gives its log up to be deleted
    t10 isr 1 now 1,2                     broker 1, the leader, tells the ISR that is in force; with `version 3` behind
                                          it, its partition epoch too
    t11 serve 4 from 1 hw=4               a consumer asks broker 1 for offset 4 and is told high watermark 4; behind it
                                          may stand the last stable offset, `lso=2`
    t11 tells 3 leader 2 epoch 1          broker 3 tells a client that broker 2 leads in epoch 1
    t12 fails 2                           broker 2's fetcher gives the partition up
    t12 misses 2 leader 1                 broker 2 takes no new role, since it does not see broker 1, who is to lead
    t12 exits 2                           broker 2 stops rather than cut its log to its leader's end
    t13 resets 2 to 7                     broker 2 drops its whole log and begins anew at offset 7
    t14 cuts 2 to 3 by hw                 broker 2's fetcher decides for its high watermark 3
    t15 answers 2 with 0:3                broker 2's fetcher decides by the answer: epoch 0 ends at 3; behind it may
                                          stand whose answer it is, `from 1`
    t16 fell 2 from 8 to 7                broker 2's high watermark fell from 8 to 7
    t17 shrinks 1 from 1,2 to 1 at 4      broker 1, whose log ends at 4, proposes a smaller ISR

A named value stands as `hw 4` or as `hw=4`, as in scripts of `simulate`. Times order the lines of one broker; those of
two brokers are put in order by the epochs that they name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple

from parsers.provenance import Span
from rules.event_lines import ids, verb_and_rest, words_of
from rules.history.moments import Moment
from rules.history.statements import statement

EVENTS: Final = "events"
"""The file in which all of them stand, each at its time."""
_EVENT: Final = re.compile(r"^t(?P<time>\d+)\s+(?P<verb>\w+)\s+(?P<rest>.+)$")
_ROLE: Final = r"(?P<broker>\d+) epoch (?P<epoch>\d+) at (?P<offset>\d+) hw (?P<high_watermark>\d+)"
_BROKER: Final = r"(?P<broker>\d+)"
_BROKER_TO: Final = r"(?P<broker>\d+) to (?P<offset>\d+)"
_VERSION: Final = r"(?: version (?P<partition_epoch>\d+))?"
_ERROR: Final = r"(?: error (?P<error>\d+))?"


class _StatementForm(NamedTuple):
    """What a verb draws: a kind of statement, and the words behind the verb by the statement's fields."""

    kind: str
    shape: str
    teller: Literal["broker", "leader", "witness"] = "broker"
    """Whose word it is: a broker's in its own log, a leader's in its trace of who asked it, or a witness's."""


_FORMS: Final[Mapping[str, _StatementForm]] = {
    "leads": _StatementForm("leader-starts", _ROLE + r"(?: isr (?P<isr>[\d,]+))?" + _VERSION),
    "follows": _StatementForm("follower-starts", _ROLE + r"(?: from (?P<leader>-?\d+))?"),
    "truncates": _StatementForm("truncated", _BROKER_TO),
    "keeps": _StatementForm("truncation-kept", r"(?P<broker>\d+) at (?P<end_offset>\d+)"),
    "loads": _StatementForm(
        "log-loaded", r"(?P<broker>\d+) at (?P<end_offset>\d+)(?: start (?P<log_start_offset>\d+))?"
    ),
    "mends": _StatementForm("damaged-end-cut", _BROKER_TO),
    "saves": _StatementForm("producer-state-saved", r"(?P<broker>\d+) at (?P<offset>\d+)"),
    "begins": _StatementForm("log-created", _BROKER),
    "starts": _StatementForm(
        "log-start-moved", r"(?P<broker>\d+) at (?P<log_start_offset>\d+)(?P<by_leader> by leader)?"
    ),
    "deletes": _StatementForm("log-deleted", _BROKER),
    "isr": _StatementForm("isr", r"(?P<broker>\d+) now (?P<isr>[\d,]+)" + _VERSION),
    "fails": _StatementForm("marked-as-failed", _BROKER),
    "misses": _StatementForm("leader-not-seen", _BROKER + r" leader (?P<leader>-?\d+)"),
    "exits": _StatementForm("cut-refused", _BROKER),
    "resets": _StatementForm("log-reset", _BROKER_TO),
    "cuts": _StatementForm("cut-by-high-watermark", _BROKER_TO + " by hw"),
    "answers": _StatementForm(
        "cut-by-epoch-answer",
        r"(?P<broker>\d+) with (?P<answered_epoch>\d+):(?P<answer_offset>(?P<offset>\d+))(?: from (?P<leader>\d+))?",
    ),
    "fell": _StatementForm("high-watermark-fell", r"(?P<broker>\d+) from (?P<offset>\d+) to (?P<high_watermark>\d+)"),
    "shrinks": _StatementForm(
        "isr-shrinking",
        r"(?P<broker>\d+) from (?P<previous_isr>[\d,]+) to (?P<isr>[\d,]+) at (?P<end_offset>\d+)",
    ),
    "serve": _StatementForm(
        "consumed",
        r"(?P<offset>\d+) from (?P<leader>\d+) hw (?P<high_watermark>\d+)(?: lso (?P<last_stable_offset>\d+))?",
        "leader",
    ),
    "fetch": _StatementForm(
        "fetched",
        r"(?P<broker>\d+)@(?P<offset>\d+) from (?P<leader>\d+) hw (?P<high_watermark>\d+)(?: epoch (?P<epoch>\d+))?"
        r"(?: last (?P<asked_epoch>-?\d+))?(?: start (?P<log_start_offset>\d+))?"
        r"(?: diverges (?P<answered_epoch>\d+):(?P<answer_offset>\d+))?" + _ERROR + r"(?P<implied> implied)?",
        "leader",
    ),
    "acks": _StatementForm(
        "produced", r"(?P<leader>(?P<broker>\d+)) at (?P<offset>-?\d+) acks (?P<acks>all|1)" + _ERROR, "leader"
    ),
    "asks": _StatementForm(
        "epoch-asked",
        r"(?P<broker>\d+) of (?P<leader>\d+) epoch (?P<asked_epoch>-?\d+) answer (?:(?P<answered_epoch>\d+):)?"
        r"(?P<answer_offset>-?\d+)" + _ERROR,
        "leader",
    ),
    "leader": _StatementForm(
        "leadership",
        r"(?P<leader>-?\d+) epoch (?P<epoch>\d+) isr(?: (?P<isr>[\d,]+))?(?: of (?P<replicas>[\d,]+))?"
        r"(?: told (?P<witness>\d+))?(?: elr (?P<elr>[\d,]+|none))?(?: known (?P<last_known_elr>[\d,]+))?"
        r"(?P<record> record)?",
        "witness",
    ),
    "tells": _StatementForm(
        "leader-told", r"(?P<witness>\d+) leader (?P<leader>-?\d+) epoch (?P<epoch>\d+)", "witness"
    ),
}
_READ_AS: Final[Mapping[str, Callable[[str], object]]] = {
    **dict.fromkeys(("isr", "previous_isr", "replicas", "elr", "last_known_elr"), ids),
    **dict.fromkeys(("implied", "record", "by_leader"), bool),
    "acks": lambda text: -1 if text == "all" else 1,
}
"""How the words for a field become its value; those for all others are numbers."""


def is_event(line: str) -> bool:
    """Whether a line of a sketch is an event line."""
    return _EVENT.match(line) is not None


def read_event(line: str) -> Moment:
    """The statement that an event line draws."""
    event = _EVENT.match(line)
    form = _FORMS.get(event["verb"]) if event else None
    if event is None or form is None:
        message = f"expected a time and one of {', '.join(sorted(_FORMS))}, found {line!r}"
        raise ValueError(message)
    words = words_of(form.shape, verb_and_rest(f"{event['verb']} {event['rest']}")[1])
    if words is None:
        message = f"expected {_example(event['verb'])!r} or the like, found {line!r}"
        raise ValueError(message)
    fields = {name: _READ_AS.get(name, int)(text) for name, text in words.items() if text is not None}
    time = int(event["time"])
    fields |= {"time": time, "span": Span(source=EVENTS, start=time, end=time + 1)}
    return _leadership(fields) if form.kind == "leadership" else _told_by(form, fields)


def _example(verb: str) -> str:
    """The first line of the module's own account that shows the verb."""
    shown = (re.split(r"\s{2,}", line.strip())[0] for line in (__doc__ or "").splitlines())
    return next((line for line in shown if line.split()[1:2] == [verb] and _EVENT.match(line)), verb)


def _told_by(form: _StatementForm, fields: Mapping[str, object]) -> Moment:
    """What one broker says; a request that it tells of had no error unless the line names one."""
    witness, answered = fields[form.teller], {} if form.teller == "broker" else {"error": 0}
    return statement(form.kind, **{**answered, **fields, "clock": f"broker {witness}", "witness": witness})


def _leadership(fields: Mapping[str, object]) -> Moment:
    """What the controller decided: its record, or an order, of which the broker tells that was given it."""
    said, receiver = {"isr": (), **fields}, fields.get("witness")
    nobodys = "controller" if said.pop("record", False) else "order"
    clock = nobodys if receiver is None else f"broker {receiver}"
    return statement("leadership", **said, clock=clock, partition_epoch=fields["time"])
