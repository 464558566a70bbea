"""Brokers' logs as containers, collectors and other layouts keep them say what the plain logs say."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from auditor.audit import audit
from auditor.cli.run_settings import settings_of
from auditor.config import AuditConfig, ConfigError, environment, merge
from auditor.engines.witnesses.broker_logs import is_nobodys, read_broker_log
from auditor.timeline import evidence_of
from parsers.broker_log import LogPart, instant_of, zone_named
from parsers.broker_log.json_lines import text_of
from parsers.provenance import Origin
from parsers.tables import BrokerEvent, Refusal, from_arrow
from tests.replaced import replace

pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"
LOG = (SAMPLES / "unclean_4x" / "dump" / "broker-2" / "logs" / "server.log").read_bytes()
HEAD = re.compile(rb"\[(2026[^\]]*)\] ([A-Z]+) (.*?)(?: \(([\w.$]+)\))?")


def told(
    path: Path, broker: int | None = 2, patterns: tuple[str, ...] = ()
) -> tuple[list[BrokerEvent], list[Refusal]]:
    parts = list[LogPart]()
    for speech in read_broker_log(path, Origin(source=path.name, broker=broker), patterns):
        said = list(speech)
        nobodys = next((place for place, part in enumerate(said) if is_nobodys(part)), 0)
        parts += said[nobodys:]
    rows = [row for part in parts for row in from_arrow(part.events, BrokerEvent)]
    return rows, [refusal for part in parts for refusal in part.refusals]


def placeless(rows: list[BrokerEvent]) -> list[BrokerEvent]:
    return [replace(row, span_start=0, span_end=0, source="") for row in rows]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> list[BrokerEvent]:
    path = tmp_path_factory.mktemp("plain") / "server.log"
    path.write_bytes(LOG)
    rows, refusals = told(path)
    assert len(rows) > 50
    assert not refusals
    return rows


def otherwise_laid_out(line: bytes) -> bytes:
    head = HEAD.fullmatch(line)
    return (head.expand(rb"\1 | \2 | \4 - \3") if head else line) + b"\n"


def as_strimzi_does(line: bytes) -> bytes:
    head = HEAD.fullmatch(line)
    return (head.expand(rb"\1 \2 \3 (\4) [data-plane-kafka-request-handler-1]") if head else line) + b"\n"


def as_json(line: bytes) -> bytes:
    wrapped = {"log": line.decode() + "\n", "stream": "stdout", "time": "2026-11-21T05:25:18.155Z"}
    return json.dumps(wrapped).encode() + b"\n"


def in_pieces(line: bytes) -> bytes:
    """A line that is longer than a collector's buffer."""
    stamp = b"2026-11-21T05:25:18.155823Z stdout "
    return stamp + b"P " + line[:60] + b"\n" + stamp + b"F " + line[60:] + b"\n"


WRAPPED: dict[str, Callable[[bytes], bytes]] = {
    "compose": lambda line: b"broker-2  | " + line + b"\n",
    "compose in colours": lambda line: b"\x1b[36mbroker-2-1 |\x1b[0m " + line + b"\n",
    "kubectl": lambda line: b"[pod/kafka-2/kafka] " + line + b"\n",
    "journalctl": lambda line: b"Nov 21 05:25:18 kafka-02 kafka-server-start.sh[155]: " + line + b"\n",
    "journalctl -o short-iso": lambda line: b"2026-11-21T05:25:18+0100 kafka-02 kafka[155]: " + line + b"\n",
    "docker logs -t": lambda line: b"2026-11-21T05:25:18.155823Z " + line + b"\n",
    "CRI": lambda line: b"2026-11-21T05:25:18.155823Z stdout F " + line + b"\n",
    "CRI in pieces": in_pieces,
    "json-file": as_json,
    "Windows": lambda line: line + b"\r\n",
    "Latin-1 among it": lambda line: line.replace(b"disconnected", b"M\xfcll") + b"\n",
}


@pytest.mark.parametrize("shape", WRAPPED)
def test_a_wrapped_log_says_what_the_plain_one_says(shape: str, plain: list[BrokerEvent], tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(b"".join(WRAPPED[shape](line) for line in LOG.splitlines()))
    rows, refusals = told(path)
    assert not refusals
    assert placeless(rows) == placeless(plain)
    data = path.read_bytes()
    for row, original in zip(rows[::7], plain[::7], strict=True):
        begins = LOG[original.span_start : original.span_start + 50]
        assert begins in data[row.span_start : row.span_end]
        assert row.span_start == 0 or data[row.span_start - 1] == 10


def test_a_log_laid_out_as_strimzi_does_is_read_without_a_flag(plain: list[BrokerEvent], tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(b"".join(map(as_strimzi_does, LOG.splitlines())))
    rows, refusals = told(path)
    assert not refusals
    assert placeless(rows) == placeless(plain)


def instant(time: str) -> dict[str, int]:
    seconds = datetime.strptime(f"{time[:19]}+0000", "%Y-%m-%d %H:%M:%S%z").timestamp()
    return {"epochSecond": int(seconds), "nanoOfSecond": int(time[20:]) * 1_000_000}


FIELDS: dict[str, Callable[[str, str, str, str], dict[str, object]]] = {
    "timestamp": lambda time, level, text, logger: {
        "timestamp": f"{time[:10]}T{time[11:19]}.{time[20:]}Z", "level": level, "logger": logger,
        "message": text.partition("\n")[0], "stack_trace": text.partition("\n")[2],
    },
    "Elastic": lambda time, level, text, logger: {
        "@timestamp": f"{time[:10]}T{time[11:19]}.{time[20:]}Z", "log": {"level": level, "logger": logger},
        "message": text,
    },
    "Logstash": lambda time, level, text, logger: {
        "@version": 1, "level": level, "logger_name": logger, "message": text, "@timestamp": f"{time}+0000",
    },
    "instant": lambda time, level, text, logger: {
        "instant": instant(time), "thread": "main", "level": level, "loggerName": logger, "message": text,
    },
}  # fmt: skip


@pytest.mark.parametrize("layout", FIELDS)
def test_a_log_whose_events_are_fields_of_json_says_what_the_plain_one_says(
    layout: str, plain: list[BrokerEvent], tmp_path: Path
) -> None:
    events: list[list[str]] = []
    for line in LOG.decode().splitlines():
        if head := HEAD.fullmatch(line.encode()):
            time, level, text, logger = ((part or b"").decode() for part in head.groups())
            events.append([time, level, text, logger])
        else:
            events[-1][2] += f"\n{line}"
    path = tmp_path / "kafka.log"
    path.write_text("".join(f"{json.dumps(FIELDS[layout](*event))}\n" for event in events))
    rows, refusals = told(path)
    assert not refusals
    assert placeless(rows) == placeless(plain)


@pytest.mark.parametrize(
    "line",
    [
        b'{"level":"INFO","message":"m","timestamp":1e999}',
        b'{"level":"INFO","message":"m","timestamp":NaN}',
        b'{"level":"INFO","message":"m","instant":{"epochSecond":99999999999999999999}}',
        b'{"level":"INFO","message":"m","timestamp":"tomorrow"}',
        b'{"level":20,"message":"m","timestamp":"2026-11-21T05:25:18.155Z"}',
        b'{"message":"m"}',
        b'{"log":null,"message":"m"}',
    ],
)
def test_an_event_without_a_time_or_level_is_its_text(line: bytes) -> None:
    assert text_of(line) == b"m"


@pytest.mark.parametrize("line", [b"{", b"{}", b'{"message":7}', b"[1]", b"{" * 100_000])
def test_a_line_of_json_without_text_is_none(line: bytes) -> None:
    assert text_of(line) is None


def test_a_packed_wrapped_log_is_read_and_a_torn_one_refused(plain: list[BrokerEvent], tmp_path: Path) -> None:
    path = tmp_path / "server.log.1.gz"
    packed = gzip.compress(b"".join(map(WRAPPED["compose"], LOG.splitlines())))
    path.write_bytes(packed)
    assert placeless(told(path)[0]) == placeless(plain)
    path.write_bytes(packed[:-2000])
    rows, refusals = told(path)
    assert placeless(rows) == placeless(plain)[: len(rows)]
    assert "damage" in {refusal.kind for refusal in refusals}


NAMED = (
    rb"((?:replicaId|broker|brokerId|nodeId|controllerId|id)=|on [bB]roker |(?:broker|node)\.id = "
    rb"|\[(?:GroupCoordinator|Transaction State Manager|Transaction Marker Channel Manager|ProducerId Manager) "
    rb"|\[(?:KafkaApi|ExpirationReaper|TxnMarkerSenderThread|broker)-)2(?!\d)"
)


def test_interleaved_brokers_are_told_apart_by_their_services(plain: list[BrokerEvent], tmp_path: Path) -> None:
    path = tmp_path / "compose.txt"
    lines = [b"Attaching to broker-2, broker-3, ui"]
    other = re.sub(NAMED, rb"\g<1>3", LOG)
    for line, its in zip(LOG.splitlines(), other.splitlines(), strict=True):
        lines += [b"broker-2  | " + line, b"broker-3  | " + its, b"ui        | started"]
    path.write_bytes(b"\n".join(lines) + b"\n")
    rows, refusals = told(path, broker=None)
    assert not refusals
    assert placeless(rows[: len(plain)]) == placeless(plain)
    (tmp_path / "server.log").write_bytes(other)
    assert placeless(rows[len(plain) :]) == placeless(told(tmp_path / "server.log", broker=3)[0])
    assert {row.broker for row in rows[len(plain) :]} == {3}


def test_lines_that_name_another_broker_make_a_log_nobodys(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(LOG)
    rows, (refusal,) = told(path, broker=3)
    assert not rows
    assert (refusal.kind, refusal.found) == ("ambiguous", "lines of brokers 2, 3")


def test_whose_log_it_is_is_never_guessed(tmp_path: Path) -> None:
    path = tmp_path / "compose.log"
    silent = [line for line in LOG.splitlines() if not re.search(NAMED.replace(b")2(?", b")\\d(?"), line)]
    path.write_bytes(b"".join(b"kafka  | " + line + b"\n" for line in silent))
    rows, (refusal,) = told(path, broker=None)
    assert not rows
    assert (refusal.kind, "kafka" in refusal.found) == ("ambiguous", True)
    both = LOG + re.sub(NAMED, rb"\g<1>3", LOG)
    path.write_bytes(b"".join(b"kafka  | " + line + b"\n" for line in both.splitlines()))
    rows, (refusal,) = told(path, broker=None)
    assert not rows
    assert (refusal.kind, refusal.found) == ("ambiguous", "lines of brokers 2, 3 from kafka")


@pytest.mark.parametrize(("service", "named"), [(b"kafka", 2), (b"kafka-1", 2), (b"kafka-7", 2), (b"broker-7-1", 7)])
def test_a_speaker_is_the_broker_as_which_it_speaks(
    service: bytes, named: int, plain: list[BrokerEvent], tmp_path: Path
) -> None:
    """A number at the end of a service may count its copies; one before that is a name, and contradicts."""
    path = tmp_path / "compose.log"
    another = b"\nzookeeper-1 | binding to port\n"
    path.write_bytes(b"".join(service + b" | " + line + another for line in LOG.splitlines()))
    rows, refusals = told(path, broker=None)
    if named != 2:
        assert [refusal.found for refusal in refusals] == ["lines of brokers 2, 7"]
        assert not rows
    else:
        assert not refusals
        assert placeless(rows) == placeless(plain)


def test_another_layout_is_read_when_named_and_refused_by_name_otherwise(
    plain: list[BrokerEvent], tmp_path: Path
) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(b"".join(map(otherwise_laid_out, LOG.splitlines())))
    rows, (refusal,) = told(path)
    assert not rows
    assert "--log-pattern" in refusal.expected
    rows, refusals = told(path, patterns=("%p %m%n", "%d{ISO8601} | %p | %c - %m%n"))
    assert not refusals
    assert placeless(rows) == placeless(plain)


def test_a_layout_holds_for_one_broker_or_for_all(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    shutil.copytree(SAMPLES / "unclean_4x" / "dump", dump, ignore=shutil.ignore_patterns("kafka-request.log*"))
    expected = evidence_of(dump, "pay", 0)
    for path in dump.glob("broker-2/logs/*.log"):
        lines = path.read_bytes().splitlines()
        path.write_bytes(b"".join(map(otherwise_laid_out, lines)))
    config = AuditConfig(log_pattern=("2=%d{ISO8601} | %p | %c - %m%n",), log_timezone=("2=+02:00",))
    evidence = evidence_of(dump, "pay", 0, config)

    def of_two(moments: object) -> list[tuple[object, ...]]:
        return [(m.kind, m.time, m.epoch, m.offset) for m in moments if m.clock == "broker 2"]  # type: ignore[attr-defined]

    moved = [(kind, time - 7_200_000, epoch, offset) for kind, time, epoch, offset in of_two(expected.moments)]  # type: ignore[operator]
    assert of_two(evidence.moments) == moved
    others = [m.time for m in expected.moments if m.clock != "broker 2"]
    assert [m.time for m in evidence.moments if m.clock != "broker 2"] == others
    before, after = (each.setting(2, "replica.lag.time.max.ms") for each in (expected, evidence))
    assert before is not None
    assert after is not None
    assert (after.since or 0) == (before.since or 0) - 7_200_000


def test_the_coverage_says_how_times_are_meant() -> None:
    config = AuditConfig(engine="local", level="quick", topic=("pay",), log_timezone=("Europe/Berlin", "3=UTC"))
    coverage = audit(SAMPLES / "unclean_4x" / "dump", config).coverage
    assert [(times.timezone, times.brokers) for times in coverage.log_times] == [
        ("Europe/Berlin", (1, 2, 100)),
        ("UTC", (3,)),
    ]


def test_zones_are_named_offsets_or_places() -> None:
    winter, summer = 1_700_000_000_000, 1_690_000_000_000
    berlin = instant_of("Europe/Berlin")
    assert (berlin(winter), berlin(summer)) == (winter - 3_600_000, summer - 7_200_000)
    assert instant_of("-03:30")(winter) == winter + 12_600_000
    assert instant_of(None)(winter) == winter
    assert berlin(None) is None
    for wrong in ("Berlin/../Europe", "../etc/passwd", "+99:99", "", "Mars/Olympus"):
        assert zone_named(wrong) is None


def test_options_lines_and_variables_name_layouts_and_zones(tmp_path: Path) -> None:
    file = tmp_path / "tidemark.yaml"
    file.write_text("log-pattern:\n  - '[%d] %p %m (%c)%n'\nlog-timezone: Europe/Berlin\n", encoding="utf-8")
    config = settings_of({"log_timezone": ["2=UTC"], "config": file})
    assert (config.log_pattern, config.log_timezone) == (("[%d] %p %m (%c)%n",), ("2=UTC",))
    patterns = ("%d{HH:mm:ss,SSS} %p %m%n", "2=%p %m%n")
    told_so = environment({"TIDEMARK_LOG_PATTERN": "\n".join(patterns), "TIDEMARK_LOG_TIMEZONE": "UTC,2=Z"})
    assert told_so == {"log_pattern": patterns, "log_timezone": ("UTC", "2=Z")}
    with pytest.raises(ConfigError, match="a zone such as"):
        merge(AuditConfig(), {"log_timezone": ["Mars"]})
    with pytest.raises(ConfigError, match="one %m"):
        merge(AuditConfig(), {"log_pattern": ["1=%d %p"]})


READ_ALONE = """
import sys
from pathlib import Path
import pyarrow
from auditor.audit import prepare
from auditor.config import AuditConfig
from auditor.dumps import gather
from auditor.engines.reading import read_unit
(unit,) = prepare(gather(Path(sys.argv[1])), AuditConfig()).units
facts = read_unit(unit, "full")
print(len(facts), sum(len(fact.moments) for fact in facts), pyarrow.default_memory_pool().max_memory() >> 20)
"""
"""Reads a dump and tells how many facts and statements it gives, and the most MiB of rows held at once."""


def test_the_rows_of_a_packed_log_are_not_held(tmp_path: Path) -> None:
    line = b"[2026-11-21 05:25:18,155] INFO [Log partition=t-%d, dir=/d] Rolled new log segment at offset 7 in 3 (k)"
    logs = tmp_path / "broker-2" / "logs"
    logs.mkdir(parents=True)
    text = b"".join(line % (number & 1023) + b"\n" for number in range(200_000)) + LOG
    (logs / "server.log.1.gz").write_bytes(gzip.compress(text, compresslevel=1))
    told = subprocess.run([sys.executable, "-c", READ_ALONE, tmp_path], capture_output=True, check=True, text=True)
    facts, statements, held = map(int, told.stdout.split())
    assert facts
    assert statements
    assert held < 30, "all rows are some 45 MiB"
