"""Transactions of a log from its batch headers alone: which stretches of offsets each of them keeps undecided.

A producer has one transaction at a time in a partition: its batches up to a marker, and the marker. What stands before
a stretch's first marker may belong to a transaction that began earlier: it is told apart until that part is joined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import polars as pl

from rules.facts.stretch import OpenTransactions, Transaction, Transactions

KEEP: Final = 4096
"""Transactions that are kept, and producers of which anything is told."""
UNTOLD: Final = Transactions(untold=True)


def transactions_of(batches: pl.DataFrame, marker: pl.Expr) -> Transactions:
    """The transactions of a stretch: its transactional batches in physical order, and which of them are markers."""
    rows = batches.select("producer_id", "base", marker=marker)
    passed = pl.col("marker").cast(pl.Int64)
    rows = rows.with_columns(turn=(passed.cum_sum() - passed).over("producer_id"))
    turns = rows.group_by("producer_id", "turn", maintain_order=True).agg(
        start=pl.col("base").filter(~pl.col("marker")).first(), end=pl.col("base").filter("marker").first()
    )
    first, later = turns.filter(pl.col("turn") == 0), turns.filter(pl.col("turn") > 0)
    last = later.filter(pl.col("end").is_null()).select("producer_id", open_from="start")
    if first.height > KEEP:
        return UNTOLD
    closed = later.drop_nulls().sort("end", "start", "producer_id")
    kept = closed.select("producer_id", "start", "end").tail(KEEP).rows()
    return Transactions(
        closed=tuple(Transaction(producer_id=p, start_offset=s, marker_offset=e) for p, s, e in kept),
        closed_count=closed.height,
        open=tuple(
            OpenTransactions(producer_id=producer, head_start=start, head_marker=end, open_from=open_from)
            for producer, _, start, end, open_from in first.join(last, on="producer_id", how="left")
            .sort("producer_id")
            .rows()
        ),
    )


def join_transactions(left: Transactions, right: Transactions) -> Transactions:
    """The transactions of two neighbouring stretches."""
    if left.untold or right.untold:
        return UNTOLD
    before = {told.producer_id: told for told in left.open}
    behind = {told.producer_id: told for told in right.open}
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


def _across(left: OpenTransactions, right: OpenTransactions) -> Iterator[Transaction]:
    """The transaction that ends with the right stretch's first marker, where it surely began in one of the two."""
    if left.head_marker is None or right.head_marker is None:
        return
    start = left.open_from if left.open_from is not None else right.head_start
    if start is not None:
        yield Transaction(producer_id=left.producer_id, start_offset=start, marker_offset=right.head_marker)


def _one_after(left: OpenTransactions, right: OpenTransactions) -> OpenTransactions:
    if left.head_marker is None:
        start = left.head_start if left.head_start is not None else right.head_start
        return replace(right, head_start=start)
    if right.head_marker is not None:
        return replace(left, open_from=right.open_from)
    return replace(left, open_from=left.open_from if left.open_from is not None else right.head_start)


def _by_marker(transaction: Transaction) -> tuple[int, int, int]:
    return transaction.marker_offset, transaction.start_offset, transaction.producer_id
