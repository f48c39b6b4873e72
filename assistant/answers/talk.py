"""What a reply is written with: it asks tools and says sentences, and both become events of the stream.

A reply is a generator of events. `result = yield from talk.ask("overview")` and `yield from talk.say("...", "E1")`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import Any

from assistant.answers.entities import Entities
from assistant.answers.grounding import check, known_from
from assistant.answers.models import AnswerEvent, Question, Standing, Text, ToolFinished, ToolStarted
from assistant.case.models import Case, Evidence
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
    pieces: int = 0
    asked: dict[str, ToolResult] = field(default_factory=dict)
    """Results of this turn by tool, so that one reply can build on another's."""
    said: list[str] = field(default_factory=list)
    """Texts said so far; a newcomer gets their words explained at the end."""

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
        """One sentence with what it rests on; it is checked like any other."""
        cited = f" [{', '.join(dict.fromkeys(cites))}]" if cites else ""
        text = f"{sentence.rstrip('.')}{cited}." if cited and sentence.endswith(".") else f"{sentence}{cited}"
        yield self._checked(text, " ")

    def item(self, sentence: str, *cites: str) -> Reply:
        """One item of a list."""
        cited = f" [{', '.join(dict.fromkeys(cites))}]" if cites else ""
        start = "" if self._at_line_start else "\n\n"
        yield self._checked(f"{start}- {sentence}{cited}", "\n")

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
        """What a tool found, as it stands."""
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


def first_lines(evidence: Iterable[Evidence], most: int) -> list[Evidence]:
    """At most so many, those with a rank or node first."""
    known = list(evidence)
    return sorted(known, key=lambda item: item.rank is None and item.node is None)[:most]
