"""Where transactions stand by their coordinators: a partition of `__transaction_state` is one unit and one fact.

Every judge is told of it: which partitions a transaction wrote to is forgotten there when it ends.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from auditor.engines.opened.unit_facts import unit_fact, unread_fact
from auditor.engines.plan.units import ReadUnit
from auditor.engines.witnesses.internal_topics import Copy, Records, copies_of, leading
from auditor.engines.witnesses.statements_of_rows import known
from parsers.internal_topics import latest_states
from parsers.provenance import row_span
from parsers.tables.metadata import Transaction
from rules.narrow.facts import Fact
from rules.replicas.coordinators import Coordinated, CoordinatorLog, Reached


def read_transactions(unit: ReadUnit) -> Iterator[Fact]:
    """What the partition's leading copy holds, and one fact for what could not be read."""
    copies = copies_of(unit)
    chosen = leading(copies)
    if chosen is None:
        return
    records = Records(unit)
    latest = latest_states(records.of(chosen), unit.origin(chosen.pieces[0].source))
    refusals = (*records.refusals, *latest.refusals)
    owners = {owner.path: owner.broker for owner in unit.owners}
    log = CoordinatorLog(
        partition=-1 if unit.partition is None else unit.partition,
        broker=_owner(chosen, owners),
        whole=records.whole and not refusals and not latest.left_out,
        states=tuple(each for row in latest.transactions if (each := _coordinated(row)) is not None),
        reached=tuple(Reached(broker=_owner(c, owners), time=c.latest_time) for c in copies if c.latest_time >= 0),
    )
    yield replace(unit_fact(unit, None, None), coordinators=(log,))
    if refusals:
        yield unread_fact(unit, refusals)


def _owner(copy: Copy, owners: dict[str, int | None]) -> int:
    broker = owners.get(copy.folder)
    return -1 if broker is None else broker


def _coordinated(row: Transaction) -> Coordinated | None:
    if row.state is None or row.producer_id is None or row.producer_epoch is None:
        return None
    others = (row.previous_producer_id, row.next_producer_id)
    return Coordinated(
        transactional_id=row.transactional_id,
        state=row.state,
        producer_ids=tuple(dict.fromkeys((row.producer_id, *(each for each in others if each is not None)))),
        producer_epoch=row.producer_epoch,
        timeout_ms=row.timeout_ms or 0,
        partitions=tuple(row.partitions.split(",")) if row.partitions else (),
        start_time=known(row.start_time),
        update_time=known(row.last_update_time),
        span=row_span(row),
    )
