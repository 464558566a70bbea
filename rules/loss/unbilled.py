"""Records that a finding tells are gone and that no bill names: nothing tells whose they were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from rules.chronicle.extents import Extents
from rules.chronicle.silence import roles_of
from rules.evidence import PartitionEvidence
from rules.finding import Bearings, Finding
from rules.loss.incurred import Loss
from rules.loss.left_out import of_unknown_epoch
from rules.protocol.offsets import without
from rules.words import numbered

NO_EPOCH: Final = "nothing tells their epoch"
USED_TWICE: Final = "epochs here were used twice"


class Standing(Struct, frozen=True, kw_only=True):
    """Records of one epoch that stand in a log now."""

    epoch: int
    start_offset: int
    end_offset: int


class Unbilled(Struct, frozen=True, kw_only=True):
    """A stretch of offsets whose records a finding tells are gone."""

    finding: str
    """The finding: its fingerprint where it was judged, its id in a report."""
    brokers: tuple[int, ...]
    """Whose log lost them."""
    start_offset: int
    end_offset: int
    acknowledged: bool
    """Whether the finding knows them as acknowledged; else they were committed."""
    sure: bool
    """Whether the finding is certain."""
    because: str
    """Why no bill can be made."""
    missing: str
    """What would tell."""
    leaders: tuple[int, ...]
    """Brokers here whose log is the one that leads now; nobody where that is not known."""
    standing: tuple[Standing, ...]
    """What stands there now in that log."""

    @property
    def empty(self) -> tuple[tuple[int, int], ...]:
        """Where that log holds nothing."""
        held = [(each.start_offset, each.end_offset) for each in self.standing]
        return tuple(without(self.start_offset, self.end_offset, held))


def unbilled(
    evidence: PartitionEvidence, findings: Sequence[Finding], bearings: Bearings, billed: Sequence[Loss]
) -> Iterator[Unbilled]:
    """What findings tell is gone and no bill can be made of: each offset once, by the first that tells of it."""
    # What nobody was told to be written stands in no bill that is shown, and may be another epoch's.
    named = Extents.of((loss.start_offset, loss.end_offset) for loss in billed if loss.matters)
    gone = [each for each in findings if (meant := bearings[each.rule].records) is not None and meant.gone]
    undecided = Extents.of(_range(finding) for finding in gone if finding.verdict == "undecided" and finding.blocking)
    for finding in gone:
        if finding.verdict == "violated":
            open_ = _without_bill(evidence, finding, undecided) - named
            named |= open_
            acknowledged = bearings[finding.rule].to_write_again
            yield from (_stretch(evidence, finding, part, acknowledged=acknowledged) for part in open_.parts)


def _range(finding: Finding) -> tuple[int, int]:
    return finding.start_offset or 0, finding.end_offset or 0


def _without_bill(evidence: PartitionEvidence, finding: Finding, undecided: Extents) -> Extents:
    """Of a finding's offsets those that no bill can name; all where none is made.

    Those are of cuts in unknown epochs, and of cuts where it is undecided in which epoch records were lost: all of such
    a cut, since an answer names but the first record of a batch.
    """
    own = Extents.of([_range(finding)])
    if evidence.epochs_used_twice:
        return own
    logged = [cut for cut in evidence.chronicle.cuts if cut.broker in finding.brokers and cut.committed_end is not None]
    unplaced = [cut for cut in logged if of_unknown_epoch(evidence, cut)]
    cuts = [(cut.offset, cut.committed_end or 0) for cut in unplaced]
    cuts += [
        (cut.offset, min(cut.high_watermark.offset, cut.log_end_offset))
        for cut in evidence.inferred_cuts
        if cut.brokers == finding.brokers and cut.high_watermark is not None
    ]
    whole = (Extents.of([(cut.offset, cut.committed_end or 0)]) for cut in logged)
    return own & Extents.of((*cuts, *(part for cut in whole if cut & undecided for part in cut.parts)))


def _stretch(
    evidence: PartitionEvidence, finding: Finding, part: tuple[int, int], *, acknowledged: bool
) -> Unbilled:
    start, end = part
    leader = evidence.leader_at_the_end
    leaders = () if leader is None else tuple(replica.broker for replica in evidence.leaders_at_the_end)
    runs = () if leader is None else leader.runs_within(start, end)
    twice = evidence.epochs_used_twice
    return Unbilled(
        finding=finding.fingerprint,
        brokers=finding.brokers,
        start_offset=start,
        end_offset=end,
        acknowledged=acknowledged,
        sure=finding.confidence == "certain",
        because=USED_TWICE if twice else NO_EPOCH,
        missing=roles_of(numbered("broker", finding.brokers)),
        leaders=leaders,
        standing=tuple(
            Standing(epoch=run.epoch, start_offset=max(start, run.start_offset), end_offset=min(end, run.end_offset))
            for run in runs
        ),
    )


def as_question(stretch: Unbilled) -> str:
    """What the bill leaves open, as a clause."""
    what = f"[{stretch.start_offset}, {stretch.end_offset})"
    cut = "cut" if stretch.sure else "may have cut"
    return f"{numbered('broker', stretch.brokers)} {cut} committed records {what}. Their leader epoch is not known"
