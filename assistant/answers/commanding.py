"""Commands in a sentence, in code marks or bare, and those of them that nobody has vouched for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from assistant.answers.claims import CITATION, is_command
from assistant.answers.language import COMMANDS
from assistant.tools.commands import Commands

_CODE = re.compile(r"`([^`\n]{1,400})`")
_PROGRAMS = "|".join(sorted(map(re.escape, COMMANDS), key=lambda name: (-len(name), name)))
_BARE = re.compile(
    rf"(?<![\w./`-])(?:sudo\s+)?(?:{_PROGRAMS})\s+"
    r"(?:-{1,2}[A-Za-z0-9]|~?/|\w+=/|[A-Za-z]+://|\S+\s*\|\s*(?:sudo\s+)?(?:ba|z)?sh\b)[^\n\[\]]{0,400}"
)
"""A command line outside of code marks: a program with an option, a path or an address behind it."""
_NEXT = re.compile(r"\s(?:on|to|and|before|after|then|while|for|in|if|so|until|again|now)\s")
"""Where prose goes on behind a bare command."""
PART = 3_000
"""Characters that are looked at at once; a longer row or block is looked at in parts."""


def strange_commands(sentence: str, commands: Callable[[], Commands], shown: str) -> tuple[str, ...]:
    """The commands of a sentence that neither the case nor the knowledge holds, and that do more than look."""
    return tuple(dict.fromkeys(one for one in _commands(sentence) if not commands().knows(one, shown)))


def _commands(sentence: str) -> Iterator[str]:
    for at in range(0, len(sentence), PART):
        part = sentence[at : at + PART]
        yield from (found[1] for found in _CODE.finditer(part) if is_command(found[1]))
        for found in _BARE.finditer(CITATION.sub(" ", _CODE.sub(" ", part))):
            yield _NEXT.split(found[0].strip(), maxsplit=1)[0].rstrip(".,;:!?)\"' ")
