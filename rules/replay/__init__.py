"""What every replica's log end and high watermark must have been over time, recomputed from everything else told."""

from __future__ import annotations

from rules.history.clocks import Clocks
from rules.history.translation import translated
from rules.replay.committed_alone import committed_alone
from rules.replay.course import Course, Replay, replay
from rules.replay.ends import RoleEnd
from rules.replay.lag import Lag, lags
from rules.replay.leading.leader_walk import LeaderRow
from rules.replay.leads.rank import release_at
from rules.replay.missing import Missing
from rules.replay.stable import StableLogs
from rules.replay.told_watermarks import ToldWatermark
