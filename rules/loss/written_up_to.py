"""Who tells that records were written, and how far: checkpoints, the replay, answers, consumers, files beside a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct

from parsers.provenance import Span
from rules.evidence import CRASHED, Committed, PartitionEvidence, Replica
from rules.evidence.asked_once import asked_once
from rules.evidence.kept_proofs import kept_proofs
from rules.evidence.shortened import shortened_on_disk
from rules.history.moments import succeeded
from rules.protocol.offsets import UNDEFINED_EPOCH
from rules.replicas.openings import ON_DISK
from rules.words import quoted

Worth = Literal["committed", "acknowledged", "written"]
UNCOMMITTED: Final = "nothing tells that they were committed"
ANOTHERS: Final = "what the cleaner wrote down may be of an earlier topic of that name"


class Word(Struct, frozen=True, kw_only=True):
    """One witness's word that the log went up to an offset."""

    end_offset: int
    worth: Worth
    because: str
    span: Span
    epoch: int
    """The newest epoch that whoever tells it knew of."""
    broker: int | None = None
    """Whose own log it tells of; null where it tells of the partition."""
    doubt: str = ""
    """Why it may not hold: a later epoch may have given it up, or the file is of another moment; else empty."""

    @property
    def sure(self) -> bool:
        """Whether it holds in any case."""
        return not self.doubt


@asked_once
def words(evidence: PartitionEvidence) -> tuple[Word, ...]:
    """Every word that may tell of more than the logs hold."""
    return tuple(_words(evidence))


def _words(evidence: PartitionEvidence) -> Iterator[Word]:
    newest = {replica.broker: _newest_epoch(replica) for replica in evidence.current}
    for replica in evidence.current:
        yield from _by_its_files(evidence, replica)
    for short in shortened_on_disk(evidence):
        if short.closing is not None:
            because = f"broker {short.broker} had reached offset {short.had} when it stopped"
            unsure = short.gone.possible - short.gone.sure
            span, doubt = short.closing.stopped.span, UNCOMMITTED if unsure else ""
            yield Word(
                end_offset=short.had, worth="written", because=because, span=span, epoch=newest[short.broker],
                broker=short.broker, doubt=doubt,
            )  # fmt: skip
    yield from _by_statements(evidence)
    still = all(as_it_stopped(evidence, replica) for replica in evidence.current)
    for commit in evidence.group_offsets if still else ():
        because = f"group {quoted(commit.group)} committed offset {commit.offset}"
        yield Word(
            end_offset=commit.offset, worth="committed", because=because, span=commit.span, epoch=UNDEFINED_EPOCH,
            doubt=UNCOMMITTED,
        )  # fmt: skip


def _newest_epoch(replica: Replica) -> int:
    """The newest epoch that a replica knew of: its file keeps those whose records its log lost."""
    return max([replica.last_epoch, *(entry.epoch for entry in replica.epoch_file.entries)])


def as_it_stopped(evidence: PartitionEvidence, replica: Replica) -> bool:
    """Whether the files of a copy are of one moment: after a clean shutdown, or as somebody says."""
    return replica.clean_shutdown is not None or evidence.copied in CRASHED


def shut_down_cleanly(evidence: PartitionEvidence, replica: Replica) -> bool:
    """Whether its broker flushed the log and wrote its checkpoints when it stopped, by marker or by a person's word."""
    return replica.clean_shutdown is not None or evidence.copied == "stopped"


def reach_untold(evidence: PartitionEvidence, replica: Replica) -> bool:
    """Whether its broker crashed or may have, and no checkpoint here tells what it had counted as committed before."""
    known = shut_down_cleanly(evidence, replica) or evidence.copied == "live"
    return not known and replica.watermark_untold


def left_by_a_cut(evidence: PartitionEvidence, replica: Replica) -> bool:
    """Whether a release up to 2.3 cut the log to where it ends, by its own word: such a cut leaves the value alone."""
    release = evidence.release_of(replica.broker)
    if release is None or release.at_least(2, 4):
        return False
    own = (m for m in evidence.moments if m.broker == replica.broker and m.kind in ("truncated", "log-reset"))
    last = max(own, key=lambda m: m.time or 0, default=None)
    return last is not None and last.offset == replica.log_end_offset


def perhaps_left_by_a_cut(evidence: PartitionEvidence, replica: Replica) -> bool:
    """The same where no line of its broker's server.log is here, and it or all others ran such a release.

    A cut takes the recovery point back as well.
    """
    point = replica.recovery_point
    if point is not None and point.offset > replica.log_end_offset:
        return False
    own = evidence.release_of(replica.broker)
    others = [evidence.release_of(version.broker) for version in evidence.versions]
    known = [release for release in ([own] if own is not None else others) if release is not None]
    if not known or any(release.at_least(2, 4) for release in known):
        return False
    return not evidence.chronicle.has_server_log(replica.broker)


def perhaps_copied_before(evidence: PartitionEvidence, replica: Replica) -> bool:
    """Whether its log lost its end in a crash, or was only copied before its high watermark, and nobody says which."""
    return evidence.copied_live and not evidence.copied and below_its_watermark(evidence, replica)


def perhaps_without_its_end(evidence: PartitionEvidence, replica: Replica) -> bool:
    """Whether its broker crashed or may have, and its log ends before what it had, or nothing tells what it had."""
    crashed = evidence.copied in CRASHED and below_its_watermark(evidence, replica)
    return crashed or perhaps_copied_before(evidence, replica) or reach_untold(evidence, replica)


def below_its_watermark(evidence: PartitionEvidence, replica: Replica) -> bool:
    """Whether its log ends before the high watermark that its broker saved, and no cut of an old release left that."""
    claim = replica.high_watermark
    short = claim is not None and replica.end_known and claim.offset > replica.log_end_offset
    return short and not left_by_a_cut(evidence, replica)


def wrong_alone(evidence: PartitionEvidence, replica: Replica) -> bool:
    """Whether its high watermark is wrong by its recovery point, and no other log or checkpoint goes as far."""
    claim = replica.high_watermark
    peers = [peer for peer in evidence.own_logs if peer is not replica]
    known = [*(peer.log_end_offset for peer in peers), *(p.high_watermark.offset for p in peers if p.high_watermark)]
    wrong = replica.watermark_alone_is_wrong(stopped=shut_down_cleanly(evidence, replica))
    return wrong and claim is not None and all(offset < claim.offset for offset in known)


def _by_its_files(evidence: PartitionEvidence, replica: Replica) -> Iterator[Word]:
    """At a clean shutdown a broker writes its log end as its recovery point, and its high watermark beside it."""
    broker, mark, point = replica.broker, replica.high_watermark, replica.recovery_point
    epoch = _newest_epoch(replica)
    stopped = shut_down_cleanly(evidence, replica)
    if mark is not None and not (left_by_a_cut(evidence, replica) or wrong_alone(evidence, replica)):
        others = (r.high_watermark for r in evidence.current if r is not replica)
        seconded = any(claim is not None and claim.offset >= mark.offset for claim in others)
        unproved = stopped and not (seconded if point is None else point.offset >= mark.offset)
        alone = UNCOMMITTED if unproved or perhaps_left_by_a_cut(evidence, replica) else ""
        because = f"broker {broker}'s high watermark on disk is {mark.offset}"
        yield Word(
            end_offset=mark.offset, worth="committed", because=because, span=mark.span, epoch=epoch, broker=broker,
            doubt=alone,
        )  # fmt: skip
    # After a crash they may tell of pages that nobody was promised.
    for because, end, span in (*(_flushed(replica) if stopped else ()), *_beside(replica)):
        doubt = "" if stopped else UNCOMMITTED
        yield Word(
            end_offset=end, worth="written", because=because, span=span, epoch=epoch, broker=broker, doubt=doubt
        )
    cleaned = replica.cleaner_offset
    if cleaned is not None:
        because = f"the cleaner of broker {broker} had reached offset {cleaned.offset}"
        end, span = cleaned.offset, cleaned.span
        yield Word(
            end_offset=end, worth="written", because=because, span=span, epoch=epoch, broker=broker, doubt=ANOTHERS
        )


def _flushed(replica: Replica) -> Iterator[tuple[str, int, Span]]:
    """What tells of the log's last bytes."""
    who, point = f"broker {replica.broker}", replica.recovery_point
    if point is not None:
        yield f"{who} had flushed its log up to offset {point.offset}", point.offset, point.span
    for fault in replica.indexes.of_kind("offset"):
        if fault.flaw == "beyond the log" and fault.offset is not None:
            yield f"{who}'s index leads to offset {fault.offset}", fault.offset + 1, fault.span


def _beside(replica: Replica) -> Iterator[tuple[str, int, Span]]:
    """What the replica wrote beside its log when a segment, an epoch or its broker's life ended."""
    who = f"broker {replica.broker}"
    for claim in replica.snapshot_offsets:
        yield f"{who} saved the state of producers at offset {claim.offset}", claim.offset, claim.span
    for entry in replica.epoch_file.entries:
        because = f"{who}'s epoch file begins epoch {entry.epoch} at offset {entry.start_offset}"
        yield because, entry.start_offset, entry.span


def _by_statements(evidence: PartitionEvidence) -> Iterator[Word]:
    """What leaders told of committed records, and what they answered for, unless a later epoch may have given it up."""
    proofs = [proof for proof in evidence.committed_batches if proof.moment.clock != ON_DISK]
    answers = [
        Committed(
            end_offset=evidence.batch_end(m.offset or 0, m.term),
            term=m.term,
            because=f"broker {m.witness} acknowledged a record at offset {m.offset}",
            moment=m,
        )
        for m in evidence.moments
        if succeeded(m) and m.acks != -1 and m.term is not None and not m.doubtful
    ]
    kinds: tuple[tuple[Worth, Sequence[Committed]], ...] = (("committed", proofs), ("acknowledged", answers))
    for worth, proven in kinds:
        kept = kept_proofs(evidence, proven)
        untold = f"nothing tells where epoch {kept.untold_epoch} began"
        for proof, doubt in ((kept.certain, ""), (kept.furthest if worth == "committed" else None, untold)):
            if proof is not None and (not doubt or proof != kept.certain):
                end, because, span = proof.end_offset, proof.because, proof.moment.span
                yield Word(end_offset=end, worth=worth, because=because, span=span, epoch=proof.term, doubt=doubt)
