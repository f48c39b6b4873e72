"""Opens the offline answerer as the settings want it: what its sayings taught, and who gives a second opinion."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from assistant.errors import RootrankError

if TYPE_CHECKING:
    from assistant.answers.meaning import Meaning
    from assistant.answers.offline import OfflineAnswerer
    from assistant.config import Settings
    from assistant.tools.calls import Calls

FOLDER = "sayings"
"""Below the data folder: a cache that may be removed at any time."""


def offline_answerer(calls: Calls, settings: Settings) -> OfflineAnswerer:
    """The answerer that needs no model, ready for a question."""
    from assistant.answers.intents import examples_of, load_intents
    from assistant.answers.meaning import SecondOpinion
    from assistant.answers.offline import OfflineAnswerer
    from assistant.case.store import data_dir

    cache = data_dir(settings.storage.data_dir) / FOLDER
    intents = load_intents(cache=cache)
    second = SecondOpinion(lambda: _meaning(settings), examples_of(intents.file), cache)
    return OfflineAnswerer(calls, intents, second)


def learn(settings: Settings) -> None:
    """Learns from the sayings, once for all: the first question of a chat need not wait for it, nor the verdict."""
    from assistant.answers.intents import load_intents
    from assistant.case.store import data_dir

    with contextlib.suppress(RootrankError):
        load_intents(cache=data_dir(settings.storage.data_dir) / FOLDER).likeness  # noqa: B018


def _meaning(settings: Settings) -> Meaning | None:
    """The embedded model without torch, where it is installed and wanted."""
    from assistant.retrieval.bert import light

    return light(settings.retrieval)
