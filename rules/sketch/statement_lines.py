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
    t9 saves 2 at 4                       broker 2 saves what producers wrote up to its log end, 4
    t9 begins 2                           broker 2 begins a new, empty log
    t9 deletes 2                          broker 2 gives its log up to be deleted
    t10 isr 1 now 1,2                     broker 1, the leader, tells the ISR that is in force; with `version 3` behind
                                          it, its partition epoch too
    t11 serve 4 from 1 hw=4               a consumer asks broker 1 for offset 4 and is told high watermark 4; behind it
                                          may stand the last stable offset, `lso=2`
    t11 tells 3 leader 2 epoch 1          broker 3 tells a client that broker 2 leads in epoch 1
    t12 fails 2                           broker 2's fetcher gives the partition up
    t12 exits 2                           broker 2 stops rather than cut its log to its leader's end
    t13 resets 2 to 7                     broker 2 drops its whole log and begins anew at offset 7
    t14 cuts 2 to 3 by hw                 broker 2's fetcher decides for its high watermark 3
    t15 answers 2 with 0:3                broker 2's fetcher decides by the answer: epoch 0 ends at 3
    t16 fell 2 from 8 to 7                broker 2's high watermark fell from 8 to 7
    t17 shrinks 1 from 1,2 to 1 at 4      broker 1, whose log ends at 4, proposes a smaller ISR

A named value stands as `hw 4` or as `hw=4`, as in scripts of `simulate`. Times order the lines of one broker; those of
two brokers are put in order by the epochs that they name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from parsers.provenance import Span
from rules.event_lines import Words, brokers, number, verb_and_rest, words_of
from rules.history.moments import Moment
from rules.history.statements import PartitionState, statement

EVENTS: Final = "events"
"""The file in which all of them stand, each at its time."""
_EVENT: Final = re.compile(r"^t(?P<time>\d+)\s+(?P<verb>\w+)\s+(?P<rest>.+)$")
_ROLE: Final = r"(?P<broker>\d+) epoch (?P<epoch>\d+) at (?P<at>\d+) hw (?P<hw>\d+)"
_SHAPES: Final[Mapping[str, str]] = {
    "leads": _ROLE + r"(?: isr (?P<isr>[\d,]+))?(?: version (?P<version>\d+))?",
    "follows": _ROLE + r"(?: from (?P<leader>-?\d+))?",
    "fetch": r"(?P<broker>\d+)@(?P<at>\d+) from (?P<leader>\d+) hw (?P<hw>\d+)(?: epoch (?P<epoch>\d+))?"
    r"(?: last (?P<last>-?\d+))?(?: start (?P<start>\d+))?(?: diverges (?P<of>\d+):(?P<ends>\d+))?"
    r"(?: error (?P<error>\d+))?(?P<implied> implied)?",
    "acks": r"(?P<leader>\d+) at (?P<at>-?\d+) acks (?P<acks>all|1)(?: error (?P<error>\d+))?",
    "leader": r"(?P<leader>-?\d+) epoch (?P<epoch>\d+) isr(?: (?P<isr>[\d,]+))?(?: of (?P<replicas>[\d,]+))?"
    r"(?: told (?P<told>\d+))?(?: elr (?P<elr>[\d,]+|none))?(?: known (?P<known>[\d,]+))?(?P<record> record)?",
    "truncates": r"(?P<broker>\d+) to (?P<at>\d+)",
    "keeps": r"(?P<broker>\d+) at (?P<at>\d+)",
    "asks": r"(?P<broker>\d+) of (?P<leader>\d+) epoch (?P<epoch>-?\d+) answer (?:(?P<of>\d+):)?(?P<at>-?\d+)"
    r"(?: error (?P<error>\d+))?",
    "loads": r"(?P<broker>\d+) at (?P<at>\d+)(?: start (?P<start>\d+))?",
    "saves": r"(?P<broker>\d+) at (?P<at>\d+)",
    "begins": r"(?P<broker>\d+)",
    "deletes": r"(?P<broker>\d+)",
    "isr": r"(?P<broker>\d+) now (?P<isr>[\d,]+)(?: version (?P<version>\d+))?",
    "serve": r"(?P<at>\d+) from (?P<leader>\d+) hw (?P<hw>\d+)(?: lso (?P<lso>\d+))?",
    "tells": r"(?P<witness>\d+) leader (?P<leader>-?\d+) epoch (?P<epoch>\d+)",
    "fails": r"(?P<broker>\d+)",
    "exits": r"(?P<broker>\d+)",
    "resets": r"(?P<broker>\d+) to (?P<at>\d+)",
    "cuts": r"(?P<broker>\d+) to (?P<at>\d+) by hw",
    "fell": r"(?P<broker>\d+) from (?P<at>\d+) to (?P<hw>\d+)",
    "shrinks": r"(?P<broker>\d+) from (?P<former>[\d,]+) to (?P<isr>[\d,]+) at (?P<at>\d+)",
    "answers": r"(?P<broker>\d+) with (?P<of>\d+):(?P<at>\d+)",
}


def is_event(line: str) -> bool:
    """Whether a line of a sketch is an event line."""
    return _EVENT.match(line) is not None


def read_event(line: str) -> Moment:
    """The statement that an event line draws."""
    event = _EVENT.match(line)
    shape = _SHAPES.get(event["verb"]) if event else None
    if event is None or shape is None:
        message = f"expected a time and one of {', '.join(sorted(_SHAPES))}, found {line!r}"
        raise ValueError(message)
    words = words_of(shape, verb_and_rest(f"{event['verb']} {event['rest']}")[1])
    if words is None:
        message = f"expected {_example(event['verb'])!r} or the like, found {line!r}"
        raise ValueError(message)
    time = int(event["time"])
    span = Span(source=EVENTS, start=time, end=time + 1)
    return _READERS[event["verb"]](words, time, span)


def _example(verb: str) -> str:
    """The first line of the module's own account that shows the verb."""
    shown = (re.split(r"\s{2,}", line.strip())[0] for line in (__doc__ or "").splitlines())
    return next((line for line in shown if line.split()[1:2] == [verb] and _EVENT.match(line)), verb)


def _own(kind: str) -> Callable[[Words, int, Span], Moment]:
    """Readers of what a broker says in its own log."""
    ends_at = kind in ("truncation-kept", "log-loaded", "isr-shrinking")

    def read(words: Words, time: int, span: Span) -> Moment:
        broker = number(words, "broker")
        return statement(
            kind,
            clock=f"broker {broker}",
            time=time,
            witness=broker,
            broker=broker,
            leader=number(words, "leader"),
            epoch=number(words, "epoch"),
            partition_epoch=number(words, "version"),
            offset=None if ends_at else number(words, "at"),
            end_offset=number(words, "at") if ends_at else None,
            high_watermark=number(words, "hw"),
            log_start_offset=number(words, "start"),
            answered_epoch=number(words, "of"),
            answer_offset=number(words, "at") if kind == "cut-by-epoch-answer" else None,
            isr=brokers(words, "isr"),
            previous_isr=brokers(words, "former"),
            span=span,
        )

    return read


def _served(kind: str) -> Callable[[Words, int, Span], Moment]:
    """Readers of what a leader's trace says of those that asked it."""

    def read(words: Words, time: int, span: Span) -> Moment:
        leader, asked = number(words, "leader"), kind == "epoch-asked"
        acks = words.get("acks")
        return statement(
            kind,
            clock=f"broker {leader}",
            time=time,
            witness=leader,
            broker=leader if kind == "produced" else number(words, "broker"),
            leader=leader,
            offset=None if asked else number(words, "at"),
            high_watermark=number(words, "hw"),
            last_stable_offset=number(words, "lso"),
            epoch=None if asked else number(words, "epoch"),
            asked_epoch=number(words, "epoch" if asked else "last"),
            answered_epoch=number(words, "of"),
            answer_offset=number(words, "at" if asked else "ends"),
            log_start_offset=number(words, "start"),
            acks=None if acks is None else (-1 if acks == "all" else 1),
            error=number(words, "error") or 0,
            implied=words.get("implied") is not None,
            span=span,
        )

    return read


def _leadership(words: Words, time: int, span: Span) -> Moment:
    receiver = number(words, "told")
    nobodys = "controller" if words.get("record") else "order"
    return PartitionState(
        kind="leadership",
        clock=nobodys if receiver is None else f"broker {receiver}",
        time=time,
        witness=receiver,
        leader=number(words, "leader"),
        epoch=number(words, "epoch"),
        partition_epoch=time,
        isr=brokers(words, "isr") or (),
        replicas=brokers(words, "replicas"),
        elr=brokers(words, "elr"),
        last_known_elr=brokers(words, "known"),
        span=span,
    )


def _told_to_a_client(words: Words, time: int, span: Span) -> Moment:
    witness = number(words, "witness")
    return PartitionState(
        kind="leader-told",
        clock=f"broker {witness}",
        time=time,
        witness=witness,
        leader=number(words, "leader"),
        epoch=number(words, "epoch"),
        error=0,
        span=span,
    )


_READERS: Final[Mapping[str, Callable[[Words, int, Span], Moment]]] = {
    "leads": _own("leader-starts"),
    "follows": _own("follower-starts"),
    "truncates": _own("truncated"),
    "keeps": _own("truncation-kept"),
    "loads": _own("log-loaded"),
    "saves": _own("producer-state-saved"),
    "begins": _own("log-created"),
    "deletes": _own("log-deleted"),
    "isr": _own("isr"),
    "fails": _own("marked-as-failed"),
    "exits": _own("cut-refused"),
    "resets": _own("log-reset"),
    "cuts": _own("cut-by-high-watermark"),
    "answers": _own("cut-by-epoch-answer"),
    "fell": _own("high-watermark-fell"),
    "shrinks": _own("isr-shrinking"),
    "serve": _served("consumed"),
    "fetch": _served("fetched"),
    "acks": _served("produced"),
    "asks": _served("epoch-asked"),
    "leader": _leadership,
    "tells": _told_to_a_client,
}
