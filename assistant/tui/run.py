"""Runs the workplace until a person, or a lost terminal, ends it."""

from __future__ import annotations

from assistant.tui.app import RootrankApp
from assistant.tui.ports import Workshop


def run(workshop: Workshop) -> None:
    """Raises the error that kept the workplace from opening, if one did."""
    app = RootrankApp(workshop)
    try:
        error = app.run(mouse=workshop.look.mouse)
    finally:
        workshop.close()
    if error is not None:
        raise error
