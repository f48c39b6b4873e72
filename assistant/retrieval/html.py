"""HTML as Markdown text: headings, lists, code and paragraphs; scripts, styles and everything unseen are dropped."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_UNSEEN = frozenset({"script", "style", "template", "noscript", "svg", "iframe", "object", "nav", "head", "form"})
_BLOCKS = frozenset({"p", "div", "section", "article", "ul", "ol", "table", "tr", "blockquote", "dl", "dt", "dd", "br"})
_HEADINGS = {f"h{depth}": depth for depth in range(1, 7)}


def markdown_of(html: str) -> tuple[str, str]:
    """The title (empty where there is none) and the text."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    text = re.sub(r"[ \t]+\n", "\n", "".join(reader.parts))
    return " ".join("".join(reader.title).split()), re.sub(r"\n{3,}", "\n\n", text).strip()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.title: list[str] = []
        self._unseen: list[str] = []
        """Open elements whose text nobody sees."""
        self._in_title = False
        self._code = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self._in_title = True
        elif tag in _UNSEEN:
            self._unseen.append(tag)
        elif tag == "body":
            self._unseen.clear()
        if self._unseen or self._in_title or (tag not in _BLOCKS and tag not in _HEADINGS and tag not in ("li", "pre")):
            return
        self.parts.append({"li": "\n- ", "pre": "\n\n```\n"}.get(tag, "\n" if tag in ("br", "tr") else "\n\n"))
        self._code += tag == "pre"
        if tag in _HEADINGS:
            self.parts.append("#" * _HEADINGS[tag] + " ")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif self._unseen:
            if tag in self._unseen:
                del self._unseen[self._unseen.index(tag) :]
        elif tag == "pre" and self._code:
            self._code -= 1
            self.parts.append("\n```\n\n")
        elif tag in _HEADINGS or tag in _BLOCKS:
            self.parts.append("\n")
        elif tag in ("td", "th"):
            self.parts.append(" | ")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self._unseen:
            self.parts.append(data if self._code else re.sub(r"\s+", " ", data))
