"""Lines about followers fetching: who fetches what from whom and from where, and how it fails."""

from __future__ import annotations

from typing import Final

from parsers.broker_log.wording import Event, Wording

_FETCHER: Final = "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] "
_MANAGER: Final = "[ReplicaFetcherManager on broker 2] "
_REQUEST: Final = "Error in response for fetch request (type=FetchRequest, replicaId=2, maxWait=500, minBytes=1, maxBytes=10485760, "

FETCHING: Final = (
    Event(
        kind="fetcher-added",
        means="The follower begins to fetch the partition at offset from the leader.",
        wordings=(
            Wording(
                text="Added fetcher for partitions List({items}", until="2.1",
                items="[{tp}, initOffset {offset} to broker BrokerEndPoint({leader},",
                sample=_MANAGER + "Added fetcher for partitions List([t-1, initOffset 8 to broker BrokerEndPoint(1,127.0.0.1,9092)] )",
                expect={"broker": 2, "topic": "t", "partition": 1, "offset": 8, "leader": 1},
            ),
            Wording(
                text="Added fetcher to broker <?BrokerEndPoint(id=?>{leader}{*} for partitions {items}",
                items="{tp} -> InitialFetchState(<?{topic_id},?>BrokerEndPoint<[|(>id={leader}, {address}<)|]>,{epoch},{offset})",
                since="2.8",
                sample=_MANAGER + "Added fetcher to broker 1 for partitions HashMap(my-topic.v2-0 -> InitialFetchState(Some("
                "NOz0gB3vSVOv5AMaGcxCmA),BrokerEndPoint[id=1, host=127.0.0.1, port=9092],5,1000))",
                expect={"topic": "my-topic.v2", "topic_id": "NOz0gB3vSVOv5AMaGcxCmA", "leader": 1, "epoch": 5, "offset": 1000},
            ),
            Wording(
                text="Added fetcher to broker <?BrokerEndPoint(id=?>{leader}{*} for partitions {items}",
                items="{tp} -> (offset={offset}, leaderEpoch={epoch})",
                since="2.1", until="2.8",
                sample=_MANAGER + "Added fetcher to broker BrokerEndPoint(id=1, host=localhost:9092) for partitions "
                "Map(t-0 -> (offset=60, leaderEpoch=2))",
                expect={"topic": "t", "leader": 1, "epoch": 2, "offset": 60},
            ),
        ),
    ),
    Event(
        kind="fetcher-removed",
        means="The follower stops fetching the partition.",
        wordings=(
            Wording(
                text="Removed fetcher for partitions {items}", items="{tp}",
                sample=_MANAGER + "Removed fetcher for partitions HashSet(orders-0)", expect={"topic": "orders", "partition": 0},
            ),
        ),
    ),
    Event(
        kind="fetch-failed",
        means="A fetch request failed as a whole; tells the follower's position (its log end offset) of each partition in it.",
        wordings=(
            Wording(
                text="Error in response for fetch request (type=FetchRequest, replicaId={*}fetchData={{items}}, isolationLevel",
                items="{tp}=PartitionData(<?topicId={topic_id}, ?>fetchOffset={offset}, logStartOffset={log_start_offset}, "
                "maxBytes={*}, currentLeaderEpoch=Optional<?[{epoch}]?>",
                since="2.4",
                sample=_FETCHER + _REQUEST + "fetchData={pay-0=PartitionData(topicId=xcq385rNTkaYtHO3h4VBjA, fetchOffset=100, "
                "logStartOffset=0, maxBytes=1048576, currentLeaderEpoch=Optional[0], lastFetchedEpoch=Optional[0])}, "
                "isolationLevel=read_uncommitted, removed=, replaced=, metadata=(sessionId=INVALID, epoch=INITIAL), rackId=)",
                expect={"topic": "pay", "offset": 100, "log_end_offset": 100, "log_start_offset": 0, "epoch": 0, "leader": 1},
                copies={"log_end_offset": "offset"},
            ),
            Wording(
                text="Error in response for fetch request (type=FetchRequest, replicaId={*}fetchData={{items}}, isolationLevel",
                items="{tp}=(<?topicId={topic_id}, ?><offset|fetchOffset>={offset}, logStartOffset={log_start_offset}, maxBytes=",
                until="2.4",
                sample=_FETCHER + _REQUEST + "fetchData={t-0=(offset=7, logStartOffset=0, maxBytes=1048576)}, "
                "isolationLevel=READ_UNCOMMITTED, toForget=, metadata=(sessionId=1047750161, epoch=44))",
                expect={"topic": "t", "offset": 7, "log_end_offset": 7, "log_start_offset": 0},
                copies={"log_end_offset": "offset"},
            ),
        ),
    ),
    Event(
        kind="fetch-session-ended",
        means="The follower could not send a fetch: its session with the leader ends. detail: session id and epoch, then the reason.",
        wordings=(
            Wording(
                text="Error sending fetch request ({detail}) to node {leader}:",
                sample=_FETCHER + "Error sending fetch request (sessionId=1984554761, epoch=45) to node 1: java.net.SocketException.",
                expect={"leader": 1, "detail": "sessionId=1984554761, epoch=45; java.net.SocketException."},
            ),
        ),
        reason_follows=True,
    ),
    Event(
        kind="fetch-refused",
        means="The leader refused a fetch request: session lost or unknown. detail: session id and epoch, then the error.",
        wordings=(
            Wording(
                text="Node {leader} was unable to process the fetch request with ({detail}", since="1.1",
                sample=_FETCHER + "Node 1 was unable to process the fetch request with (sessionId=77, epoch=3): FETCH_SESSION_ID_NOT_FOUND.",
                expect={"leader": 1, "detail": "sessionId=77, epoch=3): FETCH_SESSION_ID_NOT_FOUND."},
            ),
        ),
    ),
    Event(
        kind="fetch-error-from-leader",
        means="The leader answered the partition with an error (detail).",
        wordings=(
            Wording(
                text="Received {detail} from the leader for partition {tp}. This error may be returned transiently", since="2.0",
                sample=_FETCHER + "Received UNKNOWN_TOPIC_OR_PARTITION from the leader for partition orders-0. This error may be "
                "returned transiently when the partition is being created or deleted, but it is not expected to persist.",
                expect={"topic": "orders", "detail": "UNKNOWN_TOPIC_OR_PARTITION"},
            ),
        ),
    ),
    Event(
        kind="not-leader",
        means="The node fetched from does not lead the partition.",
        wordings=(
            Wording(
                text="Remote broker is not the leader for partition {tp}",
                sample=_FETCHER + "Remote broker is not the leader for partition my-topic.v2-0, which could indicate that the "
                "partition is being moved",
                expect={"topic": "my-topic.v2", "partition": 0},
            ),
        ),
    ),
    Event(
        kind="partition-fetch-error",
        means="Fetching the partition at offset failed; detail is the exception.",
        wordings=(
            Wording(
                text="Error for partition {tp} at offset {offset}",
                sample=_FETCHER + "Error for partition orders-1 at offset 0", expect={"topic": "orders", "partition": 1, "offset": 0},
            ),
        ),
        reason_follows=True,
    ),
    Event(
        kind="invalid-messages-fetched",
        means="The leader sent a batch whose checksum does not hold.",
        wordings=(
            Wording(
                text="Found invalid messages during fetch for partition {tp} offset {offset}", since="1.0",
                sample=_FETCHER + "Found invalid messages during fetch for partition t-0 offset 40", expect={"topic": "t", "offset": 40},
            ),
            Wording(
                text="Found invalid messages during fetch for partition [{topic},{partition}] offset {offset}", until="1.0",
                sample="[ReplicaFetcherThread-0-1]: Found invalid messages during fetch for partition [t,0] offset 40 error bad crc",
                expect={"topic": "t", "partition": 0, "offset": 40},
            ),
        ),
        reason_follows=True,
    ),
    Event(
        kind="fetch-processing-error",
        means="The follower could not append what it fetched; detail is the exception (offsets out of order, …).",
        wordings=(
            Wording(
                text="Unexpected error occurred while processing data for partition {tp} at offset {offset}", since="2.0",
                sample=_FETCHER + "Unexpected error occurred while processing data for partition t-0 at offset 40",
                expect={"topic": "t", "offset": 40},
            ),
        ),
        reason_follows=True,
    ),
    Event(
        kind="log-start-inside-batch",
        means="The first fetched batch begins (offset) below the log start: the log starts inside the batch, harmless.",
        wordings=(
            Wording(
                text="Unexpected offset in append to {tp}. First offset {offset} is less than log start offset {log_start_offset}.",
                since="1.0.2",
                sample="Unexpected offset in append to t-0. First offset 70 is less than log start offset 75. Since this is the first "
                "record to be appended to the follower's log, will start the log from offset 70.",
                expect={"topic": "t", "offset": 70, "log_start_offset": 75},
            ),
        ),
    ),
)  # fmt: skip
