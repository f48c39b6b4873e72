"""The help of `rootrank chat`: its options, and the commands of the workplace from the one list that there is."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

LEAD = "In the workplace: F1 helps, F2 turns between case and conversation, ctrl+c twice ends. Commands: "


class ChatCommand(TyperCommand):
    """Adds what can be typed once it is open; read only when the help is asked for."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - which parser it is differs by version
        """Prints the help."""
        from assistant.tui.commands import COMMANDS

        self.epilog = LEAD + ", ".join(f"/{command.name}" for command in COMMANDS) + "."
        super().format_help(ctx, formatter)
