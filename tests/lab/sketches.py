"""Histories of partitions that tests of several rooms begin from."""

from __future__ import annotations

ANEW = """
broker 1 0000 1 22 22|
broker 2 0000 1 22 22|
broker 3 0000 1 2 4 22|
t1 leads 1 epoch 0 at 0 hw 0
t2 leads 2 epoch 1 at 4 hw 4
t3 leads 1 epoch 2 at 5 hw 5
t4 acks 1 at 5 acks=all
t5 leads 3 epoch 4 at 6 hw 6
t6 acks 3 at 6 acks=1
t7 leads 2 epoch 1 at 6 hw 6
t8 leads 1 epoch 2 at 6 hw 6
t9 acks 1 at 6 acks=all
t10 fetch 2@8 from 1 hw=8
"""
"""Leader epochs that began anew: ZooKeeper was put back to an older state."""
OPENED_ONCE_MORE = """
broker 1* 000 33|
broker 2  000 33|
t1 leads 1 epoch 2 at 3 hw 3
t2 acks 1 at 3 acks=all
t3 fetch 2@6 from 1 hw=6
t4 leads 1 epoch 3 at 6 hw 6
t5 acks 1 at 6 acks=all
t6 leads 1 epoch 3 at 3 hw 3
"""
"""A leader whose disk was put back opens its epoch once more, without what it had written."""
