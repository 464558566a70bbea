"""Request logs of brokers and controllers: fetch traces with their sessions rebuilt, and the requests around them."""

from parsers.request_log.call import Answered, Asked, FetchCall, PartitionKey
from parsers.request_log.fetches import fetch_rows
from parsers.request_log.layout import DEFAULT_PATTERN
from parsers.request_log.read import LineCounts, RequestLog, read_request_lines, read_request_log
from parsers.request_log.sessions import NOTHING, Session, SessionState, fold, join

__all__ = [
    "DEFAULT_PATTERN", "NOTHING", "Answered", "Asked", "FetchCall", "LineCounts", "PartitionKey", "RequestLog",
    "Session", "SessionState", "fetch_rows", "fold", "join", "read_request_lines", "read_request_log",
]  # fmt: skip
