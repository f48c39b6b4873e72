"""Outside text is drawn as it stands, by every widget that shows it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from assistant.case.text import clean
from assistant.tui.safe import LONGEST, literal, literal_lines, plain
from tests.tui import outside

ROOM = Path(__file__).resolve().parents[2] / "assistant/tui"
MARKED = re.compile(r"markup=True|from_markup\(|Content\.from_text\(|from_rich_text\(|\bLabel\(|\bStatic\(|\bRichLog\(")
"""Ways to show text that read markup unless they are told not to."""
ALLOWED = {"safe.py": "class Literal(Static)"}
NOTED = re.compile(r"\.notify\((?!.*markup=False)")
TAG = re.compile(r"\[/?[a-z$@#][^\]]*\]|\[/\]")


@pytest.mark.parametrize("text", outside.EVERY)
def test_every_character_of_a_line_is_shown_and_does_nothing(text: str) -> None:
    shown = literal(text).plain
    assert shown == plain(text)
    assert shown.isprintable()
    assert len(shown) < LONGEST + 100
    assert shown[:100] == clean(text[:LONGEST])[:100]


def test_brackets_are_no_markup() -> None:
    assert "[rank0]: [bold red]NCCL error[/]" in literal(outside.MARKUP).plain
    assert not literal(outside.MARKUP).spans


def test_what_is_left_out_is_told() -> None:
    assert "995,904 characters more" in plain(outside.LONG)


def test_lines_stay_lines_and_are_bounded() -> None:
    assert literal_lines("a\nb").plain == "a\nb"
    assert literal_lines("\n" * 9, most=3).plain.count("\n") == 2


def tagged(source: str) -> list[int]:
    """Lines with markup around something that is filled in. Raw strings are expressions, where brackets are classes."""
    strings = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.JoinedStr)]
    plain_ones = [node for node in strings if "r" not in (ast.get_source_segment(source, node) or "")[:2].lower()]
    parts = [part for node in plain_ones for part in node.values if isinstance(part, ast.Constant)]
    return [part.lineno for part in parts if TAG.search(str(part.value))]


def test_the_search_for_markup_finds_it() -> None:
    assert tagged('x = f"[bold]{name}[/bold]"\ny = f"{names[number]}"\nz = rf"[a-z]{{1}}{name}"') == [1, 1]


def test_no_module_shows_text_in_a_way_that_reads_markup() -> None:
    found = []
    for path in sorted(ROOM.rglob("*.py")):
        source = path.read_text("utf-8")
        found += [f"{path.name}:{number}" for number in tagged(source)]
        for number, line in enumerate(source.splitlines(), start=1):
            code = line.split("#")[0].replace(ALLOWED.get(path.name, "\0"), "")
            if MARKED.search(code) or NOTED.search(code):
                found.append(f"{path.name}:{number}: {line.strip()}")
    assert found == []
