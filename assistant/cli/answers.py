"""How an answer looks on standard output: sentences as they come, Markdown when it is done, or a JSON line an event."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Protocol

from assistant.answers.models import (
    AnswerEvent,
    Cancelled,
    Failed,
    Fallback,
    Hypothesis,
    Replaced,
    Standing,
    Suggested,
    Text,
    ToolStarted,
    Usage,
    VerdictGiven,
)
from assistant.cli import narration

if TYPE_CHECKING:
    from assistant.cli.output import Form
    from assistant.tools.desk import Desk

MARK = "[unsupported]"
"""Stands before a sentence that its citation does not carry."""


class Printer(Protocol):
    """Shows a turn."""

    def show(self, event: AnswerEvent) -> None:
        """One event."""

    def end(self) -> None:
        """The turn is over."""


def printer_for(form: Form, desk: Desk) -> Printer:
    """The printer of a form."""
    if form == "json":
        return JsonPrinter()
    return MarkdownPrinter(desk) if form == "markdown" else TextPrinter(desk)


class JsonPrinter:
    """One JSON object a line: the event stream as it is."""

    def show(self, event: AnswerEvent) -> None:
        """The event with everything in it."""
        from assistant.report.json import line

        sys.stdout.write(f"{line(event.model_dump(mode='json'))}\n")
        sys.stdout.flush()

    def end(self) -> None:
        """Nothing more."""


class TextPrinter:
    """Sentences as they come, what they rest on below; remarks go to standard error."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._cited: dict[str, None] = {}
        self._marked: dict[int, Text] = {}
        self._corrected = False
        self._ends = 2
        """Line ends behind what was printed last."""

    def show(self, event: AnswerEvent) -> None:
        """Text is printed, everything else told."""
        if isinstance(event, Text):
            if self._corrected:
                self._break()
                self._corrected = False
            self._keep(event)
            self._write(safe(marked(event)))
        elif isinstance(event, Replaced):
            self._cited.update(dict.fromkeys(event.citations))
            self._correct(event)
        else:
            tell(event)

    def end(self) -> None:
        """The cited lines."""
        lines = cited_lines(self._desk, self._cited)
        if lines:
            self._break()
            self._write("Evidence\n" + "".join(f"  {line}\n" for line in lines))
        elif not self._ends:
            self._write("\n")

    def _keep(self, event: Text) -> None:
        self._cited.update(dict.fromkeys(event.citations))
        if event.standing is Standing.UNSUPPORTED:
            self._marked[event.number] = event

    def _correct(self, event: Replaced) -> None:
        """What was said, and below it what stands in its place."""
        if not self._corrected:
            self._break()
            self._write("Corrected\n")
            self._corrected = True
        old = self._marked.get(event.number)
        said = " ".join(safe(marked(old)).split()) if old is not None else f"sentence {event.number}"
        self._write(f"  {said}\n  -> {' '.join(safe(event.text).split()) or '(taken back)'}\n")

    def _break(self) -> None:
        """One empty line."""
        self._write("\n" * max(0, 2 - self._ends))

    def _write(self, text: str) -> None:
        if text:
            ends = len(text) - len(text.rstrip("\n"))
            self._ends = ends + self._ends if ends == len(text) else ends
        sys.stdout.write(text)
        sys.stdout.flush()


class MarkdownPrinter:
    """The answer as it stands in the end."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._pieces: dict[int, Text | Replaced] = {}

    def show(self, event: AnswerEvent) -> None:
        """Collects text; everything else is told."""
        if isinstance(event, Text | Replaced):
            self._pieces[event.number] = event
        else:
            tell(event)

    def end(self) -> None:
        """Prints it."""
        pieces = [self._pieces[number] for number in sorted(self._pieces)]
        lines = cited_lines(self._desk, dict.fromkeys(name for piece in pieces for name in piece.citations))
        sys.stdout.write(safe("".join(map(marked, pieces))).rstrip() + "\n")
        if lines:
            sys.stdout.write("\n## Evidence\n\n```\n" + "\n".join(line.replace("```", "'''") for line in lines))
            sys.stdout.write("\n```\n")
        sys.stdout.flush()


def marked(piece: Text | Replaced) -> str:
    """The text, with what the check objects to where it does."""
    if piece.standing is not Standing.UNSUPPORTED:
        return piece.text
    body = piece.text.rstrip()
    start = body[: len(body) - len(body.lstrip())]
    return f"{start}{MARK} {body.lstrip()} ({'; '.join(piece.problems)}){piece.text[len(body) :] or ' '}"


def safe(text: str) -> str:
    """Text of several lines with nothing in it that a terminal would act on."""
    from assistant.case.text import clean

    return "\n".join(clean(line) for line in text.split("\n"))


def cited_lines(desk: Desk, names: dict[str, None]) -> list[str]:
    """The log lines behind citations, each as tools show it."""
    from assistant.tools.finding import quoted

    found = [desk.evidence(name) for name in names]
    return [quoted(item) for item in found if item is not None]


def tell(event: AnswerEvent) -> None:
    """What is no text, on standard error."""
    match event:
        case ToolStarted():
            narration.remark(f"{event.call} {event.tool} {_arguments(event.arguments)}")
        case Fallback():
            narration.say(f"note: {event.reason}; {event.target} answers instead of {event.source}")
            narration.say(f"hint: {event.hint}")
        case Failed():
            narration.say(f"error: {event.message}")
            narration.say(f"hint: {event.hint}")
        case Cancelled():
            narration.say("interrupted; what was said so far is kept")
        case Hypothesis():
            narration.remark(f"{event.id} {event.state}: {event.cause}: {event.statement}")
        case VerdictGiven():
            agrees = "agrees with the verdict" if event.agrees else "an alternative to the verdict"
            narration.say(f"the model's conclusion ({agrees}): {event.cause}: {event.statement} {event.argument}")
        case Usage() if event.model != "offline":
            cost = "" if event.cost is None else f", cost {event.cost:.4f}"
            narration.remark(f"{event.model}: {event.input_tokens} tokens sent, {event.output_tokens} received{cost}")
        case Suggested() if event.questions:
            narration.remark(f"you may ask: {' | '.join(event.questions)}")


def _arguments(arguments: dict[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in arguments.items())[:120]
