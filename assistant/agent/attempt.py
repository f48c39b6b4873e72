"""Makes a run of a profile and walks down what it can do: tools, JSON actions, evidence in the prompt."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage

from assistant.agent import actions, native, reading
from assistant.agent.budget import Budget
from assistant.agent.conversation import Conversation
from assistant.agent.endpoint import chat_model
from assistant.agent.evidence import is_brief, loops_for, opening, view_for
from assistant.agent.failures import failure_of
from assistant.agent.history import messages_of
from assistant.agent.outlet import Outlet
from assistant.agent.repair import repair
from assistant.agent.run import Run
from assistant.agent.system import system_prompt
from assistant.answers.models import Question, Turn
from assistant.errors import CannotDo, ModelError, NoSuchModel, WindowFull
from assistant.profiles import Profile

LOOPS = {"native": native.converse, "actions": actions.converse, "reading": reading.converse}
SMALLEST_WINDOW = 512
SHRUNK = 0.4
"""Of the evidence, where the first try did not fit the window."""


class Attempt:
    """One profile's try at one question. What it learns about the endpoint holds for the next turn too."""

    def __init__(self, name: str, profile: Profile, talk: Conversation) -> None:
        self._name = name
        self._profile = profile
        self._talk = talk
        self._loops = loops_for(profile)
        self._scale = 1.0

    @property
    def protocol(self) -> str:
        """The loop that is tried next, or that the last turn ended with."""
        return self._loops[0]

    async def answer(
        self, question: Question, history: tuple[Turn, ...], outlet: Outlet, budget: Budget, key: str, client: Any  # noqa: ANN401
    ) -> None:  # fmt: skip
        """Answers through the outlet; raises ModelError where nothing of that works."""
        while True:
            run = self._run(outlet, budget, key, client)
            try:
                await self._tried(run, question, history)
                break
            except ModelError as failure:
                self._learn(failure)
        await _mended(run)
        run.outlet.insist()

    async def _tried(self, run: Run, question: Question, history: tuple[Turn, ...]) -> None:
        try:
            messages = await self._messages(run, question, history)
            native_, brief = self._loops[0] == "native", self._loops[0] == "reading" and is_brief(self._profile)
            system = system_prompt(self._talk, question, tools=native_, brief=brief)
            run.outlet.told("\n".join([system, *(str(message.content) for message in messages)]), question.text)
            await LOOPS[self._loops[0]](run, system, messages)
            if self._loops[0] == "native":
                from langchain_core.messages import SystemMessage

                run.messages = [SystemMessage(system), *run.messages]
        except Exception as error:
            run.count_lost()
            raise failure_of(error, self._name, self._profile) from error

    def _run(self, outlet: Outlet, budget: Budget, key: str, client: Any) -> Run:  # noqa: ANN401
        profile = self._profile
        view = view_for(profile, self._loops[0], self._scale)
        self._talk.calls.characters = view.characters
        return Run(
            name=self._name, profile=profile, talk=self._talk, outlet=outlet, budget=budget, characters=view.characters,
            streaming=chat_model(profile, key, client, stream=profile.stream),
            whole=chat_model(profile, key, client, stream=False),
        )  # fmt: skip

    async def _messages(self, run: Run, question: Question, history: tuple[Turn, ...]) -> list[AnyMessage]:
        view = view_for(self._profile, self._loops[0], self._scale)
        evidence = await opening(run, view)
        veil = run.outlet.veil
        asked = self._talk.prompts.filled("question", evidence=evidence, question=veil.out(question.text))
        return [*messages_of(history, self._profile, veil, self._scale), HumanMessage(asked)]

    def _learn(self, failure: ModelError) -> None:
        """Goes one step down, or raises the failure where there is none."""
        if isinstance(failure, WindowFull) and self._scale == 1.0:
            self._scale = SHRUNK
            self._profile = narrowed(self._profile, failure.window)
            self._loops = self._loops[-1:]  # descriptions of tools take more room than evidence
        elif isinstance(failure, NoSuchModel) and self._profile.api == "responses":
            self._profile = replace_api(self._profile)
        elif isinstance(failure, CannotDo) and "stream" in failure.message.lower() and self._profile.stream:
            self._profile = self._profile.model_copy(update={"stream": False, "stream_usage": False})
        elif isinstance(failure, CannotDo) and len(self._loops) > 1:
            self._loops = self._loops[1:]
        else:
            raise failure


def narrowed(profile: Profile, window: int | None) -> Profile:
    """The profile with the window that the endpoint tells, where that is smaller."""
    if window is None or not SMALLEST_WINDOW <= window < profile.context_window:
        return profile
    output = min(profile.max_output, window // 4)
    return profile.model_copy(update={"context_window": window, "max_output": output})


def replace_api(profile: Profile) -> Profile:
    """The same endpoint by Chat Completions."""
    return profile.model_copy(update={"api": "chat"})


async def _mended(run: Run) -> None:
    """What cannot be mended stays marked; the answer is not lost over it."""
    try:
        await repair(run)
    except Exception as error:
        failure = failure_of(error, run.name, run.profile)
        run.outlet.note(f"The marked sentences could not be mended: {failure.message}.")
