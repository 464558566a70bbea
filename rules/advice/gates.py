"""Go or no-go before a restart, an election, a change of versions: what would be lost, and what comes first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rules.advice.cuts import EPOCHS, WATERMARKS
from rules.advice.damage import NOT_WHOLE
from rules.advice.lacking import Held, copies_first, costs
from rules.advice.put_aside import deletions, removed_beside
from rules.advice.restarts import (
    Restarts,
    acts_on_its_metadata,
    another_leads,
    leads_by_its_start,
    perhaps_leads_by_its_start,
    starts_wrong,
    unless_one_leads,
)
from rules.advice.short_start import FROM_BACKUPS
from rules.advice.unjudged_logs import not_judged, unjudged_copies, unseen_restarts
from rules.advice.weighed import Candidate, Doomed, Gate, Going, Nowhere, OwedCut
from rules.evidence import METADATA_TOPIC, BrokerVersion, PartitionEvidence, Replica
from rules.evidence.committed_metadata import contradicting
from rules.evidence.electable import leads_meanwhile, vacancy
from rules.evidence.follower_rule import rule_run_by
from rules.finding import capital, offsets_told
from rules.loss.incurred import Loss
from rules.loss.unbilled import Unbilled
from rules.replicas.claims import UNREAD_EPOCHS
from rules.words import listed, numbered

ROLLING: Final = "restart all brokers one by one, or change the inter-broker protocol"
LOSES_NOTHING: Final = "loses nothing."
LOSES_NO_MORE: Final = "loses nothing more."
ASKED_FIRST: Final = "every follower asks its leader before it truncates."


class AlreadyLost(Struct, frozen=True, kw_only=True):
    """What is lost already, whatever is done now."""

    losses: Sequence[Loss]
    nowhere: Sequence[Nowhere]
    unbilled: Sequence[Unbilled]

    @property
    def loses(self) -> str:
        """What an election without a cost loses, as the end of a sentence."""
        if self.nowhere or self.unbilled:
            backups = f" {FROM_BACKUPS}" if self.nowhere else ""
            return f"{LOSES_NO_MORE}{in_no_copy(self.nowhere)}{backups}"
        gone = any(loss.matters and not loss.restored for loss in self.losses)
        loses = LOSES_NO_MORE if gone else LOSES_NOTHING
        return f"{loses} No other replica in this dump has acknowledged records that the new leader lacks."


def gates(
    evidence: PartitionEvidence,
    replicas: Sequence[Replica],
    choices: Sequence[tuple[Candidate, Sequence[Held]]],
    returns: tuple[Sequence[Doomed], Mapping[str, OwedCut]],
    absent: Sequence[int],
    gone: AlreadyLost,
) -> Iterator[Gate]:
    """One gate a broker's restart, one a folder that only people delete, one an election, one for new versions."""
    in_order = sorted(replicas, key=lambda replica: replica.broker)
    unjudged = not_judged(absent, unjudged_copies(evidence))
    outcomes = _elections(in_order, choices, unjudged, gone)
    free = [path for path, election in outcomes.items() if election.going == "go"]
    restarts = _restarts(in_order, choices, Restarts(evidence, *returns, gone.losses, unjudged, free), outcomes)
    beside = {gate.action: gate for gate in removed_beside(in_order, gone.losses, evidence)}
    barred = [gate for gate in (*restarts, *beside.values()) if gate.going == "no-go"]
    rolling = _versions(evidence, replicas, barred, unjudged, _alike_first(choices))
    open_ones = [gate.action for gate in (*restarts, *beside.values()) if gate.going == "unknown"]
    costly = [gate.action for gate in outcomes.values() if gate.going == "no-go"]
    if rolling.going == "go" and (open_ones or costly):
        bars = f"{open_ones[0]}, which cannot be judged" if open_ones else f"{costly[0]}, which is a NO-GO"
        what = f"The restarts {'would' if open_ones else 'may'} {bars}."
        rolling = replace(rolling, going="unknown", because=f"cannot be judged. {what}")
    alone = evidence.topic != METADATA_TOPIC and rolling.going == "no-go" and not barred
    yield from (_alone(gate) if alone and gate.going == "go" else gate for gate in restarts)
    unseen = unseen_restarts(absent, unjudged_copies(evidence))
    yield from (*(gate for gate in unseen if gate.action not in beside), *beside.values())
    yield from deletions(gone.losses, evidence)
    if evidence.topic == METADATA_TOPIC:  # its voters elect by themselves, and it cannot be assigned
        return
    yield from outcomes.values()
    yield rolling


def _elections(
    in_order: Sequence[Replica], choices: Sequence[tuple[Candidate, Sequence[Held]]], unjudged: str, gone: AlreadyLost
) -> dict[str, Gate]:
    """One gate a candidate's election, by its path."""
    unseen, found = [replica.broker for replica in in_order if replica.unopened], {}
    for candidate, held in choices:
        others = [broker for broker in unseen if broker != candidate.broker]
        going, because = _outcome(candidate, unjudged, others, gone)
        first = copies_first(candidate, held)
        found[candidate.path] = Gate(
            action=f"elect broker {candidate.broker}", going=going, because=because, first=first
        )
    return found


def _restarts(
    in_order: Sequence[Replica],
    choices: Sequence[tuple[Candidate, Sequence[Held]]],
    restarts: Restarts,
    elections: Mapping[str, Gate],
) -> list[Gate]:
    """One gate a broker's restart; while nobody leads, the start of whoever is in the last ISR elects it."""
    vacant = vacancy(restarts.evidence)
    elected = {replica.path for replica in vacant.at_rest if replica.broker in vacant.electable}
    leading = {
        candidate.path: leads_by_its_start(candidate, copies_first(candidate, held))
        for candidate, held in choices
        if candidate.lacks and candidate.path in elected
    }
    known = {candidate.path: candidate for candidate, _ in choices}
    found = {r.path: leading.get(r.path) or restarts.of(r, known[r.path].had_reached) for r in in_order}
    sound = sorted(c.broker for c in known.values() if not (c.damage or c.lacks or c.doubts))
    first = another_leads(sound, vacant.electable) if sound else ""
    wrong = {
        path: starts_wrong(found[path], c.damage[0], first, sound)
        for path, c in known.items()
        if c.damage and sound and path in elected and found[path].going == "go"
    }
    if restarts.evidence.topic == METADATA_TOPIC:
        apart = contradicting(restarts.evidence.metadata_snapshots, restarts.evidence.differences)
        return [acts_on_its_metadata(found[r.path], r.broker, apart) for r in in_order]
    free = sorted(known[path].broker for path in restarts.electable)
    return [
        wrong.get(r.path)
        or _may_lead(r, (found[r.path], elections[r.path]), free, ([*known.values()], restarts.evidence))
        for r in in_order
    ]


def _may_lead(
    replica: Replica,
    gates_of_it: tuple[Gate, Gate],
    free: Sequence[int],
    among: tuple[Sequence[Candidate], PartitionEvidence],
) -> Gate:
    """The start of a broker that may lead by it, where its election costs something or cannot be judged."""
    (gate, election), (may_lead, evidence) = gates_of_it, among
    broker, electable, leader = replica.broker, vacancy(evidence).electable, leads_meanwhile(evidence)
    if gate.going != "go" or election.going == "go" or (electable and broker not in electable):
        return unless_one_leads(gate, broker, may_lead, itself=election.going == "no-go")
    if not electable and leader is not None:
        held = "if it leads now" if leader == broker else f"while broker {leader} leads"
        return replace(gate, because=f"{gate.because} This holds {held}.")
    return perhaps_leads_by_its_start(gate, free)


def _alone(gate: Gate) -> Gate:
    """A restart that may be done although restarts in turn may not: those move leaders while replicas lag."""
    return replace(gate, because=f"{gate.because} This holds for one restart, not for restarts in turn.")


def in_no_copy(nowhere: Sequence[Nowhere]) -> str:
    """Which offsets no copy holds, as a sentence behind another one; empty where there are none."""
    offsets = ", ".join(offsets_told(stretch.start_offset, stretch.end_offset) for stretch in nowhere)
    return f" No copy here holds {offsets}." if offsets else ""


def _outcome(candidate: Candidate, unjudged: str, unseen: Sequence[int], gone: AlreadyLost) -> tuple[Going, str]:
    barred = _barred(candidate, gone.nowhere)
    if barred:
        return "no-go", barred
    untold = _untold(unjudged, unseen, gone.nowhere)
    untold = untold or "".join(f"{capital(_of_that_broker(doubt))}." for doubt in candidate.doubts[:1])
    return ("unknown", f"cannot be judged. {untold}") if untold else ("go", gone.loses)


def _of_that_broker(doubt: str) -> str:
    """What is said of a broker's own, where others may be named beside it."""
    return f"that broker's {own}" if (own := doubt.removeprefix("its ")) != doubt else doubt


def _barred(candidate: Candidate, nowhere: Sequence[Nowhere]) -> str:
    """What speaks against its election; empty where nothing does."""
    if candidate.lacks:
        return costs(candidate.lacks)
    apart = [cut for cut in candidate.cuts if cut.then != "agrees"]
    if apart:
        cut = apart[0]
        who = f"broker {cut.follower}"
        return f"leaves {who} {_OUTCOME[cut.then]}, because {who} truncates by the rule {cut.rule}."
    if candidate.damage:
        unseen = all(said.startswith(NOT_WHOLE) for said in candidate.damage)
        leads = "may make it lead without records:" if unseen else "makes it lead, although"
        return f"{leads} {listed(candidate.damage)}.{in_no_copy(nowhere)}"
    return ""


def _untold(unjudged: str, unseen: Sequence[int], nowhere: Sequence[Nowhere]) -> str:
    """Where more may be held than is here; empty where everything was seen."""
    if unjudged:
        return f"{unjudged} and may hold more."
    if unseen:
        logs = "log" if len(unseen) == 1 else "logs"
        they = "It" if len(unseen) == 1 else "They"
        whole = f"The {logs} of {numbered('broker', unseen)} may not be in this dump whole."
        return f"{whole} {they} may hold records that others lack."
    doubted = next((stretch for stretch in nowhere if stretch.doubt), None)
    return "" if doubted is None else f"{in_no_copy(nowhere).strip()} {capital(doubted.doubt)}."


_OLD: Final = {"hw-truncation": "by the high watermark alone", "kip-101": "by an answer that names no epoch"}
"""Rules by which a follower does not ask its leader where their logs part, and what decides instead."""
_OUTCOME = {
    "diverges": "with other records at the same offsets",
    "hole": "with a hole in its log",
    "stuck": "unable to append",
}


def _alike_first(choices: Sequence[tuple[Candidate, Sequence[Held]]]) -> str:
    """How the replicas become alike under the best candidate, before a leader moves."""
    for best, held in choices[:1]:
        apart = sorted({cut.follower for cut in best.cuts if cut.then != "agrees"})
        if apart:
            copied = copies_first(best, held)
            again = f"let {numbered('broker', apart)} copy broker {best.broker}'s log again"
            return f"{copied}, then {again}" if copied else again
    return "wait for every replica to be in sync"


def _versions(
    evidence: PartitionEvidence, replicas: Sequence[Replica], barred: Sequence[Gate], unjudged: str, alike_first: str
) -> Gate:
    """A follower without epochs, by its version or by its disk, cuts at its high watermark whatever the leader has."""
    if barred:
        first = " and ".join(dict.fromkeys(gate.first for gate in barred))
        because = f"must wait. It would {barred[0].action}, which is a NO-GO."
        return Gate(action=ROLLING, going="no-go", because=because, first=first)
    versions = {version.broker: version for version in evidence.versions}
    rules = {replica.broker: rule_run_by(versions.get(replica.broker)) for replica in replicas}
    old = {name: own for name in _OLD if (own := sorted(broker for broker, rule in rules.items() if rule == name))}
    if old:
        each = (f"{numbered('broker', own, 'cuts')} {_OLD[name]} (rule {name})" for name, own in old.items())
        because = (
            "may lose records or leave replicas with different ones. If a leader moves while a replica lags,"
            f" followers may cut too much or too little. {capital(' and '.join(each))}."
        )
        return Gate(action=ROLLING, going="no-go", because=because, first=alike_first)
    kept = {r.broker: max(start.high_watermark for start in r.next_starts()) for r in _without_epochs(replicas)}
    exposed = [r for r in replicas if kept.get(r.broker, r.log_end_offset) < r.log_end_offset]
    if exposed:
        names = ", ".join(f"broker {r.broker}'s {offsets_told(kept[r.broker], r.log_end_offset)}" for r in exposed)
        because = f"would cut {names}. Without leader epochs a restarted follower cuts to its high watermark."
        return Gate(action=ROLLING, going="no-go", because=because, first="let the high watermark reach the log end")
    unknown = _unknown(rules, versions) or _doubted(replicas)
    if unknown:
        return Gate(action=ROLLING, going="unknown", because=f"cannot be judged. {capital(unknown)}.")
    if unjudged or not replicas:
        lacking = f"{unjudged} and" if unjudged else "Its replicas are not in this dump, so"
        because = f"cannot be judged. {lacking} what is run and held there is not known."
        return Gate(action=ROLLING, going="unknown", because=because)
    return Gate(action=ROLLING, going="go", because=f"cuts only what differs: {ASKED_FIRST}")


def _doubted(replicas: Sequence[Replica]) -> str:
    """Whose log is not here whole, or whose epochs cannot be read; empty where every log can be judged."""
    partly = sorted(replica.broker for replica in replicas if replica.unopened)
    if partly:
        logs = "log of" if len(partly) == 1 else "logs of"
        return f"the {logs} {numbered('broker', partly, 'is')} not here whole"
    unread = sorted(replica.broker for replica in replicas if replica.epoch_file.state in UNREAD_EPOCHS)
    if unread:
        return f"the leader-epoch-checkpoint of {numbered('broker', unread)} cannot be read"
    by_watermark = [r for r in _without_epochs(replicas) if r.watermark_untold]
    lacking = {EPOCHS: [r for r in replicas if r.epochs_untold], WATERMARKS: by_watermark}
    owners = {file: sorted(replica.broker for replica in own) for file, own in lacking.items()}
    return next((f"the {file} of {numbered('broker', own)} is not here" for file, own in owners.items() if own), "")


def _without_epochs(replicas: Sequence[Replica]) -> list[Replica]:
    """Those whose brokers have no epoch to go by, of whatever they have records."""
    return [r for r in replicas if r.log_end_offset > r.log_start_offset and not (r.loaded_chain or r.epochs_untold)]


def _unknown(rules: Mapping[int, str | None], versions: Mapping[int, BrokerVersion]) -> str:
    """Of which brokers no log tells what they run, or what they speak between each other; empty where all is told."""
    open_ = sorted(broker for broker, rule in rules.items() if rule is None)
    unspoken = [broker for broker in open_ if broker in versions and versions[broker].binary is not None]
    silent = [broker for broker in open_ if broker not in unspoken]
    unknown = [f"which inter-broker protocol {numbered('broker', unspoken, 'speaks')}"] if unspoken else []
    unknown += [f"which versions {numbered('broker', silent, 'runs')}"] if silent else []
    return f"no log tells {', nor '.join(unknown)}" if unknown else ""
