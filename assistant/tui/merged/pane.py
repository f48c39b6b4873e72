"""The lines of several logs on the screen, each led by a sign and the name of who wrote it."""

from __future__ import annotations

from textual.message import Message

from assistant.case.text import clean, tail
from assistant.tui.logs.lines import LogLine
from assistant.tui.logs.pane import LogPane, Row
from assistant.tui.logs.writing import Writer
from assistant.tui.merged.book import MergedBook

SIGNS = "■▲◆▼□△◇▽"
COLOURS = ("$text-primary", "$text-accent", "$text-success", "$text-warning", "$text-secondary", "$text-error")
SHORT, LONG = 12, 20
"""Columns of a name in a narrow window, and in a wide one."""
WIDE = 120


class MergedPane(LogPane):
    """A log pane over several logs."""

    class EdgeWanted(Message):
        """The first line of all, or the last one, is wanted."""

        def __init__(self, end: int) -> None:
            super().__init__()
            self.end = end

    def __init__(self, book: MergedBook) -> None:
        super().__init__(book)
        self.merged = book
        self._order: dict[object, int] = {}
        """Who has had which sign, in the order of their appearance; those of whole files first."""
        for strand in book.merged.strands:
            self._numbered(strand.writing.sole or (None, None), strand.source.name)

    def go(self, offset: int) -> None:
        """Shows the line of a key, or the last one before it, a third down the screen."""
        super().go(self.book.lines.start_of(offset))
        if self.left:
            self.left = 0
            self.load()

    def load(self) -> None:
        """Reads what is in sight; names take what room the window has for them."""
        longest = max((len(name) for name in map(str, self._names())), default=0)
        self.margin = min(longest, LONG if self.size.width >= WIDE else SHORT) + 4
        super().load()

    def action_jump(self, end: int) -> None:
        """To the first line of all, or the last."""
        self.post_message(self.EdgeWanted(end))

    def to_end(self) -> None:
        """To the last line of all."""
        self.post_message(self.EdgeWanted(1))

    def _names(self) -> list[str]:
        return [str(key) for key in self._order]

    def _numbered(self, writer: Writer, source: str) -> tuple[str, int]:
        name = called(writer, source)
        return name, self._order.setdefault(name, len(self._order))

    def _whose(self, line: LogLine) -> tuple[str, int]:
        return self._numbered(self.merged.writer(line), self.merged.book_of(line).source.name)

    def _lead(self, row: Row) -> str:
        if not row.first:
            return " " * self.margin
        name, number = self._whose(row.line)
        room = self.margin - 4
        cited = "●" if self.book.cites(row.line) else "!" if self.book.indicates(row.line) else " "
        return f"{SIGNS[number % len(SIGNS)]} {tail(name, room):<{room}}{cited}{self._bar(row)}"

    def _lead_style(self, row: Row) -> str:
        colour = COLOURS[self._whose(row.line)[1] % len(COLOURS)]
        return f"bold {colour}" if self.book.cites(row.line) else colour


def called(writer: Writer, source: str) -> str:
    """`n03/r7`; where nobody is known, the file."""
    node, rank = writer
    if node is None and rank is None:
        return clean(source)
    return "/".join(part for part in (clean(node) if node else "", f"r{rank}" if rank is not None else "") if part)
