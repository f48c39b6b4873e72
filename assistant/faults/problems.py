"""What can be wrong with knowledge: said with its place and with what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

REMEDY = "Correct the entry, or take its file out of the folder."


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stands."""

    file: str = ""
    line: int = 0
    """1-based; 0 where it is not known."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an entry, a file or the library."""

    fault: str
    """Id of the entry, `number N` where it has none, `*` where no single entry is meant."""
    message: str
    text: str = ""
    """The example, line or regex it shows on."""
    file: str = ""
    line: int = 0
    """1-based; 0 where it is not known."""
    remedy: str = REMEDY

    def said(self) -> str:
        """One line: file, line, entry and what is wrong."""
        entry = f"entry {self.fault}" if self.fault != "*" else ""
        parts = [part for part in (self.file, f"line {self.line}" if self.line else "", entry) if part]
        return f"{', '.join(parts) or 'fault library'}: {self.message}"
