"""Request logs of brokers and controllers: fetch traces with their sessions rebuilt, and the requests around them."""

from parsers.request_log.blocks import Other
from parsers.request_log.by_partition import (
    LostLines,
    PartitionFetch,
    fetch_columns,
    fetch_numbers,
    lost_lines,
    named_by_lines,
    partition_fetch,
    produce_columns,
    produce_numbers,
    without_repetitions,
)
from parsers.request_log.fetch_columns import RequestColumns, Rows
from parsers.request_log.presence import first_time, holds_requests
from parsers.request_log.read import EVERY_API, NO_LINE, LineCounts, ReadLine
from parsers.request_log.repeated_requests import Again, Worded
from parsers.request_log.sessions import NOTHING, PartitionKey, SessionState, join
from parsers.request_log.trace import Trace, sessions_after
