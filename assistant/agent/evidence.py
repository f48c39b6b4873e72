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
FIXED = {"native": 6_000, "actions": 2_800, "reading": 1_400}
"""Tokens that instructions and tools take, by loop."""
FIXED_BRIEF = 600
"""The same of the brief instructions."""
BRIEF = 4_096
"""The window below which the instructions are brief."""
NEEDS = {"native": 10_000, "actions": 6_000, "reading": 0}
"""The window below which a loop is not tried."""


@dataclass(frozen=True, slots=True)
class View:
    """How much of the evidence a model is shown."""

    tools: tuple[str, ...]
    """What is asked before the model is."""
    characters: int
    """Of one result."""
    room: int
    """Characters of all that is asked before."""


def loops_for(profile: Profile) -> list[str]:
    """The loops to try, the best first."""
    able = ["native", "actions", "reading"] if profile.tools else ["actions", "reading"]
    return [loop for loop in able if profile.context_window >= NEEDS[loop]]


def view_for(profile: Profile, loop: str, scale: float) -> View:
    """What fits the window. `scale` shrinks it where the endpoint counted otherwise."""
    fixed = FIXED_BRIEF if loop == "reading" and is_brief(profile) else FIXED[loop]
    room = int(max(0, profile.context_window - profile.max_output - fixed) * CHARACTERS_PER_TOKEN * scale)
    share = room if loop == "reading" else room // 6
    characters = min(SHOWN_CHARACTERS, max(SMALLEST, share))
    return View(READING if loop == "reading" else ASKING, characters, max(room, characters))


def is_brief(profile: Profile) -> bool:
    """Whether the window is too small for the whole of the instructions."""
    return profile.context_window < BRIEF


async def opening(run: Run, view: View) -> str:
    """The results of some tools without arguments, the most telling first, as many as there is room for; what was
    found before is not asked for again."""
    parts: list[str] = []
    left = view.room
    for tool in view.tools:
        if parts and left < SMALLEST:
            break
        parts.append(await _shown(run, tool, min(view.characters, left)))
        left -= len(parts[-1])
    run.narrow(view.characters)
    parts += [run.wrapped(one) for one in run.talk.calls.results.values() if one.tool == CHANGES]
    return "\n".join(parts)


async def _shown(run: Run, tool: str, characters: int) -> str:
    run.narrow(characters)
    known = _known(run, tool)
    return run.wrapped(known) if known else await run.ask(tool, {})


def _known(run: Run, tool: str) -> ToolResult | None:
    results = run.talk.calls.results.values()
    good = (ResultStatus.FOUND, ResultStatus.NOTHING)
    return next((one for one in results if one.tool == tool and not one.arguments and one.status in good), None)
