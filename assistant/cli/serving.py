"""`rootrank chat --serve`: the same workplace in a browser, a `rootrank chat` of its own for each tab."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from assistant.cli import narration
from assistant.cli.request import STDIN, Request
from assistant.cli.settings import case_store
from assistant.errors import ConfigError, NotInstalled, UsageError

if TYPE_CHECKING:
    from assistant.answers.sessions import Session
    from assistant.config import Settings


@dataclass(frozen=True, slots=True)
class Wish:
    """What every tab shows."""

    targets: tuple[str, ...]
    attach: tuple[str, ...]
    options: tuple[str, ...]
    """Further options of `chat`, as they are typed."""
    job: str | None = None

    def reading(self) -> list[str]:
        """What a tab runs that reads the logs."""
        added = [f"--attach={file}" for file in self.attach]
        return self._command(*added, *([f"--job={self.job}"] if self.job is not None else []), "--", *self.targets)

    def opening(self, case: str) -> list[str]:
        """What a tab runs once they were read."""
        return self._command("--", case)

    def _command(self, *rest: str) -> list[str]:
        return [sys.executable, "-P", "-m", "assistant.cli", "chat", *self.options, *rest]


def wish_of(
    earlier: Session | None, targets: Sequence[str], attach: Sequence[str], profile: str | None, job: str | None,
    no_save: bool,
) -> Wish:  # fmt: skip
    """What was typed, for the processes of the tabs."""
    options = ["--no-save"] if no_save else []
    if profile is not None:
        options.append(f"--profile={profile}")
    if earlier is not None:
        return Wish((), tuple(attach), (*options, f"--session={earlier.header.session}"), job)
    return Wish(tuple(targets), tuple(attach), tuple(options), job)


def serve(wish: Wish, port: int, settings: Settings) -> None:
    """Serves until it is ended. Raises UsageError, NotInstalled."""
    if STDIN in (*wish.targets, *wish.attach):
        hint = "read it first: rootrank diagnose -; then: rootrank chat --serve last"
        raise UsageError("each tab of a browser reads the logs, and standard input can be read only once", hint=hint)
    try:
        from assistant.tui.browser.server import serve as run
    except ImportError as error:
        raise NotInstalled(f"{error.name} is not installed", hint="pip install 'rootrank[serve]'") from None
    began = datetime.now(UTC).isoformat(timespec="microseconds")
    run(lambda: _command(wish, settings, began), port, _announce)


def _command(wish: Wish, settings: Settings, began: str) -> list[str]:
    """Reads the logs, unless an earlier tab has just done so: then the case that it kept is opened."""
    wanted = Request((*wish.targets, *wish.attach), job=wish.job).inputs()
    if settings.cases.save and wish.targets:
        try:
            newest = case_store(settings).load("last")
        except ConfigError:
            return wish.reading()
        made = newest.inputs
        same = made.paths[: len(wanted.paths)] == wanted.paths and made.options.get("job") == wish.job
        if newest.saved >= began and same:
            return wish.opening(newest.case.case)
    return wish.reading()


def _announce(address: str) -> None:
    narration.say(f"the workplace is at {address}")
    narration.say("open it in a browser of this machine; the address works once, Ctrl+C ends all")
    if os.environ.get("SSH_CONNECTION"):
        port = address.partition("/?")[0].rpartition(":")[2]
        narration.say(f"from your own machine, first: ssh -L {port}:127.0.0.1:{port} {socket.gethostname()}")
