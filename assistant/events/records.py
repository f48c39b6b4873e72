"""Which lines make one record: a small machine that walks forward from a record's first line within one stream."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from assistant.events.kinds import Kind

MOST_LINES = 500
MOST_FOREIGN = 20
"""Timed lines of others that may stand within an unlabelled traceback."""
MOST_BOX = 40
"""Lines of an Open MPI help box."""


class State(Enum):
    """Where in a record the walk is."""

    TAIL = auto()
    """After an ordinary line: only attached lines join it."""
    BODY = auto()
    """Inside a traceback."""
    AFTER = auto()
    """After the exception line."""
    CHAINED = auto()
    """After a line that announces a traceback."""
    CPP = auto()
    FATAL = auto()
    SIGNAL = auto()
    ELASTIC = auto()
    BOX = auto()


class Step(Enum):
    """What to do with the next line."""

    TAKE = auto()
    KEY = auto()
    """Take it; it is the line that names the failure."""
    SKIP = auto()
    """It belongs to another record, this one goes on behind it."""
    LAST = auto()
    """Take it and close."""
    END = auto()
    """Close before it."""


@dataclass(slots=True)
class Walk:
    """A record being joined."""

    state: State
    lines: int = 1
    foreign: int = 0
    last: int = 0
    """Flags of the line taken last."""
    key: int = 0
    """Flags of the key line."""


_HEADS = (
    (Kind.TRACEBACK, State.BODY),
    (Kind.PREAMBLE, State.CHAINED),
    (Kind.TERMINATE, State.CPP),
    (Kind.FATAL, State.FATAL),
    (Kind.SIGNAL, State.SIGNAL),
)
HEADS = Kind.TRACEBACK | Kind.PREAMBLE | Kind.TERMINATE | Kind.FATAL | Kind.SIGNAL


def opening(flags: int, previous: int) -> Walk:
    """The walk that starts at a line, given the line before it in the stream."""
    for kind, state in _HEADS:
        if flags & kind:
            return Walk(state, last=flags, key=flags)
    if flags & Kind.FAILED and previous & Kind.EQUALS:
        return Walk(State.ELASTIC, last=flags, key=flags)
    if flags & Kind.SENTENCE and previous & Kind.DASHES and not flags & (Kind.TIMED | Kind.MARKED):
        return Walk(State.BOX, last=flags, key=flags)
    return Walk(State.TAIL, last=flags, key=flags)


def advance(walk: Walk, flags: int) -> Step:
    """Judge the next line and move on."""
    if walk.lines >= MOST_LINES:
        return Step.END
    step = _JUDGES[walk.state](walk, flags)
    if step is Step.SKIP:
        walk.foreign += 1
        return step if walk.foreign <= MOST_FOREIGN else Step.END
    if step is not Step.END:
        walk.lines += 1
        walk.last = flags
        if step is Step.KEY:
            walk.key = flags
    return step


def _in_tail(walk: Walk, flags: int) -> Step:
    if flags & Kind.ATTACHED or walk.last & Kind.LAST_ERROR:
        return Step.TAKE
    if walk.last & Kind.FRAME and flags & Kind.INDENT:
        walk.foreign = 0
        return Step.TAKE
    return Step.LAST if walk.last & Kind.FRAME and flags & Kind.EQUALS else Step.END


def _in_body(walk: Walk, flags: int) -> Step:
    if flags & Kind.INDENT:
        return Step.TAKE
    if flags & Kind.TRACEBACK:
        return Step.END
    if flags & Kind.CHAIN:
        walk.state = State.CHAINED
        return Step.TAKE
    if flags & Kind.TIMED and not flags & Kind.EXCEPTION:
        return Step.SKIP
    walk.state = State.AFTER
    return Step.KEY


def _after_exception(walk: Walk, flags: int) -> Step:
    if flags & Kind.CHAIN:
        walk.state = State.CHAINED
        return Step.TAKE
    if flags & Kind.EQUALS and walk.key & Kind.CHILD_FAILED:
        walk.state = State.ELASTIC
        return Step.TAKE
    return Step.TAKE if flags & (Kind.INDENT | Kind.ATTACHED) or walk.last & Kind.LAST_ERROR else Step.END


def _after_chain(walk: Walk, flags: int) -> Step:
    if flags & Kind.TRACEBACK:
        walk.state = State.BODY
        return Step.TAKE
    return Step.TAKE if flags & Kind.INDENT else Step.END


def _in_cpp(_: Walk, flags: int) -> Step:
    if flags & Kind.WHAT:
        return Step.KEY
    return Step.TAKE if flags & (Kind.INDENT | Kind.ATTACHED) else Step.END


def _in_fatal(_: Walk, flags: int) -> Step:
    return Step.TAKE if flags & (Kind.FATAL_BODY | Kind.INDENT) else Step.END


def _in_signal(_: Walk, flags: int) -> Step:
    if flags & Kind.SIGNAL_END:
        return Step.LAST
    if flags & HEADS:
        return Step.END
    return Step.TAKE if flags & (Kind.SIGNAL_BODY | Kind.INDENT | Kind.ATTACHED) else Step.END


def _in_elastic(_: Walk, flags: int) -> Step:
    return Step.LAST if flags & Kind.EQUALS else Step.TAKE


def _in_box(walk: Walk, flags: int) -> Step:
    if flags & Kind.DASHES:
        return Step.LAST
    if walk.lines >= MOST_BOX or flags & (Kind.TIMED | Kind.MARKED | Kind.TRACEBACK):
        return Step.END
    return Step.TAKE


_JUDGES = {
    State.TAIL: _in_tail,
    State.BODY: _in_body,
    State.AFTER: _after_exception,
    State.CHAINED: _after_chain,
    State.CPP: _in_cpp,
    State.FATAL: _in_fatal,
    State.SIGNAL: _in_signal,
    State.ELASTIC: _in_elastic,
    State.BOX: _in_box,
}
