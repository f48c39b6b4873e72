"""The lines of one log on the screen. Only what is in sight is read, by byte offset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from assistant.case.text import clean
from assistant.tui.logs.book import LogBook
from assistant.tui.logs.lines import LogLine
from assistant.tui.logs.worker import compiled

NUMBER = 9
"""Columns for a line number."""
LEFT = 80
"""Bytes before a cited place that stay in sight in a long line."""
CUT = Content.styled("…", "$foreground-muted")
"""Where a line goes on beyond the edge."""
CHOSEN = 10_000
"""Lines that can be selected."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the screen: a line, or a further row of a wrapped one."""

    line: LogLine
    text: str
    first: bool


class LogPane(Widget, can_focus=True):
    """Shows lines from `top` on; `here` is the line that keys act on."""

    margin = NUMBER
    """Columns before the text of a line."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", show=False, id="log.down"),
        Binding("up,k", "move(-1)", "Up", show=False, id="log.up"),
        Binding("pagedown,space,ctrl+f", "page(1)", "Page down", show=False, id="log.page-down"),
        Binding("pageup,b,ctrl+b", "page(-1)", "Page up", show=False, id="log.page-up"),
        Binding("home,g", "jump(0)", "Begin", show=False, id="log.begin"),
        Binding("end,G", "jump(1)", "End", show=False, id="log.end"),
        Binding("right,l", "shift(1)", "Right", show=False, id="log.right"),
        Binding("left,h", "shift(-1)", "Left", show=False, id="log.left"),
        Binding("w", "wrap", "Wrap", show=False, id="log.wrap"),
        Binding("s", "select", "Select", show=False, id="log.select"),
    ]

    class Moved(Message):
        """Another line is chosen, or others are in sight."""

    def __init__(self, book: LogBook) -> None:
        super().__init__(id="log")
        self.book = book
        self.top = 0
        self.here = 0
        self.left = 0
        self.wrapped = False
        self.waiting = False
        """Lines are being read elsewhere; what was shown stays."""
        self.rows: list[Row] = []
        self.pinned: int | None = None
        """Where the selected lines begin, or end; the other end is `here`."""

    def go(self, offset: int) -> None:
        """Shows the line that holds an offset, a third down the screen."""
        lines = self.book.lines
        self.here = start = lines.start_of(offset)
        above = lines.backward(start, max(1, self._height // 3))
        below = len(lines.forward(start, self._height))
        if below + len(above) < self._height:
            above = lines.backward(start, self._height - below)
        self.top = above[0].offset if above else start
        column = offset - start
        self.left = max(0, column - LEFT) if column > self._width - self.margin else 0
        self.load()

    def load(self) -> None:
        """Reads what is in sight."""
        found = self.book.lines.forward(self.top, self._height)
        if not found and self.top:
            if self.book.file.trouble():
                # What was on the screen stays: the file has nothing there any more.
                self.post_message(self.Moved())
                return
            found = self.book.lines.backward(self.top, self._height)
            self.top = found[0].offset if found else 0
        self.rows = [row for line in found for row in self._laid(line)][: max(1, self._height)]
        offsets = {row.line.offset for row in self.rows}
        if self.rows and self.here not in offsets:
            self.here = self.rows[0].line.offset if self.here < self.rows[0].line.offset else self.rows[-1].line.offset
        self.refresh()
        self.post_message(self.Moved())

    @property
    def chosen(self) -> LogLine | None:
        """The line that keys act on."""
        return next((row.line for row in self.rows if row.line.offset == self.here), None)

    @property
    def _height(self) -> int:
        return max(1, self.size.height)

    @property
    def _width(self) -> int:
        return max(self.margin + 10, self.size.width)

    def plain_text(self) -> str:
        """The selected lines, else those in sight, in full length and without numbers."""
        lines = [row.line for row in self.rows if row.first] if self.pinned is None else self.selected()
        return "\n".join(clean(line.text) for line in lines)

    def selected(self) -> list[LogLine]:
        """The selected lines, else the one that is chosen."""
        if self.pinned is None:
            return [self.chosen] if self.chosen else []
        first, last = sorted((self.pinned, self.here))
        return [line for line in self.book.lines.forward(first, CHOSEN) if line.offset <= last]

    def action_select(self) -> None:
        """Lines from here on are selected, or none any more."""
        self.pinned = self.here if self.pinned is None else None
        self.load()

    def on_resize(self, event: events.Resize) -> None:
        """Another height shows other lines."""
        if not self.waiting:
            self._stay()

    def _stay(self) -> None:
        """Lays out anew what is in sight, and the chosen line stays in it."""
        here = self.here
        self.load()
        if self.here != here:
            self.here, lines = here, self.book.lines
            self.top = self._top_above([*lines.backward(here, self._height), *lines.forward(here, 1)])
            self.load()

    def _top_above(self, last: list[LogLine]) -> int:
        """Where the view begins that ends with the last of some lines."""
        room, at = self._height, len(last)
        while at > 0 and (room := room - len(list(self._laid(last[at - 1])))) >= 0:
            at -= 1
        # A line that alone is higher than the screen is shown from its begin.
        at = min(at, max(0, len(last) - 1))
        return last[at].offset if last else 0

    def _laid(self, line: LogLine) -> Iterator[Row]:
        text = clean(line.text)
        more = f" … {line.cut:,} bytes more (enter)" if line.cut > 0 else ""
        room = self._width - self.margin
        if not self.wrapped:
            yield Row(
                line, text[self.left : self.left + room * 2] + (more if len(text) <= self.left + room else ""), True
            )
            return
        pieces = [row.plain for row in Content(text + more).fold(room)] or [""]
        for number, piece in enumerate(pieces):
            yield Row(line, piece, number == 0)

    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        base, width = self.visual_style, self.size.width
        if y >= len(self.rows):
            return Strip.blank(width, base.rich_style)
        row = self.rows[y]
        content = Content.assemble((self._lead(row), self._lead_style(row)), self._marked(row))
        if row.line.offset == self.here:
            content = content.stylize("reverse" if self.has_focus else "underline", 0, self.margin - 1)
        strip = Strip(content.render_segments(base))
        if strip.cell_length > width:
            strip = Strip.join([strip.crop(0, width - 1), Strip(CUT.render_segments(base))])
        return strip.adjust_cell_length(width, base.rich_style)

    def _lead(self, row: Row) -> str:
        if not row.first:
            return " " * self.margin
        number = self.book.number(row.line.offset)
        sign = "●" if self.book.cites(row.line) else "!" if self.book.indicates(row.line) else " "
        bar = self._bar(row)
        return f"{'·' if number is None else number:>{self.margin - 2}}{sign}{bar}"

    def _bar(self, row: Row) -> str:
        """Whether the line is selected, or begins left of what is in sight."""
        return "┃" if self._in_selection(row.line) else "…" if self.left else " "

    def _in_selection(self, line: LogLine) -> bool:
        return self.pinned is not None and min(self.pinned, self.here) <= line.offset <= max(self.pinned, self.here)

    def _lead_style(self, row: Row) -> str:
        return "bold $text-error" if self.book.cites(row.line) else "$foreground-muted"

    def _marked(self, row: Row) -> Content:
        """The text with what is searched for."""
        style = "$text-warning" if self.book.indicates(row.line) else ""
        content = Content.styled(row.text, style)
        search = self.book.search
        if search is None or not search.pattern:
            return content
        return _highlighted(content, search.pattern)

    def action_move(self, step: int) -> None:
        """Chooses the next line; at the edge the view moves on."""
        lines = self.book.lines
        if not self.rows:
            return
        if step > 0:
            following = lines.forward(self.here, 2)
            if len(following) < 2:
                return
            self.here = following[1].offset
            if self.here > self.rows[-1].line.offset or self._is_last(self.here):
                moved = lines.forward(self.top, 2)
                self.top = moved[1].offset if len(moved) > 1 else self.top
        elif before := lines.backward(self.here, 1):
            self.here = before[0].offset
            self.top = min(self.top, self.here)
        self.load()

    def _is_last(self, offset: int) -> bool:
        return len(self.rows) >= self._height and self.rows[-1].line.offset == offset and self.wrapped

    def action_page(self, step: int) -> None:
        """A screen on or back."""
        lines, height = self.book.lines, max(1, self._height - 1)
        found = lines.forward(self.top, height + 1) if step > 0 else lines.backward(self.top, height)
        if found:
            self.top = found[-1].offset if step > 0 else found[0].offset
            self.here = self.top
        self.load()

    def action_jump(self, end: int) -> None:
        """To the begin or the end."""
        if not end:
            self.top = self.here = 0
            self.load()
        elif self.book.file.size is None:
            self.notify("the end is not known yet: the file is still being unpacked", markup=False)
        else:
            self.to_end()

    def to_end(self) -> None:
        """Shows as many of the last lines as there is room for, and chooses the last one."""
        last = self.book.lines.backward(self.book.file.size or 0, self._height)
        self.top = self._top_above(last)
        self.here = last[-1].offset if last else 0
        self.load()

    def action_shift(self, step: int) -> None:
        """Right and left in lines that are longer than the screen."""
        self.left = max(0, self.left + step * max(8, (self._width - self.margin) // 2))
        self.load()

    def action_wrap(self) -> None:
        """Wraps lines, or cuts them at the edge."""
        self.wrapped = not self.wrapped
        self.left = 0
        self._stay()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Three lines on."""
        self._scrolled(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Three lines back."""
        self._scrolled(-3)

    def _scrolled(self, step: int) -> None:
        lines = self.book.lines
        found = lines.forward(self.top, step + 1) if step > 0 else lines.backward(self.top, -step)
        if found:
            self.top = found[-1].offset if step > 0 else found[0].offset
        self.load()

    def on_click(self, event: events.Click) -> None:
        """Chooses a line."""
        if event.y < len(self.rows):
            self.here = self.rows[event.y].line.offset
            self.refresh()
            self.post_message(self.Moved())


def _highlighted(content: Content, pattern: str) -> Content:
    """Where a pattern stands in what is shown. Python's engine is not asked: its time has no bound."""
    data = content.plain.encode("utf-8", "replace")
    at, regex = 0, compiled(pattern)
    for _ in range(50):
        found = regex.search(data, at)
        if not found or found.end() <= found.start():
            return content
        begin = len(data[: found.start()].decode("utf-8", "replace"))
        end = begin + len(data[found.start() : found.end()].decode("utf-8", "replace"))
        content = content.stylize("reverse $text-warning", begin, end)
        at = found.end()
    return content
