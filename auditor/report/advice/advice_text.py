"""Advice as text for a person at three in the morning; nothing in it is run by anybody but the reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from auditor.report.advice.advice_files import commands, going
from auditor.report.bill import headed
from auditor.report.model import (
    AbsentLogs,
    Advice,
    Candidate,
    Doomed,
    Going,
    Loss,
    OwedCut,
    PlacedAdvice,
    Stretch,
    Survivor,
    UndecidedLine,
    gate_words,
    starts,
    told_gates,
)
from auditor.report.named_places import named_places
from auditor.report.plain import plain
from auditor.report.sheet import Sheet
from auditor.report.summary import Action, LossTotals
from auditor.report.summary.action import AIMS_SHOWN, RANGES_SHOWN
from auditor.report.summary.perhaps import unadvised
from auditor.report.unbilled import sentence as in_words
from auditor.report.worths import at_least_and_most
from rules.finding import capital, offsets_told, place_of, question_told
from rules.words import counted, it_or_them, numbered, of_epoch

SHOWN: Final = 200
PARTITIONS_NAMED: Final = 3
WORDS: Final[Mapping[Going, str]] = {"no-go": "NO-GO", "unknown": "UNKNOWN", "go": "GO"}
PATHS: Final = 8
PAGE: Final = Sheet(columns=100, colour=False)
_THEN: Final = {
    "diverges": "it keeps other records at the same offsets",
    "hole": "its log gets a hole",
    "stuck": "it cannot append",
}
NOTHING: Final = "Nothing to decide: no loss, no cut that is owed, and no grave finding is known."
NOTHING_MORE: Final = "Nothing else is to be decided: no partition needs an election, a copy or care at a restart."
_RANKS: Final = ("First", "Second", "Third", "Fourth", "Fifth")
NOT_IN_ORDER: Final = "Its copy has no clean-shutdown marker. A start from these files reads the log's end again."
_FADING: Final = ("deleted file", "deleted dir")


def text(
    advice: Sequence[PlacedAdvice],
    *,
    verdict: str = "findings",
    interrupted: bool = False,
    absent: Sequence[AbsentLogs] = (),
    untold: Sequence[UndecidedLine] = (),
    perhaps: Sequence[str] = (),
    lost: LossTotals | None = None,
    steps: Sequence[Action] = (),
) -> str:
    """The advice on every partition, one after the other."""
    unread = "".join(f"{line}\n" for line in (*_open(verdict, perhaps), *_unread(absent, untold, perhaps)))
    if interrupted:
        head = "Interrupted. This is the advice on what had been judged by then. Other partitions may need it too.\n\n"
        rest = text(advice, verdict=verdict, absent=absent, untold=untold, perhaps=perhaps, lost=lost, steps=steps)
        return head + (rest if advice else unread)
    to_do = [*_to_do(steps)]
    if not advice:
        said = [] if untold or perhaps else [NOTHING_MORE if steps else NOTHING]
        return "".join(f"{line}\n" for line in (*to_do, *said)) + unread
    each = (line for placed in advice[:SHOWN] for line in (*_partition(placed), ""))
    lines = [*_in_all(lost), *to_do, *map(plain, restarts(advice)), *each]
    if len(advice) > SHOWN:
        lines.append(f"… and {counted(len(advice) - SHOWN, 'more partition')}; name one by --topic and --partition")
    lines.append("This advice knows only the brokers in this dump. Add the disks of all others that may hold more.")
    return "".join(f"{line}\n" for line in lines) + unread


def _in_all(lost: LossTotals | None) -> Iterator[str]:
    """What was lost by all that the audit read, where that is more than one range."""
    if lost is not None and len(lost.ranges) > 1:
        where = counted(lost.partitions, "partition")
        yield from _said(f"LOST in all: {lost.amount}, {lost.worth}, in {where}. {lost.copies}", 0)
        yield ""


def _to_do(steps: Sequence[Action]) -> Iterator[str]:
    """What is to be done beside restarts and elections, as the first screen of the audit tells it."""
    if steps:
        yield "Do now"
        for step in steps:
            yield from _said(step.line(AIMS_SHOWN, RANGES_SHOWN).replace("tidemark advise", "What follows"), 2)
        yield ""


def _open(verdict: str, perhaps: Sequence[str]) -> Iterator[str]:
    """That the audit, of which this is a part, could not tell whether more was lost."""
    for question in perhaps:
        yield from _said(f"PERHAPS LOST in {question}", 0)
    if verdict == "unknown":
        yield from _said("The audit left its verdict open. Whether more was lost is not known.", 0)


def _unread(absent: Sequence[AbsentLogs], untold: Sequence[UndecidedLine], perhaps: Sequence[str]) -> Iterator[str]:
    """What nothing could be said of, and what was not read."""
    for words in (*unadvised(untold, perhaps), *(f"{logs.words}." for logs in absent)):
        yield from _said(words, 0)


def _partition(placed: PlacedAdvice) -> Iterator[str]:
    advice, place = placed.advice, f"{placed.topic}-{placed.partition}"
    yield plain(place)
    yield from _said(f"Assigned to {_brokers(advice.assignment)}.{_ranked(advice)}{_led(advice)}", 2)
    if advice.absent:
        yield from _said(f"Not in this dump: {_brokers(advice.absent)}.", 2)
    for copy in advice.unread:
        whose = "of a broker that nothing names" if copy.broker is None else f"of broker {copy.broker}"
        state = "judged" if copy.misfiled else "read"
        yield from _said(f"Not {state}: {', '.join(copy.paths[:PATHS])} {whose} ({copy.because}).", 2)
    for loss in sorted(placed.losses, key=lambda loss: loss.restored):
        yield from _said(headed(loss, place), 2)
    yield from (line for each in advice.unbilled for line in _said(f"LOST: {in_words(each, place)}", 2))
    for each in advice.nowhere:
        offsets = offsets_told(each.start_offset, each.end_offset)
        says = question_told(f"PERHAPS LOST: no copy here holds {place} {offsets}. {capital(each.doubt)}", each.missing)
        yield from _said(says, 2) if each.doubt else ()
    lost = advice.unbilled or any(loss.matters and not loss.restored for loss in placed.losses)
    yield from _candidates(advice, more=bool(lost))
    yield from _before(placed)
    yield "  Go or no-go"
    for gate in sorted(told_gates(advice), key=lambda gate: tuple(WORDS).index(gate.going)):
        yield from _said(f"{WORDS[gate.going]:<9}{capital(gate_words(gate))}", 4, 9)
        if gate.first:
            yield from _said(f"First, {gate.first}.", 13, 2)
    if settled(placed):
        why = f"Broker {advice.leading}, the last leader, has all that any copy here has."
        yield from _said(f"No election and no copy is needed. {why}", 2)
    else:
        yield from (plain(f"  {line}") for line in commands(placed))


def _ranked(advice: Advice) -> str:
    """Who would lead by the disks, where any is here."""
    if not any(c.end_known or c.last_epoch >= 0 for c in advice.candidates if c.broker in advice.leaders):
        return ""
    if len(advice.leaders) == 1:
        return f" By last epoch and log end offset, broker {advice.leaders[0]} comes first."
    whole = all(c.end_known for c in advice.candidates if c.broker in advice.leaders)
    alike = ["epoch of their last records"] if any(c.last_epoch >= 0 for c in advice.candidates) else []
    alike += ["log end offset"] if whole else []
    who = capital(numbered("broker", sorted(advice.leaders), "has"))
    return f" {who} the same {' and the same '.join(alike)}." if alike else ""


def _led(advice: Advice) -> str:
    """Who led last; of the metadata log that is its voters' own matter."""
    if advice.leading is not None:
        return f" Broker {advice.leading} led last."
    return " Who led last is not known." if advice.may_be_elected else ""


def _said(words: str, indent: int, hanging: int = 2) -> Iterator[str]:
    yield from PAGE.wrapped(words, indent, "", hanging)


def settled(placed: PlacedAdvice) -> bool:
    """Whether a person has neither to elect nor to copy anything."""
    return placed.advice.settled and not any(fading(loss) for loss in placed.losses)


def _candidates(advice: Advice, *, more: bool) -> Iterator[str]:
    if advice.candidates and not advice.may_be_elected:
        yield "  Its voters elect their leader among themselves. Nobody is to be elected by hand."
        return
    if advice.candidates:
        yield "  Candidates for leader"
    for number, candidate in enumerate(advice.candidates, start=1):
        yield from _candidate(number, candidate, _free(candidate, advice, more=more))


def _free(candidate: Candidate, advice: Advice, *, more: bool) -> str:
    """That nothing is lost by its election, or nothing more; nothing of one that is barred, or beyond what was seen."""
    short = candidate.had_reached and any(c.log_end_offset > candidate.log_end_offset for c in advice.candidates)
    if candidate.barred or candidate.doubts or short or any(cut.in_doubt or cut.untold for cut in candidate.cuts):
        return ""
    seen = advice.nowhere or going(advice, candidate.broker) != "go"
    what = "no more committed or acknowledged records" if more else "no committed or acknowledged record"
    return f"Electing it loses {what}{' that any copy here holds' * bool(seen)}."


def _candidate(number: int, candidate: Candidate, free: str) -> Iterator[str]:
    reached = [] if candidate.had_reached is None else [f"its log had reached {candidate.had_reached}"]
    health = "; ".join((*reached, *candidate.damage, *candidate.doubts)) or "no damage of its files is known"
    stop = "It shut down cleanly." if candidate.shut_down_cleanly else NOT_IN_ORDER
    rank = _RANKS[number - 1] if number <= len(_RANKS) else "Next"
    yield from _said(f"{rank} choice: broker {candidate.broker}. {_ends(candidate)} {capital(health)}. {stop}", 4, 3)
    for stretch, who in zip(candidate.lacks, candidate.lacked_from, strict=True):
        them = it_or_them(stretch.end_offset - stretch.start_offset)
        yield from _said(f"Electing it now loses {_stretch(stretch)}. Copy {them} from {who} first.", 7)
    if free:
        yield from _said(free, 7, 0)
    for cut in candidate.cuts:
        yield from _cut(cut)


def _ends(candidate: Candidate) -> str:
    """Of which epoch its last records are, and how far its log goes."""
    if not candidate.end_known and candidate.last_epoch < 0:
        return "Its epochs and its log end offset are not known."
    without = candidate.last_epoch < 0
    last = "Its records carry no epochs" if without else f"Its last records are of epoch {candidate.last_epoch}"
    return f"{last}, and its log end offset is {candidate.log_end_offset}{'' if candidate.end_known else ' or more'}."


def _cut(cut: OwedCut) -> Iterator[str]:
    rule = f"{cut.rule}{'' if cut.in_force else ', if its versions are new'}"
    if cut.cut_to < cut.log_end_offset and not (cut.in_doubt or cut.untold):
        ends = f"from offset {cut.log_end_offset} to {cut.cut_to}"
        yield from _said(f"Broker {cut.follower} truncates {ends} (by {rule}).", 7)
    if cut.then != "agrees":
        then = _THEN.get(cut.then, cut.then)
        yield from _said(f"Broker {cut.follower} stays different: {then} (by {rule}: {cut.because}).", 7)


def _stretch(stretch: Stretch) -> str:
    what = f"{offsets_told(stretch.start_offset, stretch.end_offset)}{of_epoch(stretch.epoch)}"
    if stretch.committed_end >= stretch.end_offset:
        return f"{what}, all committed"
    if stretch.committed_end > stretch.start_offset:
        return f"{what} ({offsets_told(stretch.start_offset, stretch.committed_end)} committed)"
    counted = ", which its broker counts as committed" if stretch.counted_end > stretch.start_offset else ""
    if stretch.acknowledged_end > stretch.start_offset:
        extent = at_least_and_most(stretch.acknowledged, stretch.start_offset, stretch.acknowledged_end)
        return f"{what} (acknowledged {extent}){counted}"
    return f"{what}, not known to be acknowledged{counted}"


def _before(placed: PlacedAdvice) -> Iterator[str]:
    copied = [copy for loss in placed.losses for copy in fading(loss)]
    if not placed.advice.doomed and not copied:
        return
    yield "  Before you restart anything"
    for doomed in placed.advice.doomed:
        yield from _doomed(doomed)
    for copy in copied:
        what = f"{offsets_told(copy.start_offset, copy.end_offset)}{of_epoch(copy.epoch)}"
        yield from _said(f"broker {copy.broker}, {copy.kind}: {what}; copy now:", 4)
        yield plain(f"      {copy.path}")
    if copied:
        yield from _said(
            "A broker removes .deleted files as soon as it loads the log, and -delete folders after"
            " file.delete.delay.ms (60 seconds by default); a running one removes both after that time.",
            4,
            0,
        )


def _doomed(doomed: Doomed) -> Iterator[str]:
    others = ", ".join(dict.fromkeys(f"broker {copy.broker}{copy.place}" for copy in doomed.others))
    last = f"also on {others}" if others else "the last copy in this dump"
    goes = f"A restart removes it: {doomed.because}."
    yield from _said(f"broker {doomed.broker}: {_stretch(doomed.stretch)}; {last}. {goes}", 4)
    for copy in doomed.spans:
        for span in copy.spans:
            yield plain(f"      copy now: {span.source} bytes [{span.start}, {span.end})")


def _brokers(brokers: Sequence[int]) -> str:
    return numbered("broker", brokers) if brokers else "nobody known"


def fading(loss: Loss) -> list[Survivor]:
    """Copies of lost records that will be gone before long."""
    return [copy for copy in loss.survivors if copy.kind in _FADING]


def restarts(advice: Sequence[PlacedAdvice]) -> Iterator[str]:
    """What restarts come to where several partitions are advised on: the gravest first, each with where it is so."""
    if len(advice) > 1:
        yield "Restarts, with all partitions of a broker"
        for cluster in sorted({placed.cluster_id for placed in advice}, key=str):
            yield from _of_cluster([placed for placed in advice if placed.cluster_id == cluster])
        yield ""


def _of_cluster(advice: Sequence[PlacedAdvice]) -> Iterator[str]:
    known = starts([placed.advice for placed in advice])
    for action, gravest in sorted(known.items(), key=lambda each: (tuple(WORDS).index(each[1]), each[0])):
        own = [
            place_of(placed)
            for placed in advice
            if any(gate.action == action and gate.going == gravest for gate in placed.advice.gates)
        ]
        where = "" if gravest == "go" else f": {named_places(own, PARTITIONS_NAMED)}"
        yield f"  {WORDS[gravest]:<9}{action}{where}"
