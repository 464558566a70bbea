"""Whose a log is by its own words: names that brokers print of themselves, and one that is nobody's."""

from __future__ import annotations

from parsers.broker_log.witness import witnesses

STARTED = b"[2026-11-24 04:47:07] INFO [BrokerServer id=1] Transition from SHUTDOWN to STARTING (kafka.server)\n"
REAPER = b"[2026-11-24 04:47:10,174] INFO [ExpirationReaper-%s]: Starting (org.apache.kafka.server.purgatory.Reaper)\n"


def test_the_reapers_of_4_0_name_no_broker() -> None:
    """They are called so on every broker: in 4.0 they get their names before they know whose they are."""
    assert [one.broker for one in witnesses(STARTED + REAPER % b"0-null")] == [1]


def test_those_of_other_releases_name_theirs() -> None:
    named = [one.broker for one in witnesses(REAPER % b"0-Fetch" + REAPER % b"10-null" + REAPER % b"2-nullable")]
    assert named == [0, 2]
