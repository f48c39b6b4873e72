"""What the slash commands do: one function a command, by the names of the registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from assistant.tui.commands import BY_NAME, COMMANDS, usage
from assistant.tui.help_screen import HelpScreen
from assistant.tui.safe import plain

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
    "stop": _stop,
    "edit": _edit,
    "newcomer": _newcomer,
    "language": _language,
    "copy": _copy,
    "theme": _theme,
    "quit": _quit,
}
