"""What the model is given before it asks: the case on a page, and for models that cannot ask, more of it."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.agent.budget import CHARACTERS_PER_TOKEN
from assistant.agent.run import Run
from assistant.answers.revising import CHANGES
from assistant.profiles import Profile
from assistant.tools.models import ResultStatus, ToolResult
from assistant.tools.spills import SHOWN_CHARACTERS

ASKING = ("overview",)
READING = ("overview", "list_events", "list_unread", "timeline")
SMALLEST = 400
"""Characters of a result below which it says nothing."""
FIXED = {"native": 6_000, "actions": 2_800, "reading": 1_600}
"""Tokens that instructions and tools take, by loop."""
NEEDS = {"native": 10_000, "actions": 6_000, "reading": 0}
"""The window below which a loop is not tried."""


@dataclass(frozen=True, slots=True)
class View:
    """How much of the evidence a model is shown."""

    tools: tuple[str, ...]
    characters: int
    """Of one result."""


def loops_for(profile: Profile) -> list[str]:
    """The loops to try, the best first."""
    able = ["native", "actions", "reading"] if profile.tools else ["actions", "reading"]
    return [loop for loop in able if profile.context_window >= NEEDS[loop]]


def view_for(profile: Profile, loop: str, scale: float) -> View:
    """What fits the window. `scale` shrinks it where the endpoint counted otherwise."""
    room = max(0, profile.context_window - profile.max_output - FIXED[loop]) * CHARACTERS_PER_TOKEN * scale
    share = room / (len(READING) if loop == "reading" else 6)
    return View(READING if loop == "reading" else ASKING, int(min(SHOWN_CHARACTERS, max(SMALLEST, share))))


async def opening(run: Run, tools: tuple[str, ...]) -> str:
    """The results of some tools without arguments; what was found before is not asked for again."""
    parts: list[str] = []
    for tool in tools:
        known = _known(run, tool)
        parts.append(run.wrapped(known) if known else await run.ask(tool, {}))
    parts += [run.wrapped(one) for one in run.talk.calls.results.values() if one.tool == CHANGES]
    return "\n".join(parts)


def _known(run: Run, tool: str) -> ToolResult | None:
    results = run.talk.calls.results.values()
    good = (ResultStatus.FOUND, ResultStatus.NOTHING)
    return next((one for one in results if one.tool == tool and not one.arguments and one.status in good), None)
