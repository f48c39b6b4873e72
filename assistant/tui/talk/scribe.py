"""Turns the events of an answer into blocks of the conversation, live and when a session is read back."""

from __future__ import annotations

from assistant.answers.models import (
    AnswerEvent,
    Cancelled,
    Done,
    Failed,
    Fallback,
    Hypothesis,
    Question,
    Replaced,
    Suggested,
    Text,
    ToolFinished,
    ToolStarted,
    Usage,
    VerdictGiven,
)
from assistant.answers.sessions import Answered, Asked, Attached, Session
from assistant.tui.talk.blocks import HypothesisBlock, Passage, Said, Suggestions, ToolRow
from assistant.tui.talk.passages import Piece
from assistant.tui.talk.transcript import Transcript

LONGEST_PASSAGE = 60
"""Pieces after which a new passage begins at the next line end: only the last one is wrapped anew while it grows."""


class Scribe:
    """Writes into one transcript."""

    def __init__(self, transcript: Transcript) -> None:
        self._page = transcript
        self._passages: dict[int, Passage] = {}
        self._passage: Passage | None = None
        self._fence = False
        self._rows: dict[str, ToolRow] = {}
        self._hypotheses: dict[str, HypothesisBlock] = {}
        self._suggested: Suggestions | None = None
        self.usage: Usage | None = None
        """What the last turn has used."""

    def ask(self, question: Question) -> None:
        """A question begins a turn; what was suggested before goes."""
        if self._suggested is not None:
            self._suggested.drop()
            self._page.redraw(self._suggested)
            self._suggested = None
        self._passages, self._passage = {}, None
        self._page.add(Said(question.text, "bold", "> "))

    def remark(self, text: str, style: str = "$foreground-muted italic") -> None:
        """A word of the program itself."""
        self._passage = None
        self._page.add(Said(text, style))

    def take(self, event: AnswerEvent) -> None:
        """One event of an answer."""
        match event:
            case Text():
                self._put(event)
            case Replaced():
                self._correct(event)
            case ToolStarted():
                self._begin_row(event)
            case ToolFinished():
                self._finish(event)
            case Hypothesis():
                self._suppose(event)
            case VerdictGiven():
                self.remark(_verdict(event), "$text-accent")
            case Usage():
                self.usage = event
            case Suggested():
                self._passage = None
                self._suggested = Suggestions(event.questions)
                self._page.add(self._suggested)
            case _:
                self._end(event)

    def replay(self, session: Session) -> None:
        """A session as it stood on the screen."""
        for line in session.lines:
            match line:
                case Asked():
                    self.ask(line.question)
                case Answered():
                    self.take(line.event)
                case Attached():
                    self.remark(f"revision {line.revision}, with {', '.join(line.files)}")
        if session.cut:
            self.remark("the last line of the session was half written and is left out")

    def _put(self, event: Text) -> None:
        if self._passage is None or self._at_end():
            self._passage = Passage()
            self._page.add(self._passage)
        self._passages[event.number] = self._passage
        self._passage.put(event)
        if event.text.count("```") % 2:
            self._fence = not self._fence
        self._page.redraw(self._passage)

    def _at_end(self) -> bool:
        """Whether the passage ends here: behind an empty line, or where it has become long."""
        assert self._passage is not None
        last: Piece = self._passage.pieces[max(self._passage.pieces)]
        long = len(self._passage.pieces) >= LONGEST_PASSAGE and last.text.endswith("\n")
        return not self._fence and (last.text.endswith("\n\n") or long)

    def _correct(self, event: Replaced) -> None:
        passage = self._passages.get(event.number)
        if passage is not None:
            passage.put(event)
            self._page.redraw(passage)

    def _begin_row(self, event: ToolStarted) -> None:
        before = self._page.blocks[-1] if self._page.blocks else None
        if isinstance(before, ToolRow):
            before.join()
            self._page.redraw(before)
        self._passage = None
        self._rows[event.call] = row = ToolRow(event)
        self._page.add(row)

    def _finish(self, event: ToolFinished) -> None:
        row = self._rows.get(event.call)
        if row is not None:
            row.finish(event)
            self._page.redraw(row)

    def _stop_rows(self) -> None:
        """Rows that wait for a tool wait no more."""
        for row in self._rows.values():
            if row.finished is None and not row.stopped:
                row.stop()
                self._page.redraw(row)

    def recall(self) -> int:
        """Puts all explanations that were considered below each other again; how many there are."""
        self._passage = None
        for name, block in self._hypotheses.items():
            self._hypotheses[name] = again = HypothesisBlock(block.event)
            self._page.add(again)
        return len(self._hypotheses)

    def _suppose(self, event: Hypothesis) -> None:
        known = self._hypotheses.get(event.id)
        if known is not None:
            known.put(event)
            self._page.redraw(known)
            return
        self._passage = None
        self._hypotheses[event.id] = block = HypothesisBlock(event)
        self._page.add(block)

    def _end(self, event: AnswerEvent) -> None:
        match event:
            case Fallback():
                hint = f" ({event.hint})" if event.hint else ""
                self.remark(f"{event.source} failed: {event.reason}{hint}; {event.target} takes over", "$text-warning")
            case Failed():
                hint = f"\n{event.hint}" if event.hint else ""
                self.remark(f"✗ {event.message}{hint}", "$text-error")
            case Cancelled():
                self._stop_rows()
                self.remark("stopped")
            case Done():
                self._passage = None
                self._fence = False


def _verdict(event: VerdictGiven) -> str:
    agrees = "agrees with the case" if event.agrees else "departs from the case: an alternative"
    sure = f", {event.confidence.value} confidence" if event.confidence else ""
    who = "".join(f", {word}" for word in (event.node, f"rank {event.rank}" if event.rank is not None else "") if word)
    return f"Own diagnosis ({agrees}): {event.cause}{who}{sure}. {event.statement}"
