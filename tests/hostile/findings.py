"""What breaks a law, blamed on its input, and kept under a name: one file for each place where something breaks."""

from __future__ import annotations

import hashlib
import re
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
CORPUS: Final = Path(__file__).resolve().parent / "corpus"
CORPUS_BYTES: Final = 2 << 20
SHRINKINGS: Final = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One break of a law: which, where, and in what words."""

    kind: str
    """`exceptions`, `hangs`, `false_cleans` or `broken_laws`: the count that it belongs to."""
    subject: str
    """The target or the dump that was tried."""
    place: str
    """Where it broke: the innermost line of ours, or the law."""
    words: str

    @property
    def name(self) -> str:
        """A file name; faults of one place and kind share it."""
        place = re.sub(r"[^a-z0-9]+", "-", self.place.lower()).strip("-")[-70:]
        return f"{self.subject}--{place}-{hashlib.sha256(f'{self.kind} {self.place}'.encode()).hexdigest()[:6]}"


def fault_of(error: BaseException, subject: str) -> Fault:
    """What an exception tells."""
    kind = "broken_laws" if isinstance(error, AssertionError) else "exceptions"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if str(ROOT) in frame.filename]
    ours = [frame for frame in frames if "/tests/" not in frame.filename]
    words = f"{type(error).__name__}: {error}"[:300]
    if kind == "broken_laws" or not ours:
        return Fault(kind=kind, subject=subject, place=re.sub(r"\d+", "n", str(error))[:90], words=words)
    place = f"{Path(ours[-1].filename).relative_to(ROOT)} {ours[-1].name} {type(error).__name__}"
    return Fault(kind=kind, subject=subject, place=place, words=words)


def keep(folder: Path, fault: Fault, content: bytes, suffix: str = "") -> Path:
    """Write an input down under the name of its fault; of two the shorter one stays."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{fault.name}{suffix}"
    if not path.exists() or path.stat().st_size > len(content):
        path.write_bytes(content)
        with (folder / "faults.txt").open("a", encoding="utf-8") as told:
            told.write(f"{fault.kind} {path.name} {len(content)} bytes: {fault.place}: {fault.words!r}\n")
    return path


def shrunk(content: bytes, breaks: Callable[[bytes], bool]) -> bytes:
    """A shorter input that still breaks the same law, found by leaving out ever smaller pieces."""
    tries, size = 0, max(1, len(content) // 2)
    while size and tries < SHRINKINGS:
        at = 0
        while at < len(content) and tries < SHRINKINGS:
            shorter = content[:at] + content[at + size :]
            tries += 1
            if breaks(shorter):
                content = shorter
            else:
                at += size
        size //= 2
    return content


def corpus() -> Iterator[Path]:
    """Every input that once broke something."""
    return (path for path in sorted(CORPUS.iterdir()) if path.is_file() and "--" in path.name)
