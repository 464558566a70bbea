"""How the facts about one partition become its evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from msgspec.structs import replace

from parsers.provenance import LOG_DIR_CHECKPOINTS, FileKind
from rules.chronicle.chronicle import Chronicle
from rules.evidence import METADATA_TOPIC, PartitionEvidence, Replica
from rules.evidence.absent_segments import with_absent_segments
from rules.facts.indexes import join_all_indexes
from rules.facts.join import join_all
from rules.history.last_life import earlier_life, gave_up
from rules.history.loads import of_one_folder
from rules.history.moments import Moment
from rules.history.repetitions import collapse, once
from rules.history.rotated import FileOrder
from rules.history.set_back import going_on
from rules.history.terms import in_terms
from rules.history.unheard import told_once
from rules.narrow.facts import DirectoryFacts, Fact, RootClaims, Surroundings
from rules.narrow.rejoined import rejoined
from rules.protocol.epochs import EpochChain
from rules.replicas.belied import EpochsOf, belied
from rules.replicas.commits_of_groups import GroupHome, in_order
from rules.replicas.compacting import is_compacted
from rules.replicas.foreign import found_foreign
from rules.replicas.led_last import elections_told
from rules.replicas.lives import of_incarnation, with_lives
from rules.replicas.placing import Placing
from rules.replicas.remote import of_the_topic


def owned(facts: Iterable[Fact], surroundings: Surroundings) -> list[Fact]:
    """The facts without what logs tell that are nobody's; a fact of which nothing is left is none."""
    nobodys = surroundings.disowned
    if not nobodys:
        return list(facts)
    kept: list[Fact] = []
    for fact in facts:
        moments = tuple(moment for moment in fact.moments if moment.span.source not in nobodys)
        if moments or not fact.moments:
            kept.append(fact if len(moments) == len(fact.moments) else replace(fact, moments=moments))
    return kept


def nothing_read(path: str) -> EpochChain:  # noqa: ARG001 - as whoever reads a file is asked
    """Of no folder is the epoch file known."""
    return ()


def assemble(
    facts: Iterable[Fact], surroundings: Surroundings, epochs_of: EpochsOf = nothing_read
) -> PartitionEvidence:
    """The evidence about one partition from all facts about it, in whatever order they come."""
    ordered = sorted(facts, key=lambda fact: (fact.broker, fact.log_dir, fact.state, fact.path or "", fact.order))
    claims = {(fact.broker, fact.log_dir): fact for fact in ordered if fact.root is not None}
    pieces = [fact for fact in ordered if fact.path is not None]
    grouped = groupby(pieces, key=lambda fact: (fact.broker, fact.log_dir, fact.path))
    untold = {
        log_dir: frozenset(LOG_DIR_CHECKPOINTS).difference(surroundings.checkpoints.get(log_dir, ()))
        for log_dir in {fact.log_dir for fact in pieces}
    }
    replicas = tuple(_replica(list(own), claims.get(at[:2]), untold[at[1]]) for at, own in grouped)
    ids = frozenset(_ids_given(moment for fact in ordered for moment in fact.moments))
    moments = _moments(ordered, surroundings)
    first = ordered[0]
    if first.topic is None or first.partition is None:
        message = "facts without a partition are no evidence about one"
        raise ValueError(message)
    here = [replica for replica in replicas if replica.state == "current"]
    foreign = found_foreign((first.topic, first.partition), here, ids, surroundings)
    replicas = foreign.put_aside(replicas)
    own = of_incarnation(moments, replicas, surroundings.settings)
    beside = {r.broker for r in replicas if r.state in ("deleted", "stray")} | gave_up(moments)
    chronicle = Chronicle(in_terms(tuple(collapse(of_one_folder(own, beside)))), earlier_life(moments, own))
    compacted = is_compacted(first.topic, here, surroundings.settings)
    foreign = replace(foreign, belied=belied(replicas, chronicle, surroundings.loose, epochs_of, compacted=compacted))
    replicas = foreign.put_aside(replicas)
    evidence = PartitionEvidence(
        cluster_id=surroundings.cluster_id,
        topic=first.topic,
        partition=first.partition,
        replicas=with_lives(replicas, chronicle),
        foreign=foreign,
        level=surroundings.level,
        versions=surroundings.versions,
        settings=surroundings.settings,
        request_logs=surroundings.request_logs,
        falls=surroundings.falls,
        steady=surroundings.steady,
        told_ids=ids,
        copied_live=surroundings.copied_live,
        copied=surroundings.copied,
        thresholds=surroundings.thresholds,
        coordinators=surroundings.coordinators,
        brokers_in_dump=surroundings.brokers_in_dump,
        unread_copies=surroundings.unread_copies.of(first.topic, first.partition),
        chronicle=chronicle,
        elections_told=elections_told(chronicle),
        placing=Placing(
            homes=tuple(_in_place((home for fact in ordered for home in fact.group_homes), replicas)),
            assignments=tuple(assignment for fact in ordered for assignment in fact.assignments),
            counts=surroundings.counts,
        ),
        metadata_snapshots=tuple(seen for fact in ordered for seen in fact.metadata_snapshots),
        remote_copies=of_the_topic((c for fact in ordered for c in fact.remote_copies), _held_ids(replicas)),
        group_offsets=in_order((c for fact in ordered for c in fact.group_commits), _held_ids(replicas)),
    )
    return with_absent_segments(evidence)


def _moments(facts: Sequence[Fact], surroundings: Surroundings) -> list[Moment]:
    """What was told, with what is repeated across the cuts of a trace told once, and busy traces thinned."""
    moments = once(moment for fact in facts for moment in fact.moments)
    files = FileOrder((moment.span.source, moment.time) for moment in moments)
    moments.sort(key=lambda moment: (moment.clock, files.place(moment.span.source), moment.span.start))
    kept = rejoined(told_once(moments), surroundings.busy)
    return [*going_on(kept, surroundings.falls, surroundings.apart)]


def _ids_given(moments: Iterable[Moment]) -> Iterable[str]:
    """Topic ids by those that know the topic's name too: of traces some only tell the id, which directories name."""
    return (moment.topic_id for moment in moments if moment.kind == "leadership" and moment.topic_id is not None)


def _in_place(homes: Iterable[GroupHome], replicas: Sequence[Replica]) -> Iterator[GroupHome]:
    """The groups that have records in a log of this partition, not in another log under its name."""
    strange = tuple(f"{replica.path}/" for replica in replicas if replica.state == "foreign")
    return (home for home in homes if not home.span.source.startswith(strange))


def _held_ids(replicas: Sequence[Replica]) -> frozenset[str]:
    return frozenset(r.topic_id for r in replicas if r.state == "current" and r.topic_id is not None)


def _replica(facts: Sequence[Fact], claimed: Fact | None, untold: frozenset[FileKind]) -> Replica:
    first = facts[0]
    directory = next((fact.directory for fact in facts if fact.directory is not None), DirectoryFacts())
    # A deleted or stray copy shares its log dir's files with a live one of the same name: the lines are the live one's.
    root = claimed.root if claimed and claimed.root and first.state in ("current", "future") else RootClaims()
    return Replica(
        broker=first.broker,
        log_dir=first.log_dir,
        path=first.path or "",
        state=first.state,
        topic_id=first.topic_id,
        segments=directory.segments,
        leftovers=directory.leftovers,
        log=join_all(fact.log for fact in facts if fact.log is not None),
        epoch_file=directory.epoch_file,
        high_watermark=root.high_watermark,
        recovery_point=root.recovery_point,
        log_start_claim=root.log_start,
        cleaner_offset=root.cleaner,
        clean_shutdown=first.clean_shutdown,
        snapshot_offsets=directory.snapshot_offsets,
        producer_claims=directory.producer_claims,
        indexes=join_all_indexes(fact.indexes for fact in facts),
        voters=directory.voters,
        untold=frozenset() if first.topic == METADATA_TOPIC else untold,
        refusals=directory.refusals + root.refusals,
        bytes_seen=sum(fact.bytes_seen for fact in facts),
        bytes_read=sum(fact.bytes_read for fact in facts),
    )
