"""Gives the mouse back to the terminal, so that it can mark text, and takes it again.

Textual (8.2) decides about the mouse once, when it starts, and has no public way to change that later. Its drivers do
have two methods for it, which suspending uses, and a flag that says whether coming back takes the mouse. These private
members are used here and nowhere else; a test compares them with the installed library.
"""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.driver import Driver

MEMBERS = ("_enable_mouse_support", "_disable_mouse_support")


def taken(app: App[Any]) -> bool:
    """Whether the program gets what the mouse does."""
    driver = _driver(app)
    return driver is not None and bool(driver._mouse)


def take(app: App[Any], wanted: bool) -> None:
    """Takes the mouse, or gives it back; a driver that knows no mouse is left alone."""
    driver = _driver(app)
    if driver is None or driver._mouse == wanted:
        return
    # The methods do nothing while the flag is off, and suspending and coming back go by it.
    driver._mouse = True
    getattr(driver, MEMBERS[0] if wanted else MEMBERS[1])()
    driver._mouse = wanted


def _driver(app: App[Any]) -> Driver | None:
    driver = app._driver
    return driver if driver is not None and all(hasattr(driver, name) for name in MEMBERS) else None
