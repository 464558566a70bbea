"""A leader and its followers, played step by step, with every answer written down as a request log would have it.

It shares nothing with the replay but the shape of a statement: the true high watermark is kept by the plain rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from parsers.provenance import Span
from rules.history.moments import Moment
from rules.history.statements import statement
from rules.history.terms import in_terms

BROKERS = (1, 2, 3)


@dataclass
class Pending:
    offset: int
    epoch: int
    watermark: int


@dataclass
class Model:
    """The partition as it is; `written` is what its witnesses wrote."""

    leader: int = 1
    epoch: int = 0
    partition_epoch: int = 0
    time: int = 1000
    watermark: int = 0
    ends: dict[int, int] = field(default_factory=lambda: dict.fromkeys(BROKERS, 0))
    told: dict[int, int] = field(default_factory=lambda: dict.fromkeys(BROKERS, 0))
    remote: dict[int, int] = field(default_factory=dict)
    caught_up: set[int] = field(default_factory=set)
    in_sync: set[int] = field(default_factory=lambda: set(BROKERS))
    proposed: set[int] = field(default_factory=set)
    pending: dict[int, Pending] = field(default_factory=dict)
    awaited: list[tuple[int, int]] = field(default_factory=list)
    written: list[Moment] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.caught_up = set(self.in_sync)
        self._open()

    def play(self, action: str, broker: int, amount: int) -> None:
        self.time += 1
        getattr(self, action)(broker, amount)

    def append(self, _broker: int, amount: int) -> None:
        base = self.ends[self.leader]
        self.ends[self.leader] += amount
        if amount % 2:
            self.awaited.append((base, self.ends[self.leader]))
        else:
            self._write("produced", broker=self.leader, offset=base, acks=1)
        self._advance()

    def ask(self, broker: int, _amount: int) -> None:
        if broker == self.leader or broker in self.pending:
            return
        offset = self.ends[broker]
        self.pending[broker] = Pending(offset, self.epoch, self.watermark)
        self.remote[broker] = offset
        if offset >= self.ends[self.leader]:
            self.caught_up.add(broker)
        if broker not in self.in_sync and offset >= self.watermark:
            self.proposed.add(broker)
        self._advance()

    def answer(self, broker: int, amount: int) -> None:
        asked = self.pending.pop(broker, None)
        if asked is None:
            return
        told = self.watermark if amount % 2 else asked.watermark
        self._write(
            "fetched",
            broker=broker,
            epoch=asked.epoch,
            offset=asked.offset,
            high_watermark=told,
            asked_epoch=asked.epoch,
        )
        self.ends[broker] = max(asked.offset, min(self.ends[self.leader], asked.offset + amount))
        self.told[broker] = min(told, self.ends[broker])

    def commit(self, _broker: int, _amount: int) -> None:
        if self.proposed:
            self.in_sync |= self.proposed
            self.proposed = set()
            self._isr()

    def shrink(self, broker: int, _amount: int) -> None:
        if broker != self.leader and broker in self.in_sync and broker not in self.pending and not self.proposed:
            self.in_sync.discard(broker)
            self.caught_up.discard(broker)
            self._isr()
            self._advance()

    def elect(self, broker: int, _amount: int) -> None:
        if broker == self.leader or broker not in self.in_sync:
            return
        for follower in list(self.pending):
            self.answer(follower, 1)
        former, self.leader = self.leader, broker
        self.epoch += 1
        self.partition_epoch += 1
        self.in_sync -= {former} if self.ends[former] > self.ends[broker] else set()
        self.proposed, self.remote, self.awaited, self.caught_up = set(), {}, [], set(self.in_sync)
        self._role("follower-starts", former, self.watermark)
        for follower in BROKERS:
            self.ends[follower] = min(self.ends[follower], self.ends[broker])
            self.told[follower] = min(self.told[follower], self.ends[follower])
        self.watermark = min(self.told[broker], self.ends[broker])
        self._open()

    def _open(self) -> None:
        self._role("leader-starts", self.leader, self.watermark)
        self._write("leadership", clock="controller", leader=self.leader, epoch=self.epoch, isr=self._members())
        self._advance()

    def _role(self, kind: str, broker: int, watermark: int) -> None:
        self._write(
            kind, clock=f"broker {broker}", broker=broker, leader=self.leader, epoch=self.epoch,
            offset=self.ends[broker],
            high_watermark=watermark, isr=self._members() if kind == "leader-starts" else None,
        )  # fmt: skip

    def _isr(self) -> None:
        self.partition_epoch += 1
        self._write("isr", broker=self.leader, isr=self._members())

    def _members(self) -> tuple[int, ...]:
        return tuple(sorted(self.in_sync))

    def _advance(self) -> None:
        waiting = (self.in_sync | self.proposed | self.caught_up) - {self.leader}
        counted = [self.remote.get(broker, -1) for broker in waiting]
        self.watermark = max(self.watermark, min([self.ends[self.leader], *counted]))
        for base, end in [entry for entry in self.awaited if entry[1] <= self.watermark]:
            self.awaited.remove((base, end))
            self._write("produced", broker=self.leader, offset=base, acks=-1)

    def _write(self, kind: str, *, clock: str | None = None, **values: object) -> None:
        witness = None if clock == "controller" else int((clock or f"broker {self.leader}").split()[1])
        place = len(self.written)
        state = kind in ("leadership", "isr", "leader-starts", "follower-starts")
        moment = {
            "clock": clock or f"broker {self.leader}", "time": self.time, "witness": witness, "leader": self.leader,
            "partition_epoch": self.partition_epoch if state else None, "error": None if state else 0,
            "span": Span(source="log", start=place, end=place + 1), **values,
        }  # fmt: skip
        self.written.append(statement(kind, **moment))


def history(actions: Sequence[tuple[str, int, int]]) -> tuple[Model, tuple[Moment, ...]]:
    """The model after the actions, and what was written."""
    model = Model()
    for action in actions:
        model.play(*action)
    return model, in_terms(model.written)
