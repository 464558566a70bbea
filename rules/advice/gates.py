"""Go or no-go before a restart, an election, a change of versions: what would be lost, and what comes first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rules.advice.model import Candidate, Doomed, Gate, Going, OwedCut, Stretch
from rules.advice.unseen import are, not_judged, unseen_restarts, who
from rules.counterfactual import rule_run_by
from rules.evidence import BrokerVersion, PartitionEvidence, Replica
from rules.finding import capital, offsets_told
from rules.loss.incurred import Loss
from rules.loss.survivors import FADING, Survivor
from rules.replicas.electable import vacancy
from rules.replicas.replica import UNREAD_EPOCHS


def gates(
    evidence: PartitionEvidence,
    replicas: Sequence[Replica],
    candidates: Sequence[Candidate],
    returns: tuple[Sequence[Doomed], Mapping[str, OwedCut]],
    absent: Sequence[int],
    losses: Sequence[Loss],
) -> Iterator[Gate]:
    """One gate a broker's restart, one an election, one for a change of protocol versions."""
    doomed, owed = returns
    in_order = sorted(replicas, key=lambda replica: replica.broker)
    vacant = vacancy(evidence)
    elected = {replica.broker for replica in vacant.at_rest} & vacant.electable
    leading = {c.broker: _leads_by_its_start(c) for c in candidates if c.lacks and c.broker in elected}
    restarts = [
        leading.get(r.broker)
        or _restart(r, [d for d in doomed if d.broker == r.broker], owed.get(r.path), losses)
        for r in in_order
    ]
    yield from restarts
    yield from unseen_restarts(absent, evidence.unread_copies)
    unjudged = not_judged(absent, evidence.unread_copies)
    yield from _elections(candidates, unjudged, [replica.broker for replica in in_order if not replica.end_known])
    yield _versions(evidence, replicas, [gate for gate in restarts if gate.going == "no-go"], unjudged)


def _leads_by_its_start(candidate: Candidate) -> Gate:
    named = _named(candidate.lacks)
    because = f"loses {named}. It is in the last ISR and nobody leads, so it leads as soon as it runs."
    first = f"copy from the others: {named}"
    return Gate(action=f"restart broker {candidate.broker}", going="no-go", because=because, first=first)


def _restart(replica: Replica, doomed: Sequence[Doomed], owed: OwedCut | None, losses: Sequence[Loss]) -> Gate:
    action = f"restart broker {replica.broker}"
    last = [d for d in doomed if d.stretch.told_of and not d.others]
    leftovers = [s for loss in losses if loss.matters for s in loss.survivors if _fades(s, replica.broker)]
    if not replica.end_known:
        names = ", ".join(dict.fromkeys(unread.span.source for unread in replica.unopened))
        because = f"cannot be judged. Its log is not here whole: {names} is missing."
        return Gate(action=action, going="unknown", because=because)
    if last:
        because = f"destroys the last copy of {_named(d.stretch for d in last)}. {capital(last[0].because)}."
        return Gate(action=action, going="no-go", because=because, first=f"copy {replica.path}")
    if leftovers:
        paths = ", ".join(dict.fromkeys(s.path for s in leftovers))
        return Gate(
            action=action,
            going="no-go",
            because=f"removes a {leftovers[0].kind} with lost records: {_named(leftovers)}.",
            first=f"copy {paths}",
        )
    return Gate(action=action, going="go", because=_cut_told(owed, doomed))


def _cut_told(owed: OwedCut | None, doomed: Sequence[Doomed]) -> str:
    """What a start cuts that costs nothing: also what comes back at once is cut."""
    if owed is None:
        return "cuts nothing from its log, as the disks stand."
    new = "" if owed.in_force else ", if its versions are new"
    cut = f"cuts its log from {owed.log_end_offset} to {owed.cut_to} when it follows broker {owed.leader}{new}."
    if doomed:
        return f"{cut} What does not come back stands elsewhere, or nobody was told of it."
    return f"{cut} It fetches the same records again."


def _fades(survivor: Survivor, broker: int) -> bool:
    return survivor.broker == broker and survivor.kind in FADING


def _elections(candidates: Sequence[Candidate], unjudged: str, unseen: Sequence[int]) -> Iterator[Gate]:
    for candidate in candidates:
        action = f"elect broker {candidate.broker}"
        going, because = _election(candidate, unjudged, [broker for broker in unseen if broker != candidate.broker])
        first = f"copy from the others: {_named(candidate.lacks)}" if candidate.lacks else ""
        yield Gate(action=action, going=going, because=because, first=first)


def _election(candidate: Candidate, unjudged: str, unseen: Sequence[int]) -> tuple[Going, str]:
    if candidate.lacks:
        return "no-go", f"loses {_named(candidate.lacks)}, which somebody was told are written."
    apart = [cut for cut in candidate.cuts if cut.then != "agrees"]
    if apart:
        cut = apart[0]
        return "no-go", f"leaves broker {cut.follower} {_OUTCOME[cut.then]}, by its rule {cut.rule}."
    if candidate.damage:
        return "no-go", f"lets a log lead that is not sound: {'; '.join(candidate.damage)}."
    if unjudged:
        return "unknown", f"cannot be judged. {unjudged} and may hold more."
    if unseen:
        logs = "log" if len(unseen) == 1 else "logs"
        return "unknown", f"cannot be judged. The {logs} of {who(unseen)} may hold more than what is here."
    return "go", "loses nothing. No other replica in this dump has acknowledged records that the new leader lacks."


_OUTCOME = {
    "diverges": "with other records at the same offsets",
    "hole": "with a hole in its log",
    "stuck": "unable to append",
}


def _named(stretches: Iterable[Stretch | Survivor]) -> str:
    """Stretches in words; those that follow each other in one epoch, as of several files, are one."""
    joined: list[tuple[int, int, int]] = []
    for s in stretches:
        if joined and joined[-1][0] == s.epoch and joined[-1][2] == s.start_offset:
            joined[-1] = s.epoch, joined[-1][1], s.end_offset
        else:
            joined.append((s.epoch, s.start_offset, s.end_offset))
    return ", ".join(f"{offsets_told(start, end)}{_of_epoch(epoch)}" for epoch, start, end in joined)


def _of_epoch(epoch: int) -> str:
    """Formats 0 and 1 carry none."""
    return f" of epoch {epoch}" if epoch >= 0 else ""


def _versions(
    evidence: PartitionEvidence, replicas: Sequence[Replica], barred: Sequence[Gate], unjudged: str
) -> Gate:
    """A follower without epochs, by its version or by its disk, cuts at its high watermark whatever the leader has."""
    action = "restart all brokers one by one, or change the inter-broker protocol"
    if barred:
        first = "; ".join(gate.first for gate in barred)
        because = f"is barred, since one may not {barred[0].action}."
        return Gate(action=action, going="no-go", because=because, first=first)
    versions = {version.broker: version for version in evidence.versions}
    rules = {replica.broker: rule_run_by(versions.get(replica.broker)) for replica in replicas}
    old = [broker for broker, rule in sorted(rules.items()) if rule in ("hw-truncation", "kip-101")]
    if old:
        names = ", ".join(f"broker {broker} ({rules[broker]})" for broker in old)
        because = (
            "may lose records or let logs part. Each restart moves leaders while the next replica may lag. These"
            f" followers do not ask their leader by epoch and offset: {names}."
        )
        return Gate(action=action, going="no-go", because=because, first="wait for every replica to be in sync")
    bare = [r for r in replicas if not r.loaded_chain and r.log_end_offset > r.log_start_offset]
    exposed = [r for r in bare if _at_risk(r)]
    if exposed:
        names = ", ".join(f"broker {r.broker}'s {offsets_told(_watermark(r), r.log_end_offset)}" for r in exposed)
        because = f"would cut {names}. Without leader epochs a restarted follower cuts to its high watermark."
        return Gate(action=action, going="no-go", because=because, first="let the high watermark reach the log end")
    unknown = _unknown(rules, versions) or _doubted(replicas)
    if unknown:
        return Gate(action=action, going="unknown", because=f"cannot be judged. {capital(unknown)}.")
    if unjudged or not replicas:
        lacking = f"{unjudged} and" if unjudged else "Its replicas are not in this dump, so"
        because = f"cannot be judged. {lacking} what is run and held there is not known."
        return Gate(action=action, going="unknown", because=because)
    because = "lets no follower cut blindly. Each asks its leader by epoch and offset before it cuts."
    return Gate(action=action, going="go", because=because)


def _doubted(replicas: Sequence[Replica]) -> str:
    """Whose log is not here whole, or whose epochs cannot be read; empty where every log can be judged."""
    partly = sorted(replica.broker for replica in replicas if not replica.end_known)
    if partly:
        logs = "log of" if len(partly) == 1 else "logs of"
        return f"the {logs} {are(partly)} not here whole"
    unread = sorted(replica.broker for replica in replicas if replica.epoch_file.state in UNREAD_EPOCHS)
    return f"the leader-epoch-checkpoint of {who(unread)} cannot be read" if unread else ""


def _unknown(rules: Mapping[int, str | None], versions: Mapping[int, BrokerVersion]) -> str:
    """Of which brokers no log tells what they run, or what they speak between each other; empty where all is told."""
    open_ = sorted(broker for broker, rule in rules.items() if rule is None)
    unspoken = [broker for broker in open_ if broker in versions and versions[broker].binary is not None]
    silent = [broker for broker in open_ if broker not in unspoken]
    told = [f"which inter-broker protocol {who(unspoken)} speak{'s' * (len(unspoken) == 1)}"] if unspoken else []
    told += [f"which versions {who(silent)} run{'s' * (len(silent) == 1)}"] if silent else []
    return f"no log tells {', nor '.join(told)}" if told else ""


def _at_risk(replica: Replica) -> bool:
    return _watermark(replica) < replica.log_end_offset


def _watermark(replica: Replica) -> int:
    claimed = replica.high_watermark.offset if replica.high_watermark else replica.log_start_offset
    return max(claimed, replica.log_start_offset)
