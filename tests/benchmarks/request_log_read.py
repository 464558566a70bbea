"""How fast request logs are read: megabytes a second of one core, from the recorded logs repeated to some size.

Each repetition of a recorded log has times and correlation ids of its own. More logs are written, as large clusters
write them: every fetch of 1 or 50 partitions moves on, 500 partitions in one session of which a line names few, and 500
partitions in every line.
Run as `python -m tests.benchmarks.request_log_read [megabytes]`.
"""

from __future__ import annotations

import io
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from auditor.engines.uncollected import uncollected
from auditor.engines.witnesses.log_statements import TELLING
from auditor.engines.witnesses.statements_of_requests import of_trace
from auditor.engines.witnesses.thinned_traces import Thinning
from parsers.provenance import Origin
from parsers.request_log import LineCounts
from parsers.request_log.blocks import LineReading
from parsers.request_log.folded import Folded
from parsers.request_log.lines_of_range import blocks_of
from parsers.request_log.trace import read_pieces
from parsers.request_log.typed import FETCHES
from tests.benchmarks.busy_audit import busy_trace

SAMPLES = Path(__file__).parents[2] / "sample_logs"
ORIGIN = Origin(source="kafka-request.log", broker=1)
RUNS = 5
KINDS: dict[str, Callable[[bytes], bool]] = {
    "JSON": lambda line: b'"requestApiKey":' in line[:140],
    "JSON, fetches only": lambda line: b'"requestApiKey":1,' in line[:140],
    "text (1.1)": lambda line: b"RequestHeader(apiKey=" in line[:90],
    "text (1.1), fetches only": lambda line: b"RequestHeader(apiKey=FETCH" in line[:90],
    "text (1.1), fetches and produces": lambda line: line[71:76] == b"FETCH" or line[71:78] == b"PRODUCE",
}
TIMES = re.compile(rb"(?m)^(\[\d{4}-\d\d-\d\d )(\d\d)")
JSON_FETCHES = re.compile(rb'Completed request:(\{"isForwarded":\w+,"requestHeader":\{"requestApiKey":1,.*\}) ')
CORRELATION = re.compile(rb'(correlationId"?[:=])(\d+)')
FETCH = (
    '[2026-11-21 05:%02d:%02d,%03d] DEBUG Completed request:{"isForwarded":false,"requestHeader":{"requestApiKey":1,'
    '"requestApiVersion":12,"correlationId":%d,"clientId":"broker-2-fetcher-0","requestApiKeyName":"FETCH"},"request":'
    '{"replicaId":2,"maxWaitMs":500,"minBytes":1,"maxBytes":10485760,"isolationLevel":0,"sessionId":%d,"sessionEpoch":'
    '%d,"topics":[%s],"forgottenTopicsData":[],"rackId":""},"response":{"throttleTimeMs":0,"errorCode":0,"sessionId":'
    '%d,"responses":[%s]},"connection":"127.0.0.1:41071-127.0.0.1:36064-0","totalTimeMs":428.678,"requestQueueTimeMs":'
    '0.627,"localTimeMs":0.506,"remoteTimeMs":426.664,"throttleTimeMs":0,"responseQueueTimeMs":0.124,"sendTimeMs":0.755,'
    '"securityProtocol":"PLAINTEXT","principal":"User:ANONYMOUS","listener":"PLAINTEXT","clientInformation":'
    '{"softwareName":"unknown","softwareVersion":"unknown"}} (kafka.request.logger)\n'
)
ASKED = '{"partition":%d,"currentLeaderEpoch":3,"fetchOffset":%d,"lastFetchedEpoch":3,"logStartOffset":0,"x":1048576}'
ANSWERED_TOPIC = '{"topic":"topic-%d","partitionResponses":[%s]}'
ANSWERED = (
    '{"partition":%d,"errorCode":0,"highWatermark":%d,"lastStableOffset":%d,"logStartOffset":0,'
    '"abortedTransactions":null,"preferredReadReplica":-1,"recordSetSizeInBytes":271}'
)


def main() -> None:
    """Print one line a kind of log and stage."""
    size = int(sys.argv[1] if len(sys.argv) > 1 else 200) * 1_000_000
    lines = [
        line
        for log in sorted(SAMPLES.glob("*/dump/*/logs/kafka-request.log"))
        for line in log.read_bytes().splitlines(keepends=True)
    ]
    for kind, chosen in KINDS.items():
        measure(kind, repeated([line for line in lines if chosen(line)], size))
    for form in ("JSON", "text"):
        for partitions in (1, 50):
            measure(f"{form}, busy, {partitions} partitions", busy_trace(form, partitions, size))
    measure("500 partitions a session", gathered(of_session(), size))
    measure("500 partitions a line, all but one as before", gathered(of_full_fetches(), size))


def measure(kind: str, text: bytes) -> None:
    """The stages one above the other; how fast structs alone are read of the same fetches tells the machine's speed."""
    if fetches := JSON_FETCHES.findall(text):
        report(f"{kind}: structs of fetches alone", b"".join(fetches), lambda _: structs(fetches))
    report(f"{kind}: to rows, sessions rebuilt", text, rows)
    report(f"{kind}: to statements of the audit", text, said)


def repeated(lines: list[bytes], size: int) -> bytes:
    """Recorded lines again and again, an hour and a thousand requests later each time."""
    once, parts, total = b"".join(lines), list[bytes](), 0
    while total < size:
        parts.append(shifted(once, len(parts)))
        total += len(once)
    return b"".join(parts)


def shifted(text: bytes, turn: int) -> bytes:
    """A log as it would have been some hours later."""
    later = TIMES.sub(lambda found: found[1] + b"%02d" % ((int(found[2]) + turn) % 24), text)
    return CORRELATION.sub(lambda found: found[1] + b"%d" % (int(found[2]) + 1000 * turn), later)


def gathered(lines: Iterator[str], size: int) -> bytes:
    """Written lines up to some size."""
    parts, total = list[bytes](), 0
    while total < size:
        parts.append(next(lines).encode())
        total += len(parts[-1])
    return b"".join(parts)


def written(number: int, session: int, epoch: int, opened: int, offsets: dict[tuple[int, int], int]) -> str:
    """A fetch of some partitions, by topic and number, at their offsets."""
    topics: dict[int, list[tuple[int, int]]] = {}
    for (topic, partition), offset in offsets.items():
        topics.setdefault(topic, []).append((partition, offset))
    asked = ",".join(
        f'{{"topic":"topic-{topic}","partitions":[{",".join(ASKED % part for part in parts)}]}}'
        for topic, parts in topics.items()
    )
    answered = ",".join(
        ANSWERED_TOPIC
        % (topic, ",".join(ANSWERED % (part, at, at) for part, at in parts))
        for topic, parts in topics.items()
    )
    clock = (number // 60000 % 60, number // 1000 % 60, number % 1000)
    return FETCH % (*clock, number, session, epoch, asked, opened, answered)


def of_session() -> Iterator[str]:
    """A session of 500 partitions, three of which move on with each fetch."""
    everything = {(number // 10, number % 10): 100 for number in range(500)}
    yield written(0, 0, 0, 77, everything)
    number = 0
    while True:
        number += 1
        moved = (number * 7 % 500, number * 11 % 500, number * 13 % 500)
        yield written(number, 77, number, 77, {(one // 10, one % 10): 100 + number for one in moved})


def of_full_fetches() -> Iterator[str]:
    """Fetches without a session, as before 1.1: all partitions each time, of which one has moved on."""
    offsets = {(number // 10, number % 10): 100 for number in range(500)}
    number = 0
    while True:
        number += 1
        moved = number * 7 % 500
        offsets[moved // 10, moved % 10] += 1
        yield written(number, 0, -1, 0, offsets)


def report(name: str, text: bytes, work: Callable[[bytes], object]) -> None:
    """Processor time of one stage, the median of some runs."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        work(text)
        times.append(time.process_time() - start)
    print(f"{name:72} {len(text) / 1e6:7.1f} MB {len(text) / 1e6 / median(times):8.1f} MB/s", flush=True)


def structs(fetches: list[bytes]) -> None:
    """Fetches one after the other, none of which is kept."""
    for fetch in fetches:
        FETCHES.structs(fetch, 1)


def rows(text: bytes) -> None:
    """Rows of fetches and produces in columns, and rows of the other requests."""
    reading = LineReading(ORIGIN, LineCounts(), TELLING)
    with uncollected():
        for _ in read_pieces(blocks_of(io.BytesIO(text), 0, None), reading, Folded()):
            pass


def said(text: bytes) -> None:
    """What an audit keeps, before repetitions are folded: of busy logs what rules over time need."""
    reading = LineReading(ORIGIN, LineCounts(), TELLING)
    with uncollected():
        read = read_pieces(blocks_of(io.BytesIO(text), 0, None), reading, Folded())
        for _ in of_trace(Thinning().passing(read), ORIGIN, {}):
            pass


if __name__ == "__main__":
    main()
