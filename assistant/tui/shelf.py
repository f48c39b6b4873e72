"""Opens what stands outside this case: past incidents beside it, pages of knowledge over it."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from assistant.errors import RootrankError
from assistant.incidents.models import Incident
from assistant.retrieval.documents import Document
from assistant.tui.views.beside_screen import BesideScreen
from assistant.tui.views.page_screen import PageScreen

if TYPE_CHECKING:
    from assistant.tui.workplace import Workplace

KEY = re.compile(r"(?:fault|doc|incident|runbook|ticket):\S.{0,200}")
"""How a document is named, as the search names it."""


class Shelf:
    """The knowledge of one workplace."""

    def __init__(self, place: Workplace) -> None:
        self._place = place

    def open(self, key: str) -> None:
        """Opens a document. All of them are read to find it: in a thread."""
        self._place.run_worker(
            lambda: self._find(key), thread=True, group="shelf", exclusive=True, exit_on_error=False
        )  # fmt: skip

    def _find(self, key: str) -> None:
        place = self._place
        with contextlib.suppress(RuntimeError):
            try:
                page = place.workshop.page(key)
            except RootrankError as error:
                place.app.call_from_thread(place.tell, f"{error.message}; {error.hint}", warning=True)
            else:
                place.app.call_from_thread(self._show, page)

    def _show(self, page: Document | Incident) -> None:
        screen = BesideScreen(self._place, page) if isinstance(page, Incident) else PageScreen(page)
        self._place.app.push_screen(screen)
