"""What to do about a troubled partition: whom to elect and at what cost, and what must be copied before a restart."""

from __future__ import annotations

from rules.advice.gates import LOSES_NO_MORE, LOSES_NOTHING
from rules.advice.spoken_gates import gate_words, told_gates
from rules.advice.weigh import advise
from rules.advice.weighed import DELETE, Advice, Candidate, Doomed, Gate, Going, OwedCut, Stretch
from rules.advice.whole_brokers import Starts, starts, where_gravest

__all__ = [
    "DELETE", "LOSES_NOTHING", "LOSES_NO_MORE",
    "Advice", "Candidate", "Doomed", "Gate", "Going", "OwedCut", "Starts", "Stretch", "advise", "gate_words", "starts",
    "told_gates", "where_gravest",
]  # fmt: skip
