"""An answer that is stopped while a tool works does not touch the next one."""

from __future__ import annotations

import asyncio
import contextlib
import threading

import pytest

from assistant.answers.intents import load_intents
from assistant.answers.models import Done, Question, Text, ToolFinished, ToolStarted
from assistant.answers.offline import OfflineAnswerer
from assistant.tools.desk import Desk
from assistant.tools.finding import Finding, Tool
from assistant.tools.models import Arguments
from assistant.tools.overview import OVERVIEW
from assistant.tools.registry import BY_NAME
from evals.desks import opened

PATIENCE = 30.0


def test_a_question_after_a_stopped_one_is_answered_as_if_that_had_never_been(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, go, worked = threading.Event(), threading.Event(), threading.Event()

    def held(desk: Desk, arguments: Arguments) -> Finding:
        if not begun.is_set():
            begun.set()
            assert go.wait(PATIENCE)
            worked.set()
        return OVERVIEW.ask(desk, arguments)

    monkeypatch.setitem(BY_NAME, "overview", Tool("overview", OVERVIEW.summary, OVERVIEW.arguments, held))
    with opened("knowledge/examples/hanging-rank") as job:
        calls = job.calls(search=False)
        answerer = OfflineAnswerer(calls, load_intents())

        async def stopped() -> None:
            started = asyncio.Event()

            async def ask() -> None:
                async for event in answerer.answer(Question(text="What failed?")):
                    if isinstance(event, ToolStarted):
                        started.set()

            task = asyncio.create_task(ask())
            await started.wait()
            assert await asyncio.to_thread(begun.wait, PATIENCE)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

        async def play() -> list[object]:
            await stopped()
            answer = answerer.answer(Question(text="What failed?"))
            first = await anext(answer)
            go.set()
            return [first, *[event async for event in answer]]

        events = asyncio.run(play())
    assert worked.is_set()
    rows = [event for event in events if isinstance(event, ToolStarted | ToolFinished)]
    assert [row.call for row in rows[:2]] == ["T2", "T2"]
    assert next(iter(calls.results)) == "T2"
    assert isinstance(events[-1], Done)
    assert any(isinstance(event, Text) and "T2" in event.citations for event in events)
