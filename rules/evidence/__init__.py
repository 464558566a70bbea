"""All that rules see: a partition's evidence, the values that it is made of, and a module for each larger question."""

from __future__ import annotations

from parsers.provenance import Span
from rules.chronicle.chronicle import Chronicle
from rules.evidence.partition import Level, PartitionEvidence
from rules.facts.indexes import Unindexed
from rules.facts.stretch import UNOPENED, ChecksumFault, EpochRun, OffsetStep, Stray, UnreadBytes
from rules.history.log_cuts import WHEN_MADE, Cut
from rules.history.moments import (
    ROLE_KINDS,
    Committed,
    Moment,
    first_role,
    gives_role,
    is_metadata,
    own_log_end,
)
from rules.history.statements import Fetched, Inquiry, LogCut, PartitionState, Role, RoleTaken
from rules.history.turns import LeaderChange
from rules.protocol.topics import COMPACTED_TOPICS, METADATA_TOPIC
from rules.replay import Course, Lag, LeaderRow, Replay, ToldWatermark, lags, translated
from rules.replay.closing import CRASHED, Closing, Unclosed, raised_since
from rules.replay.missing import unbounded
from rules.replay.told_watermarks import no_answer, none_told
from rules.replicas.alone import stands_alone
from rules.replicas.belied import Belied
from rules.replicas.claims import NO_EPOCH_FILE, EpochClaim, EpochFile, OffsetClaim, ProducerClaim
from rules.replicas.commits_of_groups import GroupCommit, GroupHome
from rules.replicas.coordinators import DECIDED, Coordinated
from rules.replicas.disagreement import Difference, Uncompared, differ
from rules.replicas.epoch_order import epoch_falls
from rules.replicas.exchanged import Exchanged
from rules.replicas.inferred import InferredCut
from rules.replicas.kept_older import KeptOlder
from rules.replicas.keys_apart import KeysApart
from rules.replicas.lineage import LostTerm, epoch_held
from rules.replicas.lives import begun_again
from rules.replicas.markers import MarkerMissing, MarkersApart, markers_apart
from rules.replicas.metadata_snapshots import SnapshotSeen
from rules.replicas.partition_counts import PartitionCount
from rules.replicas.racks import racks_told
from rules.replicas.replica import Leftover, Replica, SegmentFile, same_topic
from rules.replicas.sequences import SequenceBreak
from rules.replicas.share import PartitionShare
from rules.replicas.topic_ids import OtherId
from rules.settings import MIN_IN_SYNC, STOPPING, BrokerVersion, Setting
from rules.unwritten.asking import RuleAnswer
from rules.unwritten.reconstruction import AskedFollower
