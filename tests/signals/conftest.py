"""A scan of a folder as small as the signal readers need it: sources, streams, and where launchers speak."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from assistant.events.models import Indicator, Record, Scan
from assistant.intake.models import Source, Stream
from assistant.signals import exits, launcher

ScanOf = Callable[..., Scan]
COUNTS = {
    "template": pl.Int32,
    "first_source": pl.Int32,
    "first_line": pl.Int64,
    "first_offset": pl.Int64,
    "last_source": pl.Int32,
    "last_line": pl.Int64,
    "last_offset": pl.Int64,
}


def _sources(root: Path) -> tuple[Source, ...]:
    files = sorted(path for path in root.rglob("*") if path.is_file())
    names = [str(path.relative_to(root)) for path in files]
    return tuple(
        Source(number, name, path, size=path.stat().st_size, group=name)
        for number, (name, path) in enumerate(zip(names, files, strict=True))
    )


def _indicators(source: Source, stream: Stream) -> list[Indicator]:
    found = []
    offset = 0
    for number, raw in enumerate(source.path.read_bytes().split(b"\n"), start=1):
        text = raw.decode("utf-8", "replace")
        if launcher.WORDS.search(text) or exits.WORDS.search(text):
            found.append(Indicator(Record(source.id, number, offset, text, text, stream.id), ()))
        offset += len(raw) + 1
    return found


@pytest.fixture
def scan_of() -> ScanOf:
    """Builds the scan; `ranks` and `nodes` say what intake found out, by source name."""

    def build(root: Path, ranks: dict[str, int] | None = None, nodes: dict[str, str] | None = None) -> Scan:
        sources = _sources(root)
        streams = tuple(
            Stream(s.id, s.group, "", node=(nodes or {}).get(s.name), rank=(ranks or {}).get(s.name)) for s in sources
        )
        found = [i for source, stream in zip(sources, streams, strict=True) for i in _indicators(source, stream)]
        empty = pl.DataFrame(schema=COUNTS)
        return Scan(
            sources,
            streams,
            (),
            empty,
            pl.DataFrame(),
            pl.DataFrame(),
            (),
            tuple(found),
            {},
            (),
            (),
            (),
            bytes=0,
            lines=0,
        )

    return build
