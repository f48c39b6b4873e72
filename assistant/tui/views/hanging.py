"""Text behind a word or a sign: its further lines begin below its first one."""

from __future__ import annotations

from textual.content import Content


def hanging(lead: Content, text: Content, width: int) -> Content:
    """The text wrapped at a width, `lead` before its first line. A width of 0 wraps nothing."""
    indent = lead.cell_length
    rows = text.wrap(max(8, width - indent)) if width else [text]
    blank = Content(" " * indent)
    return Content("\n").join([Content.assemble(lead if at == 0 else blank, row) for at, row in enumerate(rows)])
