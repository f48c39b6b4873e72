"""The slash commands: one list that feeds the prompt, the palette, the help and docs/chat.md."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """One thing that can be asked of the screen."""

    name: str
    help: str
    argument: str = ""
    """What follows it, as it is written in the help; empty where nothing does."""


COMMANDS: tuple[Command, ...] = (
    Command("help", "Keys of the part that has the focus, and all commands"),
    Command("open", "Open what is cited: E7, S1, T3, or a file and a line", "PLACE"),
    Command("merge", "Several logs by corrected time; alone: the suspects' and a peer's", "[PLACES]"),
    Command("nodes", "Table of nodes and ranks; enter compares a node with its peers"),
    Command("timeline", "What happened when; iteration times and losses"),
    Command("compare", "Against healthy runs: events only here, only there, at another rate"),
    Command("similar", "Past failures like this one and why; enter opens one beside the case"),
    Command("knowledge", "Vendor facts, known faults, incidents: what a code, a line or words mean", "[WORDS]"),
    Command("hypotheses", "Explanations that were considered, with evidence for and against each"),
    Command("actions", "What to do now, as a checklist whose commands can be copied"),
    Command("attach", "Add a file that was missing; the case is judged again", "FILE"),
    Command("confirm", "The verdict is right: keep it as an incident", "[NOTE] [fixed by ...]"),
    Command("correct", "The cause was another: keep it with that", "LAYER.CLASS [NOTE] [fixed by ...]"),
    Command("export", "Write case and conversation into a file: .md, or .json for the case", "FILE"),
    Command("sessions", "Conversations: go on with one, search, delete"),
    Command("new", "Begin a new session about this case; this one is kept"),
    Command("stop", "Stop the answer that is being written"),
    Command("edit", "Write the question in your editor ($VISUAL, $EDITOR)"),
    Command("newcomer", "Explain the terms of the field from now on; again: no more"),
    Command("language", "Language of answers from now on, such as de; offline knows English only", "TAG"),
    Command("copy", "Copy the last answer as plain text"),
    Command("plain", "Copy mode: what is in sight as plain text, to be marked with the mouse"),
    Command("mouse", "Give the mouse to the terminal, so that it marks text, or take it again"),
    Command("theme", "Change the colours; without a name: list those there are", "[NAME]"),
    Command("quit", "End; the session is kept"),
)
BY_NAME: dict[str, Command] = {command.name: command for command in COMMANDS}


def split(text: str) -> tuple[str, str] | None:
    """Name and argument of a slash command; None for a question."""
    if not text.startswith("/") or text.startswith("//"):
        return None
    name, _, rest = text[1:].strip().partition(" ")
    # A path is a question about a file, not a command.
    return (name.lower(), rest.strip()) if name and "/" not in name else None


def usage(command: Command) -> str:
    """`/open PLACE`."""
    return f"/{command.name} {command.argument}".rstrip()
