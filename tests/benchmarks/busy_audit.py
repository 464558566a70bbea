"""How long a local audit of a busy request log takes: a leader whose followers' every fetch moves on.

Run as `python -m tests.benchmarks.busy_audit [megabytes]`; each audit runs in a process of its own, whose highest
memory is told beside its time.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter

STARTED = (
    "[2026-11-21 05:00:00,000] INFO [Broker id=1] Leader busy-%d starts at leader epoch 3 from offset 0 with high "
    "watermark 0 ISR [1,2,3] addingReplicas [] removingReplicas []. Previous leader epoch was -1. "
    "(state.change.logger)\n"
)
LOADED = (
    "[2026-11-21 05:00:00,000] INFO [Partition busy-%d broker=1] Log loaded for partition busy-%d with initial high "
    "watermark 0 (kafka.cluster.Partition)\n"
)
JSON_HEAD = '[%s] DEBUG Completed request:{"isForwarded":false,"requestHeader":{"requestApiKey":%d,'
JSON_TAIL = (
    '"connection":"127.0.0.1:41071-127.0.0.1:36064-0","totalTimeMs":428.678,"requestQueueTimeMs":0.627,"localTimeMs":'
    '0.506,"remoteTimeMs":426.664,"throttleTimeMs":0,"responseQueueTimeMs":0.124,"sendTimeMs":0.755,"securityProtocol":'
    '"PLAINTEXT","principal":"User:ANONYMOUS","listener":"PLAINTEXT","clientInformation":{"softwareName":"unknown",'
    '"softwareVersion":"unknown"}} (kafka.request.logger)\n'
)
JSON_FETCH = (
    JSON_HEAD + '"requestApiVersion":12,"correlationId":%d,"clientId":"broker-%d-fetcher-0","requestApiKeyName":'
    '"FETCH"},"request":{"replicaId":%d,"maxWaitMs":500,"minBytes":1,"maxBytes":10485760,"isolationLevel":0,"sessionId":'
    '%d,"sessionEpoch":%d,"topics":[{"topic":"busy","partitions":[%s]}],"forgottenTopicsData":[],"rackId":""},"response"'
    ':{"throttleTimeMs":0,"errorCode":0,"sessionId":%d,"responses":[{"topic":"busy","partitionResponses":[%s]}]},'
    + JSON_TAIL
)
JSON_ASKED = (
    '{"partition":%d,"currentLeaderEpoch":3,"fetchOffset":%d,"lastFetchedEpoch":3,"logStartOffset":0,'
    '"partitionMaxBytes":1048576}'
)
JSON_ANSWERED = (
    '{"partition":%d,"errorCode":0,"highWatermark":%d,"lastStableOffset":%d,"logStartOffset":0,"abortedTransactions":'
    'null,"preferredReadReplica":-1,"recordSetSizeInBytes":875}'
)
JSON_PRODUCE = (
    JSON_HEAD + '"requestApiVersion":9,"correlationId":%d,"clientId":"writer-%d","requestApiKeyName":"PRODUCE"},'
    '"request":{"transactionalId":null,"acks":-1,"timeoutMs":30000,"topicData":[{"name":"busy","partitionData":[{"index":%d,'
    '"recordsSizeInBytes":271}]}]},"response":{"responses":[{"name":"busy","partitionResponses":[{"index":%d,'
    '"errorCode":0,"baseOffset":%d,"logAppendTimeMs":-1,"logStartOffset":0,"recordErrors":[],"errorMessage":null}]}],'
    '"throttleTimeMs":0},' + JSON_TAIL
)
TEXT_TAIL = (
    "} from connection 127.0.0.1:38005-127.0.0.1:45900-1;totalTime:521.817,requestQueueTime:0.13,localTime:16.744,"
    "remoteTime:502.595,throttleTime:0.505,responseQueueTime:1.586,sendTime:0.255,securityProtocol:PLAINTEXT,principal:"
    "User:ANONYMOUS,listener:PLAINTEXT (kafka.request.logger)\n"
)
TEXT_FETCH = (
    "[%s] DEBUG Completed request:RequestHeader(apiKey=FETCH, apiVersion=7, clientId=broker-%d-fetcher-0, "
    "correlationId=%d) -- {replica_id=%d,max_wait_time=500,min_bytes=1,max_bytes=10485760,isolation_level=0,"
    "session_id=%d,epoch=%d,topics=[{topic=busy,partitions=[%s]}],forgetten_topics_data=[]},response:{throttle_time_ms=0,error_code=0,"
    "session_id=%d,responses=[{topic=busy,partition_responses=[%s]}]" + TEXT_TAIL
)
TEXT_ASKED = "{partition=%d,fetch_offset=%d,log_start_offset=0,max_bytes=1048576}"
TEXT_ANSWERED = (
    "{partition_header={partition=%d,error_code=0,high_watermark=%d,last_stable_offset=%d,log_start_offset=0,"
    "aborted_transactions=null},record_set=FileRecords(size=733, file=/d/busy-0/0.log, start=5120, end=5853)}"
)
TEXT_PRODUCE = (
    "[%s] DEBUG Completed request:RequestHeader(apiKey=PRODUCE, apiVersion=5, clientId=writer-%d, correlationId=%d) -- "
    "{acks=-1,timeout=30000,numPartitions=1},response:{responses=[{topic=busy,partition_responses=[{partition=%d,"
    "error_code=0,base_offset=%d,log_append_time=-1,log_start_offset=0}]}],throttle_time_ms=0" + TEXT_TAIL
)
FOLLOWERS = (2, 3)


def main() -> None:
    """Print one line an audit."""
    size = int(sys.argv[1] if len(sys.argv) > 1 else 150) * 1_000_000
    for form in ("JSON", "text"):
        for partitions in (1, 50):
            with tempfile.TemporaryDirectory() as folder:
                busy_dump(Path(folder), form, partitions, size)
                measure(f"{form}, {partitions} partitions", Path(folder))


def measure(name: str, dump: Path) -> None:
    """Time, and the highest memory of all audits so far."""
    command = (sys.executable, "-m", "auditor.cli", "audit", str(dump), "--engine", "local")
    size = sum(file.stat().st_size for file in dump.rglob("kafka-request.log"))
    start, used = perf_counter(), getrusage(RUSAGE_CHILDREN).ru_utime
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    children = getrusage(RUSAGE_CHILDREN)
    print(
        f"{name:22} {size / 1e6:6.0f} MB in {perf_counter() - start:6.1f} s ({children.ru_utime - used:.1f} s of the"
        f" processor), at most {children.ru_maxrss >> 10} MiB, exit {said.returncode}",
        flush=True,
    )
    if "--show" in sys.argv:
        print(said.stdout, said.stderr)


def busy_dump(folder: Path, form: str, partitions: int, size: int) -> None:
    """The logs of a leader of so many partitions."""
    logs = folder / "broker-1" / "logs"
    logs.mkdir(parents=True)
    (logs / "state-change.log").write_text("".join(STARTED % number for number in range(partitions)))
    (logs / "server.log").write_text("".join(LOADED % (number, number) for number in range(partitions)))
    with (logs / "kafka-request.log").open("wb") as file:
        for lines in busy_lines(form, partitions):
            file.write(lines)
            if file.tell() > size:
                return


def busy_trace(form: str, partitions: int, size: int) -> bytes:
    """Lines of a busy log, up to some size."""
    parts, total = list[bytes](), 0
    for lines in busy_lines(form, partitions):
        parts.append(lines)
        total += len(lines)
        if total > size:
            break
    return b"".join(parts)


def busy_lines(form: str, partitions: int) -> Iterator[bytes]:
    """Rounds of both followers' fetches of the few partitions that moved, an acknowledgement, and an append to each.

    As in a session, an answer names those that moved and those of which it has another high watermark to tell.
    """
    ends, told, bases = ([0] * partitions for _ in range(3))
    opening = dict.fromkeys(range(partitions), 0)
    yield "".join(_fetch(form, 0, broker, 0, opening, opening) for broker in FOLLOWERS).encode()
    number, before = 0, list[int]()
    while True:
        number += 1
        moved = sorted({(number * step) % partitions for step in (1, 7, 11)})
        asked = {p: ends[p] for p in moved}
        # The high watermark follows the second of the two that asks; the first hears of it with its next fetch.
        lines = [_fetch(form, number, FOLLOWERS[0], number, asked, {p: told[p] for p in sorted({*before, *moved})})]
        lines.append(_fetch(form, number, FOLLOWERS[1], number, asked, asked))
        if ends[moved[0]] and number % 4 == 0:
            lines.append(_produce(form, number, moved[0], bases[moved[0]]))
        for p in moved:
            told[p], bases[p], ends[p] = ends[p], ends[p], ends[p] + 1 + number % 5
        before = moved
        yield "".join(lines).encode()


def _time(number: int) -> str:
    """A round takes 5 ms."""
    seconds, ms = divmod(number * 5, 1000)
    return f"2026-11-21 {5 + seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d},{ms:03d}"


def _fetch(form: str, number: int, broker: int, epoch: int, offsets: dict[int, int], told: dict[int, int]) -> str:
    opened, session = 770 + broker, 770 + broker if epoch else 0
    ask, answer = (JSON_ASKED, JSON_ANSWERED) if form == "JSON" else (TEXT_ASKED, TEXT_ANSWERED)
    asked = ",".join(ask % one for one in offsets.items())
    answered = ",".join(answer % (p, watermark, watermark) for p, watermark in told.items())
    if form == "JSON":
        return JSON_FETCH % (_time(number), 1, number, broker, broker, session, epoch, asked, opened, answered)
    return TEXT_FETCH % (_time(number), broker, number, broker, session, epoch, asked, opened, answered)


def _produce(form: str, number: int, partition: int, offset: int) -> str:
    if form == "JSON":
        return JSON_PRODUCE % (_time(number), 0, number, number % 7, partition, partition, offset)
    return TEXT_PRODUCE % (_time(number), number % 7, number, partition, offset)


if __name__ == "__main__":
    main()
