"""What would be sent, without sending it: the exact first request, or a prompt to take elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

from assistant.agent.budget import Budget
from assistant.agent.endpoint import NO_KEY, silence
from assistant.agent.evidence import opening, view_for
from assistant.agent.opening import conversation, profile_of
from assistant.agent.outlet import Outlet
from assistant.agent.run import Run
from assistant.agent.system import system_prompt
from assistant.agent.veil import veil_for
from assistant.answers.models import Question
from assistant.config import Settings
from assistant.errors import ModelError
from assistant.profiles import OFFLINE, Profile
from assistant.tools.calls import Calls

NOTHING = "Nothing would be sent: the answers of the profile `offline` are made here, without a model."
ELSEWHERE = Profile(base_url="http://localhost/v1", model="any")
"""Stands in where no profile is configured: everything is masked, and an ordinary window is assumed."""


def request_text(settings: Settings, calls: Calls, question: Question, name: str | None) -> str:
    """Address and body of the first request, byte for byte as the endpoint would get it. The key is not part of it."""
    chosen = name or settings.chat.profile
    if chosen == OFFLINE:
        return NOTHING
    profile = profile_of(settings, chosen).model_copy(update={"retries": 0})
    return asyncio.run(_captured(settings, calls, question, chosen, profile))


async def _captured(settings: Settings, calls: Calls, question: Question, name: str, profile: Profile) -> str:
    silence()
    import httpx2

    from assistant.agent.attempt import Attempt

    seen: list[httpx2.Request] = []

    class Catching(httpx2.AsyncBaseTransport):
        """Keeps a request and lets it go nowhere."""

        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            seen.append(request)
            raise httpx2.ConnectError("nothing is sent")

    talk = conversation(settings, calls)
    calls.begin_turn()
    outlet, budget = Outlet(calls, veil_for(profile, talk.redactor)), Budget(settings.chat, profile)
    async with httpx2.AsyncClient(transport=Catching()) as client:
        with contextlib.suppress(ModelError):
            await Attempt(name, profile, talk).answer(question, (), outlet, budget, NO_KEY, client)
    body: Any = json.loads(seen[0].content)
    return f"POST {seen[0].url}\n{json.dumps(body, indent=2, ensure_ascii=False)}\n"


def prompt_text(settings: Settings, calls: Calls, question: Question, name: str | None) -> str:
    """Instructions, evidence and question as one masked text, for a model that is not configured here."""
    chosen = name or settings.chat.profile
    profile = ELSEWHERE if chosen == OFFLINE else profile_of(settings, chosen)
    return asyncio.run(_prompt(settings, calls, question, profile))


async def _prompt(settings: Settings, calls: Calls, question: Question, profile: Profile) -> str:
    talk = conversation(settings, calls)
    calls.begin_turn()
    view = view_for(profile, "reading", 1.0)
    calls.characters = view.characters
    nobody: Any = None
    outlet, budget = Outlet(calls, veil_for(profile, talk.redactor)), Budget(settings.chat, profile)
    run = Run(OFFLINE, profile, talk, outlet, budget, nobody, nobody, view.characters)
    evidence = await opening(run, view)
    asked = talk.prompts.filled("question", evidence=evidence, question=outlet.veil.out(question.text))
    return "\n\n".join([system_prompt(talk, question, tools=False), talk.prompts.filled("reading"), asked])
