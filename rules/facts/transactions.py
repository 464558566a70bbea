"""Transactions of a log from its batch headers alone: which stretches of offsets each of them keeps undecided.

A producer has one transaction at a time in a partition: its batches up to a marker, and the marker. What stands before
a stretch's first marker may belong to a transaction that began earlier: it is told apart until that part is joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import polars as pl
from msgspec.structs import replace

from rules.facts.producing import Begun, BrokerTime, EndedTransaction, OpenTransactions, Transactions

KEEP: Final = 4096
"""Transactions that are kept, and producers of which anything is told."""
UNTOLD: Final = Transactions(untold=True)


def transactions_of(batches: pl.DataFrame, marker: pl.Expr, begun: Callable[[int], Begun]) -> Transactions:
    """The transactions of a stretch: its transactional batches in physical order, and which of them are markers.

    `begun` tells of the batch in a row, by its number, that it begins a transaction.
    """
    rows = batches.select("row", "producer_id", "base", marker=marker)
    passed = pl.col("marker").cast(pl.Int64)
    rows = rows.with_columns(turn=(passed.cum_sum() - passed).over("producer_id"))
    turns = rows.group_by("producer_id", "turn", maintain_order=True).agg(
        start=pl.col("base").filter(~pl.col("marker")).first(),
        row=pl.col("row").filter(~pl.col("marker")).first(),
        end=pl.col("base").filter("marker").first(),
    )
    first, later = turns.filter(pl.col("turn") == 0), turns.filter(pl.col("turn") > 0)
    last = later.filter(pl.col("end").is_null()).select("producer_id", open_from="start")
    if first.height > KEEP:
        return UNTOLD
    closed = later.drop_nulls().sort("end", "start", "producer_id")
    kept = closed.select("producer_id", "start", "end").tail(KEEP).rows()
    markers = dict(rows.filter("marker").group_by("producer_id").agg(pl.col("base").last()).rows())
    unended = turns.filter(pl.col("end").is_null()).select("producer_id", "row").rows()
    return Transactions(
        closed=tuple(EndedTransaction(producer_id=p, start_offset=s, marker_offset=e) for p, s, e in kept),
        closed_count=closed.height,
        open=tuple(
            _open(first.join(last, on="producer_id", how="left"), markers, {p: begun(row) for p, row in unended})
        ),
    )


def _open(
    producers: pl.DataFrame, markers: Mapping[int, int], begun: Mapping[int, Begun]
) -> Iterator[OpenTransactions]:
    columns = producers.sort("producer_id").select("producer_id", "start", "end", "open_from")
    for producer, start, end, open_from in columns.rows():
        yield OpenTransactions(
            producer_id=producer,
            head_start=start,
            head_marker=end,
            open_from=open_from,
            last_marker=markers.get(producer),
            begun=begun.get(producer),
        )


def join_transactions(left: Transactions, right: Transactions, clock: BrokerTime | None) -> Transactions:
    """The transactions of two neighbouring stretches; `clock` is the first broker's time in the right one."""
    if left.untold or right.untold:
        return UNTOLD
    before = {transactions.producer_id: _dated(transactions, clock) for transactions in left.open}
    behind = {transactions.producer_id: transactions for transactions in right.open}
    both = {**behind, **before}
    if len(both) > KEEP:
        return UNTOLD
    shared = sorted(before.keys() & behind.keys())
    across = [t for producer in shared for t in _across(before[producer], behind[producer])]
    both |= {producer: _one_after(before[producer], behind[producer]) for producer in shared}
    closed = sorted((*left.closed, *right.closed, *across), key=_by_marker)
    return Transactions(
        closed=tuple(closed[-KEEP:]),
        closed_count=left.closed_count + right.closed_count + len(across),
        open=tuple(both[producer] for producer in sorted(both)),
    )


def _across(left: OpenTransactions, right: OpenTransactions) -> Iterator[EndedTransaction]:
    """The transaction that ends with the right stretch's first marker, where it surely began in one of the two."""
    if left.head_marker is None or right.head_marker is None:
        return
    start = left.open_from if left.open_from is not None else right.head_start
    if start is not None:
        yield EndedTransaction(producer_id=left.producer_id, start_offset=start, marker_offset=right.head_marker)


def _dated(transactions: OpenTransactions, clock: BrokerTime | None) -> OpenTransactions:
    """With the first broker's time behind its beginning, where the stretch had none."""
    if clock is None or transactions.begun is None or transactions.begun.clock is not None:
        return transactions
    return replace(transactions, begun=replace(transactions.begun, clock=clock))


def _one_after(left: OpenTransactions, right: OpenTransactions) -> OpenTransactions:
    last = left.last_marker if right.last_marker is None else right.last_marker
    if left.head_marker is None:
        if left.head_start is None:
            return right
        begun = left.begun if right.head_marker is None else right.begun
        return replace(right, head_start=left.head_start, begun=begun)
    if right.head_marker is not None:
        return replace(left, open_from=right.open_from, last_marker=last, begun=right.begun)
    if left.open_from is not None:
        return left
    return replace(left, open_from=right.head_start, begun=right.begun)


def _by_marker(transaction: EndedTransaction) -> tuple[int, int, int]:
    return transaction.marker_offset, transaction.start_offset, transaction.producer_id
