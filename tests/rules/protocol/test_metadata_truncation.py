"""The KRaft metadata log: every Fetch is checked, and nothing is cut below a high watermark."""

from hypothesis import assume, given, settings

from rules.protocol.epochs import EpochEnd
from rules.protocol.metadata_truncation import metadata_end_offset, truncate_metadata_log
from rules.protocol.offsets import Epoch, Offset
from rules.protocol.replica import Replica
from rules.protocol.truncation import after_truncation, divergence_point
from tests.lab.effort import cases
from tests.rules.protocol.lineages import elections, replica


def snapshot(epoch: int, end_offset: int) -> EpochEnd:
    return EpochEnd(epoch=Epoch(epoch), end_offset=Offset(end_offset))


@settings(max_examples=cases(40))
@given(pair=elections())
def test_metadata_logs_agree_after_the_exchange_or_the_follower_refused(pair: tuple[Replica, Replica]) -> None:
    follower, leader = pair
    assume(follower.epochs and leader.epochs)
    truncation = truncate_metadata_log(follower, leader)
    assert truncation.offset <= follower.log_end_offset
    if truncation.because.startswith("refused"):
        assert not truncation.cuts
    else:
        assert truncation.offset >= min(follower.high_watermark, follower.log_end_offset)
        assert divergence_point(after_truncation(follower, truncation), leader) is None


def test_a_tail_of_a_lost_epoch_is_cut_to_the_shared_prefix() -> None:
    follower, leader = replica((1, 0), (2, 10), leo=14, hw=10), replica((1, 0), (3, 12), leo=20, hw=12)
    truncation = truncate_metadata_log(follower, leader)
    assert (truncation.offset, truncation.cuts) == (10, True)
    asked = [(one.asked_epoch, one.asked_offset, one.answered_epoch) for one in truncation.exchanges]
    assert asked == [(2, 14, 1), (1, 10, 1)]


def test_a_cut_below_the_high_watermark_is_refused() -> None:
    follower, leader = replica((1, 0), (2, 10), leo=14, hw=13), replica((1, 0), (3, 12), leo=20, hw=12)
    truncation = truncate_metadata_log(follower, leader)
    assert (truncation.offset, truncation.cuts) == (14, False)
    assert truncation.because == "refused below the high watermark 13: the leader's epoch 1 ends at 12"


def test_a_follower_below_the_oldest_snapshot_loads_it() -> None:
    leader = replica((4, 50), leo=80, start=50)
    truncation = truncate_metadata_log(replica((1, 0), leo=20, hw=20), leader, leader_snapshot=snapshot(3, 50))
    assert (truncation.offset, truncation.kept_log_end_offset, truncation.cuts) == (50, 0, True)
    assert truncation.because == "the leader answers with its snapshot 50-3"


def test_an_empty_follower_of_a_whole_log_just_fetches() -> None:
    truncation = truncate_metadata_log(replica(leo=0), replica((1, 0), leo=20))
    assert (truncation.offset, truncation.cuts) == (0, False)


def test_an_epoch_beyond_all_known_ends_with_the_log_in_its_last_epoch() -> None:
    log = replica((1, 5), (3, 12), leo=20, start=5)
    assert metadata_end_offset(log, Epoch(9), None) == snapshot(3, 20)
    assert metadata_end_offset(log, Epoch(0), snapshot(0, 5)) == snapshot(0, 5)
    assert metadata_end_offset(replica(leo=7, start=7), Epoch(9), snapshot(4, 7)) == snapshot(4, 7)
