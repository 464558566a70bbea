"""Recorded logs and disks, laid out as installations have them, tell what they tell in folders named after brokers."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from auditor.dumps import gather
from parsers.inventory import take_inventory
from tests.auditor.command import run
from tests.auditor.dumps_at_hand import SAMPLES, told, told_of
from tests.auditor.test_logs_in_one_place import in_one_place

HOSTS = ("athens", "bergen", "cadiz", "delft", "essen")
Node = tuple[str, int, Path]


def nodes(sample: str) -> Iterator[Node]:
    """A host's name without a number, the node, and where it stands in a sample."""
    folders = sorted(path for path in (SAMPLES / sample / "dump").iterdir() if re.fullmatch(r"[a-z]+-\d+", path.name))
    for host, folder in zip(HOSTS, folders, strict=False):
        yield host, int(folder.name.rpartition("-")[2]), folder


def place(node: Path, data: Path | None, logs: Path | None) -> None:
    """A node's disk and its logs, each where it is wanted."""
    for part, to in (("data", data), ("logs", logs)):
        if to is not None and (node / part).exists():
            shutil.copytree(node / part, to, dirs_exist_ok=True)


def tarball(to: Path, sample: str) -> None:
    """Logs in the folder of the installation, beside one that is none of Kafka's; disks in /tmp, one folder a host."""
    for host, _, node in nodes(sample):
        logs = to / host / "opt" / "kafka_2.13-3.9.1" / "logs"
        place(node, to / host / "tmp" / "kafka-logs", logs)
        (logs / "kafkaServer-gc.log").write_text("[0.006s][info][gc] Using G1\n")


def three_on_a_host(to: Path, sample: str) -> None:
    """Numbered disks beside one another, and logs in a folder for each port."""
    for host, number, node in nodes(sample):
        place(node, to / "tmp" / f"kraft-combined-logs-{number}", to / "var" / "log" / f"kafka-{host}")


def volumes(to: Path, sample: str) -> None:
    """Volumes of docker compose, as images name their folders."""
    images = (("bitnami/kafka/data", "bitnami/kafka/logs"), ("var/lib/kafka/data", "var/log/kafka"),
              ("tmp/kraft-combined-logs", "opt/kafka/logs"))  # fmt: skip
    for (host, _, node), (data, logs) in zip(nodes(sample), (*images, *images), strict=False):
        place(node, to / f"{host}_data" / data, to / f"{host}_logs" / logs)


def strimzi(to: Path, sample: str) -> None:
    """A volume a pod, the log dir in it named after its broker, and logs collected elsewhere."""
    for host, number, node in nodes(sample):
        place(node, to / f"pvc-{host}" / f"kafka-log{number}", to / "collected" / host)


def beside_anothers_disk(to: Path, sample: str) -> None:
    """Each node's logs in the folder of the next one's disk."""
    held = list(nodes(sample))
    for (host, _, node), (_, _, other) in zip(held, (*held[1:], held[0]), strict=True):
        place(node, to / host / "data", None)
        place(other, None, to / host / "logs")


LAYOUTS: dict[str, Callable[[Path, str], None]] = {
    "tarball": tarball, "three on a host": three_on_a_host, "volumes": volumes, "strimzi": strimzi,
    "beside another's disk": beside_anothers_disk,
}  # fmt: skip


LAID_OUT = ("files", "absentLogs", "scope")


def said(report: dict[str, Any]) -> tuple[object, ...]:
    """A report without the places of its evidence, and whose logs stand in which file."""
    keys = ("rule", "severity", "verdict", "brokers", "message")
    found = sorted([f[key] for key in keys] for f in report["findings"])
    coverage = {name: value for name, value in report["coverage"].items() if not name.startswith(LAID_OUT)}
    return report["verdict"], report["exitCode"], [r["path"] for r in report["refusals"]], found, coverage


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("sample", ["lost_pages_hw", pytest.param("unclean_4x", marks=pytest.mark.slow)])
def test_installations_tell_what_the_sample_tells(sample: str, layout: str, tmp_path: Path) -> None:
    LAYOUTS[layout](tmp_path / "dump", sample)
    assert said(told(tmp_path / "dump")) == said(told_of(sample))


def pods(to: Path, sample: str, scratch: Path) -> None:
    """`kubectl logs` into one file a pod, and the volumes of the pods."""
    for host, _, node in nodes(sample):
        place(node, to / f"pvc-{host}" / "data", scratch / host)
        in_one_place(scratch / host)
        (to / "pods").mkdir(exist_ok=True)
        shutil.copy(scratch / host / "server.log", to / "pods" / f"{host}.log")


def test_consoles_of_pods_tell_what_their_logs_tell(tmp_path: Path) -> None:
    pods(tmp_path / "dump", "lost_pages_hw", tmp_path / "scratch")
    report, whole = told(tmp_path / "dump"), told_of("lost_pages_hw")
    assert said(report) == said(whole)


@pytest.mark.parametrize(
    "prefix", ["Nov 21 06:18:00 {host} kafka-server-start.sh[421]: ", "{host}-1  | ", "[pod/{host}/kafka] "]
)
def test_collected_logs_of_all_nodes_in_one_file_tell_what_their_logs_tell(prefix: str, tmp_path: Path) -> None:
    whole, dump = tmp_path / "whole", tmp_path / "dump"
    text = ""
    for host, number, node in nodes("lost_pages_hw"):
        place(node, whole / f"broker-{number}" / "data", None)
        place(node, dump / host / "kafka-logs", None)
        log = whole / f"broker-{number}" / "logs" / "server.log"
        log.parent.mkdir()
        shutil.copy(node / "logs" / "server.log", log)
        lines = log.read_text(errors="surrogateescape").splitlines(keepends=True)
        text += "".join(prefix.format(host=host) + line for line in lines)
    (dump / "collected.log").write_text(text, errors="surrogateescape")
    report, expected = said(told(dump)), said(told(whole))
    assert report[:4] == expected[:4]
    (tmp_path / "alone").mkdir()
    shutil.copy(dump / "collected.log", tmp_path / "alone")
    assert told(tmp_path / "alone")["coverage"]["brokers"] == 2


def test_a_console_beside_the_logs_tells_nothing_twice(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    tarball(dump, "unclean_4x")
    for log in dump.glob("*/opt/*/logs/server.log"):
        shutil.copy(log, log.with_name("kafkaServer.out"))
    assert said(told(dump)) == said(told_of("unclean_4x"))


def refused(dump: Path, **settings: object) -> list[tuple[str, str, str]]:
    return [(r["path"], r["expected"], r["found"]) for r in told(dump, **settings)["refusals"]]


def test_a_folder_that_is_named_after_another_broker_is_refused_with_its_log(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    for host, number, node in nodes("lost_pages_hw"):
        place(node, dump / host / "data", dump / f"broker-{number + 6}" / "logs")
    found = refused(dump)
    logs = {
        f"broker-{number + 6}/logs/{log.name}": number
        for _, number, node in nodes("lost_pages_hw")
        for log in (node / "logs").iterdir()
    }
    assert {path for path, _, _ in found} == logs.keys()
    for path, expected, told_by in found:
        number = logs[path]
        assert expected == f"a log of broker {number + 6}, as broker-{number + 6} is named, or --log-dir BROKER={path}"
        source, start, end = re.fullmatch(rf"broker {number} in (.+) at bytes (\d+)-(\d+)", told_by).groups()
        assert re.search(rf"= ?{number}\b", (dump / source).read_text()[int(start) : int(end)])
    screen = " ".join(run("audit", str(dump), "--engine", "local").out.split())
    assert "claim to be of the same broker" not in screen
    given = tuple(f"{number}=broker-{number + 6}/logs" for _, number, _ in nodes("lost_pages_hw"))
    assert refused(dump, log_dir=given) == []
    wrong = refused(dump, log_dir=("9=broker-7/logs",))
    assert ("broker-7/logs/server.log", "a log of broker 9, as --log-dir has it") in {each[:2] for each in wrong}


def test_lines_of_two_brokers_in_one_file_are_refused_by_name(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    tarball(dump, "lost_pages_hw")
    first, second = sorted(dump.glob("*/opt/*/logs/server.log"))
    first.write_bytes(first.read_bytes() + second.read_bytes())
    ((path, expected, found),) = refused(dump)
    assert path == first.relative_to(dump).as_posix()
    assert expected.startswith("the lines of one broker: each broker's log as a file of its own, or")
    places = rf"broker 1 in {path} at bytes \d+-\d+ and broker 2 in {path} at bytes \d+-\d+"
    assert re.fullmatch(rf"lines of brokers 1, 2: {places}", found)
    screen = " ".join(run("audit", str(dump), "--engine", "local", "-v").out.split())
    assert f"Not read: {path}, for want of the lines of one broker: each broker's log as a file" in screen


def test_one_folder_of_several_brokers_logs_is_split_by_their_words_and_ports(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    (dump / "logs").mkdir(parents=True)
    for host, _, node in nodes("clean_4x"):
        place(node, dump / host, None)
        for log in (node / "logs").iterdir():
            stem, _, suffix = log.name.partition(".")
            # As log4j's names are when each broker has its own prefix.
            shutil.copy(log, dump / "logs" / (f"{stem}.log.{host}" if "request" in stem else f"{host}-{stem}.{suffix}"))
    inventory = take_inventory(gather(dump).root)
    assert inventory.refusals == ()
    logs = [file.origin for file in inventory.files if file.kind in ("broker-log", "request-log")]
    expected = {host: number for host, number, _ in nodes("clean_4x")}
    assert len(logs) == sum(len(list((node / "logs").iterdir())) for _, _, node in nodes("clean_4x"))
    assert all(expected[re.search("|".join(HOSTS), log.source)[0]] == log.broker for log in logs)


def test_words_are_found_behind_a_silent_head(tmp_path: Path) -> None:
    silent = b"[2026-11-21 06:18:00,000] INFO Rolled new log segment at offset 7 in 1 ms. (kafka.log.Log)\n" * 20_000
    word = b"[2026-11-21 06:18:01,000] INFO [ReplicaManager broker=4] Stopped (kafka.server.ReplicaManager)\n"
    log = tmp_path / "logs" / "server.log"
    log.parent.mkdir()
    for text in (silent + word, word * 3_000 + silent, silent * 2 + word * 5_000 + silent * 2):
        log.write_bytes(text)
        inventory = take_inventory(tmp_path)
        (file,) = inventory.files
        assert file.origin.broker == 4
        (witness,) = inventory.witnesses
        assert text[witness.span.start : witness.span.end] == b"[ReplicaManager broker=4]"
    log.write_bytes(silent)
    assert take_inventory(tmp_path).files[0].origin.broker is None
