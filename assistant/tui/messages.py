"""What widgets tell the screen."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


@dataclass
class PlaceWanted(Message):
    """A person wants to see what is cited: `E7`, `S1`, `T3`, or `n03/rank-7.err:118`."""

    name: str


@dataclass
class Asked(Message):
    """A person sent a question or a slash command."""

    text: str


@dataclass
class RowWanted(Message):
    """A person picked a foldable row of the conversation."""

    name: str
