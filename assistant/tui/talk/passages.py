"""Checked pieces of an answer as styled lines: the Markdown that answers use, and nothing that outside text can forge.

No HTML, no images, no link syntax and no link definitions are read: `[rank0]: text` stays as it stands. A piece that
the check did not find supported is marked, and every citation becomes a link.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from textual.content import Content
from textual.style import Style

from assistant.answers.models import Replaced, Standing, Text
from assistant.tui.safe import literal, plain

Piece = Text | Replaced
MARK = "⚠ "
"""Stands before what the check did not find supported."""
_JOINED = "\ue000"
"""Stands for the space of a mark while lines are wrapped, so that no mark is left alone at the end of one."""
FROM, TO = "\u2e28", "\u2e29"
"""Frame an unsupported piece in the source that is parsed; rare brackets, replaced where they come from outside."""
_LEAD = re.compile(r"\s*(?:[-*+]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|>\s*)?")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s")
_BLOCKS = ("```", "~~~", "|")
UNSUPPORTED = "$text-warning italic"
CITE = "cite"
"""Key under which a link carries what it cites."""


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return parser.disable(["reference", "image", "link", "autolink", "html_inline", "html_block", "lheading", "entity"])


def source_of(pieces: Iterable[Piece]) -> str:
    """The Markdown of some pieces, unsupported ones framed; a sentence behind a list is no part of its last item."""
    found: list[str] = []
    in_list = False
    for piece in pieces:
        item = _ITEM.match(piece.text) is not None
        if in_list and not item and found[-1].endswith("\n") and not piece.text.startswith((" ", "\n")):
            found.append("\n")
        found.append(_framed(piece))
        in_list = item or (in_list and not piece.text.strip())
    return "".join(found)


def _framed(piece: Piece) -> str:
    text = piece.text.replace(FROM, "((").replace(TO, "))")
    if piece.standing is not Standing.UNSUPPORTED or not text.strip():
        return text
    if text.lstrip().startswith(_BLOCKS):
        return f"\n\n{FROM}not in the logs as it stands:{TO}\n\n{text.lstrip()}"
    lead = _LEAD.match(text)
    start = lead.end() if lead else 0
    body = text[start:].rstrip()
    return f"{text[:start]}{FROM}{body}{TO}{text[start + len(body) :]}"


def cited_in(pieces: Iterable[Piece]) -> frozenset[str]:
    """Everything that some pieces cite."""
    return frozenset(name for piece in pieces for name in piece.citations)


def lines_of(source: str, citations: frozenset[str], width: int) -> list[Content]:
    """The lines of a passage at a width; an empty line ends it."""
    writer = _Writer(max(10, width), _links(citations))
    writer.write(_parser().parse(source))
    return writer.lines


def _links(citations: frozenset[str]) -> re.Pattern[str] | None:
    names = sorted((plain(name) for name in citations), key=len, reverse=True)
    return re.compile(rf"(?<![\w/])(?:{'|'.join(map(re.escape, names))})(?![\w/])") if names else None


@dataclass(slots=True)
class _Writer:
    """Walks through the tokens of a passage."""

    width: int
    links: re.Pattern[str] | None
    lines: list[Content] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)
    unsupported: bool = False
    indent: int = 0
    bullets: list[int | None] = field(default_factory=list)
    """For each list that is open the number of its next item; None for a list without numbers."""
    lead: str = ""
    """What stands before the next paragraph: a bullet, a number."""
    cells: list[list[Content]] = field(default_factory=list)

    def write(self, tokens: Sequence[Token]) -> None:
        """Writes all of them."""
        for token in tokens:
            getattr(self, f"_{token.type}", self._other)(token)

    def _other(self, token: Token) -> None:
        if token.type.endswith("_close") and not token.hidden and not self.bullets and not self.cells:
            self._gap()

    def _gap(self) -> None:
        if self.lines and self.lines[-1].plain:
            self.lines.append(Content(""))

    def _heading_open(self, token: Token) -> None:
        self.styles.append("bold $text-accent")

    def _heading_close(self, token: Token) -> None:
        self.styles.pop()

    def _bullet_list_open(self, token: Token) -> None:
        self.bullets.append(None)

    def _ordered_list_open(self, token: Token) -> None:
        self.bullets.append(int(token.attrs.get("start", 1)))

    def _bullet_list_close(self, token: Token) -> None:
        self.bullets.pop()
        self._other(token)

    _ordered_list_close = _bullet_list_close

    def _list_item_open(self, token: Token) -> None:
        number = self.bullets[-1]
        self.lead = "• " if number is None else f"{number}. "
        if number is not None:
            self.bullets[-1] = number + 1
        self.indent += len(self.lead)

    def _list_item_close(self, token: Token) -> None:
        number = self.bullets[-1]
        self.indent -= 2 if number is None else len(f"{number - 1}. ")
        self.lead = ""

    def _blockquote_open(self, token: Token) -> None:
        self.indent += 2
        self.styles.append("$foreground-muted")

    def _blockquote_close(self, token: Token) -> None:
        self.indent -= 2
        self.styles.pop()
        self._gap()

    def _hr(self, token: Token) -> None:
        self.lines.append(Content.styled("─" * self.width, "$foreground-muted"))

    def _fence(self, token: Token) -> None:
        for row in token.content.rstrip("\n").split("\n"):
            styled = self._linked(literal(row, "$text-secondary"))
            self._paragraph(styled, keep=True)
        self._gap()

    _code_block = _fence

    def _inline(self, token: Token) -> None:
        content = self._spans(token.children or [])
        if self.cells:
            self.cells[-1].append(content)
        else:
            self._paragraph(content)

    def _table_open(self, token: Token) -> None:
        self.cells.append([])
        self.cells.clear()

    def _tr_open(self, token: Token) -> None:
        self.cells.append([])

    def _table_close(self, token: Token) -> None:
        columns = max((len(row) for row in self.cells), default=0)
        widths = [max((row[at].cell_length for row in self.cells if at < len(row)), default=0) for at in range(columns)]
        for number, row in enumerate(self.cells):
            padded = [cell.pad_right(max(0, size - cell.cell_length)) for cell, size in zip(row, widths, strict=False)]
            joined = Content("  ").join(padded)
            self.lines += _wrapped(joined.stylize("bold") if number == 0 else joined, self.width)
        self.cells.clear()
        self._gap()

    def _paragraph(self, content: Content, keep: bool = False) -> None:
        """Wraps a paragraph behind its bullet."""
        room = max(8, self.width - self.indent)
        rows = content.fold(room) if keep else _wrapped(content, room)
        for number, row in enumerate(rows or [Content("")]):
            lead = f"{self.lead:>{self.indent}}" if number == 0 and self.lead else " " * self.indent
            self.lines.append(Content.assemble((lead, "$text-accent"), row))
        self.lead = ""

    def _spans(self, tokens: Sequence[Token]) -> Content:
        found: list[Content] = []
        opened: list[str] = []
        for token in tokens:
            kind = token.type
            if kind in ("softbreak", "hardbreak"):
                found.append(Content(" " if kind == "softbreak" else "\n"))
            elif kind.endswith("_open"):
                opened.append({"strong_open": "bold", "em_open": "italic", "s_open": "strike"}.get(kind, ""))
            elif kind.endswith("_close"):
                opened.pop()
            else:
                code = ["$text-secondary"] if kind == "code_inline" else []
                found += self._marked(token.content, " ".join([*self.styles, *opened, *code]).strip())
        return self._linked(Content("").join(found))

    def _marked(self, text: str, style: str) -> list[Content]:
        """Text with the frames of unsupported pieces turned into marks."""
        parts: list[Content] = []
        for part in re.split(f"([{FROM}{TO}])", text):
            if part == FROM:
                self.unsupported = True
                parts.append(Content.styled(MARK.replace(" ", _JOINED), "bold $text-warning"))
            elif part == TO:
                self.unsupported = False
            elif part:
                parts.append(literal(part, UNSUPPORTED if self.unsupported else style))
        return parts

    def _linked(self, content: Content) -> Content:
        if self.links is not None:
            for match in self.links.finditer(content.plain):
                content = content.stylize(link(match.group()), match.start(), match.end())
        return content


def _wrapped(content: Content, width: int) -> list[Content]:
    return [Content(row.plain.replace(_JOINED, " "), list(row.spans)) for row in content.wrap(width)]


def link(name: str) -> Style:
    """The style of something that can be opened. It carries the name itself, never an action to run."""
    return Style(underline=True, bold=True) + Style.from_meta({CITE: name})
