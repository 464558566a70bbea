"""Request logs of brokers and controllers: fetch traces with their sessions rebuilt, and the requests around them."""

from parsers.request_log.alike import Again, Worded
from parsers.request_log.call import Answered, Asked, FetchCall, PartitionKey
from parsers.request_log.columns import Columns
from parsers.request_log.fetches import fetch_rows
from parsers.request_log.grammar import Integers
from parsers.request_log.layout import DEFAULT_PATTERN
from parsers.request_log.presence import first_time, holds_requests
from parsers.request_log.read import LineCounts, RequestLog, read_request_lines, read_request_log
from parsers.request_log.sessions import NOTHING, Session, SessionState, fold, join
from parsers.request_log.told import (
    FetchTold,
    LostLines,
    ProduceTold,
    fetch_columns,
    fetch_numbers,
    fetch_told,
    lost_line,
    lost_lines,
    produce_columns,
    produce_numbers,
    produce_told,
    told_in,
)
from parsers.request_log.trace import Told, Trace, sessions_after

__all__ = [
    "DEFAULT_PATTERN", "NOTHING", "Again", "Answered", "Asked", "Columns", "FetchCall", "FetchTold", "Integers",
    "LineCounts", "LostLines", "PartitionKey", "ProduceTold", "RequestLog", "Session", "SessionState", "Told",
    "Trace", "Worded", "fetch_columns", "fetch_numbers", "fetch_rows", "fetch_told", "first_time", "fold",
    "holds_requests", "join", "lost_line", "lost_lines", "produce_columns", "produce_numbers", "produce_told",
    "read_request_lines", "read_request_log", "sessions_after", "told_in",
]  # fmt: skip
