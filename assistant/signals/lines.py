"""Lines of a source as the signal readers see them, and the prefixes that tools put in front of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime

LONGEST = 16 * 1024
"""Characters searched of a line."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line, without its newline. `offset` counts bytes in the decompressed source."""

    source: int
    line: int
    offset: int
    text: str

    @property
    def head(self) -> Line:
        """The line cut to what is searched: no launcher writes a longer one, and searching must stay cheap."""
        return self if len(self.text) <= LONGEST else replace(self, text=self.text[:LONGEST])


GLOG = re.compile(r"\b[IWEF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d+))?\s+(\d{1,10})\s")
"""`E1129 17:36:46.974000 7284 torch/...`: month, day, time, and the pid of the writer."""


def writer_pid(text: str) -> int | None:
    """Pid of the process that wrote a glog-style line."""
    found = GLOG.search(text[:200])
    return int(found.group(7)) if found else None


def glog_time(text: str, year: int) -> float | None:
    """The line's local time read as if it were UTC, in epoch seconds; the format leaves the year out."""
    found = GLOG.search(text[:200])
    if found is None:
        return None
    month, day, hour, minute, second = (int(part) for part in found.groups()[:5])
    micro = int((found.group(6) or "0").ljust(6, "0")[:6])
    try:
        return datetime(year, month, day, hour, minute, second, micro, tzinfo=UTC).timestamp()
    except ValueError:
        return None
