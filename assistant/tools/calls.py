"""Calls of tools within one conversation: numbered, checked, bounded, never twice the same, within a budget.

A tool runs in a thread that nothing can stop. So a turn has a handle: when a person stops it, what its tool still finds
is dropped, and a tool of the next turn waits until that one has let go of the desk.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import orjson

from assistant.case.models import Evidence
from assistant.tools.asking import asked, refusal, result_of
from assistant.tools.desk import Desk
from assistant.tools.finding import Finding
from assistant.tools.models import ResultStatus, ToolResult
from assistant.tools.spills import SHOWN_CHARACTERS

LOOK = 0.2
"""Seconds between two looks whether the turn of a waiting call was stopped."""
_Found = TypeVar("_Found")


@dataclass(slots=True, eq=False)
class TurnCalls:
    """The calls of one turn. Once it is over, nothing that they find is kept."""

    made: int = 0
    asked: dict[bytes, str] = field(default_factory=dict)
    over: bool = False


@dataclass(slots=True)
class Calls:
    """The calls of one conversation. `begin_turn` starts a new budget; ids count on. Safe in threads."""

    desk: Desk
    characters: int = SHOWN_CHARACTERS
    """Characters of a result that are shown at once."""
    per_turn: int = 24
    """Calls that one turn may make."""
    results: dict[str, ToolResult] = field(default_factory=dict)
    """All results by id."""
    explanations: dict[str, str] = field(default_factory=dict)
    """Explanations that were considered: cause by id, `H1`."""
    _turn: TurnCalls = field(default_factory=TurnCalls)
    _last: int = 0
    _numbering: threading.Lock = field(default_factory=threading.Lock)
    """Held for moments only, so that an event loop may wait for it."""
    _one: threading.Lock = field(default_factory=threading.Lock)
    """Held while the desk is in use: it serves one call at a time."""

    def begin_turn(self) -> TurnCalls:
        """A new question: the budget is fresh, what was asked before may be asked again, and the last turn is over."""
        with self._numbering:
            self._turn.over = True
            self._turn = TurnCalls()
            return self._turn

    def end_turn(self, turn: TurnCalls) -> None:
        """The turn is over, done or stopped."""
        with self._numbering:
            turn.over = True

    @property
    def turn(self) -> TurnCalls:
        """The turn that began last."""
        return self._turn

    def claim_id(self) -> str:
        """An id that no other call has or gets."""
        with self._numbering:
            self._last = max(self._last, *map(_number, self.results), 0) + 1
            return f"T{self._last}"

    def taken(self, id: str) -> None:
        """An id of an earlier sitting that must not come again."""
        with self._numbering:
            self._last = max(self._last, _number(id))

    def call(self, name: str, arguments: Mapping[str, Any], turn: TurnCalls | None = None, id: str = "") -> ToolResult:
        """Asks a tool. Raises nothing: an unknown tool, wrong arguments and failures are results.

        Args:
            name: of the tool.
            arguments: what it takes.
            turn: on whose budget; the one that began last.
            id: claimed before; else one is claimed.
        """
        turn, id = turn or self._open_turn(), id or self.claim_id()
        if not self._reached(turn):
            return _dropped(id, name, arguments)
        try:
            started = time.monotonic()
            finding = self._refused(name, arguments, turn, id) or asked(self.desk, name, arguments)
            seconds = time.monotonic() - started
        finally:
            self._one.release()
        result, rows = result_of(id, name, arguments, finding, self.characters, seconds)
        return result if self._kept(result, rows, turn) else _dropped(id, name, arguments)

    def add(self, name: str, arguments: Mapping[str, Any], text: str, evidence: Iterable[Evidence]) -> ToolResult:
        """Keeps what no tool found but answers may rest on, such as a line that a person marked."""
        result = ToolResult(
            id=self.claim_id(), tool=name, arguments=dict(arguments), status=ResultStatus.FOUND, text=text,
            evidence=tuple(evidence),
        )  # fmt: skip
        with self._numbering:
            self._keep(result, ())
        return result

    def consider(self, cause: str) -> str:
        """The id of an explanation, the same whenever it comes up again."""
        with self._numbering:
            known = next((name for name, held in self.explanations.items() if held == cause), None)
            name = known or f"H{max(map(_number, self.explanations), default=0) + 1}"
            self.explanations[name] = cause
            return name

    def aside(self, ask: Callable[[Desk], _Found]) -> _Found:
        """Asks the desk outside any turn, when no call is at work; nothing is numbered or kept.

        Raises what `ask` raises.
        """
        with self._one:
            return ask(self.desk)

    def _open_turn(self) -> TurnCalls:
        return self.begin_turn() if self._turn.over else self._turn

    def _reached(self, turn: TurnCalls) -> bool:
        """Takes the desk; False where the turn was over before it was free."""
        while not self._one.acquire(timeout=LOOK):
            if turn.over:
                return False
        over = turn.over
        if over:
            self._one.release()
        return not over

    def _kept(self, result: ToolResult, rows: tuple[str, ...], turn: TurnCalls) -> bool:
        with self._numbering:
            if not turn.over:
                self._keep(result, rows)
            return not turn.over

    def _keep(self, result: ToolResult, rows: tuple[str, ...]) -> None:
        if rows:
            self.desk.spilled[result.id] = rows
        self.results[result.id] = result
        self.desk.shown.add(result.evidence)

    def _refused(self, name: str, arguments: Mapping[str, Any], turn: TurnCalls, id: str) -> Finding | None:
        turn.made += 1
        if turn.made > self.per_turn:
            return refusal(f"{self.per_turn} calls are made; answer now from what you have, and say what is missing.")
        key = orjson.dumps([name, dict(arguments)], option=orjson.OPT_SORT_KEYS, default=str)
        earlier = turn.asked.setdefault(key, id)
        if earlier != id:
            return refusal(f"{earlier} is the answer to this very call. Ask something else, or answer.")
        return None


def _dropped(id: str, name: str, arguments: Mapping[str, Any]) -> ToolResult:
    """What a call of a stopped turn gives; it is kept nowhere."""
    text = "This turn was stopped."
    return ToolResult(id=id, tool=name, arguments=dict(arguments), status=ResultStatus.REFUSED, text=text)


def _number(id: str) -> int:
    return int(id[1:]) if id[1:].isdecimal() and len(id) < 10 else 0
