"""Re-read the text at an offset: evidence is proved by reading it again where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from assistant.errors import NothingFound
from assistant.intake.access import open_each
from assistant.intake.files import ByteStream
from assistant.intake.limits import KIB
from assistant.intake.lines import line_end
from assistant.intake.models import Source, Unread

LINE_LIMIT = 64 * KIB
WINDOW_BYTES = 256 * KIB
"""How far a window reaches back and forth at most."""
_LINE_BREAK = re.compile(rb"\r\n|\n|\r")


def read_at(source: Source, offset: int, limit: int = LINE_LIMIT) -> str:
    """The text from `offset` to the next newline or carriage return, at most `limit` bytes.

    Raises NothingFound where the source cannot be opened or ends before the offset.
    """
    found = read_many_at(source, [offset], limit)
    if offset not in found:
        raise _gone(source)
    return found[offset]


def read_many_at(source: Source, offsets: Iterable[int], limit: int = LINE_LIMIT) -> dict[int, str]:
    """As `read_at` for many offsets in one pass; those that cannot be read are left out."""
    places = [(source, offset) for offset in offsets]
    return {offset: text for (_, offset), text in read_places(places, limit).items()}


def read_places(places: Iterable[tuple[Source, int]], limit: int = LINE_LIMIT) -> dict[tuple[int, int], str]:
    """As `read_at` for places in many sources, each archive opened once: text by (source id, offset)."""
    wanted: dict[int, set[int]] = {}
    sources: dict[int, Source] = {}
    for source, offset in places:
        wanted.setdefault(source.id, set()).add(offset)
        sources[source.id] = source
    texts: dict[tuple[int, int], str] = {}
    for source, stream in open_each([sources[key] for key in sorted(sources)], _unreported):
        for offset, data in _pieces(stream, sorted(wanted[source.id]), limit):
            texts[source.id, offset] = _line_text(data)
    return texts


def _pieces(stream: ByteStream, offsets: Sequence[int], limit: int) -> Iterator[tuple[int, bytes]]:
    """Up to `limit` bytes at each of the ascending offsets, reading forward only."""
    data, start = b"", 0
    for offset in offsets:
        ahead = offset - (start + len(data))
        if ahead > 0:
            stream.skip(ahead)
            data, start = b"", offset
        data, start = data[offset - start :], offset
        if len(data) < limit:
            data += stream.read(limit - len(data))
        if data:
            yield offset, data[:limit]


def read_window(source: Source, offset: int, before: int, after: int) -> list[tuple[int, str]]:
    """The line at `offset` with up to `before` and `after` neighbours, each with its own offset.

    Raises NothingFound where the source cannot be opened or ends before the offset.
    """
    start = max(0, offset - WINDOW_BYTES)
    for _, stream in open_each([source], _unreported):
        stream.skip(start)
        data = stream.read(offset - start + WINDOW_BYTES)
        if len(data) > offset - start:
            return _window(data, start, offset, before, after)
    raise _gone(source)


def _window(data: bytes, start: int, offset: int, before: int, after: int) -> list[tuple[int, str]]:
    lines = list(_lines(data, start))
    here = max((index for index, (at, _) in enumerate(lines) if at <= offset), default=0)
    first = max(0, here - before)
    if start > 0 and first == 0 and here > 0:
        first = 1
    return [(at, _decoded(text[:LINE_LIMIT])) for at, text in lines[first : here + after + 1]]


def _lines(data: bytes, start: int) -> Iterator[tuple[int, bytes]]:
    at = 0
    for match in _LINE_BREAK.finditer(data):
        yield start + at, data[at : match.start()]
        at = match.end()
    if at < len(data):
        yield start + at, data[at:]


def _line_text(data: bytes) -> str:
    end = line_end(data)
    return _decoded(data if end < 0 else data[:end])


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _unreported(_: Unread) -> None:
    """Places that cannot be read are missing from the answer; that is all a caller needs to know."""


def _gone(source: Source) -> NothingFound:
    return NothingFound(
        f"{source.name} can no longer be read at this place",
        hint="the file was moved, rotated or shortened; the case still keeps the lines it cites",
    )
