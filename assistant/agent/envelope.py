"""How data is told apart from words of ours: each piece stands in a tag whose name a log cannot guess."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field

NAME = "evidence"
_TAG = re.compile(rf"<(?=\s*/?\s*{NAME})", re.IGNORECASE)
_CONTROL = re.compile(
    r"<(?=\|)|(?<=\|)>|\[(?=/?INST\])|<(?=/?(?:s|think|thinking|tool_call|system|user|assistant)>)", re.I
)
"""What servers of models may take for the marks of a conversation."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """One conversation's tag."""

    nonce: str = field(default_factory=lambda: secrets.token_hex(4))

    @property
    def tag(self) -> str:
        """The tag's name."""
        return f"{NAME}-{self.nonce}"

    def wrap(self, name: str, tool: str, text: str) -> str:
        """A tool's result as data: nothing in it can end the tag or look like a part of the conversation."""
        return f'<{self.tag} id="{name}" tool="{tool}">\n{self.escaped(text)}\n</{self.tag}>'

    def escaped(self, text: str) -> str:
        """Text in which our tag and a server's own marks are spelled so that they mean nothing."""
        return _CONTROL.sub("&#60;", _TAG.sub("&lt;", text)).replace(self.nonce, "(mark)")
