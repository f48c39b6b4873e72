"""A past incident beside the present case: what each was, and in what they are the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer

from assistant.incidents.comparison import Aspect, aspects
from assistant.incidents.models import Incident
from assistant.tui.messages import PlaceWanted
from assistant.tui.safe import Literal, literal
from assistant.tui.views.listing import EvidenceList
from assistant.tui.views.verdict import VerdictCard

if TYPE_CHECKING:
    from assistant.tui.workplace import Workplace

NAMED = 16
"""Columns for sign and name of an aspect."""
BETWEEN = " | "
COLOURS = {True: "$text-success", False: "$text-warning", None: "$foreground-muted"}


class BesideScreen(Screen[None]):
    """Left the present, right the past; where the window is narrow one after the other, by F2."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2,tab", "other", "Present/past", id="beside.other", priority=True),
        Binding("down,j", "scroll(3)", "Down", show=False, id="beside.down"),
        Binding("up,k", "scroll(-3)", "Up", show=False, id="beside.up"),
        Binding("c,y", "copy", "Copy its source", id="beside.copy"),
        Binding("escape,q", "dismiss", "Back", id="beside.back"),
    ]

    def __init__(self, place: Workplace, incident: Incident) -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
        self._place, self._incident = place, incident
        self._aspects = aspects(place.table.case, incident)

    def compose(self) -> ComposeResult:
        case = self._place.table.case
        yield Literal(id="beside-head")
        yield Literal("\n" * (len(self._aspects) - 1), id="aspects")
        with Horizontal(id="sides"):
            with VerticalScroll(id="present", classes="side"):
                yield VerdictCard(case)
                yield EvidenceList("evidence")
            with VerticalScroll(id="past", classes="side"):
                yield Literal(Content("\n").join(_past(self._incident)))
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """The past is what was asked for."""
        lines = self.query_one(EvidenceList)
        lines.set_case(self._place.table.case)
        lines.highlighted = 0 if lines.targets else None
        self.add_class("-past")
        self.query_one("#past").focus()

    def on_resize(self) -> None:
        """Says what is hidden."""
        self.call_after_refresh(self._tell)

    def _tell(self) -> None:
        hidden = ""
        if self.has_class("-narrow"):
            hidden = f" · hidden: the {'present case' if self.has_class('-past') else 'past incident'} (F2)"
        same = sum(one.same is True for one in self._aspects)
        told = f"{same} of {len(self._aspects)} the same: this case | {self._incident.id}{hidden}"
        self.query_one("#beside-head", Literal).show(told)
        rows = self.query_one("#aspects", Literal)
        rows.show(Content("\n").join(_compared(self._aspects, rows.content_size.width)))

    @property
    def _shown(self) -> VerticalScroll:
        return self.query_one("#past" if self.has_class("-past") else "#present", VerticalScroll)

    def action_other(self) -> None:
        """The other side: into sight where one hides the other, else the keys go there."""
        self.toggle_class("-past")
        (self.query_one("#past") if self.has_class("-past") else self.query_one(EvidenceList)).focus()
        self._tell()

    def action_scroll(self, lines: int) -> None:
        """Scrolls the side that the keys go to."""
        self._shown.scroll_relative(y=lines, animate=False)

    def on_place_wanted(self, message: PlaceWanted) -> None:
        """A line of the present case."""
        message.stop()
        self._place.open_place(message.name)

    def action_copy(self) -> None:
        """Copies where the past incident stands."""
        source = self._incident.source
        if source:
            self.app.copy_to_clipboard(source)
        self.notify("copied" if source else "it names no source", markup=False)


def _compared(found: list[Aspect], width: int) -> Iterator[Content]:
    """One aspect a line, what is and what was below each other."""
    presents = [literal(one.present) for one in found]
    half = max(8, (width - NAMED - len(BETWEEN)) // 2)
    room = min(half, max(one.cell_length for one in presents))
    for one, present in zip(found, presents, strict=True):
        yield Content.assemble(
            (f"{one.sign} ", f"bold {COLOURS[one.same]}"), (f"{one.name:<{NAMED - 2}}", "$foreground-muted"),
            present.truncate(room, ellipsis=True, pad=True), (BETWEEN, "$foreground-muted"), literal(one.past),
        )  # fmt: skip


def _past(incident: Incident) -> Iterator[Content]:
    yield literal(incident.title, "bold")
    told = (incident.date, incident.framework, incident.hardware, incident.scale)
    yield literal(" · ".join(part for part in told if part), "$foreground-muted")
    by = f", confirmed by {incident.confirmed_by}" if incident.confirmed_by else ""
    yield literal(f"source: {incident.source or 'not named'} ({incident.checked}{by})", "$foreground-muted")
    symptom = "" if incident.symptom == incident.title else incident.symptom
    note = "" if incident.note in incident.root_cause else incident.note
    parts = (
        ("Cause", f"{incident.cause}: {incident.root_cause}"), ("What fixed it", incident.fix),
        ("Lesson", incident.lesson), ("How it showed", symptom), ("Blamed", incident.suspect or ""),
        ("Note", note),
    )  # fmt: skip
    for title, text in parts:
        if text:
            yield Content("")
            yield Content.styled(title, "bold $text-accent")
            yield literal(text)
    yield from _lines("Its log lines", (*incident.evidence, *incident.log_lines))


def _lines(title: str, lines: tuple[str, ...]) -> Iterator[Content]:
    shown = list(dict.fromkeys(lines))
    if shown:
        yield Content("")
        yield Content.styled(title, "bold $text-accent")
    for line in shown[:20]:
        yield Content.assemble(("│ ", "$foreground-muted"), literal(line))
