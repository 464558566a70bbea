"""The machine that finds the next hole: what it found once is tried again, it runs for half a minute, and it sees faults."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from tests.hostile import judging
from tests.hostile.dumps import CLEAN, Base, Content, Ground, Special, cooked, recipe, replicas_of
from tests.hostile.feeding import ALL
from tests.hostile.findings import CORPUS, CORPUS_BYTES, ROOT, Fault, corpus, fault_of, keep, shrunk
from tests.hostile.harms import DEEDS, Harmed, checkpoint_down, flipped_bit
from tests.hostile.judging import FalseClean, Judge, judged_again
from tests.hostile.laws import Broken, fed
from tests.hostile.mutators import batches_of, mutated, summed
from tests.hostile.overseer import totals_of
from tests.hostile.targets import Target

ACKS = next(base for base in CLEAN if base.name == "acks")


def run(*arguments: str, state: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments, *(("--state", str(state)) if arguments[0] == "-m" else ())]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=900)


# --- what was found once ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", list(corpus()), ids=lambda path: path.name)
def test_what_was_found_once_is_mended(path: Path, tmp_path: Path) -> None:
    subject = path.name.partition("--")[0]
    if subject == "dump":
        judged_again(path.read_bytes(), tmp_path)
    else:
        fed(next(target for target in ALL if target.name == subject), path.read_bytes(), tmp_path)


def test_the_corpus_is_small() -> None:
    assert 0 < sum(path.stat().st_size for path in corpus()) <= CORPUS_BYTES
    assert {path.name for path in CORPUS.iterdir()} == {path.name for path in corpus()}


# --- half a minute of new ones ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_half_a_minute_of_hostile_inputs_and_dumps_finds_nothing(tmp_path: Path) -> None:
    done = run("-m", "tests.hostile", "--inputs", "8000", "--dumps", "48", "--seed", "12", state=tmp_path)
    found = tmp_path / "found" / "faults.txt"
    assert done.returncode == 0, done.stdout + done.stderr + (found.read_text(encoding="utf-8") if found.exists() else "")
    counts = totals_of(tmp_path).counts
    assert (counts["inputs"], counts["dumps"]) == (8000, 48)
    assert counts["lines"] > 1000


# --- what kills a worker is blamed on its input -----------------------------------------------------------------------

PLANTED = """
import sys, time
from pathlib import Path
from tests.hostile import feeding, limits, overseer
from tests.hostile.mutators import Grammar
from tests.hostile.targets import Target

def read(content, folder):
    if b"2" not in content:
        {deed}
    return ()

feeding.SECONDS_OF_INPUT, overseer.WALL_SECONDS = 0.3, 2.0
feeding.ALL = (Target(name="planted", read=read, grammar=Grammar(text=True, words=(b"3",)), seeds=lambda: (b"1 2",)),)
totals = overseer.oversee(1, Path(sys.argv[1]), inputs=12, dumps=0, seconds=60)
print(totals.told())
"""
DEEDS_OF_READERS = {
    "raise ValueError('x')": "exceptions",
    "while True: pass": "hangs",
    "assert content is None, 'a law'": "broken_laws",
    "import os; os.abort()": "exceptions",
    "time.sleep(600)": "hangs",
    "b'x' * (700 << 20)": "broken_laws",
    "bytearray(4 << 30)": "exceptions",
}


@pytest.mark.slow
@pytest.mark.parametrize("deed", DEEDS_OF_READERS)
def test_a_fault_is_blamed_on_its_input(deed: str, tmp_path: Path) -> None:
    done = run("-c", PLANTED.format(deed=deed), str(tmp_path), state=tmp_path)
    counts = totals_of(tmp_path).counts
    assert done.returncode == 0, done.stderr
    assert (counts["inputs"], counts[DEEDS_OF_READERS[deed]] > 0) == (12, True), done.stdout
    blamed = [path.read_bytes() for path in (tmp_path / "found").iterdir() if path.name.startswith("planted--")]
    assert blamed
    assert all(b"2" not in content for content in blamed)


# --- the laws prove themselves ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge()


@pytest.fixture
def acks(tmp_path: Path) -> tuple[Ground, dict[str, Content]]:
    files = ACKS.files()
    return Ground(tmp_path / "acks", files), files


def test_a_sound_dump_that_should_not_pass_is_seen(judge: Judge, acks: tuple[Ground, dict[str, Content]]) -> None:
    ground, files = acks
    with pytest.raises(FalseClean, match="false clean, although something is amiss"):
        judge.judge(ground, Harmed(files=files, deed="nothing", claim="must", why="something is amiss"))


def test_an_accusation_of_what_is_lawful_is_seen(judge: Judge, acks: tuple[Ground, dict[str, Content]]) -> None:
    ground, files = acks
    harmed = flipped_bit(Random(3), files)
    assert harmed is not None
    assert harmed.claim == "must"
    judge.judge(ground, harmed)
    with pytest.raises(Broken, match="accused of SEG"):
        judge.judge(ground, Harmed(files=harmed.files, deed=harmed.deed, claim="may", why="it is lawful"))


def test_a_dump_that_is_written_into_is_seen(
    judge: Judge, acks: tuple[Ground, dict[str, Content]], monkeypatch: pytest.MonkeyPatch
) -> None:
    ground, files = acks
    audit = judging.audit

    def writing(root: Path, config: object) -> object:
        (root / "broker-1/data/meta.properties").touch()
        return audit(root, config)  # type: ignore[arg-type]

    monkeypatch.setattr(judging, "audit", writing)
    with pytest.raises(Broken, match="the dump was changed"):
        judge.judge(ground, Harmed(files=files, deed="nothing", claim="any", why=""))


def test_every_deed_changes_a_dump_and_most_say_what_is_due() -> None:
    claims: dict[str, set[str]] = {}
    bases = [base.files() for base in CLEAN]
    for deed in dict.fromkeys(DEEDS):
        for number in range(60):
            files = bases[number % len(bases)]
            harmed = deed(Random(number), dict(files))
            if harmed is not None:
                claims.setdefault(deed.__name__, set()).add(harmed.claim)
                assert harmed.files is not files
    assert set(claims) == {deed.__name__ for deed in DEEDS}
    assert sum("must" in claim for claim in claims.values()) >= 14


def test_a_ground_holds_what_is_laid_and_nothing_else(tmp_path: Path) -> None:
    base: dict[str, Content] = {"a/b/c": b"1", "a/d": b"2"}
    ground = Ground(tmp_path / "g", base)
    ground.lay({"a/b": b"3", "e": Special(kind="fifo"), "f": Special(kind="link", target="no-such")})
    assert sorted(path.name for path in ground.root.iterdir()) == ["a", "e", "f"]
    assert (ground.root / "a/b").read_bytes() == b"3"
    ground.lay(base)
    held = sorted(path.relative_to(ground.root).as_posix() for path in ground.root.rglob("*"))
    assert held == ["a", "a/b", "a/b/c", "a/d"]


def test_a_dump_is_written_down_and_read_again() -> None:
    before = Base(name="acks", sample="acks_one_lost").files()
    path = next(iter(before))
    after = {**before, "x/fifo": Special(kind="fifo"), "y": b"\0\xff"}
    del after[path]
    name, files, told = cooked(recipe("acks", after, before, {"claim": "any"}))
    assert (name, files, told["claim"]) == ("acks", after, "any")


def test_the_model_reads_replicas_as_they_were_recorded() -> None:
    found = {replica.path: replica for replica in replicas_of(ACKS.files())}
    replica = found["broker-3/data/fire-0"]
    assert (replica.end, replica.claimed_end, replica.start, replica.cleaned) == (60, 60, 0, 0)
    assert replica.epochs == ((0, 0), (1, 50), (2, 60))
    content = replica.bytes_of(replica.segments[0])
    entries = [content[start:end] for start, end in batches_of(content)]
    assert [summed(entry) for entry in entries] == entries
    first = replica.batches[replica.segments[0]][0]
    assert replica.has_twin(first, entries[0])
    assert not replica.has_twin(first, entries[0][:-1] + b"?")


def test_an_older_high_watermark_accuses_nobody(judge: Judge, acks: tuple[Ground, dict[str, Content]]) -> None:
    ground, files = acks
    harmed = [checkpoint_down(Random(number), dict(files)) for number in range(12)]
    lawful = [one for one in harmed if one is not None and one.claim == "may"]
    assert len(lawful) > 5
    for one in lawful[:4]:
        judge.judge(ground, one)


# --- the parts of the machine -----------------------------------------------------------------------------------------


def test_the_same_number_gives_the_same_input() -> None:
    for target in ALL[::5]:
        seeds = target.seeds()
        first, again = (mutated(Random("1/2"), seeds[0], target.grammar, seeds) for _ in range(2))
        assert first == again


@pytest.mark.parametrize("target", ALL, ids=lambda target: target.name)
def test_every_reader_has_real_files_and_reads_them(target: Target, tmp_path: Path) -> None:
    seeds = target.seeds()
    assert seeds
    for content in seeds[:4]:
        fed(target, content, tmp_path)


def test_an_input_is_shrunk_to_what_breaks() -> None:
    assert shrunk(b"x" * 400 + b"bad" + b"y" * 900, lambda content: b"bad" in content) == b"bad"


def test_of_two_inputs_for_one_fault_the_shorter_is_kept(tmp_path: Path) -> None:
    try:
        int("x")
    except ValueError as error:
        fault = fault_of(error, "words")
    assert (fault.kind, fault.subject) == ("exceptions", "words")
    for content in (b"long", b"s", b"longer"):
        path = keep(tmp_path, fault, content)
    assert path.read_bytes() == b"s"
    assert Fault(kind="hangs", subject="words", place=fault.place, words="").name != fault.name
