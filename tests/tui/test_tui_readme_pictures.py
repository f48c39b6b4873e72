"""The pictures that the documents show: they are there, and the workplace still looks like that."""

from __future__ import annotations

import asyncio
import html
import re
from pathlib import Path

import pytest

from assistant.cli.demo import examples
from assistant.pipeline import diagnose
from evals.pictures import DOCS, QUESTION, asked, workplace

NAMED = re.compile(r"!\[[^\]]+\]\(([^)\s]+\.svg)\)")


def pictures(document: Path) -> list[Path]:
    return [document.parent / name for name in NAMED.findall(document.read_text("utf-8"))]


@pytest.mark.parametrize(
    ("document", "names"),
    [(DOCS.parent / "README.md", ["demo.svg", "chat.svg"]), (DOCS / "chat.md", ["chat-log.svg"])],
    ids=["README", "chat"],
)
def test_the_pictures_that_a_document_shows_are_there(document: Path, names: list[str]) -> None:
    found = pictures(document)
    assert [path.name for path in found] == names
    assert all(path.read_text("utf-8").startswith("<svg") for path in found)


def test_the_workplace_drawn_anew_shows_the_verdict_and_the_question() -> None:
    example = examples()["hanging-rank"]
    drawn = html.unescape(asyncio.run(workplace(example, asked))).replace("\xa0", " ")
    verdict = diagnose([str(example)]).verdict
    assert verdict.cause in drawn
    assert QUESTION in drawn
    assert "T1" in drawn
