"""The filters on the screen: which there are, which are on, how many lines pass; and the line they are typed into."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input

from assistant.tui.filters.models import Filter, FilterList, Kind
from assistant.tui.filters.typed import Around, complete, hint, said
from assistant.tui.safe import Literal, PlainInput, plain

LONGEST = 40
"""Characters of one filter that are shown."""


class FilterLine(PlainInput):
    """Where filters are typed. Tab completes."""

    async def on_key(self, event: events.Key) -> None:
        """Tab completes what is being typed instead of leaving."""
        if event.key == "tab":
            event.prevent_default().stop()
            bar = self.query_ancestor(FilterBar)
            if (text := complete(self.value, bar.around)) is not None:
                self.value = text
                self.cursor_position = len(text)


class FilterBar(Vertical):
    """One line while there are filters, and two more while some are typed."""

    class Typed(Message):
        """A line of filters is to be read."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self) -> None:
        super().__init__(id="log-filters")
        self.around = Around()
        self._list = Literal(id="filter-list")
        self._hint = Literal(id="filter-hint")
        self._line = FilterLine(
            id="filter-line", placeholder="rank=3 level=error /expression/", compact=True, select_on_focus=False
        )

    def compose(self) -> ComposeResult:
        yield self._list
        yield self._hint
        yield self._line

    def on_mount(self) -> None:
        """Nothing is shown before there are filters."""
        self._list.display = self._hint.display = self._line.display = False

    @property
    def typing(self) -> bool:
        """Whether filters are being typed."""
        return bool(self._line.display)

    def ask(self, text: str, around: Around) -> None:
        """Opens the line."""
        self.around = around
        self._line.display = self._hint.display = True
        self._line.value = f"{text} " if text else ""
        self._line.cursor_position = len(self._line.value)
        self._hint.show(hint(self._line.value, around))
        self._line.focus()

    def close(self) -> None:
        """Closes the line; what was typed is not kept."""
        self._line.display = self._hint.display = False

    def refuse(self, why: str) -> None:
        """Says what is wrong with what is typed, which stays."""
        self._hint.show(Content.styled(plain(f"✗ {why}", 300), "bold $text-error"))

    def know(self, around: Around) -> None:
        """What can be completed, once it is known."""
        self.around = around

    def on_input_changed(self, event: Input.Changed) -> None:
        """The hint follows what is typed."""
        event.stop()
        self._hint.show(hint(event.value, self.around))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Hands it on; the line stays open until it was understood."""
        event.stop()
        self.post_message(self.Typed(event.value))

    def show_list(self, filters: FilterList, passing: str) -> None:
        """The filters with their numbers, and what they let pass."""
        self._list.display = bool(filters.switches)
        if filters.switches:
            self._list.show(listed(filters, passing))


def listed(filters: FilterList, passing: str) -> Content:
    """One line: how many lines pass, then each filter with its digit; ✓ on, ✗ off."""
    active = filters.active
    head = passing if active else "filters off (0 turns on)"
    parts: list[Content] = [Content.styled(f"{head} ", "bold")]
    for number, one in enumerate(filters.switches, 1):
        on = one.filter in active
        style = "$text-accent" if on else "$foreground-muted"
        parts.append(Content.styled(f" {number}{'✓' if on else '✗'}{shown(one.filter)}", style))
    return Content("").join(parts)


def shown(one: Filter) -> str:
    """A filter in few words; a time with its day, since only a time of day may have been typed."""
    if one.kind is Kind.TIME:
        since, until = said(one.since), said(one.until)
        same = since[:6] == until[:6] and since
        return f"{'!' * one.negated}time={since}..{until[6:] if same else until}"
    return plain(one.spelled, LONGEST)
