"""No text can keep a pattern busy: not those that people edit, and not those that stand in the code."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import assistant
from assistant.faults.attacks import LENGTH
from assistant.faults.hostile import Pattern, slow_patterns
from assistant.faults.ways import check_dialects
from assistant.intake.dialects import load_dialects

LIMIT = 2.0
NAME = 512
"""Names of files and members are cut to fewer characters (assistant/intake/names.py)."""
OF_NAMES = {
    "assistant.intake.jobs",
    "assistant.intake.names",
    "assistant.intake.nodelists",
    "assistant.intake.origins",
    "assistant.intake.rotation",
    "assistant.intake.selection",
}
"""Modules whose patterns read names, not lines."""
OF_SHORT_TEXTS = {
    "assistant.answers.claims",
    "assistant.answers.entities",
    "assistant.answers.grounds",
    "assistant.answers.understanding",
    "assistant.faults.gate",
    "assistant.faults.literals",
}
"""Modules whose patterns read single sentences and questions, or expressions of the library."""
SEARCHING = r"\b{}\.(?:search|sub|subn|split|findall|finditer)\b"


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(assistant.__path__, "assistant."):
        if not found.name.endswith("__main__"):
            with suppress(ImportError):  # a face whose extra is not installed
                yield importlib.import_module(found.name)


def held(value: object, depth: int = 3) -> Iterator[re.Pattern[str]]:
    """The text patterns in a value, also within tuples and dictionaries."""
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif isinstance(value, tuple | list | set | frozenset) and depth:
        yield from (one for item in value for one in held(item, depth - 1))
    elif isinstance(value, dict) and depth:
        yield from (one for item in value.values() for one in held(item, depth - 1))


def patterns_of(module: ModuleType) -> Iterator[Pattern]:
    source = inspect.getsource(module)
    length = NAME if module.__name__ in OF_NAMES else 4_000 if module.__name__ in OF_SHORT_TEXTS else LENGTH
    for name, value in sorted(vars(module).items()):
        anchored = isinstance(value, re.Pattern) and not re.search(SEARCHING.format(re.escape(name)), source)
        for found in held(value):
            yield Pattern(f"{module.__name__}.{name}", found.pattern, "re", found.flags, anchored, length)


def in_code() -> list[Pattern]:
    every = [pattern for module in modules() for pattern in patterns_of(module)]
    return list({(one.regex, one.flags, one.anchored, one.length): one for one in every}.values())


def test_no_pattern_in_the_code_explodes_on_what_it_can_meet() -> None:
    patterns = in_code()
    assert len(patterns) >= 100
    assert [slow.name for slow in slow_patterns(patterns, LIMIT)] == []


def test_the_dialects_pass_their_check() -> None:
    assert [problem.said() for problem in check_dialects()] == []


def test_a_broken_dialect_is_named_and_the_others_are_checked(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("id: [", encoding="utf-8")
    (problem,) = check_dialects(load_dialects([tmp_path], strict=False))
    assert "mine.yaml" in problem.message
    assert problem.remedy
