"""Files that change while they are read: a refusal of that file at the worst, never the end of the process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from auditor.engines import reading, zooming
from parsers.files import read_exactly
from parsers.segment import SegmentChunk, scan
from tests.auditor.dumps_at_hand import ROOT, copied, digest, told, violations
from tests.parsers.segment_logs import ORIGIN, batch, log_of

LATER = "broker-2/data/fire-0/00000000000000000000.log"
Change = Callable[[Path], None]


def grown(path: Path) -> None:
    with path.open("ab") as file:
        file.write(batch(10_000_000))


def shrunk(path: Path) -> None:
    os.truncate(path, 100)


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def vanished(path: Path) -> None:
    path.unlink()


def replaced(path: Path) -> None:
    other = path.with_suffix(".other")
    other.write_bytes(b"\xff" * 1000)
    other.replace(path)


CHANGES = [grown, shrunk, emptied, vanished, replaced]


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """A segment that no reader holds at once."""
    path = tmp_path / "0.log"
    path.write_bytes(b"".join(log_of(3000, value=b"x" * 1000)))
    return path


@pytest.mark.parametrize("change", CHANGES)
def test_a_segment_that_changes_between_two_chunks(long: Path, change: Change) -> None:
    size = long.stat().st_size
    chunks = scan(long, ORIGIN, chunk_rows=100, listed=size)
    read = [*islice(chunks, 3)]
    change(long)
    rest = [*chunks]
    refusals = [refusal for chunk in rest for refusal in chunk.refusals]
    if change in (shrunk, emptied):
        assert [refusal.kind for refusal in refusals] == ["unreadable"]
        assert "fewer bytes" in refusals[0].found
        assert sum(chunk.headers.num_rows for chunk in (*read, *rest)) == refusals[0].span_start // (size // 3000)
    else:  # what was opened stays what it was
        assert refusals == []
        assert sum(chunk.headers.num_rows for chunk in (*read, *rest)) == 3000


@pytest.mark.parametrize("change", [shrunk, emptied, vanished])
def test_a_stretch_of_a_file_that_is_gone_is_not_passed_over(long: Path, change: Change) -> None:
    size = long.stat().st_size
    change(long)
    for start, end in ((0, size // 2), (size // 2, size)):
        kinds = [r.kind for chunk in scan(long, ORIGIN, start=start, end=end, listed=size) for r in chunk.refusals]
        assert kinds[-1:] == ["not_copied" if change is vanished else "unreadable"]


def test_bytes_that_are_read_again_are_whole_or_an_error(long: Path) -> None:
    assert [*read_exactly(long, [(5, 9)])] == [long.read_bytes()[5:9]]
    shrunk(long)
    with pytest.raises(OSError, match="fewer bytes"):
        [*read_exactly(long, [(90, 110)])]


@pytest.mark.parametrize("change", CHANGES)
def test_a_segment_that_changes_while_an_audit_comes_to_it(
    tmp_path: Path, change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = copied("acks_one_lost", tmp_path / "dump", logs=True)
    scan_source = reading.scan_source

    def changing(root: Path, origin: object, **named: object) -> Iterator[SegmentChunk]:
        if str(getattr(origin, "source", "")) == LATER and (dump / LATER).exists():
            change(dump / LATER)
        yield from scan_source(root, origin, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(reading, "scan_source", changing)
    report = told(dump)
    if change not in (grown, replaced):
        assert LATER in {refusal["path"] for refusal in report["refusals"] if refusal["blocking"]}
    accused = {(rule, tuple(brokers)) for rule, _, _, brokers, *_ in violations(report)}
    assert not {rule for rule, _ in accused} & {"LEO001", "SEG008", "HW001"} or change is replaced
    assert report["verdict"] != "clean"


def test_a_segment_that_shrinks_before_its_second_look_leaves_its_partition_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = copied("fast_failover_kip101", tmp_path / "dump", logs=True)
    (segment,) = (p for p in dump.glob("broker-1/data/ff-0/*.log"))
    wanted = zooming.wanted

    def shrinking(evidence: object) -> object:
        os.truncate(segment, 100)
        return wanted(evidence)  # type: ignore[arg-type]

    monkeypatch.setattr(zooming, "wanted", shrinking)
    report = told(dump, topic=("ff",))
    assert violations(report) == []
    assert report["verdict"] == "unknown"


@pytest.mark.slow
def test_a_truncated_segment_never_kills_the_process(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    content = b"".join(log_of(2000, value=b"x" * 4000)) * 4
    script = (
        "import sys; from pathlib import Path\n"
        "from parsers.provenance import Origin; from parsers.segment import scan\n"
        "print('ready', flush=True)\n"
        "for _ in range(40):\n"
        "    for chunk in scan(Path(sys.argv[1]), Origin(source='0.log')): pass\n"
    )
    path.write_bytes(content)
    with subprocess.Popen([sys.executable, "-c", script, str(path)], cwd=ROOT, stdout=subprocess.PIPE) as reader:
        assert reader.stdout is not None
        reader.stdout.readline()
        while reader.poll() is None:
            os.truncate(path, 5000)
            path.write_bytes(content)
    assert reader.returncode == 0


@pytest.mark.slow
def test_two_audits_at_once_and_a_copy_that_may_not_be_written(tmp_path: Path) -> None:
    dump = copied("acks_one_lost", tmp_path / "dump", logs=True)
    for place in (*dump.rglob("*"), dump):
        place.chmod(0o555 if place.is_dir() else 0o444)
    before = digest(dump)
    command = [sys.executable, "-m", "auditor.cli", "audit", str(dump), "--engine", "local", "--format", "json"]
    environment = {**os.environ, "HOME": str(tmp_path)}
    both = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [1, 1]
    assert outputs[0] == outputs[1]
    assert digest(dump) == before
    for place in dump.rglob("*"):
        place.chmod(0o755)
