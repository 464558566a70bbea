"""The law: what the audit says that a protocol would have done with logs that carry no epochs, the simulator does."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from auditor.engines.second_look import look_again
from auditor.simulation.written_dump import write_dump
from auditor.timeline import evidence_of
from rules.catalog import BY_ID
from rules.evidence import PartitionEvidence
from rules.finding import Violation
from rules.protocol.keeping import KEPT_BY
from rules.protocol.offsets import BrokerId
from rules.simulator.run_rows import run
from rules.simulator.script import Script, read_events
from rules.simulator.state import TopicSettings
from rules.unwritten.asking import Asked, RuleAnswer
from rules.unwritten.reconstruction import AskedFollower
from rules.zoom.differences import with_differences
from tests.models.oracle import VERSIONS
from tests.models.search import WORLDS, Pair, World, choice, named
from tests.unwritten.truth import Made, Shadows, TrueCut, made

SPOKEN: Final = "0.10.2"
OLDEST: Final = next(version for version in VERSIONS if version.name == "0.10.2.2")
RELEASES: Final = ("1.0.2", "1.1.1", "2.0.1", "2.3.1", "2.6.3", "2.8.2", "3.2.0")
"""Releases that tell of each cut, and can speak as 0.10.2 did; from 1.0 on, up to the last that needs ZooKeeper."""


@dataclass
class Tally:
    """What was held against the simulator, and what broke the law."""

    decided: Counter[str] = field(default_factory=Counter)
    left_open: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    """Findings of TRUNC003, by what the watermark did."""
    wrong: list[str] = field(default_factory=list)

    def leave_open(self, kind: str, asked: Asked) -> None:
        """Count what nobody decides, and why."""
        self.left_open[kind] += 1
        if asked.open is not None and kind != "nobody led":
            self.reasons[asked.open.reason] += 1


def drawn(seed: int, length: int = 60) -> Script:
    """A random script for brokers whose records carry no epochs."""
    rng = random.Random(seed)  # noqa: S311 - the same scripts every time
    world, replicas = rng.choice(WORLDS), rng.choice((2, 2, 3))
    return walked(rng, world, replicas, rng.choice(RELEASES), length)


def walked(rng: random.Random, world: World, replicas: int, release: str, length: int) -> Script:
    """The script of a random walk of the model that cuts by the high watermark."""
    pair = Pair.created(OLDEST, replicas, world.min_isr, world.others)
    assignment = pair.model.quorum.replicas
    for _ in range(length):
        for line in (choice(pair.model, rng, processes=world.processes, more=world.more), "wait 1s"):
            pair.act(line)
    lines = tuple(named(line, number) for number, line in enumerate(pair.lines))
    return Script(
        title=f"a walk in {world.name}",
        assignment=tuple(map(BrokerId, assignment)),
        others=tuple(map(BrokerId, sorted(pair.model.replicas.keys() - set(assignment)))),
        version=release,
        inter_broker_protocol=SPOKEN,
        settings=TopicSettings(unclean_leader_election=False, min_insync_replicas=world.min_isr),
        lines=lines,
        events=read_events(lines),
    )


def evidence_left(script: Script, folder: Path, lost: frozenset[str] = frozenset()) -> PartitionEvidence:
    """What the brokers of a run leave, as an audit sees it; some of their files are lost."""
    write_dump(run(script), folder)
    for path in [path for path in folder.rglob("*") if str(path.relative_to(folder)) in lost]:
        path.unlink()
    return with_differences(look_again(evidence_of(folder, "simulated", 0), str(folder)))


def lost_of(script: Script, seed: int) -> frozenset[str]:
    """Some of the logs that the brokers of a script write."""
    rng = random.Random(seed)  # noqa: S311 - the same files every time
    brokers = (*script.assignment, *script.others)
    kinds = ("server.log", "kafka-request.log", "kafka-request.log", "state-change.log")
    if rng.random() < 0.3:
        return frozenset(f"broker-{broker}/logs/{kind}" for kind in rng.sample(kinds[1:], 1) for broker in brokers)
    files = [f"broker-{broker}/logs/{kind}" for kind in kinds for broker in brokers]
    return frozenset(rng.sample(files, rng.randint(1, len(brokers))))


def judge(script: Script, folder: Path, tally: Tally, lost: frozenset[str] = frozenset()) -> None:
    """Hold one script's evidence against the simulator."""
    evidence, truth = evidence_left(script, folder, lost), Shadows(script)
    if not evidence.unwritten.applies:
        tally.left_open["no records"] += 1
        return
    pairs = [*_side_by_side([*truth.cuts()], evidence.unwritten.reconciled)]
    for true, told in pairs:
        tally.wrong += _wrong(true, told, tally)
    tally.wrong += _findings(evidence, pairs, tally)
    tally.wrong += _meetings(evidence, truth, tally)
    tally.wrong += _committed(evidence, truth, tally)


def _side_by_side(
    cuts: list[TrueCut], reconciled: tuple[AskedFollower, ...]
) -> Iterator[tuple[TrueCut, AskedFollower]]:
    """Each cut with what is told of it: both stand in the order of their broker's log."""
    brokers = sorted({cut.broker for cut in cuts} | {told.broker for told in reconciled})
    for broker in brokers:
        true = [cut for cut in cuts if cut.broker == broker]
        told = [done for done in reconciled if done.broker == broker]
        if not told:
            continue  # its server.log is lost
        if len(told) == len(true) + 1 and told[0].offset == 0:
            del told[0]  # at the creation there was nothing to cut
        assert [c.offset for c in true] == [d.offset for d in told], (broker, true, told)
        yield from zip(true, told, strict=True)


def _wrong(true: TrueCut, told: AskedFollower, tally: Tally) -> Iterator[str]:
    kind = "cuts" if true.offset < true.log_end_offset else "keeps"
    if told.leader != true.leader:
        yield f"leader {told.leader} of {true}"
    for rule in KEPT_BY:
        known = _known(true, told)
        answer, found = told.asked.answers.get(rule), known.get(rule, frozenset())
        if answer is None or not answer.decided:
            tally.leave_open(kind if found else "nobody led", told.asked)
        else:
            tally.decided[kind] += 1
        if answer is not None and not all(_is_told(answer, one) for one in found):
            yield f"{rule}: told {answer}, true {true}"
        # An election of which nothing that is left tells is one of which nobody can know.
        elected = told.epoch_told and answer is not None and answer.decided and not found
        if elected:
            yield f"{rule}: nobody was there to answer {true}"
    least = true.log_end_offset if told.end_known else told.log_end_offset
    if told.asked.asking is not None and not least <= told.log_end_offset <= true.log_end_offset:
        yield f"log end {told.log_end_offset} of {true}"


def _known(true: TrueCut, told: AskedFollower) -> Mapping[str, frozenset[Made]]:
    """What the rules made of a cut; or would have, had its leader answered, where its epoch is not told."""
    return true.found if true.found or told.epoch_told else true.otherwise


def _is_told(answer: RuleAnswer, found: Made) -> bool:
    """Whether what a rule really made of a follower is what was told of it, as exactly as it was told."""
    offset, cuts, exchanges = found
    if answer.exact and exchanges != answer.truncation.exchanges:
        return False
    if answer.decided and answer.least != answer.most:
        return not cuts
    return answer.least <= offset <= answer.most


def _findings(
    evidence: PartitionEvidence, pairs: Sequence[tuple[TrueCut, AskedFollower]], tally: Tally
) -> Iterator[str]:
    """TRUNC003 names what differs between the two rules, no more; and all of it where that is decided."""
    said = [v for v in BY_ID["TRUNC003"].check(evidence) if isinstance(v, Violation)]
    found = {violation.exhibits[0].span: violation for violation in said}
    for true, told in pairs:
        violation = found.pop(told.moment.span, None)
        ends = {offset for offset, _, _ in _known(true, told).get("kip-279", ())}
        if violation is not None and ends:
            tally.found["kept" if min(ends) < true.offset else "cut"] += 1
            offsets = range(violation.start_offset or 0, violation.end_offset or 0)
            if not all(set(offsets) <= set(range(*sorted((true.offset, end)))) for end in ends):
                yield f"TRUNC003 names {offsets} of {true}"
        answer = told.asked.answers.get("kip-279")
        if answer is not None and answer.decided and violation is None and ends != {true.offset}:
            deleted = max(r.log_start_offset for r in evidence.current if r.broker == true.leader)
            if max(true.offset, answer.least) > deleted:
                yield f"TRUNC003 does not name {true}"
    if found:
        yield f"TRUNC003 names what was not done: {found}"


def _committed(evidence: PartitionEvidence, truth: Shadows, tally: Tally) -> Iterator[str]:
    """What is proved of records by the epochs that they were written in."""
    for replica in evidence.current:
        proved = evidence.committed_by_proof(replica)
        tally.decided["committed"] += proved > 0
        if wrong := {offset for offset in truth.uncommitted(replica.broker) if offset < proved}:
            yield f"nobody committed {sorted(wrong)} of broker {replica.broker}"


def _meetings(evidence: PartitionEvidence, truth: Shadows, tally: Tally) -> Iterator[str]:
    for leader in evidence.leaders_at_the_end:
        if not truth.lives(leader.broker):
            continue  # it would be started again, and then lead another epoch
        for follower in evidence.followers_of(leader):
            end, watermark = follower.log_end_offset, follower.at(follower.log_end_offset).high_watermark
            asked = evidence.unwritten.meeting(follower, leader, end, watermark)
            for rule in KEPT_BY:
                answer = asked.answers.get(rule)
                if answer is None or not answer.decided:
                    tally.leave_open("meetings", asked)
                    continue
                tally.decided["meetings"] += 1
                true = truth.meeting(rule, follower.broker, leader.broker, end, watermark)
                if not _is_told(answer, made(true)):
                    yield f"{rule}: {follower.broker} met {leader.broker}: told {answer.truncation}, true {true}"
