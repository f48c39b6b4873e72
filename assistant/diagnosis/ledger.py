"""The evidence ledger: gives each cited place its id, in order of first citation, and keeps the text."""

from __future__ import annotations

from datetime import UTC, datetime

from assistant.case.models import Evidence
from assistant.diagnosis.models import Exhibit, Place
from assistant.diagnosis.population import writer_place
from assistant.events.models import Record, Scan


class Ledger:
    """Collects evidence while a verdict is written. Citing the same place twice gives the same id."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._ids: dict[tuple[int, int], str] = {}
        self._items: list[Evidence] = []

    def cite(self, record: Record, place: Place | None = None) -> str:
        """The id of a record's evidence, entered on first use.

        A joined record is cited at the line that says what happened: for a traceback that is its exception line.
        """
        key = (record.source, _telling_line(record)[1])
        if key not in self._ids:
            self._ids[key] = f"E{len(self._items) + 1}"
            self._items.append(self._evidence(self._ids[key], record, place))
        return self._ids[key]

    def cite_exhibit(self, exhibit: Exhibit) -> str:
        """The id of an exhibit's record, attributed to the place it is about."""
        return self.cite(exhibit.record, exhibit.writer)

    def entries(self) -> tuple[Evidence, ...]:
        """All evidence cited so far."""
        return tuple(self._items)

    def _evidence(self, name: str, record: Record, place: Place | None) -> Evidence:
        line, offset, text = _telling_line(record)
        where = place or (writer_place(self._scan.streams[record.stream]) if record.stream >= 0 else Place())
        return Evidence(
            id=name,
            source=self._scan.sources[record.source].name,
            line=line,
            offset=offset,
            text=text,
            node=where.node,
            rank=where.rank,
            time=iso(record.time) if record.time is not None else None,
        )


def _telling_line(record: Record) -> tuple[int, int, str]:
    """Line, offset and text of the line that says what happened."""
    if record.lines > 1 and "Traceback (most recent call last)" in record.text:
        return record.last_line, record.last_offset, record.text.rsplit("\n", 1)[-1]
    return record.line, record.offset, record.raw


def iso(seconds: float | None) -> str | None:
    """UTC epoch seconds as ISO 8601 with milliseconds; None stays None."""
    if seconds is None:
        return None
    stamp = datetime.fromtimestamp(seconds, tz=UTC)
    return stamp.isoformat(timespec="milliseconds").replace("+00:00", "Z")
