"""Open sources one after another, each archive once, so that many sources cost one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from assistant.intake.archives import Opened, open_plain_tar, open_zip, stream_tar
from assistant.intake.codecs import unpacked
from assistant.intake.files import ByteStream, FileStream, reason_of
from assistant.intake.limits import DEFAULT_LIMITS, Limits
from assistant.intake.models import Codec, Source, Unread

Report = Callable[[Unread], None]
MOST_PASSES = 16
"""How often a packed tar is read again because parts of rotated sets stand in it newest first."""


def open_each(
    sources: Sequence[Source], report: Report, limits: Limits = DEFAULT_LIMITS
) -> Iterator[tuple[Source, ByteStream]]:
    """Each source with its unpacked bytes, to be read before the next one is asked for.

    The order is the given one, but that members of a packed tar come in the archive's order; parts of a rotated set
    still come oldest first. What cannot be opened is reported and left out.
    """
    archives: dict[Path, list[Source]] = {}
    for source in sources:
        if source.member is not None:
            archives.setdefault(source.path, []).append(source)
    for source in sources:
        if source.member is None:
            yield from _open_file(source, report, limits)
        elif members := archives.pop(source.path, []):
            yield from _open_members(members, report, limits)


def _open_file(source: Source, report: Report, limits: Limits) -> Iterator[tuple[Source, ByteStream]]:
    try:
        file = FileStream(source.path)
    except OSError as error:
        report(Unread(source.name, reason_of(error)))
        return
    try:
        yield source, unpacked(file, source.codec, limits)
    finally:
        file.close()


def _open_members(members: list[Source], report: Report, limits: Limits) -> Iterator[tuple[Source, ByteStream]]:
    waiting = {source.member or "": source for source in members}
    first = members[0]
    try:
        opened: Iterator[Opened]
        if first.archive == "zip":
            opened = open_zip(first.path, list(waiting), limits)
        elif first.codec == Codec.PLAIN:
            opened = open_plain_tar(first.path, list(waiting), limits)
        else:
            opened = _in_passes(members, limits)
        for key, stream in opened:
            yield waiting.pop(key), stream
    except OSError as error:
        for source in waiting.values():
            report(Unread(source.name, reason_of(error)))
        return
    for source in waiting.values():
        report(Unread(source.name, "no longer in the archive"))


def _in_passes(members: list[Source], limits: Limits) -> Iterator[Opened]:
    """The members of a packed tar; a part of a rotated set waits for a later pass until all older ones have come."""
    waiting = {source.member or "": source for source in members}
    parts: dict[str, set[int]] = {}
    for source in members:
        parts.setdefault(source.group, set()).add(source.part)
    for number in range(MOST_PASSES):
        ordered = number < MOST_PASSES - 1
        before = len(waiting)

        def wanted(key: str, ordered: bool = ordered) -> bool:
            source = waiting.get(key)
            return source is not None and not (ordered and min(parts[source.group]) < source.part)

        for key, stream in stream_tar(members[0].path, members[0].codec, wanted, limits):
            source = waiting.pop(key)
            parts[source.group].discard(source.part)
            yield key, stream
            if not waiting:
                return
        if len(waiting) == before:
            return
