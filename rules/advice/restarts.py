"""Whether a broker may be restarted: what its start cuts, removes or makes lead."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rules.advice.copied_earlier import perhaps_last
from rules.advice.damage import UNTOLD
from rules.advice.lacking import copy_of, costs, perhaps_words
from rules.advice.put_aside import removes_lost, removes_unbilled, removes_unseen
from rules.advice.short_start import short_start
from rules.advice.unseen_leaders import perhaps_cut
from rules.advice.weighed import Candidate, Doomed, Gate, OwedCut, named
from rules.evidence import PartitionEvidence, Replica
from rules.finding import capital
from rules.loss.incurred import Loss
from rules.loss.written_up_to import reach_untold
from rules.words import any_of, numbered

CUTS_NOTHING: Final = "cuts nothing from its log, as the disks are."


class Restarts(Struct, frozen=True):
    """What is known of the brokers of a partition before one of them is restarted."""

    evidence: PartitionEvidence
    doomed: Sequence[Doomed]
    cuts: Mapping[str, OwedCut]
    """The furthest cut that each replica makes, by its path."""
    losses: Sequence[Loss]
    unjudged: str
    """Who is assigned and was not judged; empty where everybody was."""
    electable: Collection[str]
    """The replicas of which an election costs nothing more, by their paths."""

    def of(self, replica: Replica, reached: int | None) -> Gate:
        """The gate before a restart, where its log had ended once as far as told."""
        action = f"restart broker {replica.broker}"
        doomed = [each for each in self.doomed if each.broker == replica.broker]
        last = [d for d in doomed if d.stretch.told_of and not d.others]
        if replica.unopened:
            names = ", ".join(dict.fromkeys(unread.span.source for unread in replica.unopened))
            because = f"cannot be judged. Its log is not here whole: {names} is missing."
            return Gate(action=action, going="unknown", because=because)
        if last:
            deepest = min(last, key=lambda d: d.stretch.start_offset)
            because = f"destroys the last copy of {named(d.stretch for d in last)}. {capital(deepest.because)}."
            return Gate(action=action, going="no-go", because=because, first=copy_of(replica.broker, [replica.path]))
        together = [d for d in doomed if d.stretch.told_of and d.all_cut]
        if together:
            because = f"cuts {named(d.stretch for d in together)}. So does whoever else has them, by following too."
            return Gate(action=action, going="no-go", because=because, first=copy_of(replica.broker, [replica.path]))
        if removing := removes_lost(replica.broker, self.losses):
            return removing
        may_be_elected = replica.path in self.electable
        short = short_start(replica, reached, self.evidence, may_be_elected=may_be_elected)
        return short if short is not None and short.going != "go" else self._cutting(replica, doomed, short)

    def _cutting(self, replica: Replica, doomed: Sequence[Doomed], short: Gate | None) -> Gate:
        """The gate where nobody was surely told of what the start cuts, or it stands elsewhere too."""
        action, owed = f"restart broker {replica.broker}", self.cuts.get(replica.path)
        if owed is not None and owed.in_doubt:
            first = copy_of(replica.broker, [replica.path])
            return Gate(action=action, going="unknown", because=perhaps_last(owed), first=first)
        if owed is not None and owed.untold:
            ends = f"How far it truncates its log when it follows broker {owed.leader} is not known: {owed.untold}."
            first = copy_of(replica.broker, [replica.path])
            return Gate(action=action, going="unknown", because=f"cannot be judged. {ends}", first=first)
        perhaps = [d for d in doomed if d.stretch.perhaps_told_of and (d.all_cut or not d.others)]
        if perhaps:
            cut_too = any(d.others for d in perhaps)
            kept = "Whoever else has that cuts it too" if cut_too else "No other copy is in this dump"
            because = f"cannot be judged. It cuts {perhaps_words([d.stretch for d in perhaps])}. {kept}."
            return Gate(action=action, going="unknown", because=because, first=copy_of(replica.broker, [replica.path]))
        unseen = removes_unbilled(replica.broker, self.evidence) or removes_unseen(replica, self.losses, self.evidence)
        if unseen := unseen or perhaps_cut(replica, self.unjudged, self.evidence):
            return unseen
        if reach_untold(self.evidence, replica):
            because = f"cannot be judged. Its log may have lost its end in a crash: {UNTOLD}."
            return Gate(action=action, going="unknown", because=because)
        cut = _cut_told(owed, doomed)
        return Gate(action=action, going="go", because=cut if short is None else f"{cut} {short.because}")


def _cut_told(owed: OwedCut | None, doomed: Sequence[Doomed]) -> str:
    """What a start cuts that costs nothing: also what comes back at once is cut."""
    if owed is None:
        return CUTS_NOTHING
    new = "" if owed.in_force else ", if its versions are new"
    ends = f"from offset {owed.log_end_offset} to {owed.cut_to}"
    cut = f"truncates its log {ends} when it follows broker {owed.leader}{new}."
    if doomed:
        return f"{cut} Records that do not come back are held elsewhere, or were never acknowledged."
    return f"{cut} It fetches the same records again."


def leads_by_its_start(candidate: Candidate, first: str) -> Gate:
    """The start of a broker that leads by it costs as its election."""
    elected = "It is in the last ISR, and the partition has no leader. So it becomes leader as soon as it runs."
    because = f"{costs(candidate.lacks)} {elected}"
    return Gate(action=f"restart broker {candidate.broker}", going="no-go", because=because, first=first)


def another_leads(sound: Sequence[int], electable: Collection[int]) -> str:
    """How a sound log comes to lead while nobody does: who is in the last ISR leads by its start."""
    own = [broker for broker in sound if broker in electable]
    if own:
        return f"start {any_of('broker', own)}, which then leads"
    unclean = "make it leader by an unclean election, which loses nothing as far as known"
    return f"start {any_of('broker', sound)} and {unclean}"


def starts_wrong(gate: Gate, wrong: str, first: str, sound: Sequence[int]) -> Gate:
    """The start of a broker that leads by it with a wrong log, where another one could lead, costs as an election."""
    leads = "It is in the last ISR, and the partition has no leader."
    sound_ones = f"No such fault is known of {numbered('broker', sound)}."
    because = f"makes it leader at once, although {wrong}. {leads} {sound_ones}"
    return replace(gate, going="no-go", because=because, first=first, after_lead_of=tuple(sound))


def perhaps_leads_by_its_start(gate: Gate, free: Sequence[int]) -> Gate:
    """The start of a broker that is no free choice for leader, where nothing tells who leads at that time."""
    leads = "If no other broker leads then, the restarted one may become leader. See the line on its election."
    first = f"make sure that {any_of('broker', free)} leads" if free else ""
    return replace(gate, going="unknown", because=f"cannot be judged. {leads}", first=first)


def unless_one_leads(gate: Gate, broker: int, may_lead: Sequence[Candidate], *, itself: bool) -> Gate:
    """The start of a broker that has what others lack: whoever of those leads meanwhile has it cut.

    While nobody leads, whoever is not in the ISR may be elected all the same, uncleanly: itself too, at a cost.
    """
    cutting = {c.broker for c in may_lead if c.broker != broker and any(_takes(cut, broker) for cut in c.cuts)}
    others = [f"{any_of('broker', sorted(cutting))} leads then"] if cutting else []
    unless = " or ".join([*others, *(["it is elected itself"] if itself else [])])
    if gate.going != "go" or not unless:
        return gate
    return replace(gate, because=f"{gate.because} This holds unless {unless}.")


def _takes(cut: OwedCut, broker: int) -> bool:
    gone = (stretch.told_of or stretch.perhaps_told_of for stretch in cut.gone)
    return cut.follower == broker and not cut.in_doubt and any(gone)


def acts_on_its_metadata(gate: Gate, broker: int, apart: Sequence[int]) -> Gate:
    """The start of a node whose metadata others contradict, and no protocol cuts: it may act on what never was."""
    if broker not in apart or gate.going != "go":
        return gate
    held = f"The metadata logs or snapshots of {numbered('node', apart)} contradict each other or are damaged."
    because = f"cannot be judged. {held} A node that starts acts on what it holds."
    return replace(gate, going="unknown", because=because, first="find out which nodes hold the true metadata")
