"""The command palette offers the same commands as the prompt."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Hits, Provider

from assistant.tui.commands import COMMANDS, Command, usage
from assistant.tui.deeds import do

if TYPE_CHECKING:
    from assistant.tui.workplace import Workplace


class Commands(Provider):
    """Slash commands by name and help; one that wants an argument is put into the prompt."""

    async def discover(self) -> Hits:
        """All of them."""
        for command in COMMANDS:
            yield DiscoveryHit(usage(command), partial(self._do, command), help=command.help)

    async def search(self, query: str) -> Hits:
        """Those that fit what is typed."""
        matcher = self.matcher(query)
        for command in COMMANDS:
            text = f"{usage(command)}  {command.help}"
            if (score := matcher.match(text)) > 0:
                yield Hit(score, matcher.highlight(text), partial(self._do, command), help=command.help)

    def _do(self, command: Command) -> None:
        place: Workplace = self.screen  # type: ignore[assignment]
        if command.argument:
            place.prompt.load_text(f"/{command.name} ")
            place.prompt.move_cursor(place.prompt.document.end)
            place.prompt.focus()
        else:
            do(place, command.name, "")
