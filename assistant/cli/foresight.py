"""What can be said of a command line before logs are read, which may take minutes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assistant.cli.request import STDIN, exists
from assistant.cli.settings import case_store
from assistant.errors import InputError, UnknownCase

if TYPE_CHECKING:
    from assistant.answers.sessions import Session
    from assistant.config import Settings


def foresee(targets: Sequence[str], attach: Sequence[str], profile: str | None, settings: Settings) -> None:
    """Raises what the command would end with later: a missing path, a case or a profile that there is not."""
    from assistant.cli.conversing import names_case

    _profile(profile or settings.chat.profile, settings)
    if names_case(targets):
        case_store(settings).resolve(targets[0])
    elif not any(path == STDIN or exists(path) for path in targets):
        from assistant.intake.discover import discover

        discover(targets)
    for path in attach:
        if path != STDIN and not exists(path):
            raise InputError(f"--attach {path}: no such file or folder", hint="check the path and the permissions")


def case_of_session(session: Session, settings: Settings) -> str:
    """The case that a session is about. Raises UnknownCase where it was removed."""
    case, name = session.header.case, session.header.session
    if case in case_store(settings).ids():
        return case
    hint = f"read its logs again: rootrank chat LOGS; the conversation itself: rootrank sessions show {name}"
    raise UnknownCase(f"the case of session {name}, {case}, is stored no more", hint=hint)


def _profile(name: str, settings: Settings) -> None:
    from assistant.profiles import OFFLINE

    if name != OFFLINE and name not in settings.profiles:
        from assistant.agent.opening import profile_of

        profile_of(settings, name)
