"""Where an answer comes out: a model's words are put together to sentences, restored, checked, and only then shown."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field

from assistant.agent.soundness import Soundness, plain
from assistant.agent.thinking import Thoughts
from assistant.agent.veil import Veil
from assistant.answers.grounding import check, known_from
from assistant.answers.links import harmless, known_addresses
from assistant.answers.models import AnswerEvent, Replaced, Standing, Text
from assistant.answers.sentences import Pieces
from assistant.case.text import clean
from assistant.errors import AnswerGarbled
from assistant.tools.calls import Calls, TurnCalls

_HELD = ("{", "[{", "```json", "```tool", "<tool", "<function", "<|tool", "[TOOL_CALLS]")
"""Beginnings of an answer that is perhaps no answer but a tool call in the wrong place: shown only when it is over."""
_GENERAL = re.compile(
    r"(?i)\W*(?:what (?:is|are|does|do)|explain|define|how (?:does|do)|meaning of|was (?:ist|bedeutet)|erkl\u00e4re?)\b"
)
"""How a question begins that is about a word or a thing."""
BROKEN = "(It breaks off here.)"
_BEGINNING = max(map(len, _HELD))
LONGEST = 400_000
"""Characters of one message of a model."""


@dataclass(slots=True)
class Outlet:
    """The way of one turn's words to the stream of events."""

    calls: Calls
    veil: Veil
    queue: asyncio.Queue[AnswerEvent | None] = field(default_factory=asyncio.Queue)
    said: list[Text] = field(default_factory=list)
    """The pieces of this answer, as they were shown."""
    _thoughts: Thoughts = field(default_factory=Thoughts)
    _pieces: Pieces = field(default_factory=Pieces)
    _parts: list[str] = field(default_factory=list)
    _start: str = ""
    _waiting: list[str] = field(default_factory=list)
    _length: int = 0
    turn: TurnCalls = field(init=False)
    """On whose budget its tools are asked."""
    _soundness: Soundness = field(default_factory=Soundness)

    def __post_init__(self) -> None:
        self.turn = self.calls.turn

    @property
    def message(self) -> str:
        """The visible text of the model's current message, as it came."""
        return "".join(self._parts)

    @property
    def holding(self) -> bool:
        """Whether the message may still turn out to be a tool call."""
        return not self._start or any(self._start.startswith(mark[: len(self._start)]) for mark in _HELD)

    def emit(self, event: AnswerEvent) -> None:
        """Any event."""
        self.queue.put_nowait(event)

    def say(self, piece: str) -> None:
        """The next piece of the model's message. Raises AnswerGarbled where it has no end."""
        self._length += len(piece)
        if self._length > LONGEST:
            hint = "the endpoint is not sound; what was said stands above"
            raise AnswerGarbled(f"the answer is longer than {LONGEST} characters", hint=hint)
        self._take(self._thoughts.feed(piece))

    def _take(self, text: str) -> None:
        self._parts.append(text)
        self._waiting.append(text)
        if len(self._start) < _BEGINNING:
            self._start = (self._start + text).lstrip()[:_BEGINNING]
        if not self.holding:
            whole, growing = self._pieces.feed("".join(self._waiting)), self._pieces.held
            self._waiting.clear()
            for one in whole:
                self._show(one)
            self._soundness.look(growing)

    def close(self, *, drop: bool = False, broken: bool = False) -> str:
        """The message is over; returns it whole. With `drop`, what is not shown yet never will be. In a `broken` one
        the last piece is shown only where it passes its check: half a sentence says nothing."""
        self._take(self._thoughts.rest())
        whole = self.message
        if not drop:
            pieces = [*self._pieces.feed("".join(self._waiting)), *self._pieces.rest()]
            if broken and pieces and not self._holds(pieces[-1]):
                pieces = [*pieces[:-1], BROKEN] if self.said or pieces[1:] else []
            for at, one in enumerate(pieces):
                self._show(one if at < len(pieces) - 1 else f"{one.rstrip()}\n\n")
        self._parts, self._waiting, self._start, self._length = [], [], "", 0
        self._pieces, self._thoughts = Pieces(), Thoughts()
        return whole

    def _holds(self, piece: str) -> bool:
        return self._checked(printable(self.veil.back(piece))).standing is Standing.SUPPORTED

    def note(self, text: str) -> None:
        """A remark of ours."""
        self._put(f"({text})\n\n", Standing.PLAIN, (), ())

    def told(self, request: str, question: str) -> None:
        """What the model is told, so that it is known where it comes back, and what it is asked."""
        self._soundness.asked = plain(self.veil.back(request))
        self._soundness.general = _GENERAL.match(question) is not None

    def insist(self) -> None:
        """The answer is over. Raises AnswerUnfounded where nothing of it holds."""
        self._soundness.insist()

    def replace(self, old: Text, text: str) -> bool:
        """Puts a corrected sentence in place of a marked one, if it passes the check."""
        start, end = _edges(old.text)
        whole = f"{start}{printable(self.veil.back(text)).strip()}{end}" if text.strip() else ""
        found = self._checked(whole)
        if whole and found.standing is Standing.UNSUPPORTED:
            return False
        self.emit(
            Replaced(
                number=old.number, text=self._safe(whole), standing=found.standing, citations=found.citations,
                problems=found.problems,
            )
        )  # fmt: skip
        self._soundness.put(old.number, found.standing)
        return True

    def _show(self, piece: str) -> None:
        restored = printable(self.veil.back(piece))
        if not restored.strip():
            return
        found = self._checked(restored)
        self._put(self._safe(restored), found.standing, found.citations, found.problems)
        self._soundness.add(len(self.said), restored, found.standing)

    def _safe(self, text: str) -> str:
        """Checked text as it may be shown: nothing in it can be followed but addresses of our own sources."""
        return harmless(text, known_addresses(self.calls.results))

    def _put(self, text: str, standing: Standing, citations: tuple[str, ...], problems: tuple[str, ...]) -> None:
        number = len(self.said) + 1
        event = Text(number=number, text=text, standing=standing, citations=citations, problems=problems)
        self.said.append(event)
        self.emit(event)

    def _checked(self, text: str) -> Text:
        found = check(text, known_from(self.calls))
        return Text(
            number=1, text=text, standing=found.standing, citations=found.citations, problems=found.problems
        )  # fmt: skip


def printable(text: str) -> str:
    """A model's words with nothing in them that a terminal would act on."""
    return "\n".join(clean(line) for line in text.split("\n"))


def _edges(text: str) -> tuple[str, str]:
    """What stands before and behind a sentence: a list's mark, white space."""
    body = text.strip()
    start = text[: len(text) - len(text.lstrip())]
    for mark in ("- ", "* ", "+ "):
        if body.startswith(mark):
            start += mark
    return start, text[len(text.rstrip()) :]
