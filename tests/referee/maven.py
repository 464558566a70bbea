"""Published Kafka releases, resolved by Maven once and kept under a cache folder, for tests that let Kafka judge."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from string import Template

PROJECT = Template("""<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>tidemark</groupId><artifactId>referee</artifactId><version>1</version>
<dependencies>$dependencies</dependencies></project>
""")
DEPENDENCY = Template(
    "<dependency><groupId>$group</groupId><artifactId>$artifact</artifactId><version>$version</version></dependency>"
)


def missing_tools() -> list[str]:
    """The programs of a Java workshop that this machine lacks; tests that need them skip and name them."""
    return [tool for tool in ("java", "javac", "mvn") if shutil.which(tool) is None]


def referee_home() -> Path:
    """Where jars and compiled drivers are kept between runs."""
    chosen = os.environ.get("TIDEMARK_REFEREE_HOME")
    return Path(chosen) if chosen else Path.home() / ".cache" / "tidemark" / "referee"


@cache
def kafka_classpath(version: str) -> str:
    """The class path of a Kafka release with its tools (`kafka.tools.DumpLogSegments` and its successors)."""
    folder = referee_home() / "jars" / version
    libraries = folder / "libs"
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        listed = "".join(
            DEPENDENCY.substitute(group=group, artifact=artifact, version=of)
            for group, artifact, of in _artifacts(version)
        )
        (folder / "pom.xml").write_text(PROJECT.substitute(dependencies=listed), encoding="utf-8")
        goal = ["dependency:copy-dependencies", f"-DoutputDirectory={libraries}"]
        subprocess.run(["mvn", "-q", "-B", "-f", str(folder / "pom.xml"), *goal], check=True, timeout=900)
        (folder / "complete").touch()
    return f"{libraries}{os.sep}*"


def compiled(source: Path, version: str) -> str:
    """The class path of a driver compiled against a Kafka release, jars included."""
    classes = referee_home() / "classes" / version
    classes.mkdir(parents=True, exist_ok=True)
    jars = kafka_classpath(version)
    subprocess.run(["javac", "-nowarn", "-cp", jars, "-d", str(classes), str(source)], check=True, timeout=300)
    return f"{classes}{os.pathsep}{jars}"


def run_java(classpath: str, main: str, *arguments: str, stdin: str = "") -> str:
    """What a Java program prints."""
    command = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", classpath, main, *arguments]
    run = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=300)
    if run.returncode:
        raise RuntimeError(f"{main} ended with {run.returncode}: {run.stderr[-2000:]}")
    return run.stdout


def _artifacts(version: str) -> list[tuple[str, str, str]]:
    release = tuple(map(int, version.split(".")[:2]))
    scala = "2.13" if release >= (2, 4) else "2.12"
    needed = [("org.apache.kafka", f"kafka_{scala}", version)]
    if release >= (3, 5):
        needed.append(("org.apache.kafka", "kafka-tools", version))
    # without a binding slf4j writes its own complaint, and 4.x tools configure log4j 2 as they start
    if release >= (4, 0):
        log4j = "org.apache.logging.log4j"
        needed += [(log4j, name, "2.24.3") for name in ("log4j-slf4j-impl", "log4j-core", "log4j-1.2-api")]
    else:
        needed.append(("org.slf4j", "slf4j-nop", "1.7.36"))
    return needed
