"""What the slash commands do: one function a command, by the names of the registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.errors import UsageError
from assistant.incidents.confirm import Ruling
from assistant.tui.commands import BY_NAME, COMMANDS, usage
from assistant.tui.exporting import export
from assistant.tui.help_screen import HelpScreen
from assistant.tui.safe import plain
from assistant.tui.views.actions_screen import ActionsScreen
from assistant.tui.views.compare_screen import CompareScreen
from assistant.tui.views.knowledge_screen import KnowledgeScreen
from assistant.tui.views.nodes_screen import NodesScreen
from assistant.tui.views.similar_screen import SimilarScreen
from assistant.tui.views.timeline_screen import TimelineScreen

if TYPE_CHECKING:
    from assistant.tui.workplace import Workplace

Deed = Callable[["Workplace", str], None]


def do(place: Workplace, name: str, argument: str) -> bool:
    """Does a command; False where there is none of that name, or where it lacks what must follow it."""
    command, deed = BY_NAME.get(name), DEEDS.get(name)
    if command is None or deed is None:
        near = [one.name for one in COMMANDS if one.name.startswith(name[:2])]
        hint = f"did you mean /{near[0]}?" if near else "/help lists them"
        place.tell(f"no command /{plain(name, 40)}; {hint}", warning=True)
        return False
    if command.argument and not command.argument.startswith("[") and not argument:
        place.tell(f"write it as {usage(command)}", warning=True)
        return False
    deed(place, argument)
    return True


def _help(place: Workplace, argument: str) -> None:
    place.app.push_screen(HelpScreen(place))


def _open(place: Workplace, argument: str) -> None:
    place.open_place(argument)


def _merge(place: Workplace, argument: str) -> None:
    place.logs.merging.open(argument)


def _nodes(place: Workplace, argument: str) -> None:
    place.app.push_screen(NodesScreen(place))


def _timeline(place: Workplace, argument: str) -> None:
    place.app.push_screen(TimelineScreen(place))


def _compare(place: Workplace, argument: str) -> None:
    place.app.push_screen(CompareScreen(place))


def _similar(place: Workplace, argument: str) -> None:
    place.app.push_screen(SimilarScreen(place))


def _knowledge(place: Workplace, argument: str) -> None:
    place.app.push_screen(KnowledgeScreen(place, argument))


def _hypotheses(place: Workplace, argument: str) -> None:
    place.recall_hypotheses()


def _actions(place: Workplace, argument: str) -> None:
    place.app.push_screen(ActionsScreen(place.table.case.verdict.action, place.steps_done))


def _attach(place: Workplace, argument: str) -> None:
    place.attach(argument)


def _confirm(place: Workplace, argument: str) -> None:
    note, fix = _note_and_fix(argument)
    place.rule(Ruling(note=note, fix=fix))


def _correct(place: Workplace, argument: str) -> None:
    cause, _, rest = argument.partition(" ")
    note, fix = _note_and_fix(rest)
    place.rule(Ruling(cause=cause, note=note, fix=fix))


def _note_and_fix(text: str) -> tuple[str, str]:
    """`a bad cable, fixed by a new one`: what it was, and what fixed it."""
    note, _, fix = f" {text}".partition(" fixed by ")
    return note.strip(" ,;"), fix.strip()


def _export(place: Workplace, argument: str) -> None:
    turns = place.talk.dialogue.history if place.talk.dialogue else ()
    try:
        place.tell(f"written: {export(Path(argument), place.table.case, turns)}")
    except UsageError as error:
        place.tell(f"{error.message}; {error.hint}", warning=True)


def _sessions(place: Workplace, argument: str) -> None:
    place.show_sessions()


def _new(place: Workplace, argument: str) -> None:
    place.turn_to(None)


def _stop(place: Workplace, argument: str) -> None:
    if not place.talk.stop():
        place.tell("no answer is being written")


def _edit(place: Workplace, argument: str) -> None:
    place.call_later(place.action_edit)


def _newcomer(place: Workplace, argument: str) -> None:
    place.talk.newcomer = not place.talk.newcomer
    place.tell("terms are explained" if place.talk.newcomer else "terms are no longer explained")


def _language(place: Workplace, argument: str) -> None:
    place.talk.language = argument[:35]
    place.tell(f"answers are asked for in {plain(argument, 35)}")


def _copy(place: Workplace, argument: str) -> None:
    text = place.talk.last_answer()
    place.tell("the last answer is copied" if text else "there is no answer yet")
    if text:
        place.app.copy_to_clipboard(text)


def _plain(place: Workplace, argument: str) -> None:
    place.call_later(place.app.run_action, "app.copy_mode")


def _mouse(place: Workplace, argument: str) -> None:
    place.call_later(place.app.run_action, "app.mouse")


def _theme(place: Workplace, argument: str) -> None:
    known = sorted(place.app.available_themes)
    if argument in known:
        place.app.theme = argument
    else:
        place.tell(f"themes: {', '.join(known)}", warning=bool(argument))


def _quit(place: Workplace, argument: str) -> None:
    place.app.exit()


DEEDS: Mapping[str, Deed] = {
    "help": _help,
    "open": _open,
    "merge": _merge,
    "nodes": _nodes,
    "timeline": _timeline,
    "compare": _compare,
    "similar": _similar,
    "knowledge": _knowledge,
    "hypotheses": _hypotheses,
    "actions": _actions,
    "attach": _attach,
    "confirm": _confirm,
    "correct": _correct,
    "export": _export,
    "sessions": _sessions,
    "new": _new,
    "stop": _stop,
    "edit": _edit,
    "newcomer": _newcomer,
    "language": _language,
    "copy": _copy,
    "plain": _plain,
    "mouse": _mouse,
    "theme": _theme,
    "quit": _quit,
}
