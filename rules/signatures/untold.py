"""Known defects without a signature: what they leave is read by nobody, or is left by other things as well."""

from __future__ import annotations

from typing import Final

from rules.signatures.signature import UnseenDefect

_TOO_OLD: Final = "no release since 0.10 has it, and no older one is read"
_LIKE_A_DISK: Final = "it leaves what a disk leaves that loses or changes bytes, and rules of segments tell that"
_LIKE_A_FRESH_REPLICA: Final = "the thread that dies names no partition, and an empty replica looks like a new one"

UNTOLD: Final = (
    UnseenDefect(defect="KAFKA-769", title="the checkpoint of high watermarks is zeroed at a start", because=_TOO_OLD),
    UnseenDefect(
        defect="KAFKA-851", title="the checkpoint of high watermarks is overwritten at a stop", because=_TOO_OLD
    ),
    UnseenDefect(defect="KAFKA-858", title="high watermarks are written before they are read", because=_TOO_OLD),
    UnseenDefect(defect="KAFKA-1647", title="high watermarks are forgotten while a leader is down", because=_TOO_OLD),
    UnseenDefect(defect="KAFKA-2143", title="a follower cuts to its leader's log start", because=_TOO_OLD),
    UnseenDefect(
        defect="KAFKA-2334",
        title="a client is told a smaller end of the log after an election",
        because="until 2.2 a lower high watermark after an election is lawful; which clients took it for the log's"
        " end stands in requests that are not read",
    ),
    UnseenDefect(
        defect="KAFKA-3978",
        title="a high watermark of -1",
        because="a negative watermark is refused where it is read: the refusal names it",
    ),
    UnseenDefect(
        defect="KAFKA-6975",
        title="a replica cannot begin in the middle of a batch",
        because=_LIKE_A_FRESH_REPLICA,
    ),
    UnseenDefect(
        defect="KAFKA-6880",
        title="a replica that was left behind acts on an old leader epoch",
        because="it was ended by what ended KAFKA-7395, and leaves the same",
    ),
    UnseenDefect(
        defect="KAFKA-7395",
        title="a replica of another leader epoch is served",
        because="fetches of these releases name no epoch, and no two clocks agree closely enough to supply it",
    ),
    UnseenDefect(
        defect="KAFKA-9137",
        title="fetch sessions in use are thrown away",
        because="the answer names no partition, and a full cache lawfully does the same",
    ),
    UnseenDefect(defect="KAFKA-10101", title="recovery moves the recovery point too far", because=_LIKE_A_DISK),
    UnseenDefect(
        defect="KAFKA-10471", title="a crash while logs load passes for a clean shutdown", because=_LIKE_A_DISK
    ),
    UnseenDefect(
        defect="KAFKA-12460",
        title="the metadata log is cut below its high watermark",
        because="the releases that have it write no snapshots, which alone tell how far a metadata log was committed",
    ),
    UnseenDefect(
        defect="KAFKA-13127",
        title="replicas in use are deleted as strays",
        because="a topic that is deleted leaves the same, and that for a minute only",
    ),
    UnseenDefect(
        defect="KAFKA-15046",
        title="the epoch file is flushed under the lock of its log",
        because="it costs time and no records; the file that its cure could leave torn is told as KAFKA-16541",
    ),
    UnseenDefect(
        defect="KAFKA-16157",
        title="a topic that was created again while a disk is offline is taken for the old one",
        because="no release has it: it came and went before 3.7.0",
    ),
    UnseenDefect(
        defect="KAFKA-16297",
        title="a replica that was moved between log dirs is promoted by nobody",
        because="in every move the controllers are told the new log dir before the replica lies there; a copy of that"
        " moment shows the same",
    ),
)
