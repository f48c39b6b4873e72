"""Opens the answerer that the settings ask for. Imports no client library: that happens when a model is first asked."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from assistant.agent.answerer import ModelAnswerer
from assistant.agent.budget import Spent
from assistant.agent.chain import FallbackAnswerer
from assistant.agent.conversation import Conversation
from assistant.agent.prompts import Prompts, load_prompts
from assistant.agent.veil import redactor_for
from assistant.answers.models import Answerer, Hypothesis
from assistant.config import Settings
from assistant.errors import UnknownProfile
from assistant.profiles import OFFLINE, Profile
from assistant.tools.calls import Calls


def profile_of(settings: Settings, name: str) -> Profile:
    """The profile of that name; UnknownProfile with the nearest one."""
    if name in settings.profiles:
        return settings.profiles[name]
    near = difflib.get_close_matches(name, [*settings.profiles, OFFLINE], n=1)
    known = ", ".join([OFFLINE, *sorted(settings.profiles)])
    hint = f"did you mean {near[0]}?" if near else f"there are: {known}; docs/models.md shows how to write one"
    raise UnknownProfile(f"no model profile {name!r} is configured", hint=hint)


def chosen(settings: Settings, name: str | None = None, *, fallback: bool = True) -> list[str]:
    """Names of the answerers in their order; without `fallback` only the first."""
    wanted = [name or settings.chat.profile, *(settings.chat.fallback if fallback else ())]
    names = list(dict.fromkeys([*wanted, *([OFFLINE] if fallback else [])]))
    names = names[: names.index(OFFLINE) + 1] if OFFLINE in names else names
    for one in names:
        if one != OFFLINE:
            profile_of(settings, one)
    return names


def conversation(
    settings: Settings, calls: Calls, before: Spent | None = None, prompts: Prompts | None = None
) -> Conversation:
    """What the models of a chain share."""
    redactor = redactor_for(calls.desk.case, settings.chat.redact)
    return Conversation(calls, redactor, prompts or load_prompts(), settings.chat, before=before or Spent())


def open_answerer(
    settings: Settings, calls: Calls, offline: Answerer, *, profile: str | None = None, fallback: bool = True,
    before: Spent | None = None, hypotheses: Mapping[str, Hypothesis] | None = None, prompts: Prompts | None = None,
) -> Answerer:  # fmt: skip
    """The answerer that is configured, or named; `offline` takes over where a model fails.

    Raises UnknownProfile, and PromptError for a damaged prompt.
    """
    names = chosen(settings, profile, fallback=fallback)
    if names[0] == OFFLINE:
        return offline
    talk = conversation(settings, calls, before, prompts)
    talk.hypotheses.update(hypotheses or {})
    made: list[Answerer] = [
        offline if name == OFFLINE else ModelAnswerer(name, settings.profiles[name], talk) for name in names
    ]
    return made[0] if len(made) == 1 else FallbackAnswerer(made)
