"""What a reply is written with: it asks tools and says sentences, and both become events of the stream.

A reply is a generator of events. `result = yield from talk.ask("overview")` and `yield from talk.say("...", "E1")`.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

from assistant.answers.entities import Entities
from assistant.answers.grounding import check, known_from
from assistant.answers.models import AnswerEvent, Question, Standing, Text, ToolFinished, ToolStarted
from assistant.case.models import Case
from assistant.tools.calls import Calls, TurnCalls
from assistant.tools.models import ToolResult

Reply = Generator[AnswerEvent, None, None]


@dataclass(slots=True)
class Talk:
    """One turn of the offline answerer."""

    calls: Calls
    question: Question
    named: Entities
    turn: TurnCalls
    suggestions: tuple[str, ...] = ()
    """Questions that can be asked."""
    wanted: frozenset[str] = frozenset()
    """Intents of all parts of the question: one reply leaves to another what is that one's."""
    pieces: int = 0
    asked: dict[str, ToolResult] = field(default_factory=dict)
    """Results of this turn by tool, so that one reply can build on another's."""
    said: list[str] = field(default_factory=list)
    """Texts said so far; a newcomer gets their words explained at the end."""
    told: set[str] = field(default_factory=set)
    """What sentences said so far, without citations and lead-in: nothing is told twice in one answer."""

    @property
    def case(self) -> Case:
        """The case that is talked about."""
        return self.calls.desk.case

    def ask(self, tool: str, **arguments: Any) -> Generator[AnswerEvent, None, ToolResult]:  # noqa: ANN401 - JSON
        """Asks a tool; asking the same again in one turn gives the first answer."""
        key = f"{tool} {sorted(arguments.items())}"
        if key not in self.asked:
            name = self.calls.claim_id()
            yield ToolStarted(call=name, tool=tool, arguments=arguments)
            result = self.calls.call(tool, arguments, self.turn, name)
            self.asked[key] = result
            yield ToolFinished(
                call=result.id, tool=tool, status=result.status, text=result.text, evidence=result.evidence,
                omitted=result.omitted, spilled=result.spilled, seconds=result.seconds,
            )  # fmt: skip
        return self.asked[key]

    def say(self, sentence: str, *cites: str) -> Reply:
        """One sentence with what it rests on; it is checked like any other. What was said already is left out."""
        core = _core(sentence)
        if core not in self.told:
            self.told.add(core)
            yield self._checked(cited(sentence, *cites), " ")

    def item(self, sentence: str, *cites: str) -> Reply:
        """One item of a list."""
        start = "" if self._at_line_start else "\n\n"
        core = _core(sentence)
        if core not in self.told:
            self.told.add(core)
            yield self._checked(f"{start}- {cited(sentence, *cites)}", "\n")

    def note(self, text: str) -> Reply:
        """General knowledge, or what a tool said of itself: it claims nothing about the job and is not checked."""
        self.pieces += 1
        start = "" if self._at_line_start else "\n"
        self.said.append(f"{text}\n")
        yield Text(number=self.pieces, text=f"{start}{text}\n", standing=Standing.PLAIN)

    def heading(self, text: str) -> Reply:
        """A heading; it claims nothing."""
        start = "" if self._at_line_start else "\n\n"
        yield self._checked(f"{start}**{text}**", "\n\n")

    def lines(self, result: ToolResult) -> Reply:
        """What a tool found, as it stands; once."""
        if result.id not in self.told:
            self.told.add(result.id)
            yield from self.block(result.text)

    def block(self, text: str) -> Reply:
        """Lines that are shown as they stand: a tool's, or a command to copy."""
        fence = "```"
        while fence in text:
            fence += "`"
        start = "" if self._at_line_start else "\n\n"
        yield self._checked(f"{start}{fence}\n{text}\n{fence}", "\n\n")

    @property
    def _at_line_start(self) -> bool:
        return not self.said or self.said[-1].endswith("\n")

    def _checked(self, text: str, after: str) -> Text:
        self.pieces += 1
        self.said.append(text + after)
        found = check(text, known_from(self.calls))
        return Text(
            number=self.pieces,
            text=text + after,
            standing=found.standing,
            citations=found.citations,
            problems=found.problems,
        )


def cited(sentence: str, *cites: str) -> str:
    """A sentence with its citations before the point; those that it ends with already are joined to them."""
    end = "." if sentence.endswith(".") else ""
    body = sentence.rstrip(".") if end else sentence
    own = _ENDS_CITING.search(body)
    names = [*(own[1].split(", ") if own else ()), *cites]
    if not names:
        return sentence
    return f"{body[: own.start()] if own else body} [{', '.join(dict.fromkeys(names))}]{end}"


_ENDS_CITING = re.compile(r" \[([EST]\d+(?:, [EST]\d+)*)\]$")
_LEADS_IN = re.compile(r"^(?:What to do now|The verdict is `[^`]*`|In this case|That is the verdict(?:'s kind)?): ")


def _core(sentence: str) -> str:
    return _LEADS_IN.sub("", sentence).strip(" .")
