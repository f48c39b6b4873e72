"""What a conversation is made of: questions, passages, tool rows, hypotheses, remarks, suggestions; each as lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson
from textual.content import Content
from textual.style import Style

from assistant.answers.models import Hypothesis, ToolFinished, ToolStarted
from assistant.tools.models import ResultStatus
from assistant.tui.marks import size
from assistant.tui.safe import literal, plain
from assistant.tui.talk.passages import Piece, cited_in, lines_of, link, source_of

ROWS = 400
"""Lines of a tool's result that an open row shows."""
_HIT = re.compile(r"(?P<kind>fault|doc|incident|runbook|ticket) (?P<name>[^\s:]{1,200})(?=:)")
_NAMED = {
    "search_knowledge": _HIT,
    "similar_incidents": _HIT,
    "explain_code": re.compile(rf"(?:{_HIT.pattern}|[a-z0-9][a-z0-9-]{{1,100}}(?=: .{{0,300}} \(cause ))"),
}
"""By tool: how a line of its result begins that names a document."""
ROW, ASK = "row", "ask"
"""Keys under which a foldable row carries its name, and a suggestion its question."""
_STATUS = {
    ResultStatus.FOUND: ("✓", "$text-success"),
    ResultStatus.NOTHING: ("∅", "$text-warning"),
    ResultStatus.ERROR: ("✗", "$text-error"),
    ResultStatus.REFUSED: ("⊘", "$text-warning"),
}


class Block:
    """A part of the conversation. `lines` is asked again after `changed` went up."""

    changed = 0

    def lines(self, width: int) -> list[Content]:
        """Its lines at a width."""
        raise NotImplementedError


class Said(Block):
    """A question, or a remark of the program: text that stands as it is."""

    def __init__(self, text: str, style: str = "", lead: str = "", after: bool = True) -> None:
        self.text, self._style, self._lead, self._after = text, style, lead, after

    def lines(self, width: int) -> list[Content]:
        """Its lines, those of a question behind a sign."""
        room = max(8, width - len(self._lead))
        rows = [row for part in self.text.split("\n") for row in literal(part, self._style).wrap(room) or [Content("")]]
        leads = [self._lead, *[" " * len(self._lead)] * len(rows)]
        shown = [Content.assemble((lead, "bold $text-accent"), row) for lead, row in zip(leads, rows, strict=False)]
        return [*shown, Content("")] if self._after else shown


class Passage(Block):
    """Pieces of an answer that are drawn together."""

    def __init__(self) -> None:
        self.pieces: dict[int, Piece] = {}

    def put(self, piece: Piece) -> None:
        """Adds a piece, or draws one anew that stands corrected."""
        self.pieces[piece.number] = piece
        self.changed += 1

    def lines(self, width: int) -> list[Content]:
        """The passage as it stands now."""
        pieces = [piece for _, piece in sorted(self.pieces.items())]
        return lines_of(source_of(pieces), cited_in(pieces), width)


class ToolRow(Block):
    """One call of a tool: a line that unfolds."""

    def __init__(self, started: ToolStarted) -> None:
        self.started = started
        self.finished: ToolFinished | None = None
        self.stopped = False
        self.open = False
        self.last = True
        """No further row follows: an empty line ends the rows."""

    def finish(self, event: ToolFinished) -> None:
        """Takes the result."""
        self.finished = event
        self.changed += 1

    def stop(self) -> None:
        """The turn was stopped before it answered."""
        self.stopped = True
        self.changed += 1

    def join(self) -> None:
        """Another row follows."""
        self.last = False
        self.changed += 1

    def toggle(self, wanted: bool | None = None) -> None:
        """Folds or unfolds it."""
        self.open = not self.open if wanted is None else wanted
        self.changed += 1

    def lines(self, width: int) -> list[Content]:
        """The row, and where it is open the result."""
        head = self._head().truncate(width, ellipsis=True)
        body = self._body(width) if self.open else []
        return [head, *body, *([Content("")] if body or self.last else [])]

    def _head(self) -> Content:
        sign, colour, told = "…", "$foreground-muted", "running"
        if self.stopped:
            sign, told = "⊘", "stopped"
        elif (done := self.finished) is not None:
            sign, colour = _STATUS[done.status]
            rest = f" · {done.omitted} rows omitted" if done.omitted else ""
            told = f"{done.seconds:.2f} s · {size(len(done.text))} · {done.status.value}{rest}"
        name = plain(self.started.call, 40)
        text = Content.assemble(
            ("▾ " if self.open else "▸ ", "$foreground-muted"), (f"{name:<4}", "bold"), (f"{sign} ", colour),
            (plain(self.started.tool, 40), "$text-accent"),
            (f" {_arguments(self.started.arguments)}  {told}", "$foreground-muted"),
        )  # fmt: skip
        return text.stylize(Style.from_meta({ROW: self.started.call}))

    def _body(self, width: int) -> list[Content]:
        if self.finished is None:
            return []
        rows = self.finished.text.split("\n")
        drawn = [_linked(self.started.tool, text) for text in rows[:ROWS]]
        shown = [row for text in drawn for row in text.wrap(max(8, width - 4))]
        shown = [Content.assemble(("  │ ", "$foreground-muted"), row) for row in shown]
        for item in self.finished.evidence[:20]:
            place = f"{item.source}:{item.line}"
            shown.append(
                Content.assemble(("  │ open ", "$foreground-muted"), literal(place, "").stylize(link(item.id)))
            )
        if len(rows) > ROWS:
            shown.append(
                Content.styled(f"  │ {len(rows) - ROWS} further rows are kept with the session", "$foreground-muted")
            )
        return shown


def _linked(tool: str, text: str) -> Content:
    """A line of a result; where it names a page of knowledge or a past incident, that opens."""
    pattern = _NAMED.get(tool)
    found = pattern.match(text) if pattern is not None else None
    if found is None:
        return literal(text)
    kind, name = (found["kind"], found["name"]) if found["kind"] else ("fault", found[0])
    key = literal(found[0]).stylize(link(f"{kind}:{name}"))
    return Content.assemble(key, literal(text[found.end() :]))


def _arguments(arguments: Mapping[str, Any]) -> str:
    return plain(" ".join(f"{name}={_spelled(value)}" for name, value in arguments.items()), 300)


def _spelled(value: object) -> str:
    return orjson.dumps(value, default=str).decode()


class HypothesisBlock(Block):
    """An explanation under consideration, with what speaks for and against it."""

    SIGNS: Mapping[str, tuple[str, str]] = {
        "proposed": ("?", "$foreground-muted"),
        "supported": ("+", "$text-success"),
        "refuted": ("✗", "$text-error"),
        "established": ("✓", "bold $text-success"),
    }

    def __init__(self, event: Hypothesis) -> None:
        self.event = event

    def put(self, event: Hypothesis) -> None:
        """A later state of the same explanation."""
        self.event = event
        self.changed += 1

    def lines(self, width: int) -> list[Content]:
        """Its state and its evidence."""
        event = self.event
        sign, colour = self.SIGNS[event.state]
        head = Content.assemble(
            (f"{plain(event.id, 10)} {sign} {event.state} ", colour), (plain(event.cause, 60), "bold"), ": ",
            plain(event.statement),
        )  # fmt: skip
        rows = head.wrap(width)
        for word, names in (("for", event.supporting), ("against", event.opposing)):
            if names:
                cites = Content(", ").join([literal(name).stylize(link(name)) for name in names])
                rows += Content.assemble((f"   {word:<8}", "$foreground-muted"), cites).wrap(width)
        return [*rows, Content("")]


class Suggestions(Block):
    """Questions that would come next; picking one asks it."""

    def __init__(self, questions: tuple[str, ...]) -> None:
        self.questions = questions

    def drop(self) -> None:
        """Takes them away, once something else was asked."""
        self.questions = ()
        self.changed += 1

    def lines(self, width: int) -> list[Content]:
        """One a line."""
        if not self.questions:
            return []
        rows = [Content.styled("Next:", "$foreground-muted")]
        for question in self.questions:
            style = Style(underline=True) + Style.from_meta({ASK: question})
            rows += Content.assemble(("  > ", "$text-accent"), literal(question).stylize(style)).wrap(width)
        return [*rows, Content("")]
