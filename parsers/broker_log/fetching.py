"""Lines about followers fetching: who fetches what from whom and from where, and how it fails."""

from __future__ import annotations

from typing import Final

from parsers.broker_log.wording import Event, Wording

FETCHING: Final = (
    Event(
        kind="fetcher-added",
        means="The follower begins to fetch the partition at offset from the leader.",
        wordings=(
            Wording(
                text="Added fetcher for partitions List({items}",
                until="2.1", items="[{tp}, initOffset {offset} to broker BrokerEndPoint({leader},",
            ),
            Wording(
                text="Added fetcher to broker <?BrokerEndPoint(id=?>{leader}{*} for partitions {items}",
                items="{tp} -> InitialFetchState(<?{topic_id},?>BrokerEndPoint<[|(>id={leader}, {address}<)|]>,{epoch},{offset})", since="2.8",
            ),
            Wording(
                text="Added fetcher to broker <?BrokerEndPoint(id=?>{leader}{*} for partitions {items}",
                items="{tp} -> (offset={offset}, leaderEpoch={epoch})", since="2.1", until="2.8",
            ),
        ),
    ),
    Event(
        kind="fetcher-removed",
        means="The follower stops fetching the partition.",
        wordings=(
            Wording(text="Removed fetcher for partitions {items}", items="{tp}"),
        ),
    ),
    Event(
        kind="fetch-failed",
        means="A fetch request failed as a whole; tells the follower's position (its log end offset) of each partition in it.",
        wordings=(
            Wording(
                text="Error in response for fetch request (type=FetchRequest, replicaId={*}fetchData={{items}}, isolationLevel",
                items="{tp}=PartitionData(<?topicId={topic_id}, ?>fetchOffset={offset}, logStartOffset={log_start_offset}, "
                "maxBytes={*}, currentLeaderEpoch=Optional<?[{epoch}]?>", since="2.4", copies={"log_end_offset": "offset"},
            ),
            Wording(
                text="Error in response for fetch request (type=FetchRequest, replicaId={*}fetchData={{items}}, isolationLevel",
                items="{tp}=(<?topicId={topic_id}, ?><offset|fetchOffset>={offset}, logStartOffset={log_start_offset}, maxBytes=", until="2.4", copies={"log_end_offset": "offset"},
            ),
        ),
    ),
    Event(
        kind="fetch-session-ended",
        means="The follower could not send a fetch: its session with the leader ends. detail: session id and epoch, then the reason.",
        wordings=(
            Wording(text="Error sending fetch request ({detail}) to node {leader}:"),
        ),
        reason_follows=True,
    ),
    Event(
        kind="fetch-refused",
        means="The leader refused a fetch request: session lost or unknown. detail: session id and epoch, then the error.",
        wordings=(
            Wording(text="Node {leader} was unable to process the fetch request with ({detail}", since="1.1"),
        ),
    ),
    Event(
        kind="fetch-error-from-leader",
        means="The leader answered the partition with an error (detail).",
        wordings=(
            Wording(
                text="Received {detail} from the leader for partition {tp}. This error may be returned transiently",
                since="2.0",
            ),
        ),
    ),
    Event(
        kind="not-leader",
        means="The node fetched from does not lead the partition.",
        wordings=(
            Wording(text="Remote broker is not the leader for partition {tp}"),
        ),
    ),
    Event(
        kind="partition-fetch-error",
        means="Fetching the partition at offset failed; detail is the exception.",
        wordings=(
            Wording(text="Error for partition {tp} at offset {offset}"),
        ),
        reason_follows=True,
    ),
    Event(
        kind="invalid-messages-fetched",
        means="The leader sent a batch whose checksum does not hold.",
        wordings=(
            Wording(text="Found invalid messages during fetch for partition {tp} offset {offset}", since="1.0"),
            Wording(
                text="Found invalid messages during fetch for partition [{topic},{partition}] offset {offset}",
                until="1.0",
            ),
        ),
        reason_follows=True,
    ),
    Event(
        kind="fetch-processing-error",
        means="The follower could not append what it fetched; detail is the exception (offsets out of order, …).",
        wordings=(
            Wording(
                text="Unexpected error occurred while processing data for partition {tp} at offset {offset}",
                since="2.0",
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
            ),
        ),
    ),
)  # fmt: skip
