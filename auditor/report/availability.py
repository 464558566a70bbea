"""Availability in words and cells, for every report that people read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from auditor.report.alike import blurred
from auditor.report.model import Availability, Condition, Exposure, PlacedAvailability, Safeguard, StateRow
from auditor.report.utc_times import moment
from rules.finding import offsets_told
from rules.words import counted

HEADS: Final = ("since", "until", "lasted", "clock", "epoch", "leader", "ISR", "out of sync", "min ISR", "exposed")
SETTINGS_HEADS: Final = ("setting", "in force", "of", "what it allowed here", "another value")
CLOCKS: Final = "Times are of the clock that the row names. A leader's own clock shows how long it acted under a state."
PREFACE: Final = "Settings as they were in force. Beside what one allowed stands what another value would have done."
NOT_TOLD: Final = "not told"
WORDS: Final[Mapping[Condition, str]] = {
    "no-leader": "without a leader",
    "one-copy": "with one in-sync copy only",
    "below-min-isr": "below min.insync.replicas",
}
SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000
RANGES_SHOWN: Final = 6
STATES_SHOWN: Final = 24


def lasted(milliseconds: int | None) -> str:
    """A length of time as people say it."""
    if milliseconds is None:
        return NOT_TOLD
    if milliseconds < SECOND:
        return f"{milliseconds} ms"
    if milliseconds < MINUTE:
        return f"{milliseconds / SECOND:.1f} s"
    units = ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (SECOND, "s"))
    place = next(n for n, (unit, _) in enumerate(units) if milliseconds >= unit)
    (large, first), (small, second) = units[place : place + 2]
    return f"{milliseconds // large} {first} {milliseconds % large // small} {second}"


def exposure_words(exposure: Exposure) -> str:
    """One condition in a few sentences."""
    head = f"{WORDS[exposure.condition]} in {counted(exposure.states, 'state')}"
    if exposure.milliseconds is not None:
        head += f", {lasted(exposure.milliseconds)} in all"
    sure = "" if exposure.sure else " The topic may have a setting of its own that nobody read."
    lasting = " The newest state that is told is one of them." if exposure.lasting and exposure.states > 1 else ""
    lasting = " It is the newest state that is told." if exposure.lasting and exposure.states == 1 else lasting
    return f"{head[0].upper()}{head[1:]}.{_untimed(exposure)}{lasting}{sure}{_written(exposure)}"


def _untimed(exposure: Exposure) -> str:
    if not exposure.untimed:
        return ""
    all_of_them = "it" if exposure.states == 1 else "they"
    which = all_of_them if exposure.untimed == exposure.states else f"{exposure.untimed} of these"
    return f" How long {which} lasted is not told."


def _written(exposure: Exposure) -> str:
    if exposure.condition == "no-leader":
        return ""
    if not exposure.offsets:
        return " Which offsets were written meanwhile is not told."
    ranges = ", ".join(offsets_told(start, end) for start, end in exposure.offsets[:RANGES_SHOWN])
    more = exposure.ranges - RANGES_SHOWN
    rest = f" and {counted(more, 'more range')}" if more > 0 else ""
    return f" Surely written meanwhile: {ranges}{rest}."


def state_cells(row: StateRow) -> tuple[str, ...]:
    """One state by the heads of the table."""
    until = moment(row.until) or ("the next state is not told" if not row.next_told else NOT_TOLD)
    least = NOT_TOLD if row.min_in_sync is None else f"{row.min_in_sync}{'' if row.min_in_sync_sure else ' (likely)'}"
    return (
        moment(row.time) or NOT_TOLD,
        until,
        lasted(row.milliseconds),
        row.clock,
        str(row.epoch),
        "none" if row.leader is None else str(row.leader),
        _ids(row.isr),
        NOT_TOLD if row.out_of_sync is None else _ids(row.out_of_sync),
        least,
        ", ".join(WORDS[condition] for condition in row.conditions) or "no",
    )


def setting_cells(safeguard: Safeguard) -> tuple[str, ...]:
    """One setting by the heads of its table."""
    value = NOT_TOLD if safeguard.value is None else safeguard.value
    likely = "" if safeguard.certain or safeguard.value is None else " (likely)"
    allowed = safeguard.allowed or "nothing that is seen"
    return safeguard.name, f"{value}{likely}", safeguard.whose or "–", allowed, safeguard.instead or "–"


def told_of(account: Availability) -> Iterator[str]:
    """The exposures, then what is not told, in sentences."""
    if not account.exposures and account.rows_told:
        yield "In no state that is told was it exposed."
    yield from map(exposure_words, account.exposures)
    yield from account.silences


class AlikeAccounts(Struct, frozen=True, kw_only=True):
    """Partitions that were exposed alike at the same times; the first speaks for all."""

    places: tuple[PlacedAvailability, ...]
    rows: tuple[StateRow, ...]
    """The states of the first that are shown."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is told of the first, and in what the others may differ."""
        first = self.places[0]
        texts = {tuple(told_of(each.availability)) for each in self.places}
        epochs = {tuple(row.epoch for row in each.availability.rows) for each in self.places}
        if len(texts) == len(epochs) == len({each.availability.rows_told for each in self.places}) == 1:
            return tuple(told_of(first.availability))
        name = f"{first.topic}-{first.partition}"
        others = f"Numbers told here and epochs are those of {name}. The others differ in these alone."
        return (*told_of(first.availability), others)


def alike_accounts(
    accounts: Iterable[PlacedAvailability], shown: Callable[[Availability], Sequence[StateRow]]
) -> list[AlikeAccounts]:
    """The partitions in their order; those that differ in epochs and numbers told alone are together."""
    alike: dict[object, list[PlacedAvailability]] = {}
    for placed in accounts:
        words = tuple(blurred(sentence) for sentence in told_of(placed.availability))
        rows = tuple(_but_for_the_epoch(state_cells(row)) for row in shown(placed.availability))
        alike.setdefault((words, rows), []).append(placed)
    return [AlikeAccounts(places=tuple(own), rows=tuple(shown(own[0].availability))) for own in alike.values()]


def _but_for_the_epoch(cells: tuple[str, ...]) -> tuple[str, ...]:
    place = HEADS.index("epoch")
    return cells[:place] + cells[place + 1 :]


def states_shown(account: Availability) -> tuple[StateRow, ...]:
    """The newest states, as many as a table has room for."""
    return account.rows[-STATES_SHOWN:]


def rest_told(account: Availability) -> str:
    """How many states are told and not shown, and where some of them are; empty where all are shown."""
    shown = len(states_shown(account))
    kept = len(account.rows) - shown
    more = account.rows_told - shown
    if more <= 0:
        return ""
    where = f" The JSON report lists {kept} of them." if kept else ""
    return f"{counted(more, 'more state')} {'is' if more == 1 else 'are'} told and not listed here.{where}"


def _ids(brokers: tuple[int, ...]) -> str:
    return ", ".join(map(str, brokers)) or "none"
