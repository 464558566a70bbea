"""Evidence that is not there, and what it leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rules.replay.leading.leader import LeaderRow
from rules.replay.reign.in_sync import IsrHistory
from rules.replay.reign.reigns import Reign


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Evidence that is not there, and what it leaves open."""

    kind: str
    """What sort of evidence it is, whichever term it is of."""
    evidence: str
    leaves_open: str
    epochs: tuple[int, ...]


def missing(reign: Reign, isr: IsrHistory, rows: Sequence[LeaderRow]) -> Iterator[Missing]:
    """What a reign's evidence lacks."""
    if reign.opening is None:
        yield Missing(
            kind="the leaders' own logs (state-change.log, server.log)",
            evidence=f"broker {reign.leader}'s own log (state-change.log, server.log) of epoch {reign.epochs[0]}",
            leaves_open="where the epoch opened and what its leader's log end was",
            epochs=reign.epochs,
        )
    # A leader whose ISR is nobody else may well have served no follower.
    alone = bool(isr.statements) and all(s.isr == {reign.leader} for s in isr.statements)
    if not alone and not any(row.moment.kind == "fetched" for row in rows):
        yield _no_fetch(reign)
    elif reign.holed:
        yield Missing(
            kind="the request logs whole: some of their lines cannot be read",
            evidence=f"broker {reign.leader}'s request log whole: some of its lines cannot be read",
            leaves_open="how far followers had asked: the high watermark's upper bound",
            epochs=reign.epochs,
        )
    elif reign.ends_unseen:
        yield Missing(
            kind="the request logs up to their brokers' last answers: they end before",
            evidence=f"broker {reign.leader}'s request log up to its last answers: it ends before",
            leaves_open="what was written, acknowledged and fetched last",
            epochs=reign.epochs,
        )
    elif any(row.moment.doubtful for row in rows):
        yield Missing(
            kind="the beginnings of fetch sessions",
            evidence=f"the beginnings of fetch sessions with broker {reign.leader}",
            leaves_open="the offsets of partitions that requests do not name",
            epochs=reign.epochs,
        )
    if not isr.statements:
        yield Missing(
            kind="the ISR at the beginning of every term (metadata log, state-change.log or orders)",
            evidence=f"the ISR at the beginning of epoch {reign.epochs[0]} (metadata log, state-change.log or orders)",
            leaves_open="who had to be counted: the high watermark's upper bound",
            epochs=reign.epochs,
        )


def _no_fetch(reign: Reign) -> Missing:
    """A log that is there and tells of no fetch is not the same as no log."""
    when = f"epoch{'' if len(reign.epochs) == 1 else 's'} {', '.join(map(str, reign.epochs))}"
    kind = "the leaders' request logs at DEBUG"
    evidence = f"broker {reign.leader}'s request log at DEBUG in {when}"
    if reign.logged:
        kind = "the fetches of terms in which the leaders' request logs tell of none"
        evidence = (
            f"fetches from broker {reign.leader} in {when}: nobody fetched, or its request log, which is there,"
            " does not hold them"
        )
    return Missing(kind=kind, evidence=evidence, leaves_open="every high watermark of the term", epochs=reign.epochs)
