"""The answerer that needs no model, no key and no network: it understands the usual questions and asks the same tools.

It is the default, and what takes over when a model fails. English only, and it says so.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping

from assistant.answers.intents import Intents
from assistant.answers.judging import Grip
from assistant.answers.meaning import SecondOpinion
from assistant.answers.models import AnswerEvent, Done, Failed, Question, Suggested, Turn, Usage
from assistant.answers.premises import denied
from assistant.answers.replies_closing import act, close, drain, files, layer, lost, sure, ticket
from assistant.answers.replies_doubts import why_not
from assistant.answers.replies_knowledge import beyond, help_, lines_with_its_words, meaning, seen_before, thanks, word
from assistant.answers.replies_logs import (
    baseline,
    compare,
    events,
    find,
    iterations,
    job,
    place,
    show,
    timeline,
)  # fmt: skip
from assistant.answers.replies_verdict import fix, missing, nodes, restart, what_failed, who, why
from assistant.answers.retelling import retold
from assistant.answers.talk import Reply, Talk
from assistant.answers.understanding import Reader, Understood
from assistant.errors import RootrankError
from assistant.tools.calls import Calls, TurnCalls

NAME = "offline"

REPLIES: Mapping[str, Callable[[Talk], Reply]] = {
    "what_failed": what_failed,
    "who": who,
    "why": why,
    "sure": sure,
    "why_not": why_not,
    "layer": layer,
    "fix": fix,
    "restart": restart,
    "drain": drain,
    "lost": lost,
    "close": close,
    "ticket": ticket,
    "missing": missing,
    "show": show,
    "files": files,
    "meaning": meaning,
    "word": word,
    "timeline": timeline,
    "baseline": baseline,
    "seen_before": seen_before,
    "compare": compare,
    "place": place,
    "nodes": nodes,
    "events": events,
    "find": find,
    "iterations": iterations,
    "job": job,
    "act": act,
    "help": help_,
    "thanks": thanks,
}
"""One reply for each intent of `knowledge/intents.yaml`."""

_NEXT = {
    "what_failed": ("why", "fix", "missing"),
    "who": ("why", "compare", "place"),
    "why": ("why_not", "show", "missing"),
    "fix": ("restart", "seen_before", "missing"),
    "restart": ("fix", "missing", "seen_before"),
}
_NEWCOMER = re.compile(
    r"(?i)\b(?:please\s+)?(?:(?:explain|tell)\s+(?:it\s+|this\s+)?(?:to\s+)?(?:me\s+)?)?"
    r"(?:like|as if) (?:i'?m|i am|i were) (?:new(?: here| to this)?|five|5|a beginner|a newcomer)\b"
)
_END = object()


class OfflineAnswerer:
    """Answers from tools by intent."""

    name = NAME

    def __init__(self, calls: Calls, intents: Intents, second: SecondOpinion | None = None) -> None:
        """`second`: who is asked what a question means where its words leave it open."""
        self._calls = calls
        self._intents = intents
        self._reader = Reader(calls.desk.case, calls.desk.glossary, intents, second)

    async def answer(self, question: Question, history: tuple[Turn, ...] = ()) -> AsyncIterator[AnswerEvent]:
        """The events of one turn. Tools may read logs, so each step runs in a thread of its own."""
        turn = self._calls.begin_turn()
        steps = self.events(question, history, turn)
        try:
            while (event := await asyncio.to_thread(next, steps, _END)) is not _END:
                yield event  # type: ignore[misc]
        finally:
            self._calls.end_turn(turn)  # the step that is at work cannot be stopped: what it finds is dropped

    def events(
        self, question: Question, history: tuple[Turn, ...] = (), turn: TurnCalls | None = None
    ) -> Iterator[AnswerEvent]:
        """The same without an event loop."""
        started = time.monotonic()
        turn = turn or self._calls.begin_turn()
        question = for_newcomer(question)
        before = history[-1].question.text if history else ""
        parts = self._reader.read(question.text, before)
        wanted = frozenset(part.match.intent for part in parts if part.match)
        talk = Talk(self._calls, question, parts[0].named, turn, self._shown(), wanted)
        try:
            yield from self._foreword(talk, parts)
            talk.named = self._reader.named(question.text)
            yield from denied(talk, [part.match.intent for part in parts if part.match])
            for part in parts:
                talk.named = part.named
                yield from self._taken_as(talk, part)
                yield from _reply(part)(talk)
                if part.grip is Grip.GUESSED:
                    yield from lines_with_its_words(talk)
            yield from _explained(talk)
        except RootrankError as error:
            yield Failed(message=error.message, hint=error.hint)
        yield Suggested(questions=self._next(parts[-1]))
        yield Usage(model=NAME, calls=len(talk.asked))
        yield Done(answerer=NAME, seconds=round(time.monotonic() - started, 3))

    def _foreword(self, talk: Talk, parts: list[Understood]) -> Reply:
        """Another language was asked in, or for: what is understood is English."""
        wanted = (talk.question.language or "en").lower()
        if parts[0].foreign or not wanted.startswith("en"):
            yield from talk.say("Without a language model I understand and answer English only.")

    def _taken_as(self, talk: Talk, part: Understood) -> Reply:
        """Where the question is only guessed at, the guess is named, so that a wrong one is seen at once."""
        if part.grip is Grip.GUESSED and part.match is not None and (shows := self._shows(part.match.intent)):
            yield from talk.note(f"I take that as: {retold(part.match.intent, part.named) or shows}")

    def _shown(self) -> tuple[str, ...]:
        return tuple(intent.shows for intent in self._intents.file.intents if intent.shows)

    def _next(self, part: Understood) -> tuple[str, ...]:
        """What may be asked next: what else a guess could have meant, otherwise what follows."""
        wanted: tuple[str, ...] = _NEXT.get(part.match.intent if part.match else "", ("what_failed", "why", "fix"))
        if part.grip is Grip.GUESSED:
            wanted = (*part.others, *wanted[:1])
        return tuple(dict.fromkeys(shows for name in wanted if (shows := self._shows(name))))

    def _shows(self, intent: str) -> str:
        return next((one.shows for one in self._intents.file.intents if one.id == intent), "")


def for_newcomer(question: Question) -> Question:
    """The question without `like I am new` and its kind, which ask for words to be explained."""
    left = _NEWCOMER.sub(" ", question.text).strip(" ,:;-")
    if left == question.text.strip(" ,:;-"):
        return question
    return question.model_copy(update={"text": left or "what happened", "newcomer": True})


def _reply(part: Understood) -> Callable[[Talk], Reply]:
    if part.foreign:
        return what_failed
    return REPLIES[part.match.intent] if part.match else beyond


def _explained(talk: Talk) -> Reply:
    """For a newcomer: the words of the answer, one sentence each."""
    if not talk.question.newcomer:
        return
    words = list(talk.calls.desk.glossary.inside("\n".join(talk.said)))[:8]
    if words:
        yield from talk.heading("Words")
    for one in words:
        yield from talk.note(f"- {one.term}: {one.short}\n")
