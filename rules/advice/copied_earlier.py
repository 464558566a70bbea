"""A leader whose files here end before records that it wrote itself: of a running broker they were copied earlier.

Followers have no record of its epoch but from it. So it had what they hold, and lost it, or has it still.
"""

from __future__ import annotations

from itertools import dropwhile
from typing import Final

from rules.advice.weighed import OwedCut, named
from rules.evidence import PartitionEvidence, Replica
from rules.evidence.electable import leads_meanwhile
from rules.history.moments import DISTURBED, gives_role
from rules.loss.incurred import losses
from rules.words import it_or_them

HOW: Final = "To decide it, add the option --copied live, stopped or crashed"


def copied_earlier(leader: Replica, follower: Replica, evidence: PartitionEvidence) -> bool:
    """Whether the leader's files may only have been copied before the follower's, for all that its logs tell."""
    epoch, last = evidence.chronicle.last_leader
    if leader.broker != last or leads_meanwhile(evidence) != last or _disturbed_since(epoch, last, evidence):
        return False
    gone = (loss for loss in losses(evidence) if loss.next_leader == last)
    if any(loss.start_offset < follower.log_end_offset and leader.log_end_offset < loss.end_offset for loss in gone):
        return False
    beyond = [run.epoch for run in follower.log.epochs if run.end_offset > leader.log_end_offset]
    return bool(beyond) and {*beyond} == {epoch} == {leader.last_epoch}


def _disturbed_since(epoch: int, broker: int, evidence: PartitionEvidence) -> bool:
    """Whether its log may have been cut after it took the lead: it was started again, or led once more."""
    own = [m for m in evidence.chronicle.told_by(broker) if gives_role(m) or m.kind in DISTURBED]
    since = dropwhile(lambda m: not (gives_role(m) and m.epoch == epoch), own)
    return any(m.kind in DISTURBED for m in since)


def perhaps_behind(cut: OwedCut) -> str:
    """What speaks for and against it, of the leader."""
    return (
        f"it wrote {named(cut.gone)}, but its log end offset is {cut.cut_to} here. Perhaps its files were only copied "
        f"before those of broker {cut.follower}. Or it lost {_them(cut)} in a crash. {HOW}"
    )


def perhaps_last(cut: OwedCut) -> str:
    """The same of the follower, which holds what the leader may have lost."""
    return (
        f"cannot be judged. Broker {cut.leader} leads and wrote {named(cut.gone)}, but its log end offset is "
        f"{cut.cut_to} here. If it lost {_them(cut)} in a crash, broker {cut.follower} cuts {it_or_them(_many(cut))}"
        f" too. If its files were only copied earlier, nothing goes. {HOW}."
    )


def _them(cut: OwedCut) -> str:
    return "that record" if _many(cut) == 1 else "those records"


def _many(cut: OwedCut) -> int:
    return sum(stretch.end_offset - stretch.start_offset for stretch in cut.gone)
