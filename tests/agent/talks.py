"""A small case with private text in it, and a conversation about it with a scripted model."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from assistant.agent.opening import open_answerer
from assistant.answers.intents import load_intents
from assistant.answers.models import Answerer, AnswerEvent, Event, Question, Standing, Text, Turn
from assistant.answers.offline import OfflineAnswerer
from assistant.case.models import Case
from assistant.config import Settings
from assistant.faults.library import Library
from assistant.profiles import Chat, Profile
from assistant.replay.models import Script
from assistant.replay.server import ReplayServer, serving
from assistant.tools.calls import Calls
from assistant.tools.desk import Desk
from assistant.tools.words import Glossary

Steps = list[dict[str, Any]]
E = TypeVar("E", bound=Event)

PATIENCE = 120
"""Seconds after which a turn hangs; far more than any takes."""
PRIVATE = ("node-alpha-17", "node-beta-18", "hunter2-very-secret", "kim.doe@corp.example", "10.20.30.41")
"""What stands in the case and must never arrive at a server."""


def evidence(number: int, text: str, rank: int, node: str) -> dict[str, Any]:
    """One line of evidence."""
    return {
        "id": f"E{number}", "source": f"{node}/rank-{rank}.log", "line": 10 * number, "offset": 0, "text": text,
        "node": node, "rank": rank, "time": f"2026-03-01T03:00:0{number}Z",
    }  # fmt: skip


def small_case() -> Case:
    """Rank 3 ran out of memory; its line names an account, an address, a person and a node."""
    lines = [
        evidence(1, "CUDA out of memory. Tried to allocate 2.50 GiB (GPU 3)", 3, PRIVATE[0]),
        evidence(2, f"fetch from {PRIVATE[4]} by {PRIVATE[3]} password={PRIVATE[2]} failed", 3, PRIVATE[0]),
        evidence(3, "Watchdog caught collective operation timeout: ran for 600000 milliseconds", 1, PRIVATE[1]),
    ]
    action = {"kind": "free_resource", "text": "Lower the batch size.", "steps": [{"text": "Halve it."}]}
    return Case.model_validate(
        {
            "case": "c-00000000aa", "status": "failed",
            "job": {"id": "88", "world_size": 4, "nodes": 2, "outcome": "failed"},
            "verdict": {
                "cause": "memory.gpu_oom", "statement": f"Rank 3 on {PRIVATE[0]} ran out of GPU memory.",
                "confidence": "high", "evidence_class": "logs", "evidence": ["E1", "E2"], "stage": "training",
                "iteration": 40, "action": action, "why": ["It reports it itself [E1]."],
            },
            "suspects": [{"node": PRIVATE[0], "rank": 3, "score": 0.9, "reasons": ["reports it"], "evidence": ["E1"]}],
            "nodes": [
                {"node": PRIVATE[0], "ranks": [2, 3], "state": "affected"},
                {"node": PRIVATE[1], "ranks": [0, 1], "state": "healthy"},
            ],
            "events": [
                {"id": "t-1", "template": "CUDA out of memory", "role": "initiating", "count": 1, "evidence": ["E1"]},
                {"id": "t-2", "template": "Watchdog caught timeout", "role": "cascade", "count": 3, "evidence": ["E3"]},
            ],
            "evidence": lines, "timing": {"seconds": 0.0, "bytes": 0},
        }
    )  # fmt: skip


@dataclass(slots=True)
class Heard:
    """A finished turn."""

    events: list[AnswerEvent]
    requests: list[str] = field(default_factory=list)
    """The bodies that arrived at the server."""

    def of(self, kind: type[E]) -> list[E]:
        """The events of a kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def text(self) -> str:
        """What was said."""
        return "".join(event.text for event in self.of(Text))

    @property
    def unsupported(self) -> list[str]:
        """The sentences that were marked."""
        return [event.text.strip() for event in self.of(Text) if event.standing is Standing.UNSUPPORTED]


@contextlib.contextmanager
def server_of(steps: Sequence[Mapping[str, Any]], **able: Any) -> Iterator[ReplayServer]:  # noqa: ANN401
    """A server that plays some steps."""
    script = Script.model_validate({"schema": "rootrank.replay/1", "able": able, "steps": list(steps)})
    with serving(script) as server:
        yield server


def profile(url: str, **fields: Any) -> Profile:  # noqa: ANN401
    """A profile for a scripted server: impatient, and without retries."""
    quick = {"retries": 0, "first_token_seconds": 30.0, "timeout_seconds": 60.0, "model": "scripted"}
    return Profile.model_validate({"base_url": url, **quick, **fields})


def calls_on(case: Case | None = None) -> Calls:
    """Tools on a case whose logs are gone."""
    return Calls(Desk(case or small_case(), Library(()), Glossary()))


def answerer_of(profiles: Mapping[str, Profile], calls: Calls, *, fallback: bool = True, **chat: Any) -> Answerer:  # noqa: ANN401
    """The answerer for some profiles, each the fallback of the one before, and offline at last."""
    first, *others = profiles
    settings = Settings(
        profiles=dict(profiles), chat=Chat.model_validate({"profile": first, "fallback": tuple(others), **chat})
    )
    return open_answerer(settings, calls, OfflineAnswerer(calls, load_intents()), fallback=fallback)


async def listened(answerer: Answerer, question: Question, history: tuple[Turn, ...] = ()) -> list[AnswerEvent]:
    """All events of a turn."""
    async with asyncio.timeout(PATIENCE):
        return [event async for event in answerer.answer(question, history)]


def ask(
    steps: Sequence[Mapping[str, Any]], text: str = "What failed?", *, able: Mapping[str, Any] | None = None,
    fields: Mapping[str, Any] | None = None, chat: Mapping[str, Any] | None = None, fallback: bool = True,
    question: Question | None = None, history: tuple[Turn, ...] = (), calls: Calls | None = None,
) -> Heard:  # fmt: skip
    """One turn with a model that follows a script."""
    with server_of(steps, **(able or {})) as server:
        answerer = answerer_of(
            {"gw": profile(server.base_url, **(fields or {}))}, calls or calls_on(), fallback=fallback, **(chat or {})
        )
        events = asyncio.run(listened(answerer, question or Question(text=text), history))
        return Heard(events, [request.whole for request in server.requests])
