"""Which column of a fold holds which field of a table: the one list that tables and statements are made by."""

from __future__ import annotations

from typing import Final

from parsers.request_log import columns as c

_HEAD: Final = {
    "correlation_id": c.CORRELATION, "api_version": c.VERSION, "total_time_us": c.TOTAL, "queue_time_us": c.QUEUE,
    "local_time_us": c.LOCAL, "remote_time_us": c.REMOTE,
    "response_queue_time_us": c.RESPONSE_QUEUE, "send_time_us": c.SEND, "partition": c.PARTITION,
    "span_start": c.START, "span_end": c.END,
}  # fmt: skip
FETCHES: Final = {
    **_HEAD, "replica": c.REPLICA, "replica_epoch": c.REPLICA_EPOCH, "min_bytes": c.MIN_BYTES, "session_id": c.SESSION,
    "session_epoch": c.EPOCH, "answer_session_id": c.ANSWER_SESSION, "session_error": c.ERROR,
    "fetch_offset": c.FETCH_OFFSET, "last_fetched_epoch": c.LAST_FETCHED_EPOCH,
    "current_leader_epoch": c.CURRENT_LEADER_EPOCH, "log_start_offset": c.LOG_START,
    "request_high_watermark": c.REQUEST_WATERMARK, "error_code": c.ERROR_CODE, "high_watermark": c.WATERMARK,
    "last_stable_offset": c.STABLE, "leader_log_start_offset": c.LEADER_LOG_START,
    "diverging_epoch": c.DIVERGING_EPOCH, "diverging_end_offset": c.DIVERGING_END, "answer_leader": c.LEADER,
    "answer_leader_epoch": c.LEADER_EPOCH, "records_size": c.RECORDS,
}  # fmt: skip
FLAGS: Final = {
    "implied": c.IMPLIED, "answer_implied": c.ANSWER_IMPLIED, "possibly_stale": c.STALE,
    "session_start_missing": c.BEGUN_UNSEEN,
}  # fmt: skip
PRODUCES: Final = {
    **_HEAD, "acks": c.ACKS, "error_code": c.SENT_ERROR, "base_offset": c.SENT_BASE,
    "log_start_offset": c.SENT_START, "records_size": c.SENT_SIZE,
}  # fmt: skip
GAPS: Final = {
    "correlation_id": c.CORRELATION, "replica": c.GAP_REPLICA, "session_id": c.GAP_SESSION,
    "session_epoch": c.GAP_EPOCH, "error_code": c.GAP_ERROR, "lost": c.GAP_LOST, "span_start": c.START,
    "span_end": c.END,
}  # fmt: skip
