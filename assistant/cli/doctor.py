"""`rootrank doctor`: what a model endpoint is able to do, and what the profile should say about it."""

from __future__ import annotations

from typing import Annotated

import typer

from assistant.cli import narration
from assistant.cli.exit_codes import ExitCode
from assistant.cli.output import print_json, print_table
from assistant.errors import UsageError

_WORDS = {True: "yes", False: "no", None: "unknown"}


def doctor(
    name: Annotated[str | None, typer.Argument(metavar="PROFILE", help="Which one; else chat.profile.")] = None,
    write: Annotated[bool, typer.Option("--write", help="Write what was found into your configuration file.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> int:
    """Examines a model endpoint; sends nothing of any log. Ends with 1 where it cannot be used."""
    from assistant import config
    from assistant.agent.doctor import examine
    from assistant.agent.opening import profile_of
    from assistant.profiles import OFFLINE

    loaded = config.load()
    chosen = name or loaded.settings.chat.profile
    if chosen == OFFLINE:
        known = ", ".join(sorted(loaded.settings.profiles))
        hint = (
            f"name a profile: {known}"
            if known
            else "no profile is configured yet; docs/models.md shows how to write one"
        )
        raise UsageError("the profile offline asks no endpoint", hint=hint)
    profile = profile_of(loaded.settings, chosen)
    narration.remark(f"asking {profile.base_url} a few small questions")
    report = examine(chosen, profile)
    if json:
        print_json(
            {
                "profile": chosen,
                "results": [
                    {"what": one.name, "able": one.able, "remark": one.remark, "sets": one.sets}
                    for one in report.results
                ],
                "findings": report.findings,
                "failure": report.failure.message if report.failure else None,
            }
        )
    else:
        print_table(("WHAT", "ABLE", "REMARK"), [(one.name, _WORDS[one.able], one.remark) for one in report.results])
    for line in report.advice:
        narration.say(f"warning: {line}")
    _tell(chosen, report.findings, loaded, write=write)
    if report.failure is not None:
        return narration.refuse(report.failure.message, report.failure.hint, ExitCode.PROBLEMS)
    usable = all(one.able is not False for one in report.results if one.name in ("key", "reachable", "answers"))
    return ExitCode.OK if usable else ExitCode.PROBLEMS


def _tell(name: str, findings: dict[str, object], loaded: object, *, write: bool) -> None:
    """What the profile should say, and where it was written."""
    from json import dumps

    from assistant import config
    from assistant.agent.profile_file import write_profile

    assert isinstance(loaded, config.Loaded)
    if not findings:
        return
    if not write:
        narration.say(f"[profiles.{name}] should say (write it with --write):")
        for key, value in findings.items():
            narration.say(f"  {key} = {dumps(value)}")
        return
    path = config.user_file()
    write_profile(path, name, findings)
    narration.say(f"written to {path}: {', '.join(findings)}")
    for key in findings:
        origin = loaded.origin(f"profiles.{name}.{key}")
        if origin not in ("default", str(path)):
            narration.say(f"warning: {key} is set by {origin} too, which wins")
