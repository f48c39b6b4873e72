"""The tables of docs/chat.md, made from the registry of commands and the bindings; a test compares them."""

from __future__ import annotations

from collections.abc import Iterator

from textual.binding import Binding, BindingType

from assistant.tui.app import RootrankApp
from assistant.tui.commands import COMMANDS, usage
from assistant.tui.copy_screen import CopyScreen
from assistant.tui.logs.pane import LogPane
from assistant.tui.logs.screen import LogScreen
from assistant.tui.reading_screen import ReadingScreen
from assistant.tui.sessions_screen import SessionsScreen
from assistant.tui.talk.prompt import Prompt
from assistant.tui.talk.transcript import Transcript
from assistant.tui.views.actions_screen import ActionsScreen
from assistant.tui.views.beside_screen import BesideScreen
from assistant.tui.views.compare_screen import CompareScreen
from assistant.tui.views.knowledge_screen import KnowledgeScreen
from assistant.tui.views.nodes_screen import NodesScreen
from assistant.tui.views.page_screen import PageScreen
from assistant.tui.views.peers_screen import PeersScreen
from assistant.tui.views.similar_screen import SimilarScreen
from assistant.tui.views.timeline_screen import TimelineScreen
from assistant.tui.workplace import Workplace

PARTS: tuple[tuple[str, list[list[BindingType]]], ...] = (
    ("Everywhere", [Workplace.BINDINGS, RootrankApp.BINDINGS]),
    ("Prompt", [Prompt.BINDINGS]),
    ("Conversation", [Transcript.BINDINGS]),
    ("Log viewer", [LogScreen.BINDINGS, LogPane.BINDINGS]),
    ("Nodes", [NodesScreen.BINDINGS]),
    ("Peers", [PeersScreen.BINDINGS]),
    ("Time", [TimelineScreen.BINDINGS]),
    ("Actions", [ActionsScreen.BINDINGS]),
    ("Healthy runs", [CompareScreen.BINDINGS]),
    ("Past failures", [SimilarScreen.BINDINGS]),
    ("Beside the case", [BesideScreen.BINDINGS]),
    ("Knowledge", [KnowledgeScreen.BINDINGS]),
    ("A page", [PageScreen.BINDINGS]),
    ("Sessions", [SessionsScreen.BINDINGS]),
    ("Copy mode", [CopyScreen.BINDINGS]),
    ("While logs are read", [ReadingScreen.BINDINGS]),
)
NAMES = {
    "slash": "/", "ampersand": "&", "left_square_bracket": "[", "right_square_bracket": "]", "escape": "esc",
    "pagedown": "page down", "pageup": "page up",
}  # fmt: skip


def commands_table() -> str:
    """The slash commands as Markdown."""
    rows = [f"| `{usage(one)}` | {one.help} |" for one in COMMANDS]
    return "\n".join(["| command | what it does |", "| --- | --- |", *rows])


def keys_table() -> str:
    """The keys as Markdown, part by part, each with the id by which it is changed."""
    rows = [row for title, sets in PARTS for bindings in sets for row in _rows(title, bindings)]
    return "\n".join(["| where | keys | what they do | id |", "| --- | --- | --- | --- |", *rows])


def _rows(title: str, bindings: list[BindingType]) -> Iterator[str]:
    for one in bindings:
        if isinstance(one, Binding):
            keys = ", ".join(f"`{NAMES.get(key, key)}`" for key in one.key.split(","))
            yield f"| {title} | {keys} | {one.description} | `{one.id}` |"
