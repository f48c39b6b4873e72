"""When a line was written: chooses the time dialects of a source by sample, then reads times singly or in bulk.

All times are UTC epoch seconds. A dialect's regex names the parts (`year month day hour minute second fraction half
zone`, `epoch`, or `uptime`); the arithmetic is here, for numbers and for Polars expressions alike. A local time without
a zone is read as UTC unless the source's own lines show the offset, and the reader says so. "No time" is a state, no
error.
"""

from __future__ import annotations

import datetime as dt
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import polars as pl
import re2

from assistant.errors import UsageError
from assistant.intake.dialects import compiled, named_groups
from assistant.intake.models import Dialect

HEAD = 120
"""Characters of a line in which its time is looked for."""
WEAK = 60
"""Time dialects from this priority on are used only where no better one is seen."""
DAY = 86_400.0
QUARTER = DAY / 4
HALF_HOUR = 1800.0
LATEST = 4_102_444_800.0
"""Times after the year 2099 are misreadings."""

MONTHS = {
    "Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "May": 5, "Jun": 6,
    "Jul": 7, "Aug": 8, "Sep": 9, "Oct": 10, "Nov": 11, "Dec": 12,
}  # fmt: skip
ZONES = {
    "Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "CET": 60, "CEST": 120, "EET": 120, "EEST": 180, "MSK": 180, "JST": 540,
    "KST": 540, "EST": -300, "EDT": -240, "MST": -420, "MDT": -360, "PST": -480, "PDT": -420,
}  # fmt: skip
"""Minutes east of UTC of the zone names that mean one thing only (CST, IST and BST do not)."""
PARTS = ("year", "month", "day", "hour", "minute", "second", "fraction", "half", "zone", "epoch", "uptime")

N = TypeVar("N", int, pl.Expr)


@dataclass(frozen=True, slots=True)
class TimeReader:
    """How to read the times of one source."""

    dialects: tuple[Dialect, ...] = ()
    anchor: tuple[int, int] | None = None
    """(year, month) of the newest line, for dialects that do not write the year."""
    day: float | None = None
    """Epoch seconds of the midnight before the newest line, for dialects that write no date."""
    newest: float = DAY
    """Seconds since that midnight of the newest line."""
    offset: float = 0.0
    """Seconds east of UTC of times that name no zone."""
    boot: float | None = None
    """Epoch seconds at which uptimes count from zero; None leaves them unread."""
    naive: bool = False
    """Some times name no zone and nothing shows their offset: they were read as UTC."""
    notes: tuple[str, ...] = ()

    def parse(self, text: str) -> float | None:
        """The time of one line."""
        head = text[:HEAD]
        for dialect in self.dialects:
            match = compiled(dialect.pattern or "").search(head)
            moment = self._moment(dialect, match.groupdict()) if match else None
            if moment is not None:
                return moment
        return None

    def parse_series(self, texts: pl.Series) -> pl.Series:
        """The times of many lines, Float64 with nulls. Equal to `parse` on each."""
        result = pl.Series("time", [None], dtype=pl.Float64).new_from_index(0, len(texts))
        heads = texts.str.slice(0, HEAD)
        for dialect in self.dialects:
            if not result.null_count():
                break
            result = result.zip_with(result.is_not_null(), self._moments(dialect, heads))
        return result.rename("time")

    def _moment(self, dialect: Dialect, groups: Mapping[str, str | None]) -> float | None:
        if dialect.format == "epoch":
            return _bounded(_epoch_seconds(groups["epoch"] or "0"))
        if dialect.format == "uptime":
            return None if self.boot is None else self.boot + float(groups["uptime"] or 0)
        clock = _clock_seconds(groups)
        if dialect.format == "clock":
            return None if self.day is None else self.day + clock - self.offset - (DAY if self._yesterday(clock) else 0)
        date = self._date(groups)
        if date is None:
            return None
        east = zone_offset(groups.get("zone"))
        return _bounded(days_from_civil(*date) * DAY + clock - (self.offset if east is None else east))

    def _yesterday(self, clock: float) -> bool:
        """A time of day well after the newest line's can only be of the day before."""
        return clock > self.newest + QUARTER

    def _date(self, groups: Mapping[str, str | None]) -> tuple[int, int, int] | None:
        month_text = groups.get("month") or ""
        month = MONTHS.get(month_text) or int(month_text or 0)
        day = int(groups.get("day") or 0)
        year = int(groups.get("year") or 0) or self._year_of(month)
        if not (1 <= month <= 12 and 1 <= day <= 31) or year is None:
            return None
        return (year + 2000 if year < 100 else year), month, day

    def _year_of(self, month: int) -> int | None:
        """The year of a line without one: the anchor's, or a neighbour where the turn of the year lies between."""
        if self.anchor is None:
            return None
        year, newest = self.anchor
        return year - 1 if month > newest + 6 else year + 1 if month < newest - 6 else year

    def _moments(self, dialect: Dialect, heads: pl.Series) -> pl.Series:
        """`_moment` for all rows of one dialect: digits are read in bulk, only distinct names and zones one by one."""
        frame = heads.str.extract_groups(dialect.pattern or "").struct.unnest()
        parts = frame.with_columns(pl.lit(None, pl.String).alias(p) for p in PARTS if p not in frame.columns)
        if dialect.format == "epoch":
            return _epochs(parts["epoch"])
        if dialect.format == "uptime":
            boot = pl.Series([self.boot], dtype=pl.Float64)
            return parts["uptime"].cast(pl.Float64, strict=False) + boot.new_from_index(0, len(parts))
        clock = _clock_expression()
        if dialect.format == "clock":
            day = pl.lit(self.day, pl.Float64)
            yesterday = pl.when(clock > self.newest + QUARTER).then(DAY).otherwise(0.0)
            return parts.select(t=day + clock - self.offset - yesterday)["t"]
        return _calendar(parts, self.anchor, self.offset, clock)


def days_from_civil(year: N, month: N, day: N) -> N:
    """Days since 1970-01-01 of a date of the Gregorian calendar (years that begin in March make leap days last)."""
    shifted = (month + 9) % 12
    years = year - shifted // 10
    return 365 * years + years // 4 - years // 100 + years // 400 + (shifted * 306 + 5) // 10 + day - 719_469


def zone_offset(text: str | None) -> float | None:
    """Seconds east of UTC that a zone's text means; None where it is absent or ambiguous."""
    if not text:
        return None
    if text in ZONES:
        return ZONES[text] * 60.0
    digits = text[1:].replace(":", "")
    if text[0] in "+-" and digits.isdigit() and len(digits) == 4:
        return (1 if text[0] == "+" else -1) * (int(digits[:2]) * 3600.0 + int(digits[2:]) * 60.0)
    return None


def _bounded(moment: float) -> float | None:
    return moment if 0 < moment < LATEST else None


def _epoch_seconds(text: str) -> float:
    """Seconds, whatever the unit: it shows in the number of digits before the point."""
    whole = len(text.partition(".")[0])
    return float(text) / (1e9 if whole >= 18 else 1e6 if whole >= 15 else 1e3 if whole >= 12 else 1.0)


def _clock_seconds(groups: Mapping[str, str | None]) -> float:
    hour = int(groups.get("hour") or 0)
    if groups.get("half"):
        hour = hour % 12 + (12 if groups["half"] == "PM" else 0)
    fraction = (groups.get("fraction") or "0").replace(".", "")
    return hour * 3600 + int(groups.get("minute") or 0) * 60 + int(groups.get("second") or 0) + float(f"0.{fraction}")


def _whole(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.Int64, strict=False)


def _clock_expression() -> pl.Expr:
    afternoon = _whole("hour") % 12 + pl.when(pl.col("half") == "PM").then(12).otherwise(0)
    hour = pl.when(pl.col("half").is_not_null()).then(afternoon).otherwise(_whole("hour"))
    fraction = pl.concat_str(pl.lit("0."), pl.col("fraction").str.replace_all(".", "", literal=True).fill_null("0"))
    return hour * 3600 + _whole("minute") * 60 + _whole("second") + fraction.cast(pl.Float64, strict=False)


def _epochs(texts: pl.Series) -> pl.Series:
    whole = pl.col("e").str.split(".").list.first().str.len_chars()
    unit = pl.when(whole >= 18).then(1e9).when(whole >= 15).then(1e6).when(whole >= 12).then(1e3).otherwise(1.0)
    moment = pl.col("e").cast(pl.Float64, strict=False) / unit
    kept = pl.when((moment > 0) & (moment < LATEST)).then(moment)
    return pl.DataFrame({"e": texts}).select(t=kept)["t"]


def _month_expression() -> pl.Expr:
    named = pl.col("month").replace_strict(MONTHS, default=None, return_dtype=pl.Int64)
    return pl.coalesce(named, _whole("month"))


def _calendar(parts: pl.DataFrame, anchor: tuple[int, int] | None, offset: float, clock: pl.Expr) -> pl.Series:
    year, newest = anchor if anchor else (None, 0)
    turned = pl.when(pl.col("m") > newest + 6).then(-1).when(pl.col("m") < newest - 6).then(1).otherwise(0)
    written = pl.when(_whole("year") < 100).then(_whole("year") + 2000).otherwise(_whole("year"))
    zones = {text: east for text in parts["zone"].unique().drop_nulls() if (east := zone_offset(text)) is not None}
    named = pl.col("zone").replace_strict(zones, default=None, return_dtype=pl.Float64) if zones else pl.lit(None)
    dated = parts.with_columns(m=_month_expression(), d=_whole("day"), east=named.cast(pl.Float64).fill_null(offset))
    dated = dated.with_columns(y=pl.coalesce(written, pl.lit(year, pl.Int64) + turned))
    sound = pl.col("m").is_between(1, 12) & pl.col("d").is_between(1, 31)
    moment = days_from_civil(pl.col("y"), pl.col("m"), pl.col("d")) * DAY + clock - pl.col("east")
    return dated.select(t=pl.when(sound & (moment > 0) & (moment < LATEST)).then(moment))["t"]


_MOMENT = re2.compile(
    r"^([0-9]{4})-([0-9]{2})-([0-9]{2})[T ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]{1,9}))?"
    r" ?(Z|UTC|[+-][0-9]{2}:?[0-9]{2})?$"
)


def read_moment(value: object) -> float | None:
    """The time in a field that holds nothing else: ISO text, or an epoch number of any unit. No zone means UTC."""
    if isinstance(value, bool) or value is None:
        return None
    text = str(value).strip()
    if text[:10].isdigit() and text.replace(".", "", 1).isdigit():
        return _bounded(_epoch_seconds(text))
    match = _MOMENT.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    clock = int(hour) * 3600 + int(minute) * 60 + int(second) + float(f"0.{fraction or 0}")
    return _bounded(days_from_civil(int(year), int(month), int(day)) * DAY + clock - (zone_offset(zone) or 0.0))


def parse_moment(text: str) -> float:
    """A point in time that a user typed: ISO 8601 (date alone is midnight, no zone means UTC) or epoch seconds.

    Raises:
        UsageError: the text is neither.
    """
    cleaned = text.strip()
    padded = {10: f"{cleaned} 00:00:00", 16: f"{cleaned}:00"}.get(len(cleaned), cleaned)
    moment = read_moment(cleaned)
    moment = read_moment(padded) if moment is None else moment
    if moment is None:
        raise UsageError(f"not a point in time: {text!r}", hint="Write it as 2026-11-29T17:36:46Z or as epoch seconds.")
    return moment


def choose_reader(
    sample: Sequence[str],
    dialects: Sequence[Dialect],
    *,
    always: Sequence[Dialect] = (),
    modified: float | None = None,
    zone: float | None = None,
    boot: float | None = None,
) -> TimeReader:
    """The reader for one source.

    Args:
        sample: messages (labels and envelope removed) from the source's head, middle and tail.
        dialects: those of kind `time`.
        always: dialects to read even where the sample shows none: libraries write a few lines of their own.
        modified: when the file was last written, UTC epoch seconds; gives the year or date where no line does.
        zone: seconds east of UTC of local times, where the caller knows it.
        boot: epoch seconds of the machine's boot, where the caller knows it.
    """
    seen = _seen(sample, dialects)
    chosen = _chosen(seen, dialects)
    reader = TimeReader(chosen + tuple(dialect for dialect in always if dialect not in chosen))
    reader = _anchored(reader, sample, modified)
    reader = replace(reader, boot=boot if boot is not None else find_boot(sample, reader))
    reader = _zoned(reader, sample, zone)
    return replace(reader, notes=_notes(reader, seen))


def _first_match(text: str, dialects: Sequence[Dialect]) -> tuple[Dialect, dict[str, str | None]] | None:
    for dialect in dialects:
        found = named_groups(dialect.pattern or "", text[:HEAD], anchored=False)
        if found:
            return dialect, found[0]
    return None


def _seen(sample: Sequence[str], dialects: Sequence[Dialect]) -> Counter[str]:
    hits = (_first_match(line, dialects) for line in sample)
    return Counter(hit[0].id for hit in hits if hit)


def _chosen(seen: Counter[str], dialects: Sequence[Dialect]) -> tuple[Dialect, ...]:
    """Good dialects if any line has one; a weak one only beside none, and only if more than a stray line has it."""
    strong = tuple(d for d in dialects if d.priority < WEAK and seen[d.id])
    uptime = tuple(d for d in dialects if d.format == "uptime" and seen[d.id])
    weak = tuple(d for d in dialects if d.priority >= WEAK and d.format != "uptime" and seen[d.id] > 1)
    return strong + uptime or weak[:1]


def _groups_of(sample: Sequence[str], reader: TimeReader) -> list[tuple[Dialect, dict[str, str | None]]]:
    hits = (_first_match(line, reader.dialects) for line in sample)
    return [hit for hit in hits if hit]


def _anchored(reader: TimeReader, sample: Sequence[str], modified: float | None) -> TimeReader:
    """Give year-less and date-less dialects the newest known date: a full date in the sample, else the file's."""
    hits = _groups_of(sample, reader)
    full = [m for d, groups in hits if (groups.get("year") or d.format == "epoch") and (m := reader._moment(d, groups))]
    newest = max(full) if full else modified
    if newest is None:
        return reader
    known = dt.datetime.fromtimestamp(newest, dt.UTC)
    bare = [groups["month"] or "" for d, groups in hits if d.format == "calendar" and not groups.get("year")]
    month = (MONTHS.get(bare[-1]) or int(bare[-1])) if bare else known.month
    year = known.year - 1 if month > known.month + (6 if full else 0) else known.year
    year += 1 if full and month < known.month - 6 else 0
    clocks = [_clock_seconds(groups) for d, groups in hits if d.format == "clock"]
    midnight = newest // DAY * DAY
    if clocks and midnight + clocks[-1] > newest + 3600:
        midnight -= DAY
    return replace(reader, anchor=(year, month), day=midnight, newest=clocks[-1] if clocks else DAY)


_WALL_CLOCK = re2.compile(
    r"\[ *([0-9]+\.[0-9]{6})\].*(?:audit\((1[0-9]{9}\.[0-9]+):|setting system clock to .*\((1[0-9]{9})\))"
)


def find_boot(sample: Sequence[str], reader: TimeReader) -> float | None:
    """When a machine booted, from a kernel line that states the wall clock beside its own uptime."""
    if not any(dialect.format == "uptime" for dialect in reader.dialects):
        return None
    for line in sample:
        match = _WALL_CLOCK.search(line[:300])
        if match:
            return float(match.group(2) or match.group(3)) - float(match.group(1))
    return None


def _zoned(reader: TimeReader, sample: Sequence[str], zone: float | None) -> TimeReader:
    """Find the offset of local times: told, or shown by neighbouring lines that state UTC."""
    local = _has_local(reader, sample)
    if zone is not None:
        return replace(reader, offset=zone)
    offset = _offset_shown(reader, sample) if local else None
    return replace(reader, offset=offset or 0.0, naive=local and offset is None)


def _is_local(dialect: Dialect, groups: Mapping[str, str | None]) -> bool:
    return dialect.format in ("calendar", "clock") and zone_offset(groups.get("zone")) is None


def _has_local(reader: TimeReader, sample: Sequence[str]) -> bool:
    return any(_is_local(*hit) for hit in _groups_of(sample, reader))


def _offset_shown(reader: TimeReader, sample: Sequence[str]) -> float | None:
    """Offset in half hours between a local time and the line that states UTC right before it, if most pairs agree."""
    steps: list[float] = []
    known: float | None = None
    for dialect, groups in _groups_of(sample, reader):
        moment = reader._moment(dialect, groups)
        if moment is None:
            continue
        if not _is_local(dialect, groups):
            known = moment
        elif known is not None:
            steps.append(round((moment - known) / HALF_HOUR) * HALF_HOUR)
    if not steps:
        return None
    middle = statistics.median_low(steps)
    agree = sum(step == middle for step in steps)
    return middle if abs(middle) <= 14 * 3600 and agree * 2 > len(steps) else None


def _notes(reader: TimeReader, seen: Counter[str]) -> tuple[str, ...]:
    notes = []
    if reader.naive:
        notes.append("times name no zone; read as UTC")
    elif reader.offset:
        notes.append(f"local times are {reader.offset / 3600:+g} h from UTC, as neighbouring lines show")
    if any(d.format == "uptime" for d in reader.dialects) and reader.boot is None:
        notes.append("kernel times count from boot and no line ties them to the clock")
    if not seen:
        notes.append("no readable times; order within the source is used")
    return tuple(notes)
