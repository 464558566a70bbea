"""Request logs of brokers and controllers: fetch traces with their sessions rebuilt, and the requests around them."""

from parsers.request_log.blocks import Other
from parsers.request_log.by_partition import (
    FetchTold,
    LostLines,
    fetch_columns,
    fetch_numbers,
    fetch_told,
    lost_lines,
    named_by_lines,
    produce_columns,
    produce_numbers,
    without_repetitions,
)
from parsers.request_log.call import AnsweredPartition, AskedPartition, FetchCall, PartitionKey
from parsers.request_log.fetch_columns import Rows, ToldRows
from parsers.request_log.fetches import fetch_rows, fold
from parsers.request_log.layout import DEFAULT_PATTERN
from parsers.request_log.presence import first_time, holds_requests
from parsers.request_log.read import EVERY_API, LineCounts, RequestLog, read_request_lines, read_request_log
from parsers.request_log.repeated_requests import Again, Worded
from parsers.request_log.sessions import NOTHING, Session, SessionState, join
from parsers.request_log.trace import Trace, sessions_after

__all__ = [
    "DEFAULT_PATTERN", "EVERY_API", "NOTHING", "Again", "AnsweredPartition", "AskedPartition", "FetchCall", "FetchTold",
    "LineCounts", "LostLines", "Other", "PartitionKey", "RequestLog", "Rows", "Session", "SessionState", "ToldRows",
    "Trace", "Worded", "fetch_columns", "fetch_numbers", "fetch_rows", "fetch_told", "first_time", "fold",
    "holds_requests", "join", "lost_lines", "named_by_lines", "produce_columns", "produce_numbers",
    "read_request_lines", "read_request_log", "sessions_after", "without_repetitions",
]  # fmt: skip
