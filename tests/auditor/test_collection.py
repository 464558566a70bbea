"""The script that collects a broker's evidence, run by a real shell, and what an audit makes of its manifest."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command import run
from dumps_at_hand import SAMPLES, copied, digest, told, told_of

from auditor.collection import script_text
from tests.lab.effort import fast_if

SHELLS = [name for name in ("sh", "dash", "bash", "busybox") if shutil.which(name)]
SAMPLE = "unclean_4x"
MANIFEST = "tidemark-collect.manifest"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "collect.sh"
    path.write_text(run("collect-script").out, encoding="utf-8")
    return path


def collect(
    script: Path, *words: object, shell: str = "sh", path: str | None = None, place: Path | None = None
) -> subprocess.CompletedProcess[str]:
    command = [shell, *(["sh"] if shell == "busybox" else []), str(script), *map(str, words)]
    environment = {**os.environ, **({"PATH": path} if path else {})}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=place)


def collect_all(script: Path, dump: Path, out: Path, shell: str = "sh") -> None:
    for home in sorted(dump.iterdir()):
        broker = home.name.rpartition("-")[2]
        ended = collect(script, "-o", out, "-b", broker, "-d", home / "data", "-l", home / "logs", shell=shell)
        assert ended.returncode == 0, ended.stderr


@pytest.fixture(scope="module")
def collected_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("collected")
    (place / "collect.sh").write_text(script_text(), encoding="utf-8")
    collect_all(place / "collect.sh", SAMPLES / SAMPLE / "dump", place / "out")
    return place / "out"


@pytest.fixture
def collected(collected_once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(collected_once, tmp_path / "out"))


def refused(out: Path, **settings: object) -> list[tuple[str, str, str]]:
    report = told(out, **settings)
    return [(line["path"], line["expected"], line["found"]) for line in report["refusals"] if line["blocking"]]


@pytest.mark.parametrize("shell", fast_if(SHELLS[:1].__contains__, SHELLS))
def test_what_the_script_copies_tells_what_the_disks_tell(script: Path, tmp_path: Path, shell: str) -> None:
    dump, out = SAMPLES / SAMPLE / "dump", tmp_path / "a folder"
    before = digest(dump)
    collect_all(script, dump, out, shell)
    assert digest(dump) == before
    here, there = told_of(SAMPLE), told(out)
    assert [f["fingerprint"] for f in there["findings"]] == [f["fingerprint"] for f in here["findings"]]
    assert there["coverage"]["bytesRead"] == here["coverage"]["bytesRead"]
    assert refused(out) == []
    assert stat.S_IMODE((out / "broker-1").stat().st_mode) == 0o700


def test_the_manifest_names_every_file_with_its_checksum(collected: Path) -> None:
    for home in collected.iterdir():
        lines = (home / MANIFEST).read_text().splitlines()
        told_of = [line.split(" ", 3) for line in lines if line.startswith("file ")]
        named = {path: (digits, int(size)) for _, digits, size, path in told_of}
        files = [path for path in home.rglob("*") if path.is_file() and path.name != MANIFEST]
        here = {path.relative_to(home).as_posix(): path.read_bytes() for path in files}
        assert named == {path: (hashlib.sha256(data).hexdigest(), len(data)) for path, data in here.items()}
        assert lines[-1] == f"end {len(here)} files"


def test_what_fades_comes_first_checkpoints_before_logs_and_brokers_words_last(script: Path, tmp_path: Path) -> None:
    home = copied(SAMPLE, tmp_path / "dump", logs=True) / "broker-1"
    replica = home / "data" / "pay-0"
    (replica / f"{5:020}.log.deleted").write_bytes(b"gone soon")
    shutil.copytree(replica, home / "data" / "old-0.0123456789abcdef0123456789abcdef-delete")
    collect(script, "-o", tmp_path / "out", "-b", 1, "-d", home / "data", "-l", home / "logs")
    lines = (tmp_path / "out" / "broker-1" / MANIFEST).read_text().splitlines()
    order = [line.split(" ", 3)[3] for line in lines if line.startswith("file ")]

    def place(path: str) -> int:
        return order.index(path)

    segment = f"data/pay-0/{0:020}"
    assert place(f"data/pay-0/{5:020}.log.deleted") < place("data/replication-offset-checkpoint")
    assert max(n for n, path in enumerate(order) if "-delete/" in path) < place("data/meta.properties")
    assert place("data/replication-offset-checkpoint") < place(f"{segment}.index") < place(f"{segment}.log")
    assert place(f"{segment}.log") < place("data/pay-0/leader-epoch-checkpoint") < place("logs/server.log")


def test_a_segment_that_is_deleted_meanwhile_is_still_collected(script: Path, tmp_path: Path) -> None:
    """As a running broker does: while the index is copied, its segment gets the name that it is deleted by."""
    home = copied(SAMPLE, tmp_path / "dump") / "broker-1"
    segment = home / "data" / "pay-0" / f"{0:020}.log"
    content = segment.read_bytes()
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "cp").write_text(
        f'#!/bin/sh\ncase $3 in */pay-0/*.timeindex) mv "{segment}" "{segment}.deleted" 2>/dev/null ;; esac\n'
        f'exec {shutil.which("cp")} "$@"\n'
    )
    (tools / "cp").chmod(0o755)
    ended = collect(
        script, "-o", tmp_path / "out", "-b", 1, "-d", home / "data", path=f"{tools}{os.pathsep}{os.environ['PATH']}"
    )
    assert ended.returncode == 0
    assert (tmp_path / "out/broker-1/data/pay-0" / f"{segment.name}.deleted").read_bytes() == content


SETTINGS = """node.id=1
ssl.key.password=hunter2
ssl.keystore.key=-----BEGIN PRIVATE KEY-----hunter2
min.insync.replicas = 2
listener.name.replication.sasl.jaas.config=org.x.PlainLoginModule required \\
    username="admin" \\
    password="hunter2";
replication.tls.keystore.key=hunter2
log.segment.bytes=1073741824
"""


def test_several_log_dirs_properties_and_versions(script: Path, tmp_path: Path) -> None:
    dump = copied(SAMPLE, tmp_path / "dump")
    kafka = tmp_path / "kafka"
    (kafka / "libs").mkdir(parents=True)
    (kafka / "config").mkdir()
    (kafka / "libs" / "kafka_2.13-3.9.1.jar").touch()
    (kafka / "config" / "server.properties").write_text(SETTINGS, encoding="ascii")
    disks = [dump / f"broker-{n}" / "data" for n in (1, 2)]
    given = ("-o", tmp_path / "out", "-b", 1, "-s", "crashed", "-d", disks[0], "-d", disks[1], "-k", kafka)
    ended = collect(script, *given)
    assert ended.returncode == 0
    home = tmp_path / "out" / "broker-1"
    assert (home / "data-disk2" / "pay-0").is_dir()
    assert (home / "config" / "server.properties").read_text().splitlines() == [
        "node.id=1", "min.insync.replicas = 2", "log.segment.bytes=1073741824",
    ]  # fmt: skip
    lines = (home / MANIFEST).read_text().splitlines()
    assert {"tidemark-collect/1", "broker 1", "state crashed", "version kafka_2.13-3.9.1.jar"} <= set(lines)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["broker-1"]


PS = """#!/bin/sh
cat <<'END'
  7 /usr/bin/java -Xmx1G -cp /x kafka.Kafka {other}
  8 vi kafka.Kafka
  9 /usr/bin/java -Xmx1G -cp /x kafka.Kafka {own} --override x=y
END
"""


@pytest.mark.parametrize("shell", fast_if(SHELLS[:1].__contains__, SHELLS))
@pytest.mark.parametrize(
    ("running", "named", "chosen", "why"),
    [
        (True, ("server.properties", "kraft/server.properties"), "own.properties", "with which broker 1 runs"),
        (False, ("kraft/server.properties",), "kraft/server.properties", "which names broker 1"),
        (False, (), "server.properties", "the first there: none names broker 1"),
    ],
)
def test_the_settings_are_those_with_which_the_broker_runs(
    script: Path, tmp_path: Path, shell: str, running: bool, named: tuple[str, ...], chosen: str, why: str
) -> None:
    dump, kafka, tools = copied(SAMPLE, tmp_path / "dump"), tmp_path / "kafka", tmp_path / "tools"
    (kafka / "config" / "kraft").mkdir(parents=True)
    tools.mkdir()
    for name in ("server.properties", "kraft/server.properties", "own.properties"):
        owner = 1 if name in (*named, "own.properties") else 11
        dirs = f"/elsewhere,{dump}/broker-{owner}/data/"
        text = f"node.id={owner}\nlog.dirs = {dirs}\nlog.segment.bytes={len(name)}\n"
        (kafka / "config" / name).write_text(text, encoding="ascii")
    own = kafka / "config" / "own.properties"
    processes = PS.format(other=kafka / "config" / "twin.properties", own=own if running else "/nowhere.properties")
    (kafka / "config" / "twin.properties").write_text("node.id=1\nlog.dirs=/another/cluster\n", encoding="ascii")
    (tools / "ps").write_text(processes, encoding="ascii")
    (tools / "ps").chmod(0o755)
    given = ("-o", tmp_path / "out", "-b", 1, "-d", dump / "broker-1" / "data", "-k", kafka)
    ended = collect(script, *given, shell=shell, path=f"{tools}:{os.environ['PATH']}")
    home, place = tmp_path / "out" / "broker-1", kafka / "config" / chosen
    assert ended.returncode == 0, ended.stderr
    assert f"settings: {place}, {why}" in ended.stderr.splitlines()
    assert f"settings {place}, {why}" in (home / MANIFEST).read_text().splitlines()
    assert (home / "config" / "server.properties").read_bytes() == place.read_bytes()
    assert refused(tmp_path / "out") == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-b", "1"), "-o, -b and -d are needed"),
        (("-o", "x", "-b", "one", "-d", "."), "-b one: expected a number"),
        (("-o", "x", "-b", "1", "-d", ".", "-s", "dead"), "-s dead: expected live, stopped or crashed"),
        (("-o", "x", "-b", "1", "-d", "nowhere"), "nowhere: expected a log dir that can be read"),
    ],
)
def test_wrong_words_are_refused(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = collect(script, *words)
    assert (ended.returncode, said in ended.stderr) == (2, True)


@pytest.mark.parametrize("shell", fast_if(SHELLS[:1].__contains__, SHELLS))
def test_names_of_files_run_nothing_and_reach_no_terminal(script: Path, tmp_path: Path, shell: str) -> None:
    source = Path(shutil.copytree(SAMPLES / SAMPLE / "dump/broker-1/data", tmp_path / "-data"))
    topic = next(folder for folder in sorted(source.iterdir()) if folder.is_dir())
    harmless = ("$(touch ran)-0", "`touch ran`-0", "a b;touch ran;-0", "-rf-0", "*-0", "'q\"-0", "\x1b[31m\u202e-0")
    for name in (*harmless, "x\ny-0"):
        shutil.copytree(topic, source / name)
    ended = collect(script, "-o", "out", "-b", 1, "-d", "-data", shell=shell, place=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert {c for c in ended.stderr if not c.isascii() or not c.isprintable()} == {"\n"}
    assert "skipped, its name has a line end" in ended.stderr
    assert {*harmless} <= {folder.name for folder in (tmp_path / "out/broker-1/data").iterdir()}
    assert {path.name for path in tmp_path.iterdir()} == {"-data", "out", script.name}


def test_a_copy_is_never_written_over(script: Path, collected: Path) -> None:
    before = digest(collected)
    ended = collect(script, "-o", collected, "-b", 1, "-d", SAMPLES / SAMPLE / "dump/broker-1/data")
    assert (ended.returncode, "is there already" in ended.stderr, digest(collected)) == (2, True, before)


def test_what_is_missing_or_has_changed_since_is_named_and_opens_the_verdict(collected: Path) -> None:
    home = collected / "broker-1"
    epochs, log = home / "data/pay-0/leader-epoch-checkpoint", home / "logs/server.log"
    small = home / "data/meta.properties"
    epochs.unlink()
    with log.open("ab") as file:
        file.write(b"more\n")
    size = log.stat().st_size
    data = small.read_bytes()
    small.write_bytes(data.replace(b"#", b"!", 1))
    expected = {
        ("broker-1/data/pay-0/leader-epoch-checkpoint", "a file that was collected", "no such file"),
        ("broker-1/logs/server.log", f"a file of {size - 5} bytes, as it was collected", f"{size} bytes"),
        ("broker-1/data/meta.properties", "the bytes that were collected", "other bytes: it has changed since"),
    }
    assert expected <= set(refused(collected))
    assert "other bytes: it has changed since" not in {found for *_, found in refused(collected, level="quick")}
    others = refused(collected, topic=["__cluster_metadata"])
    assert "broker-1/data/pay-0/leader-epoch-checkpoint" not in {path for path, *_ in others}


@pytest.mark.slow
def test_a_clean_cluster_whose_copy_lost_a_file_is_not_clean(script: Path, tmp_path: Path) -> None:
    dump = SAMPLES / "recreated_topic" / "dump"
    collect_all(script, dump, tmp_path / "out")
    whole = told(tmp_path / "out")
    assert (whole["verdict"], refused(tmp_path / "out")) == (told_of("recreated_topic")["verdict"], [])
    next((tmp_path / "out").rglob("*.snapshot")).unlink()
    assert told(tmp_path / "out")["verdict"] == "unknown"


def spoiled(lines: list[str], how: str) -> list[str]:
    first = next(n for n, line in enumerate(lines) if line.startswith("file "))
    changes: dict[str, list[str]] = {
        "another format": ["something else", *lines[1:]],
        "cut short": lines[: first + 3],
        "climbs": [*lines[:first], f"file {'0' * 64} 3 ../../etc/passwd", *lines[first:]],
        "no number": [*lines[:first], f"file {'0' * 64} many data/x", *lines[first:]],
        "no checksum": [*lines[:first], "file zz 3 data/x", *lines[first:]],
        "too few words": [*lines[:first], "file ", *lines[first:]],
        "controls": [*lines[:first], f"file {'0' * 64} 3 data/\x1b[2J", *lines[first:]],
        "too long a number": [*lines[:first], f"file {'0' * 64} {'9' * 5000} x", *lines[first:]],
    }
    return changes[how]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("another format", "a manifest that begins with tidemark-collect/1"),
        ("cut short", "a collection that ended, with the line: end 3 files"),
        ("climbs", "file, checksum, length, path"),
        ("no number", "file, checksum, length, path"),
        ("no checksum", "file, checksum, length, path"),
        ("too few words", "file, checksum, length, path"),
        ("controls", "a file that was collected"),
        ("too long a number", "file, checksum, length, path"),
    ],
)
def test_a_manifest_that_cannot_be_believed_is_refused(collected: Path, how: str, said: str) -> None:
    for other in ("broker-2", "broker-3"):
        shutil.rmtree(collected / other)
    manifest = collected / "broker-1" / MANIFEST
    manifest.write_text("\n".join(spoiled(manifest.read_text().split("\n"), how)))
    report: dict[str, Any] = told(collected)
    expected = [line["expected"] for line in report["refusals"] if line["path"].startswith("broker-1/")]
    assert any(each.startswith(said[:40]) for each in expected), expected
    assert json.dumps(report).isprintable()


def test_the_script_is_plain_shell_without_a_machines_name(script: Path) -> None:
    text = script.read_text()
    assert text.startswith("#!/bin/sh\n")
    assert max(map(len, text.splitlines())) <= 120
    assert [word for word in ("[[", "local ", "function ", "$'", "<<<", "pipefail") if word in text] == []
    for shell in SHELLS:
        checked = subprocess.run(
            [shell, *(["sh"] if shell == "busybox" else []), "-n", str(script)], check=False, capture_output=True
        )
        assert (checked.returncode, checked.stderr) == (0, b"")
