"""What a row of the table of known defects is: the issue, the releases that have it, and how it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from rules.evidence import Moment, PartitionEvidence
from rules.finding import Confidence, Exhibit, Severity
from rules.protocol.versions import KafkaVersion, ProtocolVersion, parse_protocol_version

Release = tuple[int, ...]


class Hit(Struct, frozen=True, kw_only=True):
    """One place at which a defect shows, and the broker whose release has to have it."""

    broker: int | None
    """Null where any broker of the cluster may have acted, such as an unknown controller."""
    says: str
    exhibits: tuple[Exhibit, ...]
    at: Moment | None = None
    """When the broker showed it: what it ran then is asked. Of what lies on its disk, what it ran last."""
    start_offset: int | None = None
    end_offset: int | None = None


class Signature(Struct, frozen=True, kw_only=True):
    """One known defect."""

    defect: str
    """Its issue in Kafka's tracker."""
    title: str
    costs: str
    """What it may lead to."""
    releases: tuple[tuple[Release, Release], ...]
    """Releases that have it: from the first of a pair on, before the second, which is the first without."""
    severity: Severity
    confidence: Confidence
    """How much the trace proves where the release is known to have the defect."""
    find: Callable[[PartitionEvidence], Iterator[Hit]]
    drawing: str
    """A sketch in which it shows."""
    spoken_below: str | None = None
    """Where set, a broker has it if it is known to speak an older inter-broker protocol, whatever it runs."""
    besides: str = ""
    """What else ends it, in a sentence, where the release of the broker that showed it does not alone."""

    @property
    def reach(self) -> str:
        """Which brokers have it, in words."""
        if self.spoken_below is not None:
            return f"whoever speaks an inter-broker protocol below {self.spoken_below}"
        return "; ".join(f"from {_dotted(since)}, fixed in {_dotted(before)}" for since, before in self.releases)

    def without(self, version: KafkaVersion | None) -> str:
        """What a broker of an affected version is to be brought to."""
        if self.spoken_below is not None:
            return f"inter-broker protocol {self.spoken_below}"
        ends = [before for since, before in self.releases if version is None or _between(version, since, before)]
        return " or ".join(map(_dotted, ends))

    def affects(self, version: KafkaVersion | None, spoken: ProtocolVersion | None) -> bool | None:
        """Whether a broker of this version has it; null where that is not known."""
        if self.spoken_below is not None:
            first = parse_protocol_version(self.spoken_below)
            return spoken is not None and first is not None and spoken < first
        if version is None:
            return None
        return any(_between(version, since, before) for since, before in self.releases)


def _between(version: KafkaVersion, since: Release, before: Release) -> bool:
    return version.at_least(*since) and not version.at_least(*before)


def _dotted(release: Release) -> str:
    return ".".join(map(str, release if release[0] == 0 else (*release, 0)[:3]))


class UnseenDefect(Struct, frozen=True, kw_only=True):
    """A known defect that no signature tells."""

    defect: str
    title: str
    because: str
    """Why no evidence that is read shows it, or none that only it leaves."""
