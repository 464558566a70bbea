"""All rules, listed by hand in the order of their families; a test compares this list with the folder."""

from __future__ import annotations

from typing import Final

from rules.catalog.ack001_acknowledged_records_missing import acknowledged_records_missing
from rules.catalog.ack002_single_copy_commit import single_copy_commit
from rules.catalog.bug001_known_defect_signature import known_defect_signature
from rules.catalog.conf001_durability_not_configured import durability_not_configured
from rules.catalog.cons001_committed_offset_beyond_log_end import committed_offset_beyond_log_end
from rules.catalog.cons002_committed_offset_in_cut_epoch import committed_offset_in_cut_epoch
from rules.catalog.cons003_offsets_reused import offsets_reused
from rules.catalog.cons004_read_beyond_high_watermark import read_beyond_high_watermark
from rules.catalog.cons005_group_in_foreign_offsets_partition import group_in_foreign_offsets_partition
from rules.catalog.epoch001_leader_epoch_regressed import leader_epoch_regressed
from rules.catalog.epoch002_checkpoint_contradicts_log import checkpoint_contradicts_log
from rules.catalog.epoch003_epoch_missing_from_checkpoint import epoch_missing_from_checkpoint
from rules.catalog.epoch004_checkpoint_malformed import checkpoint_malformed
from rules.catalog.epoch005_epoch_starts_disagree import epoch_starts_disagree
from rules.catalog.epoch006_epoch_unknown_to_metadata import epoch_unknown_to_metadata
from rules.catalog.epoch007_epoch_gap import epoch_gap
from rules.catalog.epoch008_two_leaders_in_one_epoch import two_leaders_in_one_epoch
from rules.catalog.epoch009_checkpoint_beyond_log_end import checkpoint_beyond_log_end
from rules.catalog.group001_assignment_contradicts_assignor import assignment_contradicts_assignor
from rules.catalog.hw001_high_watermark_beyond_log_end import high_watermark_beyond_log_end
from rules.catalog.hw002_high_watermark_regressed import high_watermark_regressed
from rules.catalog.hw003_high_watermark_beyond_isr import high_watermark_beyond_isr
from rules.catalog.hw004_follower_high_watermark_beyond_leader import follower_high_watermark_beyond_leader
from rules.catalog.hw005_high_watermark_below_log_start import high_watermark_below_log_start
from rules.catalog.hw006_high_watermark_stalled import high_watermark_stalled
from rules.catalog.idx001_offset_index_contradicts_log import offset_index_contradicts_log
from rules.catalog.idx002_time_index_contradicts_log import time_index_contradicts_log
from rules.catalog.idx003_transaction_index_contradicts_log import transaction_index_contradicts_log
from rules.catalog.isr001_isr_member_lacks_committed_records import isr_member_lacks_committed_records
from rules.catalog.isr002_isr_contradicts_lag import isr_contradicts_lag
from rules.catalog.lead001_leader_started_below_committed import leader_started_below_committed
from rules.catalog.lead002_unclean_election import unclean_election
from rules.catalog.lead003_leader_outside_isr import leader_outside_isr
from rules.catalog.lead004_deposed_leader_kept_writing import deposed_leader_kept_writing
from rules.catalog.lead005_elected_not_expected import elected_not_expected
from rules.catalog.leo001_log_end_behind_acknowledged_fetch import log_end_behind_acknowledged_fetch
from rules.catalog.leo002_replica_stopped_fetching import replica_stopped_fetching
from rules.catalog.log001_committed_records_diverge import committed_records_diverge
from rules.catalog.log002_tail_diverges import tail_diverges
from rules.catalog.log003_same_epoch_different_records import same_epoch_different_records
from rules.catalog.log004_compacted_survivors_disagree import compacted_survivors_disagree
from rules.catalog.log005_compaction_raced_replication import compaction_raced_replication
from rules.catalog.log006_different_topics_compared import different_topics_compared
from rules.catalog.log007_directory_of_another_topic import directory_of_another_topic
from rules.catalog.log008_records_held_by_none import records_held_by_none
from rules.catalog.meta001_metadata_logs_diverge import metadata_logs_diverge
from rules.catalog.meta002_recovery_quorum_too_small import recovery_quorum_too_small
from rules.catalog.place001_key_in_foreign_partition import key_in_foreign_partition
from rules.catalog.place002_replicas_or_leaders_unbalanced import replicas_or_leaders_unbalanced
from rules.catalog.seg001_batch_checksum_mismatch import batch_checksum_mismatch
from rules.catalog.seg002_damage_inside_log import damage_inside_log
from rules.catalog.seg003_tail_torn import tail_torn
from rules.catalog.seg004_offsets_overlap_or_regress import offsets_overlap_or_regress
from rules.catalog.seg005_offsets_missing import offsets_missing
from rules.catalog.seg006_header_contradicts_chain import header_contradicts_chain
from rules.catalog.seg007_records_undecodable import records_undecodable
from rules.catalog.seg008_recovery_point_beyond_log_end import recovery_point_beyond_log_end
from rules.catalog.trunc001_committed_records_truncated import committed_records_truncated
from rules.catalog.trunc002_truncated_to_wrong_offset import truncated_to_wrong_offset
from rules.catalog.trunc003_truncated_by_high_watermark import truncated_by_high_watermark
from rules.catalog.trunc004_truncation_owed import truncation_owed
from rules.catalog.trunc005_hole_after_mid_batch_cut import hole_after_mid_batch_cut
from rules.catalog.trunc006_log_reset_entirely import log_reset_entirely
from rules.catalog.txn001_transaction_hangs import transaction_hangs
from rules.catalog.txn002_marker_sets_differ import marker_sets_differ
from rules.catalog.txn003_last_stable_offset_stuck import last_stable_offset_stuck
from rules.catalog.txn004_producer_sequence_gap import producer_sequence_gap
from rules.rule import Rule

RULES: Final[tuple[Rule, ...]] = (
    acknowledged_records_missing,
    single_copy_commit,
    known_defect_signature,
    durability_not_configured,
    committed_offset_beyond_log_end,
    committed_offset_in_cut_epoch,
    offsets_reused,
    read_beyond_high_watermark,
    group_in_foreign_offsets_partition,
    leader_epoch_regressed,
    checkpoint_contradicts_log,
    epoch_missing_from_checkpoint,
    checkpoint_malformed,
    epoch_starts_disagree,
    epoch_unknown_to_metadata,
    epoch_gap,
    two_leaders_in_one_epoch,
    checkpoint_beyond_log_end,
    assignment_contradicts_assignor,
    high_watermark_beyond_log_end,
    high_watermark_regressed,
    high_watermark_beyond_isr,
    follower_high_watermark_beyond_leader,
    high_watermark_below_log_start,
    high_watermark_stalled,
    offset_index_contradicts_log,
    time_index_contradicts_log,
    transaction_index_contradicts_log,
    isr_member_lacks_committed_records,
    isr_contradicts_lag,
    leader_started_below_committed,
    unclean_election,
    leader_outside_isr,
    deposed_leader_kept_writing,
    elected_not_expected,
    log_end_behind_acknowledged_fetch,
    replica_stopped_fetching,
    committed_records_diverge,
    tail_diverges,
    same_epoch_different_records,
    compacted_survivors_disagree,
    compaction_raced_replication,
    different_topics_compared,
    directory_of_another_topic,
    records_held_by_none,
    metadata_logs_diverge,
    recovery_quorum_too_small,
    key_in_foreign_partition,
    replicas_or_leaders_unbalanced,
    batch_checksum_mismatch,
    damage_inside_log,
    tail_torn,
    offsets_overlap_or_regress,
    offsets_missing,
    header_contradicts_chain,
    records_undecodable,
    recovery_point_beyond_log_end,
    committed_records_truncated,
    truncated_to_wrong_offset,
    truncated_by_high_watermark,
    truncation_owed,
    hole_after_mid_batch_cut,
    log_reset_entirely,
    transaction_hangs,
    marker_sets_differ,
    last_stable_offset_stuck,
    producer_sequence_gap,
)

BY_ID: Final[dict[str, Rule]] = {rule.id: rule for rule in RULES}
BEARINGS: Final = {rule.id: rule.bearing for rule in RULES}
