"""What befalls a broker's process and disk: crash, lost pages, restart, clean shutdown, the checkpoint."""

from __future__ import annotations

from msgspec.structs import replace

from rules.protocol.offsets import Offset
from rules.protocol.watermarks import high_watermark_at_start
from rules.simulator.controller import decide, elect, hand_over, register
from rules.simulator.decision import keeps_eligible
from rules.simulator.delivery import abandon, let_go
from rules.simulator.leading import dismiss_producers
from rules.simulator.log_changes import ranges, recovered, without_pages
from rules.simulator.notes import Configured, Ended, Loaded
from rules.simulator.roles_taken import tell
from rules.simulator.state import Broker, Cluster, note, put, say


def crash(cluster: Cluster, broker: Broker) -> Cluster:
    """The process dies: what was only in memory is gone, the disk stays."""
    if not broker.alive:
        return say(cluster, f"broker {broker.id} is down already")
    cluster = dismiss_producers(abandon(cluster, broker), broker.id, crashed=True)
    return put(note(cluster, Ended(broker=broker.id, in_order=False)), _stopped(broker, in_order=False))


def _stopped(broker: Broker, *, in_order: bool) -> Broker:
    return replace(
        broker, alive=False, shut_down_cleanly=in_order, heard=None, leading=None, stage="idle", in_flight=None
    )


def shut_down(cluster: Cluster, broker: Broker) -> Cluster:
    """A clean shutdown: leadership is handed over, then the high watermark is written."""
    if not broker.alive:
        return say(cluster, f"broker {broker.id} is down already")
    cluster = hand_over(cluster, broker.id)
    cluster = checkpoint(cluster, cluster.broker(broker.id))
    last = cluster.broker(broker.id)
    cluster = note(let_go(abandon(cluster, last), last), Ended(broker=broker.id, in_order=True))
    stopped = put(cluster, _stopped(last, in_order=True))
    return replace(stopped, fenced=stopped.fenced | {broker.id})


def lose_pages(cluster: Cluster, broker: Broker, offset: Offset) -> Cluster:
    """What had not reached the disk of a stopped broker is gone from an offset on."""
    if broker.alive:
        return say(cluster, f"broker {broker.id} runs: pages are lost with the machine")
    after = without_pages(broker, offset)
    gone = broker.log.batches[len(after.log.batches) :]
    words = f"broker {broker.id} lost {ranges(gone)}" if gone else f"broker {broker.id} lost nothing"
    return say(put(cluster, after), words)


def checkpoint(cluster: Cluster, broker: Broker) -> Cluster:
    """High watermark and log start of now go to disk."""
    if not broker.alive or not broker.holds:
        why = "holds no replica" if broker.alive else "is down"
        return say(cluster, f"broker {broker.id} {why}")
    return put(cluster, replace(broker, checkpoint=broker.high_watermark, start_checkpoint=broker.log.start_offset))


def restart(cluster: Cluster, broker: Broker, *, hears: bool) -> Cluster:
    """A broker starts: log from disk, high watermark from its checkpoint; then it hears what the controller holds.

    The leader of record that comes back is another incarnation: its partition gets a new epoch.
    """
    if broker.alive:
        return say(cluster, f"broker {broker.id} runs already")
    loaded = recovered(broker)
    high_watermark = high_watermark_at_start(loaded.checkpoint, loaded.log.start_offset, loaded.log.end_offset)
    loaded = replace(loaded, alive=True, life=broker.life + 1, high_watermark=high_watermark)
    if keeps_eligible(cluster):
        cluster = register(cluster, broker.id, in_order=broker.shut_down_cleanly)
    cluster = replace(put(cluster, loaded), fenced=cluster.fenced - {broker.id})
    words = f"broker {broker.id} loads its log up to {loaded.log.end_offset}, HW {high_watermark} from "
    cluster = say(cluster, words + ("its checkpoint" if broker.checkpoint is not None else "its log start"))
    cluster = note(cluster, _loaded(loaded))
    if cluster.configured:
        cluster = note(cluster, Configured(broker=broker.id, settings=cluster.configured))
    state = cluster.in_force
    if state.leader == broker.id:
        return decide(cluster, broker.id, state.isr)
    if state.leader is None and keeps_eligible(cluster):
        cluster = elect(cluster, None, unclean=False)
    started = cluster.broker(broker.id)
    concerned = started.holds or started.id in cluster.in_force.replicas
    return tell(cluster, started, cluster.in_force) if hears and concerned and started.heard is None else cluster


def _loaded(broker: Broker) -> Loaded:
    return Loaded(
        broker=broker.id,
        log_start_offset=broker.log.start_offset,
        log_end_offset=broker.log.end_offset,
        high_watermark=broker.high_watermark,
        checkpointed=broker.checkpoint is not None,
        held=broker.holds,
    )
