"""Cuts documents into passages: by heading first, then at paragraphs and lines, no longer than an encoder reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from assistant.retrieval.documents import Document, Section

VERSION = 1
"""Counts up with every change here: an index made otherwise is rebuilt."""
LONGEST = 1_000
"""Characters of a passage, about 200 words: MiniLM reads no more than 256 pieces of words."""
MOST = 2_000
"""Passages of one document; what follows is not searched."""

_PARAGRAPH = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage before it is stored."""

    document: Document
    number: int
    heading: str
    text: str
    line: int

    @property
    def spoken(self) -> str:
        """What an encoder is given: the passage with what it is about."""
        about = f"{self.document.title} - {self.heading}" if self.heading else self.document.title
        return f"{about}\n{self.text}"


def chunks_of(document: Document) -> list[Chunk]:
    """The passages of a document, in order; the title alone where there is no text."""
    sections = document.sections or (Section("", document.title),)
    pieces = [(section, *piece) for section in sections for piece in _pieces(section)]
    return [
        Chunk(document, number, section.heading, text, line)
        for number, (section, text, line) in enumerate(pieces[:MOST])
    ]


def _pieces(section: Section) -> Iterator[tuple[str, int]]:
    """Parts of a section that are short enough, each with its line."""
    offset = 1 if section.heading else 0
    held, line = "", section.line + offset
    at = line
    for paragraph in _bounded(section.text):
        if held and len(held) + len(paragraph) > LONGEST:
            yield held.strip("\n"), at if section.line else 0
            held, at = "", line
        held += paragraph
        line += paragraph.count("\n")
    if held.strip():
        yield held.strip("\n"), at if section.line else 0


def _bounded(text: str) -> Iterator[str]:
    """Paragraphs with the blank lines after them; of long ones the lines, of long lines the parts."""
    start = 0
    for end in [*(match.end() for match in _PARAGRAPH.finditer(text)), len(text)]:
        paragraph = text[start:end]
        start = end
        yield from [paragraph] if len(paragraph) <= LONGEST else _lines(paragraph)


def _lines(paragraph: str) -> Iterator[str]:
    for line in paragraph.splitlines(keepends=True):
        while len(line) > LONGEST:
            cut = line.rfind(" ", LONGEST // 2, LONGEST) + 1 or LONGEST
            yield line[:cut]
            line = line[cut:]
        yield line
