"""One page of knowledge: what it says, how it was checked, and where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer

from assistant.retrieval.documents import Document
from assistant.tui.safe import Literal, literal, literal_lines

MOST = 4_000
"""Lines of one section that are shown."""


class PageScreen(ModalScreen[None]):
    """Shows a page of facts, an entry of the fault library, or a ticket."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c,y", "copy", "Copy the address", id="page.copy"),
        Binding("escape,q", "dismiss", "Back", id="page.back"),
    ]

    def __init__(self, page: Document) -> None:
        super().__init__()
        self._page = page

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="window"):
            yield Literal(literal(self._page.title, "bold"), classes="heading")
            yield Literal(Content("\n").join(_about(self._page)))
            for section in self._page.sections:
                yield Literal(literal(section.heading, "bold $text-accent"), classes="section")
                yield Literal(literal_lines(section.text, most=MOST))
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """The keys scroll."""
        self.query_one("#window").focus()

    def action_copy(self) -> None:
        """Copies the source's address, or else the file that holds the page."""
        address = self._page.source or self._page.file
        if address:
            self.app.copy_to_clipboard(address)
        self.notify("copied" if address else "it names no source", markup=False)


def _about(page: Document) -> Iterator[Content]:
    told = (page.kind, page.layer, page.vendor, page.framework, page.versions, page.date, _checked(page.checked))
    yield literal(" · ".join(part for part in told if part), "$foreground-muted")
    if page.source:
        yield Content.assemble(("source: ", "$foreground-muted"), literal(page.source, "underline"))
    if page.file:
        yield Content.assemble(("file:   ", "$foreground-muted"), literal(page.file, "$foreground-muted"))


def _checked(word: str) -> str:
    told = {"read": "read in the source", "secondary": "from a retelling of the source", "unverified": "not verified"}
    return told.get(word, word)
