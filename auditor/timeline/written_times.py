"""When a witness says that something was, in the words in which its own log has it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from parsers.broker_log import given_for, zone_named
from parsers.provenance import broker_id
from rules.history.moments import Moment

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def written(moment: Moment, zones: Sequence[str] = ()) -> str:
    """The time as Kafka's own layout writes it, so that it is found again in the log; `?` where none is written."""
    time = moment.clock_time
    if time is None:
        return "?"
    broker = broker_id(moment.clock.removeprefix("broker "))
    given = [] if broker is None else given_for(broker, zones)
    zone = zone_named(given[0]) if given else None
    try:
        instant = (EPOCH + timedelta(milliseconds=time)).astimezone(zone or UTC)
    except OverflowError:
        return "?"
    return instant.strftime("%Y-%m-%d %H:%M:%S,") + f"{time % 1000:03d}"
