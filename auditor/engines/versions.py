"""What each broker ran, as its own log prints it at every start."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from auditor.engines.files import file_of
from parsers.broker_log import Releases, last_releases
from parsers.inventory import Inventory
from rules.evidence import BrokerVersion

WHOLE: Final = 64 << 20
"""Logs up to this size are looked through; of larger ones the two ends."""


def logged_versions(dump: Path, inventory: Inventory, cluster_id: str | None) -> tuple[BrokerVersion, ...]:
    """Every broker's last release and protocol in the order of its logs; brokers that print none are left out."""
    found: dict[int, BrokerVersion] = {}
    for file in inventory.files:
        origin = file.origin
        if file.kind != "broker-log" or origin.broker is None or origin.cluster_id != cluster_id:
            continue
        releases = last_releases(_ends(file_of(str(dump), origin.source), file.size))
        if any((releases.binary, releases.inter_broker_protocol, releases.metadata_version)):
            found[origin.broker] = _noted(found.get(origin.broker), origin.broker, releases, origin.source)
    return tuple(found[broker] for broker in sorted(found))


def known_versions(given: Sequence[BrokerVersion], logged: Sequence[BrokerVersion]) -> tuple[BrokerVersion, ...]:
    """What was given outweighs what was logged, field by field."""
    by_broker = {version.broker: version for version in logged}
    for told in given:
        before = by_broker.get(told.broker)
        by_broker[told.broker] = BrokerVersion(
            broker=told.broker,
            binary=told.binary or (before.binary if before else None),
            inter_broker_protocol=told.inter_broker_protocol or (before.inter_broker_protocol if before else None),
            because=told.because,
        )
    return tuple(by_broker[broker] for broker in sorted(by_broker))


def _noted(before: BrokerVersion | None, broker: int, releases: Releases, source: str) -> BrokerVersion:
    """A later log outweighs an earlier one, value by value; under KRaft the metadata version is the protocol."""
    spoken = releases.metadata_version or releases.inter_broker_protocol
    return BrokerVersion(
        broker=broker,
        binary=releases.binary or (before.binary if before else None),
        inter_broker_protocol=spoken or (before.inter_broker_protocol if before else None),
        because=f"printed in {source}",
    )


def _ends(path: Path, size: int) -> bytes:
    try:
        with path.open("rb") as file:
            if size <= WHOLE:
                return file.read(WHOLE)
            head = file.read(WHOLE // 2)
            file.seek(-WHOLE // 2, io.SEEK_END)
            return head + b"\n" + file.read(WHOLE // 2)
    except OSError:
        return b""
