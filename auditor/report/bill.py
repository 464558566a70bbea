"""The bill of a loss in words: one sentence for everybody, and the details by which each reader finds what is his."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from auditor.report.model import (
    Contents,
    GroupAtRisk,
    IncidentBill,
    Loss,
    LostClient,
    LostProducer,
    LostReader,
    Portion,
    amount_lost,
)
from auditor.report.sheet import size
from auditor.report.utc_times import moment
from auditor.report.worths import PERHAPS, WORTHS, held_by_none, span, worths_counted, worths_placed
from rules.finding import capital, offsets_told
from rules.words import counted, first_of, it_or_them, listed, numbered, quoted

NO_DISK: Final = "No disk in this dump could hold a copy."
NAMED: Final = 8
"""Producers, clients, readers, groups or keys named in one line; the rest is counted."""


def sentence(loss: Loss, place: str = "") -> str:
    """The loss in a few sentences, for a reader who reads no table."""
    where = f"{place} {offsets_told(loss.start_offset, loss.end_offset)}".strip()
    many, parts = _worth(loss)
    return f"{many}, {where} of {loss.epochs}{parts}. {since(loss)}. {_fate(loss)}"


def _worth(loss: Loss) -> tuple[str, str]:
    """How much; then, where the offsets are not all worth the same, how many of which worth."""
    in_records = all(portion.records is not None or portion.dense for portion in loss.portions) and bool(loss.portions)
    known = (p.end_offset - p.start_offset if p.records is None else p.records for p in loss.portions)
    number, noun = (sum(known), "record") if in_records else (loss.offsets, "offset")
    least = "" if loss.end_known else "at least "
    if loss.committed_end >= loss.end_offset:
        return f"{least}{counted(number, f'committed {noun}')}", ""
    worths = dict.fromkeys(portion.worth for portion in loss.portions)
    if len(worths) == 1:
        return f"{least}{counted(number, noun)} {WORTHS[next(iter(worths))]}", ""
    parts = worths_placed(loss)
    return f"{least}{counted(number, noun)}", f": {parts}" if parts else ""


def headed(loss: Loss, place: str) -> str:
    """The sentence behind the word on it: lost, perhaps, or only missing for a time."""
    gone = "PERHAPS LOST" if loss.unread else "LOST"
    return f"{'NOT LOST, only missing for a time' if loss.restored else gone}: {sentence(loss, place)}"


def _fate(loss: Loss) -> str:
    """Whether somebody has them still."""
    if loss.restored and not loss.restored_seen:
        return "A later leader had them still, as far as logs tell. Its disk is not here."
    if loss.restored:
        return "The leader's log has them again."
    return f"{_standing(loss)}{remotely(loss)}{perhaps_held(loss)}"


def remotely(loss: Loss) -> str:
    """What remote storage still holds, by the brokers' own notes: its bytes are not in a dump."""
    if not loss.kept_remotely:
        return ""
    ranges = " and ".join(offsets_told(*stretch) for stretch in loss.kept_remotely)
    many = counted(len({copy.segment for copy in loss.remote}), "segment")
    return f" Remote storage holds {ranges} in {many}, by __remote_log_metadata."


def perhaps_held(loss: Loss) -> str:
    """Who led later and may have had the records still, and what would tell."""
    if not loss.unread:
        return ""
    whose = numbered("broker", loss.unread)
    disks = "Its disk" if len(loss.unread) == 1 else "Their disks"
    tell = f"Broker {loss.leader}'s whole server.log" if loss.reopened else f"{disks} or whole server.log"
    return f" {capital(whose)} led later and may have had them still. {tell} would tell."


def _standing(loss: Loss) -> str:
    """Whether copies are left, of how much, and on whose disks."""
    holders = [*dict.fromkeys(f"broker {s.broker}{s.place}" for s in loss.survivors)]
    if not holders:
        none = "No copy was found." if loss.unsearched or loss.next_epoch is None else held_by_none(loss.offsets)
        return f"{none}{_unsearched(loss)}" if loss.searched else NO_DISK
    whose = listed(holders)
    if loss.standing == ((loss.start_offset, loss.end_offset),):
        return f"Copies survive on {whose}."
    ranges = ", ".join(span(*stretch) for stretch in loss.standing)
    return f"Copies of {ranges} survive on {whose}. Of the rest none was found.{_unsearched(loss)}"


def _unsearched(loss: Loss) -> str:
    """Whose disks may hold a copy that is not seen."""
    if not loss.unsearched:
        return ""
    return f" Not all segments of {numbered('broker', loss.unsearched)} were copied or could be read."


def since(loss: Loss) -> str:
    """By whose lead the records went."""
    if loss.next_epoch is None:
        written = "it was" if loss.offsets == 1 else "they were"
        return f"No replica here holds {it_or_them(loss.offsets)} readable, though {written} written"
    if loss.next_leader is None or loss.next_leader < 0:
        return f"The leader of epoch {loss.next_epoch} did not have {it_or_them(loss.offsets)}"
    who = capital(who_led(loss.next_leader))
    if loss.again:
        return f"{who} opened epoch {loss.next_epoch} once more without {it_or_them(loss.offsets)}"
    return f"{who} became leader in epoch {loss.next_epoch} without {it_or_them(loss.offsets)}"


def in_all(bill: IncidentBill) -> str:
    """What an incident of several partitions cost together, in the words of its title."""
    worth = worths_counted(
        {
            "committed": bill.committed,
            "acknowledged": bill.acknowledged,
            PERHAPS: bill.possibly_acknowledged,
            "never committed": bill.never_committed,
        }
    )
    known = "" if bill.committed == bill.offsets else worth
    markers = "any transaction markers included" if bill.records is None and bill.counted_records is not None else ""
    what = f"{amount_lost(bill)} in {counted(bill.losses, 'range')}"
    return ", ".join(filter(None, (what, known, markers, _how_large(bill))))


def who_led(broker: int | None) -> str:
    """A leader by name, if it is known."""
    return "an unknown broker" if broker is None or broker < 0 else f"broker {broker}"


def details(loss: Loss) -> Iterator[str]:
    """What is known beyond the sentence, a line each; words of clients stand in it as they are."""
    few = len(loss.portions) <= NAMED
    yield "; ".join(_portion(portion, loss) for portion in loss.portions) if few else worths_placed(loss)
    if not loss.end_known:
        yield _last_batch(loss)
    if loss.contents is not None:
        yield from _contents(loss.contents)
    if loss.clients:
        yield f"acknowledged to {first_of([_client(client, loss) for client in loss.clients], NAMED)}"
    if loss.readers:
        yield f"read before it was lost by {first_of([_reader(reader) for reader in loss.readers], NAMED)}"
    if loss.groups:
        groups = first_of([_group(group, loss) for group in loss.groups], NAMED)
        yield f"committed offsets that are no longer right: {groups}"
    if loss.reused_end > loss.start_offset and not loss.restored:
        epochs = ", ".join(map(str, loss.reused_epochs))
        by = f" of epoch{'s' if len(loss.reused_epochs) > 1 else ''} {epochs}" if epochs else ""
        yield f"other records{by} are at {offsets_told(loss.start_offset, loss.reused_end)} now"


def _last_batch(loss: Loss) -> str:
    """How far the loss may go on: an answer names the first record of its batch."""
    last = f"the last batch that was answered begins at {loss.end_offset - 1}, and where it ended is not told"
    if loss.end_at_most is None:
        return last
    return f"{last} (by its size before {loss.end_at_most}, unless it was compressed)"


def _portion(portion: Portion, loss: Loss) -> str:
    width = portion.end_offset - portion.start_offset
    counted_whole = loss.end_known or portion.end_offset < loss.end_offset
    size_told = ("about " if portion.divided else "") + _how_large(portion)
    amount = [_how_many(portion, width if counted_whole else None), size_told]
    words = portion.worth if portion.worth != "committed" else "certainly committed"
    where = offsets_told(portion.start_offset, portion.end_offset)
    return f"{words}, {where}: {', '.join(filter(None, amount))}"


def _how_many(portion: Portion, offsets: int | None) -> str:
    """Records; where no copy counts them all, what the offsets, if known, tell: a leader gives each to one of them."""
    if portion.records is not None:
        return counted(portion.records, "record")
    if offsets is None:
        return f"at least {counted(portion.records_at_least, 'record')}"
    if portion.records_at_least >= offsets:
        return counted(offsets, "record")
    if portion.dense:
        return f"{counted(offsets, 'record')}, any transaction markers included"
    least = f"{portion.records_at_least} to " if portion.records_at_least else "at most "
    return f"{least}{counted(offsets, 'record')}"


def _how_large(portion: Portion | IncidentBill) -> str:
    if portion.bytes is not None:
        return size(portion.bytes)
    return f"at least {size(portion.bytes_at_least)}" if portion.bytes_at_least else ""


def _contents(contents: Contents) -> Iterator[str]:
    if not contents.complete:
        held = f"{counted(contents.records, 'record')}, {size(contents.bytes)}"
        yield f"only part of the copies could be read, at least {held}: what follows is of that part"
    first, last = moment(contents.first_timestamp), moment(contents.last_timestamp)
    if first and last:
        times = first if first == last else f"{first} to {last}"
        yield f"the records in these copies are of {times} UTC, by their timestamps"
    if contents.producers:
        producers = [_producer(producer) for producer in contents.producers]
        yield f"written by {first_of(producers, NAMED, contents.producer_count)}"
    if contents.key_count is not None:
        keys = f": {first_of(list(contents.keys), NAMED, contents.key_count)}" if contents.keys else ""
        nulls = f", {counted(contents.null_keys, 'record')} without a key" if contents.null_keys else ""
        yield f"{counted(contents.key_count, 'different key')}{nulls}{keys}"


def _producer(producer: LostProducer) -> str:
    if producer.producer_id < 0:
        return f"producers without idempotence ({counted(producer.records, 'record')})"
    within = ", in transactions" if producer.transactional else ""
    sequences = f"sequences {producer.first_sequence} to {producer.last_sequence}"
    return f"producer {producer.producer_id} epoch {producer.producer_epoch} ({sequences}{within})"


def _client(client: LostClient, loss: Loss) -> str:
    return f"{client_name(client.client_id)} ({answered(client.answers, loss)})"


def answered(number: int, loss: Loss) -> str:
    """How many answers, where all of them are kept; else how many at least."""
    return f"{'' if loss.answers_known else 'at least '}{counted(number, 'answer')}"


def _reader(reader: LostReader) -> str:
    return f"{client_name(reader.client_id)} (up to {reader.up_to})"


def _group(group: GroupAtRisk, loss: Loss) -> str:
    read = group.has_read(loss.epoch, loss.start_offset, loss.end_offset)
    has = "has" if group.epoch == loss.epoch else "may have"
    reading = "" if read is None else f"; it {has} read {offsets_told(*read)} of these"
    return f"group {quoted(group.group)} at {group.offset} ({group.standing}{reading})"


def client_name(client_id: str | None) -> str:
    """A client in words."""
    return f"client id {quoted(client_id)}" if client_id else "a client without a name"
