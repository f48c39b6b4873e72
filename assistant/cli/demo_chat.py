"""`rootrank demo --chat`: a conversation with a model whose answers were written in advance."""

from __future__ import annotations

from pathlib import Path

from assistant.cli import narration
from assistant.cli.exit_codes import ExitCode
from assistant.cli.settings import configured
from assistant.errors import UsageError

SCRIPTED = "scripted"
LABEL = "This is a demonstration: no model is asked, the answers come from a script ({script})."


def demo_chat(example: Path, question: str | None) -> int:
    """Asks the scripted server about an example; nothing is stored."""
    from assistant.answers.models import Question
    from assistant.cli.explain import DEFAULT, Wanted, answer
    from assistant.profiles import Profile
    from assistant.replay.models import load_script
    from assistant.replay.server import serving

    path = script_for(example)
    script = load_script(path)
    text = question or DEFAULT
    narration.say(LABEL.format(script=path.name))
    narration.say(f'$ rootrank explain {example} -q "{text}"')
    with serving(script) as server:
        profile = Profile(base_url=server.base_url, model=script.model, context_window=script.able.window)
        settings = configured().model_copy(update={"profiles": {SCRIPTED: profile}})
        answer([str(example)], [], settings, Wanted("text", SCRIPTED, True, False), Question(text=text))
    return ExitCode.OK


def script_for(example: Path) -> Path:
    """The script that fits an example; UsageError where there is none."""
    from assistant.paths import locate

    found = [folder / "replay" / f"{example.name}.yaml" for folder in locate("prompts")]
    there = [path for path in found if path.is_file()]
    if not there:
        raise UsageError(f"no scripted conversation about {example.name}", hint="rootrank demo --chat hanging-rank")
    return there[-1]
