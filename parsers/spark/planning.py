"""From a dump's inventory to the tasks of one scan; files that no row can come from are left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from parsers.inventory import Inventory, plain_segments, take_inventory
from parsers.provenance import Source
from parsers.spark.asked_table import TableRequest
from parsers.spark.brought import OF_MANY_BROKERS
from parsers.spark.registry import READERS, TableReader
from parsers.spark.row_batches import batches_of, packed
from parsers.spark.slices import Slice, by_bytes, by_replica
from parsers.tables import Refusal, SourceRow

Wanted = Mapping[str, frozenset[object]]
"""Values that a column may have, for the columns that are restricted."""


def plan(request: TableRequest, wanted: Wanted) -> list[Slice]:
    """The tasks that give all rows of the request whose columns have wanted values, and maybe others."""
    if not Path(request.path).is_dir():
        raise FileNotFoundError(f"{request.path}: expected the folder of a dump on the driver and on every executor")
    inventory = take_inventory(Path(request.path), log_dirs=request.log_dirs, parts=request.parts)
    reader = READERS.get(request.table)
    if reader is None:
        return []
    chosen = chosen_files(inventory, reader, request, wanted)
    found = list(_found(inventory, request))
    if reader.topic:
        return found + list(by_replica(chosen))
    return found + list(by_bytes(chosen, request.split_bytes, reader.splittable))


def chosen_files(
    inventory: Inventory, reader: TableReader, request: TableRequest, wanted: Wanted
) -> list[Source]:
    """The files that rows of the request may come from."""
    return [file for file in _files(inventory, reader) if _may_give(file, reader, request, wanted)]


def _files(inventory: Inventory, reader: TableReader) -> Iterator[Source]:
    """Files of the reader's kinds: the segments that make up a log, and other files in plain use."""
    folders = inventory.files_by_folder()
    if "segment" in reader.kinds:
        for replica in inventory.replicas:
            if reader.topic is None or (replica.origin.topic == reader.topic and replica.state == "current"):
                yield from plain_segments(folders.get(replica.path, ())).segments
    yield from (f for f in inventory.files if f.kind in reader.kinds and f.kind != "segment" and not f.suffix)


def _may_give(file: Source, reader: TableReader, request: TableRequest, wanted: Wanted) -> bool:
    if "topic" in reader.place and not request.admits(file.origin):
        return False
    of_one = [column for column in reader.place if column != "broker" or file.kind not in OF_MANY_BROKERS]
    return all(getattr(file.origin, column) in wanted[column] for column in of_one if column in wanted)


def _found(inventory: Inventory, request: TableRequest) -> Iterator[Slice]:
    """Rows that the inventory itself gives."""
    rows: Iterable[object] = ()
    if request.table == "refusals":
        rows = inventory.refusals
    elif request.table == "sources":
        rows = map(_source_row, inventory.files)
    for batch in batches_of(rows, Refusal if request.table == "refusals" else SourceRow):
        yield Slice(rows=packed(batch))


def _source_row(file: Source) -> SourceRow:
    origin = file.origin
    return SourceRow(
        **origin.columns,
        kind=file.kind,
        state=origin.state,
        size=file.size,
        span_start=0,
        span_end=file.size,
    )
