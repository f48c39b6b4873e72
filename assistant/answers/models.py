"""The typed event stream of an answer: what every face, session log and test consumes.

A turn is a run of events that ends with exactly one `Done`. Sentences appear only after they were checked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from assistant.case.models import Evidence
from assistant.case.vocabulary import Confidence
from assistant.tools.models import ResultStatus


class Standing(StrEnum):
    """How a sentence stands after its check."""

    SUPPORTED = "supported"
    """What it cites exists, was shown, and carries the numbers, ranks, hosts and names it claims."""
    UNSUPPORTED = "unsupported"
    """It claims something that what it cites does not carry, or cites what does not exist."""
    PLAIN = "plain"
    """It claims no fact about the job: advice, a question, a connecting phrase."""


class Event(BaseModel):
    """Base of all events: frozen, closed."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Text(Event):
    """One checked sentence (or heading, list item, code block) of the answer, with the white space that follows it."""

    kind: Literal["text"] = "text"
    number: int
    """Counts the pieces of this turn from 1; `Replaced` refers to it."""
    text: str
    standing: Standing
    citations: tuple[str, ...] = ()
    """Ids it cites: `E7`, `S1`, `T3`, or `n03/rank-7.err:118`."""
    problems: tuple[str, ...] = ()
    """What the check objected to, in words."""


class Replaced(Event):
    """A piece shown earlier stands corrected; faces redraw it in place."""

    kind: Literal["replaced"] = "replaced"
    number: int
    text: str
    standing: Standing
    citations: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


class ToolStarted(Event):
    """A tool was asked."""

    kind: Literal["tool_started"] = "tool_started"
    call: str
    """`T1`, `T2`, ...: the id its result will have."""
    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class ToolFinished(Event):
    """A tool answered."""

    kind: Literal["tool_finished"] = "tool_finished"
    call: str
    tool: str
    status: ResultStatus
    text: str
    evidence: tuple[Evidence, ...] = ()
    omitted: int = 0
    spilled: str | None = None
    seconds: float = 0.0


class Hypothesis(Event):
    """An explanation under consideration, with what speaks for and against it."""

    kind: Literal["hypothesis"] = "hypothesis"
    id: str
    """`H1`, `H2`, ...; a later event with the same id replaces it."""
    cause: str
    statement: str
    state: Literal["proposed", "supported", "refuted", "established"]
    supporting: tuple[str, ...] = ()
    """Citations for it."""
    opposing: tuple[str, ...] = ()
    """Citations against it."""


class VerdictGiven(Event):
    """The answerer's own diagnosis. Where it departs from the case's verdict it is shown as an alternative."""

    kind: Literal["verdict"] = "verdict"
    cause: str
    statement: str
    confidence: Confidence | None = None
    rank: int | None = None
    node: str | None = None
    agrees: bool
    """Whether cause and suspect are those of the case."""
    citations: tuple[str, ...] = ()
    argument: str = ""


class Usage(Event):
    """What the turn has used so far; sums, not differences."""

    kind: Literal["usage"] = "usage"
    model: str
    """The model's name, or `offline`."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    """In the currency of the profile's prices; null where it has none."""
    context_share: float | None = None
    """Used share of the context window, 0 to 1."""
    calls: int = 0


class Fallback(Event):
    """Another answerer takes over; what was said so far stays."""

    kind: Literal["fallback"] = "fallback"
    source: str
    """The profile that failed."""
    target: str
    """The profile that takes over, or `offline`."""
    reason: str
    hint: str = ""


class Failed(Event):
    """The answer could not be finished, and nobody takes over."""

    kind: Literal["failed"] = "failed"
    message: str
    hint: str = ""


class Cancelled(Event):
    """A person stopped the answer; what was said so far stays."""

    kind: Literal["cancelled"] = "cancelled"


class Suggested(Event):
    """Questions that would come next."""

    kind: Literal["suggested"] = "suggested"
    questions: tuple[str, ...] = ()


class Done(Event):
    """The turn is over."""

    kind: Literal["done"] = "done"
    answerer: str
    """Who finished it: a profile's name, or `offline`."""
    seconds: float = 0.0


AnswerEvent = Annotated[
    Text
    | Replaced
    | ToolStarted
    | ToolFinished
    | Hypothesis
    | VerdictGiven
    | Usage
    | Fallback
    | Failed
    | Cancelled
    | Suggested
    | Done,
    Field(discriminator="kind"),
]
ANSWER_EVENT: TypeAdapter[AnswerEvent] = TypeAdapter(AnswerEvent)
"""Reads one event from JSON."""


class Question(BaseModel):
    """What a person asked, and how they want it answered."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    text: str
    newcomer: bool = False
    """Explain as to somebody new: every term of the field with one sentence."""
    language: str | None = None
    """An IETF tag; null is the language of the question. The offline answerer knows English only, and says so."""


class Turn(BaseModel):
    """An earlier question with the answer that was given."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: Question
    answer: str


class Answerer(Protocol):
    """Answers questions about one case. An implementation raises nothing but CancelledError: errors are events."""

    @property
    def name(self) -> str:
        """A profile's name, or `offline`."""
        ...

    def answer(self, question: Question, history: tuple[Turn, ...]) -> AsyncIterator[AnswerEvent]:
        """The events of one turn, the last of them `Done`."""
        ...
