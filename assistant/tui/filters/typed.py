"""Reads filters from one typed line: `rank=3 level=error time=03:10..03:12 /regex/`. Knows no screen."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import polars as pl
import re2

from assistant.case.models import Case
from assistant.case.text import clean
from assistant.errors import UsageError
from assistant.events.masks import masked
from assistant.intake.times import DAY, parse_moment
from assistant.tui.filters.levels import LEVELS, level_named
from assistant.tui.filters.models import MOST, Filter, Kind, text_filter
from assistant.tui.logs.worker import compiled
from assistant.tui.logs.writing import Writer
from assistant.tui.merged.strand import MICRO

FORMS: Mapping[str, str] = {
    "rank": "rank=3, rank=0-7,12",
    "node": "node=n03, node=gpu-0*",
    "level": f"level=error (or worse): {', '.join(LEVELS)}",
    "time": "time=03:10..03:12 (UTC, as in the verdict), time=..03:12, time=-30s..+1m around this line",
    "event": "event=here (like this line), event=any, event=E7, event=words of an event",
    "text": "/expression/ in the RE2 subset, or a word",
}
"""How each kind is written."""
_TOKEN = re.compile(r"""\s*(?P<not>!?)(?:/(?P<regex>(?:[^/\\]|\\.)*)/(?=\s|$)|(?P<word>(?:"[^"]*"|[^\s"])+))""")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,6})?)?Z?")
_SHIFT = re.compile(r"([+-])(\d{1,6}(?:\.\d{1,3})?)(ms|s|m|h|d)?")
_UNITS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0, "d": DAY}
_SLOT = re.compile(r"<[A-Z*]+>")


@dataclass(frozen=True, slots=True)
class Around:
    """What typed filters are understood from."""

    time: float | None = None
    """Of the line one is at, on the common clock; else some time of the job. A time of day means the day nearest."""
    line: str = ""
    """That line's text."""
    nodes: Sequence[str] = ()
    """Known nodes; empty where none is known."""
    ranks: Sequence[int] = ()
    events: Sequence[tuple[str, str]] = ()
    """Ids and templates of the case's events."""
    cited: Mapping[str, str] | None = None
    """Texts of evidence by id."""


def around(case: Case | None, writers: Iterable[Writer], moment: int | None, line: str) -> Around:
    """What a case knows, at a line of a time in microseconds."""
    known = list(writers)
    evidence = case.evidence if case else ()
    told = next((item.time for item in evidence if item.time), None)
    time = moment / MICRO if moment is not None else parse_moment(told) if told else None
    return Around(
        time=time,
        line=line,
        nodes=sorted({node for node, _ in known if node}),
        ranks=sorted({rank for _, rank in known if rank is not None}),
        events=[(event.id, event.template) for event in case.events] if case else (),
        cited={item.id: item.text for item in evidence},
    )


def read_filters(text: str, around: Around) -> list[Filter]:
    """The filters that a line says. Raises ValueError with what is wrong."""
    found: list[Filter] = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise ValueError(f"a quotation mark is not closed: {text[at:].strip()[:40]}")
        found.append(_filter(token, around))
        at = token.end()
    if len(found) > MOST:
        raise ValueError(f"{len(found)} filters; {MOST} can be on at once")
    return list({one.spelled: one for one in found}.values())


def _filter(token: re.Match[str], around: Around) -> Filter:
    negated, spelled = bool(token["not"]), token[0].strip()
    if token["regex"] is not None:
        return _text(spelled, token["regex"].replace("\\/", "/"), negated)
    word = token["word"]
    if word.startswith("/"):
        raise ValueError(f"no closing / (write a / inside as \\/): {word[:40]}")
    key, equals, value = word.partition("=")
    if not equals or not key.isidentifier():
        return _text(spelled, re2.escape(word.replace('"', "")), negated)
    kind = next((name for name in READERS if name.startswith(key.lower()) and key), None)
    if kind is None:
        raise ValueError(f"no filter {key}=; there are {', '.join(f'{name}=' for name in READERS)} and /expression/")
    return READERS[kind](spelled, value.replace('"', ""), negated, around)


def _text(spelled: str, pattern: str, negated: bool) -> Filter:
    if not pattern:
        raise ValueError("the expression between / and / is empty")
    try:
        compiled(pattern)
    except ValueError as error:
        raise ValueError(f"not an expression: {error}") from None
    made = text_filter(pattern)
    return Filter(Kind.TEXT, spelled, negated, pattern=made.pattern)


def _ranks(spelled: str, value: str, negated: bool, around: Around) -> Filter:
    spans: list[tuple[int, int]] = []
    for part in value.split(","):
        match = re.fullmatch(r"(\d{1,7})(?:(?:-|\.\.)(\d{1,7}))?", part)
        if match is None or (match[2] and int(match[2]) < int(match[1])):
            raise ValueError(f"not a rank: {part or 'nothing'}; write {FORMS['rank']}")
        spans.append((int(match[1]), int(match[2] or match[1])))
    if around.ranks and not any(low <= rank <= high for low, high in spans for rank in around.ranks):
        raise ValueError(f"no line here is known to be of rank {value}; ranks {min(around.ranks)}-{max(around.ranks)}")
    return Filter(Kind.RANK, spelled, negated, ranks=tuple(spans))


def _nodes(spelled: str, value: str, negated: bool, around: Around) -> Filter:
    names = tuple(part for part in value.split(",") if part)
    if not names:
        raise ValueError(f"no node; write {FORMS['node']}")
    if around.nodes and not any(fnmatchcase(node, name) for name in names for node in around.nodes):
        known = ", ".join(clean(node) for node in list(around.nodes)[:6])
        raise ValueError(f"no line here is known to be of node {value}; nodes: {known}")
    return Filter(Kind.NODE, spelled, negated, nodes=names)


def _level(spelled: str, value: str, negated: bool, around: Around) -> Filter:
    if (level := level_named(value)) is None:
        raise ValueError(f"no level {value or 'named'}; levels: {', '.join(LEVELS)}")
    return Filter(Kind.LEVEL, spelled, negated, level=level)


def _time(spelled: str, value: str, negated: bool, around: Around) -> Filter:
    begin, dots, end = value.partition("..")
    if not value.strip("."):
        raise ValueError(f"no time; write {FORMS['time']}")
    end = end if dots else begin
    since = _moment(begin, around.time) if begin else None
    until = _moment(end, around.time if since is None else since, around.time) if end else None
    if until is not None and since is not None and until < since:
        if until + DAY < since or not _CLOCK.fullmatch(end):
            raise ValueError(f"the time ends before it begins: {value}")
        until += DAY
    if until is not None and _CLOCK.fullmatch(end) and "." not in end:
        until += 59.999999 if end.count(":") == 1 else 0.999999
    if _SHIFT.fullmatch(begin) or _SHIFT.fullmatch(end):
        spelled = f"{'!' * negated}time={_written(since)}..{_written(until)}"
    return Filter(Kind.TIME, spelled, negated, since=since, until=until)


def _written(moment: float | None) -> str:
    """A point in time as it can be typed again, wherever one is then."""
    if moment is None:
        return ""
    return dt.datetime.fromtimestamp(moment, dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _moment(text: str, near: float | None, shifted: float | None = None) -> float:
    """A point in time; a time of day is on the day that lies nearest to `near`."""
    if clock := _CLOCK.fullmatch(text):
        if near is None:
            raise ValueError(f"this line has no time to tell the day from; write the date too: 2031-04-02T{text}")
        hours, minutes, seconds = int(clock[1]), int(clock[2]), float((clock[3] or "0") + (clock[4] or ""))
        if hours > 23 or minutes > 59 or seconds > 60:
            raise ValueError(f"not a time of day: {text}")
        second = hours * 3600 + minutes * 60 + seconds
        return second + round((near - second) / DAY) * DAY
    if shift := _SHIFT.fullmatch(text):
        base = near if shifted is None else shifted
        if base is None:
            raise ValueError("this line has no time to count from")
        return base + (1 if shift[1] == "+" else -1) * float(shift[2]) * _UNITS[shift[3] or ""]
    try:
        return parse_moment(text)
    except UsageError:
        raise ValueError(f"not a point in time: {text}; write {FORMS['time']}") from None


def _event(spelled: str, value: str, negated: bool, around: Around) -> Filter:
    if value == "any":
        return Filter(Kind.EVENT, spelled, negated, records=True)
    cited = around.cited or {}
    if value == "here" or value in cited:
        shape = masked(pl.Series([around.line if value == "here" else cited[value]], dtype=pl.String))[0]
        if not shape:
            raise ValueError("this line is empty")
        made = text_filter(shape_pattern(shape))
        return replace(made, spelled=f"{'!' * negated}{made.spelled}", negated=negated)
    fitting = [shape for name, shape in around.events if value and (name == value or value.lower() in shape.lower())]
    if not fitting:
        raise ValueError(f"no event of this case holds {value or 'nothing'}; write {FORMS['event']}")
    return Filter(Kind.EVENT, spelled, negated, pattern="|".join(map(shape_pattern, fitting[:20])))


def shape_pattern(shape: str) -> str:
    """The expression that lines of a template match: its words in their order, whatever stands in its slots."""
    words = [re2.escape(piece.strip()).replace(r"\ ", r"\s+") for piece in _SLOT.split(shape)]
    pattern = ".*?".join(word for word in words if word) or ".+"
    # A letter of each case makes the search mind case, also where the words themselves hold none.
    return f"(?-i:{pattern})"


READERS: Mapping[str, Callable[[str, str, bool, Around], Filter]] = {
    "rank": _ranks, "node": _nodes, "level": _level, "time": _time, "event": _event,
}  # fmt: skip


def said(moment: float | None) -> str:
    """`04-02 10:01:20` in UTC."""
    if moment is None:
        return ""
    return dt.datetime.fromtimestamp(moment, dt.UTC).strftime("%m-%d %H:%M:%S")


def hint(text: str, around: Around) -> str:
    """What may be typed next, from what has been typed."""
    word = text.rpartition(" ")[2].lstrip("!")
    key, equals, value = word.partition("=")
    if equals and key in READERS:
        names = {"node": list(around.nodes), "level": list(LEVELS), "rank": [str(rank) for rank in around.ranks]}
        fitting = [name for name in names.get(key, []) if name.startswith(value)]
        return f"{FORMS[key]}{': ' if fitting else ''}{', '.join(clean(name) for name in fitting[:12])}"
    if word.startswith("/"):
        return FORMS["text"]
    fitting = [f"{name}=" for name in READERS if name.startswith(key)] if key else []
    return (
        ", ".join(fitting)
        or "rank=3 node=n03 level=error time=03:10..03:12 event=here /expression/; ! before one turns it"
    )


def complete(text: str, around: Around) -> str | None:
    """The text with its last word completed, where one thing is to be had."""
    head, space, word = text.rpartition(" ")
    mark = "!" if word.startswith("!") else ""
    word = word.removeprefix("!")
    key, equals, _ = word.partition("=")
    if not word:
        return None
    names = {"node": list(around.nodes), "level": list(LEVELS), "rank": [], "time": [],
             "event": ["here", "any", *(around.cited or ()), *(name for name, _ in around.events)]}  # fmt: skip
    options = [f"{key}={name}" for name in names.get(key, [])] if equals else [f"{name}=" for name in READERS]
    best = next((option for option in options if option.startswith(word) and option != word), None)
    return None if best is None else f"{head}{space}{mark}{best}"
