"""Finds how the sources of a job write, from a few bytes of each, and what the diagnosis knows of them already."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from assistant.events.batch import BATCH_BYTES
from assistant.events.layout import Layout, Sniffer
from assistant.events.scan import last_written
from assistant.intake.dialects import Dialects
from assistant.intake.identity import one_process
from assistant.intake.models import Block, Source
from assistant.intake.origins import Origin, origins
from assistant.paths import locate
from assistant.pipeline import Examination, knowledge
from assistant.tui.logs.bytefile import ByteFile
from assistant.tui.logs.writing import Writer, Writing

STRETCH = 15 * 1024
"""Bytes looked at in each of the begin, the middle and the end of what the scan reads first."""


@lru_cache(maxsize=1)
def _dialects(folders: tuple[Path, ...]) -> Dialects:
    return knowledge(folders).dialects


class Scribe:
    """Knows the writings of one job's sources. Making one may read the knowledge, which takes a second: not here."""

    def __init__(self, sources: Sequence[Source], seen: Examination | None) -> None:
        self.examined = seen is not None
        """Whether clocks were compared and writers identified."""
        self._origins = origins(sources)
        self._ahead = seen.reading.scan.skew.ahead if seen else {}
        self._ids = {source.name: source.id for source in seen.reading.scan.sources} if seen else {}
        self._writers: dict[str, dict[str, Writer]] = defaultdict(dict)
        for stream in seen.reading.scan.streams if seen else ():
            self._writers[stream.group][stream.key] = (stream.node, stream.rank)
        self._dated = {one.group for one in seen.reading.scan.streams if one.first_time is not None} if seen else set()
        self._sniffer = Sniffer(_dialects(tuple(locate("knowledge"))))

    def writers(self, source: Source) -> set[Writer]:
        """Everybody who wrote lines of a source, as far as is known without reading it."""
        known = set(self._writers.get(source.group, {}).values())
        return known or {self._path(source)}

    def _path(self, source: Source) -> Writer:
        origin = self._origins.get(source.id, Origin())
        return origin.node, origin.rank

    def of(self, opened: Sequence[tuple[Source, ByteFile]]) -> list[Writing]:
        """The writings of some sources, found together."""
        blocks = [_first(source, file) for source, file in opened]
        some = [block for block in blocks if block.data]
        layouts = iter(self._sniffer.sniff(some, one_process, last_written)) if some else iter(())
        return [self._writing(block.source, next(layouts) if block.data else Layout()) for block in blocks]

    def _writing(self, source: Source, layout: Layout) -> Writing:
        writers = dict(self._writers.get(source.group, {}))
        ahead = self._ahead.get(self._ids.get(source.name, -1), 0.0)
        return Writing(layout, writers, self._path(source), ahead, source.group in self._dated)


def _first(source: Source, file: ByteFile) -> Block:
    """What a sample is taken from: of a plain file without all that lies between, of a packed one its begin."""
    size = file.size
    if not file.instant or size is None or size <= 3 * STRETCH:
        return Block(source, file.read(0, 3 * STRETCH), 0, 1, last=True)
    reach = min(size, BATCH_BYTES)
    parts = [file.read(0, STRETCH), *(file.read(at, STRETCH) for at in (reach // 2, reach - STRETCH))]
    return Block(source, b"\n".join(parts), 0, 1, last=True)
