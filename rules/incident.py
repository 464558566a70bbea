"""Findings that have one cause are one incident, told with the cause first."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from msgspec import Struct

from rules.event_title import TITLES, by_brokers, by_losses, led_without, title_giver
from rules.finding import NO_BEARING, Bearings, Change, Finding, Place, Severity, capital, place_of
from rules.finding_chains import Step, chain
from rules.loss.incurred import Loss
from rules.protocol.steps import StepLimit
from rules.words import amount, counted, quoted

DISK_FAMILIES: Final = ("SEG", "EPOCH", "HW")
DAMAGED_PARTITIONS: Final = 3
"""Damage of this many partitions of one log dir is told as damage of the disk."""
ONE_EVENT_MS: Final = 30_000
"""Changes of leaders that one witness tells of and that follow each other as closely have one cause: a lost broker."""


class IncidentBill(Struct, frozen=True, kw_only=True):
    """The bills of an incident's partitions in one sum."""

    losses: int
    offsets: int
    committed: int
    acknowledged: int
    possibly_acknowledged: int
    never_committed: int
    """The offsets by what they were worth."""
    records: int | None
    bytes: int | None
    """Null where the copies that still stand do not tell them all."""
    records_at_least: int
    bytes_at_least: int
    ends_known: bool
    """False where a last batch may have held more than its first record."""
    counted_records: int | None = None
    """Records by copies or by offsets that are dense; null where neither tells of all."""


class Incident(Struct, frozen=True, kw_only=True):
    """One thing that happened, and the findings that show it."""

    id: str
    title: str
    severity: int
    scope: str
    topics: tuple[str, ...]
    partitions: int
    brokers: tuple[int, ...]
    findings: tuple[str, ...]
    """In the order of the chain."""
    steps: tuple[Step, ...]
    cause: str
    """The finding that the others follow from."""
    places: tuple[Place, ...]
    """The partitions, in order."""
    bill: IncidentBill | None
    """Null where nothing is known to be lost for good."""


Losses = Mapping[Place, Sequence[Loss]]


def group(
    findings: Sequence[Finding], log_dirs: Mapping[str, str], bearings: Bearings, losses: Losses | None = None
) -> tuple[Incident, ...]:
    """Incidents, worst first. `log_dirs` gives a finding's id the log dir that its damage lies in."""
    billed = losses or {}
    worth_telling = [f for f in findings if f.verdict == "violated" and f.severity > Severity.INFO]
    by_disk: dict[str, list[Finding]] = {}
    for finding in worth_telling:
        if finding.rule.startswith(DISK_FAMILIES) and finding.id in log_dirs:
            by_disk.setdefault(log_dirs[finding.id], []).append(finding)
    disks = {disk: own for disk, own in by_disk.items() if len(_partitions(own)) >= DAMAGED_PARTITIONS}
    on_disks = {finding.id for own in disks.values() for finding in own}
    by_partition: dict[Place, list[Finding]] = {}
    for finding in worth_telling:
        if finding.id not in on_disks:
            by_partition.setdefault(place_of(finding), []).append(finding)
    # What a partition lost is billed once, to the incident that tells of the partition itself.
    of_disks = {place: own for place, own in billed.items() if place not in by_partition}
    tell = _Telling(bearings)
    incidents = [tell.disk(disk, own, of_disks) for disk, own in disks.items()]
    for places in _events(by_partition, bearings):
        own = [finding for place in places for finding in by_partition[place]]
        make = tell.partition if len(places) == 1 else tell.event
        incidents.append(make(own, billed))
    return tuple(sorted(incidents, key=_gravest_first))


def _gravest_first(incident: Incident) -> tuple[object, ...]:
    """By severity, then by what was lost; then as the partitions are called."""
    bill = incident.bill
    lost = (0, 0) if bill is None else (-bill.committed, -bill.offsets)
    places = [(place[0] or "", place[1] or "", place[2] or 0) for place in incident.places]
    return -incident.severity, *lost, places, incident.id


def _partitions(findings: Sequence[Finding]) -> set[Place]:
    return {place_of(finding) for finding in findings}


def _events(by_partition: Mapping[Place, Sequence[Finding]], bearings: Bearings) -> Iterator[list[Place]]:
    """The partitions, those together whose changes of leaders are one event."""
    roots = {place: place for place in by_partition}
    for one, other in _linked(by_partition, bearings):
        kept, joined = _root(roots, one), _root(roots, other)
        roots[joined] = kept
    together: dict[Place, list[Place]] = {}
    for place in by_partition:
        together.setdefault(_root(roots, place), []).append(place)
    yield from together.values()


def _linked(
    by_partition: Mapping[Place, Sequence[Finding]], bearings: Bearings
) -> Iterator[tuple[Place, Place]]:
    """Partitions whose changes of leaders one witness tells of, shortly after one another."""
    changes: dict[tuple[str | None, str], list[tuple[int, int]]] = {}
    order = list(by_partition)
    for number, place in enumerate(order):
        for finding in by_partition[place]:
            values = finding.values() if bearings.get(finding.rule, NO_BEARING).change else {}
            clock, time = values.get("clock"), values.get("time")
            if isinstance(clock, str) and isinstance(time, int):
                changes.setdefault((finding.cluster_id, clock), []).append((time, number))
    for times in changes.values():
        for (before, one), (after, other) in pairwise(sorted(times)):
            if one != other and after - before <= ONE_EVENT_MS:
                yield order[one], order[other]


def _root(roots: dict[Place, Place], place: Place) -> Place:
    bound = StepLimit(len(roots), "joining incidents")
    while roots[place] != place:
        bound.step()
        roots[place] = roots[roots[place]]
        place = roots[place]
    return place


class _Telling(Struct, frozen=True):
    """How incidents are told, by what the rules of their findings declare."""

    bearings: Bearings

    def disk(self, disk: str, findings: Sequence[Finding], losses: Losses) -> Incident:
        """Damage of many partitions of one log dir."""
        partitions = len(_partitions(findings))
        sure = any(finding.confidence != "possible" for finding in findings)
        title = f"The log dir {disk} is damaged in {partitions} partitions."
        if not sure:
            apart = f"Files in the log dir {disk} do not fit its logs in {partitions} partitions"
            title = f"{apart}. Perhaps they are damaged."
        return self._incident(title, "broker", findings, losses)

    def event(self, findings: Sequence[Finding], losses: Losses) -> Incident:
        """A change of leaders in many partitions."""
        brokers: dict[Change | None, set[int]] = {}
        for finding in findings:
            brokers.setdefault(self.bearings.get(finding.rule, NO_BEARING).change, set()).update(finding.brokers)
        change = next(change for change in TITLES if change in brokers)
        unbilled, template = TITLES[change]
        unclean = {(place_of(f), f.values().get("epoch")) for f in findings if self._is(f, "unclean election")}
        happened = by_losses(_billed(findings, losses), unclean) or by_brokers(template, brokers[change])
        head = f"{unbilled} in {_where(_partitions(findings))}"
        cost = _lost(findings, losses) or _missed(findings, losses) or head
        return self._incident(f"{cost}. {happened}", "cluster", findings, losses)

    def _is(self, finding: Finding, change: Change) -> bool:
        return self.bearings.get(finding.rule, NO_BEARING).change == change

    def partition(self, findings: Sequence[Finding], losses: Losses) -> Incident:
        """What happened to one partition."""
        by_id = {finding.id: finding for finding in findings}
        in_order = [by_id[step.finding] for step in chain(findings, self.bearings)]
        # What allowed it comes first in the chain; what happened gives it its name.
        grave = [finding for finding in in_order if finding.severity >= Severity.MEDIUM] or in_order[:1]
        gone = _gone(findings, losses)
        first, bill = title_giver(grave, {loss.next_epoch for loss in gone}, self.bearings), _bill(gone)
        place = first.place or "The dump"
        head = f"{place}:" if bill is None else f"{place} lost {amount_lost(bill)}{_of_them(bill)}."
        happened = f"{first.message}{led_without(first, gone, self.bearings)}"
        return self._incident(f"{head} {happened}", "partition", findings, losses)

    def _incident(self, title: str, scope: str, findings: Sequence[Finding], losses: Losses) -> Incident:
        steps = chain(findings, self.bearings)
        key = "|".join(sorted(finding.fingerprint for finding in findings))
        places = tuple(sorted(_partitions(findings), key=lambda place: (place[0] or "", place[1] or "", place[2] or 0)))
        return Incident(
            id=f"I-{hashlib.sha256(key.encode()).hexdigest()[:8]}",
            title=title,
            severity=max(finding.severity for finding in findings),
            scope=scope,
            topics=tuple(sorted({finding.topic or "" for finding in findings})),
            partitions=len(places),
            brokers=tuple(sorted({broker for finding in findings for broker in finding.brokers})),
            findings=tuple(step.finding for step in steps),
            steps=steps,
            cause=steps[0].finding,
            places=places,
            bill=_bill(_gone(findings, losses)),
        )


def _billed(findings: Sequence[Finding], losses: Losses) -> Losses:
    """By partition what is lost for good; where nothing is, what was missing for a time."""
    known = {place: [loss for loss in losses.get(place, ()) if loss.matters] for place in _partitions(findings)}
    gone = {place: [loss for loss in own if loss.for_good] for place, own in known.items()}
    return gone if any(gone.values()) else known


def _gone(findings: Sequence[Finding], losses: Losses) -> list[Loss]:
    """What the partitions lost for good, as far as anybody had been told that it was written."""
    places = sorted(_partitions(findings), key=lambda place: (place[0] or "", place[1] or "", place[2] or 0))
    return [loss for place in places for loss in losses.get(place, ()) if loss.for_good]


def _missed(findings: Sequence[Finding], losses: Losses) -> str:
    """How much was missing until a later leader held it again, or perhaps did; empty where nothing was."""
    places = _partitions(findings)
    again = {place: [loss.offsets for loss in losses.get(place, ()) if loss.matters] for place in places}
    hurt, offsets = {place for place in places if again[place]}, sum(map(sum, again.values()))
    noun = "offset was" if offsets == 1 else "offsets were"
    open_ones = any(loss.unread for place in places for loss in losses.get(place, ()) if loss.matters)
    missing = "left out, perhaps for good," if open_ones else "missing for a time"
    return f"{offsets} {noun} {missing} in {_where(hurt)}" if hurt else ""


def _lost(findings: Sequence[Finding], losses: Losses) -> str:
    """How much an event cost, and in how many of its partitions; empty where no loss is known."""
    bill, places = _bill(_gone(findings, losses)), _partitions(findings)
    if bill is None:
        return ""
    hurt = {place for place in places if any(loss.for_good for loss in losses.get(place, ()))}
    return capital(f"{amount_lost(bill)} lost in {_where(hurt)}{_of_them(bill)}")


def _where(places: Collection[Place]) -> str:
    """How many partitions, and of which topic or of how many; one by its name."""
    if len(places) == 1:
        return next(f"{topic}-{partition}" for _, topic, partition in places)
    topics = sorted({topic or "" for _, topic, _ in places})
    whose = f"{len(topics)} topics" if topics[1:] else f"topic {quoted(topics[0])}"
    return f"{counted(len(places), 'partition')} of {whose}"


def amount_lost(bill: IncidentBill) -> str:
    """How much was lost, by the name of the worth that all of it shares: 50 committed records; 7 offsets."""
    worth = "committed" if bill.committed == bill.offsets else ""
    return f"{'' if bill.ends_known else 'at least '}{amount(bill.offsets, bill.counted_records, worth)}"


def _of_them(bill: IncidentBill) -> str:
    """How many of them somebody was promised, where it is not all."""
    promised = bill.committed + bill.acknowledged
    if promised in (0, bill.offsets):
        none = "not" if bill.offsets == 1 else "none of them"
        return "" if promised else f", {none} known to be acknowledged"
    if promised == bill.committed:
        return f", {promised} of them committed"
    what = "committed or acknowledged" if bill.committed else "acknowledged"
    return f", {'at least ' if bill.possibly_acknowledged else ''}{promised} of them {what}"


def _bill(losses: Sequence[Loss]) -> IncidentBill | None:
    if not losses:
        return None
    portions = [portion for loss in losses for portion in loss.portions]
    worth = {
        name: sum(p.end_offset - p.start_offset for p in portions if p.worth == name)
        for name in ("committed", "acknowledged", "possibly acknowledged", "never committed")
    }
    return IncidentBill(
        losses=len(losses),
        offsets=sum(loss.offsets for loss in losses),
        committed=worth["committed"],
        acknowledged=worth["acknowledged"],
        possibly_acknowledged=worth["possibly acknowledged"],
        never_committed=worth["never committed"],
        records=_sum(portion.records for portion in portions),
        bytes=_sum(portion.bytes for portion in portions),
        records_at_least=sum(portion.records_at_least for portion in portions),
        bytes_at_least=sum(portion.bytes_at_least for portion in portions),
        ends_known=all(loss.end_known for loss in losses),
        counted_records=_sum(portion.counted_records for portion in portions),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = list(counts)
    return None if any(count is None for count in known) else sum(count or 0 for count in known)
