"""Lists of the case: suspects and evidence. Each row is one line; picking it opens what it rests on."""

from __future__ import annotations

import re
from collections.abc import Iterable

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from assistant.case.models import Candidate, Case, Evidence
from assistant.case.text import excerpt, place, tail
from assistant.tui.marks import ROLE, untimed
from assistant.tui.messages import PlaceWanted
from assistant.tui.safe import literal, plain

SHOWN = 200
"""Rows of a list; the rest is counted in its title."""
_TEXT = 400


class CaseList(OptionList):
    """A list whose rows lead to places in the logs."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id, markup=False, compact=True)
        self.targets: list[str] = []
        self.total = 0
        self.named = ""
        """Its title, as text."""

    def fill(self, title: str, rows: Iterable[tuple[str, Content]], total: int) -> None:
        """Shows rows, each with the name of what it opens; an empty name opens nothing."""
        kept = list(rows)
        self.targets = [name for name, _ in kept]
        self.total = total
        rest = f" · {total - len(kept)} more not listed" if total > len(kept) else ""
        self.named = f"{title}{rest}"
        self.border_title = Content(self.named)
        self.clear_options()
        self.add_options([Option(row) for _, row in kept])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Opens what the row rests on."""
        event.stop()
        if name := self.targets[event.option_index]:
            self.post_message(PlaceWanted(name))


class SuspectList(CaseList):
    """Who is blamed; where nobody is, the first candidates, said to be such."""

    def set_case(self, case: Case) -> None:
        """Shows a case."""
        blamed = case.suspects
        if blamed:
            self.fill(f"Suspects ({len(blamed)})", [_suspect(one, True) for one in blamed[:SHOWN]], len(blamed))
            return
        ranked = [one for one in case.candidates if one.score > 0][:3]
        rows = [("", Content.styled("nobody is blamed", "bold")), *(_suspect(one, False) for one in ranked)]
        self.fill("Suspects (none)", rows, len(rows))


def _suspect(one: Candidate, blamed: bool) -> tuple[str, Content]:
    name = place(one) or "unknown"
    style = "bold $text-error" if blamed else "$foreground-muted"
    reasons = plain("; ".join(one.reasons), _TEXT)
    row = Content.assemble((f"{one.score:4.2f} ", "$foreground-muted"), (f"{plain(name, 60)}  ", style), reasons)
    return (one.evidence[0] if one.evidence else ""), row


class EvidenceList(CaseList):
    """The lines that the verdict rests on first, then the others."""

    def set_case(self, case: Case) -> None:
        """Shows a case."""
        self.set_evidence(case, ())

    def set_evidence(self, case: Case, marked: Iterable[Evidence]) -> None:
        """Shows a case and what a person marked."""
        first = set(case.verdict.evidence)
        items = sorted(case.evidence, key=lambda item: item.id not in first)
        rows = [*marked, *items]
        roles = {name: event.role for event in reversed(case.events) for name in event.evidence}
        shown = [
            (item.id, _evidence(item, *(ROLE[roles[item.id]] if item.id in roles else (" ", ""))))
            for item in rows[:SHOWN]
        ]
        none = [("", Content.styled("no line is cited", "$foreground-muted"))]
        self.fill(f"Evidence ({len(rows)})" if rows else "Evidence (none)", shown or none, len(rows))


def _evidence(item: Evidence, sign: str, style: str) -> Content:
    shown, text = tail(item.source, 24), untimed(item.text)
    who = _who(item, shown)
    # Where the end of the path does not tell who wrote it, its folders say nothing.
    shown = tail(item.source.rpartition("/")[2], 24) if who else shown
    when = f"{item.time[11:19]}  " if item.time and text != item.text else ""
    where = (f"{shown}:{item.line}  {who}{when}", "$foreground-muted")
    line = literal(excerpt(text, _TEXT), style)
    return Content.assemble((f"{item.id:<4}", "bold $text-accent"), (f"{sign} ", style), where, line)


def _who(item: Evidence, shown: str) -> str:
    """Node and rank, as far as the path that is shown does not tell them."""
    told = item.rank is not None and re.search(rf"(?i)rank[-_.]?0*{item.rank}(?!\d)", shown)
    node = None if item.node and item.node in shown else item.node
    who = place(item.model_copy(update={"node": node, "rank": None if told else item.rank}))
    return f"{plain(who, 40)}  " if who else ""
