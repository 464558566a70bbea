"""An order that comes late names an older leader epoch and is refused: no role is taken, and no topic begins anew."""

from __future__ import annotations

from pathlib import Path

from auditor.engines.witnesses.statements_of_requests import of_trace
from parsers.provenance import Origin
from parsers.request_log import Trace
from rules.history.last_life import of_the_last_life
from rules.history.moments import Moment, gives_role
from rules.history.turns import epochs_begin_anew, roles_fall_back

ORDER = (
    "[2026-11-22 07:42:{second},595] DEBUG Completed request:RequestHeader(apiKey=LEADER_AND_ISR, apiVersion=1, "
    "clientId=2, correlationId=18) -- {{controller_id=2,controller_epoch=1,partition_states=[{{topic=pay,partition=1,"
    "controller_epoch=1,leader=2,leader_epoch={epoch},isr=[2,3],zk_version={version},replicas=[4,2,3],is_new=false}}],"
    "live_leaders=[{{id=2,host=127.0.0.1,port=33369}}]}},response:{{error_code=0,partitions=[{{topic=pay,partition=1,"
    "error_code={error}}}]}} from connection 127.0.0.1:33369-127.0.0.1:43700-0;totalTime:20.553,requestQueueTime:4.754,"
    "localTime:7.584,remoteTime:0.0,throttleTime:0.0,responseQueueTime:8.139,sendTime:0.09,securityProtocol:PLAINTEXT,"
    "principal:User:ANONYMOUS,listener:PLAINTEXT (kafka.request.logger)\n"
)
"""As Kafka 1.0.2 wrote it while a reassignment was under way."""
STALE_CONTROLLER_EPOCH = 11


def moments(folder: Path, *orders: tuple[int, int, int, int]) -> list[Moment]:
    log = folder / "kafka-request.log"
    keys = ("second", "epoch", "version", "error")
    log.write_text("".join(ORDER.format(**dict(zip(keys, order, strict=True))) for order in orders))
    origin = Origin(source="kafka-request.log", broker=2)
    trace = Trace(log, origin, 0, log.stat().st_size)
    return [moment for _, _, moment in of_trace(trace.read(), origin, {})]


def test_a_refused_order_gives_no_role_and_begins_no_life(tmp_path: Path) -> None:
    told = moments(tmp_path, (10, 0, 0, 0), (17, 1, 1, 0), (19, 0, 0, STALE_CONTROLLER_EPOCH), (20, 2, 3, 0))
    assert [gives_role(moment) for moment in told] == [True, True, False, True]
    assert of_the_last_life(told) == told
    assert not epochs_begin_anew(told)


def test_an_order_that_is_taken_and_falls_back_tells_of_no_log(tmp_path: Path) -> None:
    told = moments(tmp_path, (10, 0, 0, 0), (17, 1, 1, 0), (19, 0, 0, 0))
    assert of_the_last_life(told) == told
    assert epochs_begin_anew(told)
    assert roles_fall_back(told)


def test_an_order_that_is_refused_makes_nothing_fall_back(tmp_path: Path) -> None:
    assert not roles_fall_back(moments(tmp_path, (10, 0, 0, 0), (17, 1, 1, 0), (19, 0, 0, STALE_CONTROLLER_EPOCH)))
