"""Outside text is drawn as it stands, by every widget that shows it."""

from __future__ import annotations

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
INTERPOLATED = re.compile(r"""f["'][^"']*\[/?[a-z$@#][^"'\]]*\][^"']*\{|\{[^}]*\}[^"']*\[/[a-z]*\]""")


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


def test_no_module_shows_text_in_a_way_that_reads_markup() -> None:
    found = []
    for path in sorted(ROOM.rglob("*.py")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            code = line.split("#")[0].replace(ALLOWED.get(path.name, "\0"), "")
            if MARKED.search(code) or NOTED.search(code) or INTERPOLATED.search(code):
                found.append(f"{path.name}:{number}: {line.strip()}")
    assert found == []
