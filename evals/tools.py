"""All tools that can be asked: ourselves, ourselves with parts taken out, and the rivals that are installed."""

from __future__ import annotations

from collections.abc import Sequence

from assistant.errors import UsageError
from evals.ours import Rootrank
from evals.prediction import Tool
from evals.rivals import tools as rivals

OURS = Rootrank()
ALONE = Rootrank("rootrank, no healthy runs", with_baselines=False)


def all_tools() -> tuple[Tool, ...]:
    """Ourselves first."""
    return (OURS, ALONE, *rivals())


def chosen(names: Sequence[str]) -> tuple[Tool, ...]:
    """The tools of some names, all where none is named. Raises UsageError for a name that there is not."""
    known = {tool.name: tool for tool in all_tools()}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UsageError(f"there is no tool {unknown[0]!r}", hint=f"one of: {', '.join(known)}")
    return tuple(known[name] for name in names) if names else tuple(known.values())
