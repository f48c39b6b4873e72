"""The conversation on the screen. Only the visible lines are drawn, so that its length costs nothing."""

from __future__ import annotations

from bisect import bisect_right
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style

from assistant.tui.messages import Asked, PlaceWanted, RowWanted
from assistant.tui.talk.blocks import ASK, ROW, Block, ToolRow
from assistant.tui.talk.passages import CITE

BREATH = 0.04
"""Seconds that changes are gathered before they are drawn."""
UNWRAPPED, RECENT = 4_000, 500
"""Columns and blocks of the plain text; paragraphs shall stand on one line each."""


class Transcript(ScrollView, can_focus=True):
    """A list of blocks, drawn line by line. `[` and `]` walk through what can be opened, enter opens it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll_down", "Down", show=False, id="talk.down"),
        Binding("up,k", "scroll_up", "Up", show=False, id="talk.up"),
        Binding("right_square_bracket,n", "walk(1)", "Next link", id="talk.next"),
        Binding("left_square_bracket,N", "walk(-1)", "Previous link", show=False, id="talk.previous"),
        Binding("enter,space", "open", "Open", id="talk.open"),
        Binding("g,home", "scroll_home", "Begin", show=False, id="talk.begin"),
        Binding("G,end", "scroll_end", "End", show=False, id="talk.end"),
    ]

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.blocks: list[Block] = []
        self._lines: list[list[Content]] = []
        self._starts: list[int] = [0]
        self._wrapped: dict[int, tuple[int, int, list[Content]]] = {}
        """For each block, by identity: the version and the width that its lines were made for."""
        self._laid_out = 0
        self.following = True
        """New lines are brought into sight."""
        self._dirty: int | None = None
        self._stop: tuple[int, int, int] | None = None
        """Block, line in it, and begin of the link that is chosen."""

    def add(self, block: Block) -> None:
        """Appends a block."""
        self.blocks.append(block)
        self._soil(len(self.blocks) - 1)

    def redraw(self, block: Block) -> None:
        """Draws a block anew that has changed."""
        self._soil(len(self.blocks) - 1 - self.blocks[::-1].index(block))

    def clear(self) -> None:
        """Takes everything away."""
        self.blocks.clear()
        self._wrapped.clear()
        self._stop = None
        self._soil(0)

    def _soil(self, index: int) -> None:
        if self._dirty is None and self.is_attached:
            self.set_timer(BREATH, self.lay_out)
        self._dirty = index if self._dirty is None else min(self._dirty, index)

    def on_mount(self) -> None:
        """Draws what was added before."""
        self.lay_out()

    def on_resize(self, event: events.Resize) -> None:
        """Another width wraps everything anew."""
        if self._laid_out != self.content_width:
            self._dirty = 0
            self.lay_out()

    @property
    def content_width(self) -> int:
        """Columns for text; one is left free on each side."""
        return max(10, self.scrollable_content_region.width - 2)

    def lay_out(self) -> None:
        """Wraps what has changed, and follows the end where it was in sight."""
        first, self._dirty = self._dirty, None
        if first is None:
            return
        width = self._laid_out = self.content_width
        del self._lines[first:], self._starts[first + 1 :]
        for block in self.blocks[first:]:
            lines = self._lines_of(block, width)
            self._lines.append(lines)
            self._starts.append(self._starts[-1] + len(lines))
        self.virtual_size = Size(self.scrollable_content_region.width, self._starts[-1])
        self.refresh()
        if self.following:
            self.call_after_refresh(self.scroll_end, animate=False)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """A person who scrolls back is left there, until they come to the end again."""
        super().watch_scroll_y(old_value, new_value)
        if new_value >= self.max_scroll_y - 1:
            self.following = True
        elif new_value < old_value:
            self.following = False

    def _lines_of(self, block: Block, width: int) -> list[Content]:
        """The lines of a block, wrapped anew only where it or the width has changed."""
        known = self._wrapped.get(id(block))
        if known is None or known[:2] != (block.changed, width):
            known = self._wrapped[id(block)] = block.changed, width, block.lines(width)
        return known[2]

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        number = self.scroll_offset.y + y
        width = self.scrollable_content_region.width
        base = self.visual_style
        if number >= self._starts[-1]:
            return Strip.blank(width, base.rich_style)
        at = bisect_right(self._starts, number) - 1
        line = number - self._starts[at]
        content = self._lines[at][line]
        if self._stop is not None and self._stop[:2] == (at, line):
            content = _chosen(content, self._stop[2])
        if (selection := self.text_selection) is not None and (span := selection.get_span(number)):
            start, end = span
            content = content.stylize("reverse", start, None if end == -1 else end)
        strip = Strip(Content.assemble(" ", content).render_segments(base))
        return strip.adjust_cell_length(width, base.rich_style).apply_offsets(0, number)

    def text(self) -> str:
        """All of it as plain text."""
        return "\n".join(line.plain for lines in self._lines for line in lines)

    def plain_text(self) -> str:
        """The later part of it, without frames, each paragraph on one line."""
        left = len(self.blocks) - RECENT
        rows = [f"({left} earlier parts: /export writes all)"] if left > 0 else []
        for block in self.blocks[-RECENT:]:
            rows += [_unframed(line.plain.rstrip()) for line in block.lines(UNWRAPPED)]
        return "\n".join(rows)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What a mouse has marked, without frames."""
        return selection.extract(self.text()), "\n"

    def on_click(self, event: events.Click) -> None:
        """Opens what was clicked."""
        self._follow(event.style.meta)

    def action_walk(self, step: int) -> None:
        """Chooses the next thing that can be opened."""
        stops = self._stops()
        if not stops:
            return
        if self._stop in stops:
            at = (stops.index(self._stop) + step) % len(stops)
        else:
            seen = [n for n, stop in enumerate(stops) if self._starts[stop[0]] + stop[1] >= self.scroll_offset.y]
            at = (seen[0] if seen else len(stops) - 1) if step > 0 else len(stops) - 1
        self._stop = stops[at]
        line = self._starts[self._stop[0]] + self._stop[1]
        self.scroll_to_region(Region(0, line, 1, 1), animate=False)
        self.refresh()

    def action_open(self) -> None:
        """Opens what is chosen."""
        if self._stop is not None and self._stop in self._stops():
            block, line, begin = self._stop
            self._follow(_meta_at(self._lines[block][line], begin))

    def show_row(self, name: str) -> bool:
        """Unfolds the row of a tool call and brings it into sight; whether there is one."""
        for at, block in enumerate(self.blocks):
            if isinstance(block, ToolRow) and block.started.call == name:
                block.toggle(True)
                self._dirty = at
                self.lay_out()
                self.scroll_to(y=self._starts[at], animate=False)
                return True
        return False

    def fold(self, name: str) -> None:
        """Folds or unfolds a row."""
        for block in reversed(self.blocks):
            if isinstance(block, ToolRow) and block.started.call == name:
                block.toggle()
                self.redraw(block)
                return

    def _stops(self) -> list[tuple[int, int, int]]:
        return [
            (at, line, span.start)
            for at, lines in enumerate(self._lines)
            for line, content in enumerate(lines)
            for span in content.spans
            if isinstance(span.style, Style) and span.style.meta and span.end > span.start
        ]

    def _follow(self, meta: dict[str, object]) -> None:
        for key, message in ((CITE, PlaceWanted), (ROW, RowWanted), (ASK, Asked)):
            if isinstance(value := meta.get(key), str):
                self.post_message(message(value))


def _meta_at(content: Content, begin: int) -> dict[str, object]:
    found: dict[str, object] = {}
    for span in content.spans:
        if isinstance(span.style, Style) and span.start == begin:
            found |= span.style.meta or {}
    return found


def _chosen(content: Content, begin: int) -> Content:
    """The line with one link reversed as a whole, whatever its colours."""
    for span in content.spans:
        if isinstance(span.style, Style) and span.style.meta and span.start == begin:
            style = Style(reverse=True) + Style.from_meta(span.style.meta)
            chosen = Content(content.plain[begin : span.end]).stylize(style)
            return Content("").join([content[:begin], chosen, content[span.end :]])
    return content


def _unframed(line: str) -> str:
    return "---" if line and not line.strip("─") else line.replace("  │ ", "  ", 1)
