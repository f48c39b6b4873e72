"""Cuts documents into passages: at headings first, then at paragraphs and lines, no longer than an encoder reads.

Short neighbours stay together: a heading with one sentence below it says little alone, and each passage costs time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from assistant.retrieval.documents import Document, Section

VERSION = 1
"""Counts up with every change here: an index made otherwise is rebuilt."""
LONGEST = 1_000
"""Characters of a passage, about 200 words: MiniLM reads no more than 256 pieces of words."""
JOINED = 700
"""Characters up to which neighbours are put together."""
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
    named: bool = False
    """Stands for the whole document in the words of its title alone; words are not searched in it."""

    @property
    def spoken(self) -> str:
        """What an encoder is given: the passage with what it is about."""
        if self.named:
            return self.document.title
        about = f"{self.document.title} - {self.heading}" if self.heading else self.document.title
        return f"{about}\n{self.text}"


def chunks_of(document: Document) -> list[Chunk]:
    """The passages of a document, in order; the title alone where there is no text."""
    sections = document.sections or (Section("", document.title),)
    pieces = _joined([piece for section in sections for piece in _pieces(section)])
    return [
        Chunk(document, number, piece.heading, piece.text, piece.line) for number, piece in enumerate(pieces[:MOST])
    ]


def name_of(document: Document) -> Chunk:
    """One more passage for what compares by meaning: a title says in few words what a page is long about."""
    first, *others = chunks_of(document)
    return Chunk(document, len(others) + 1, first.heading, first.text, first.line, named=True)


def _joined(pieces: list[Section]) -> list[Section]:
    """Neighbours put together while they are short; within, the heading of each stays as a line of its own."""
    joined: list[Section] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last is None or len(last.text) + len(piece.text) + len(piece.heading) > JOINED:
            joined.append(piece)
            continue
        told = f"{piece.heading}: {piece.text}" if piece.heading not in ("", last.heading) else piece.text
        joined[-1] = Section(last.heading, f"{last.text}\n\n{told}", last.line)
    return joined


def _pieces(section: Section) -> Iterator[Section]:
    """Parts of a section that are short enough, each with its line."""
    line = section.line + (1 if section.heading else 0)
    held, at = "", line
    for paragraph in _bounded(section.text):
        if held and len(held) + len(paragraph) > LONGEST:
            yield Section(section.heading, held.strip("\n"), at if section.line else 0)
            held, at = "", line
        held += paragraph
        line += paragraph.count("\n")
    if held.strip():
        yield Section(section.heading, held.strip("\n"), at if section.line else 0)


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
