"""Prompts as data: `prompts/*.md`, each with front matter that says what it is and which slots it fills."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistant.errors import PromptError
from assistant.paths import locate

WANTED: dict[str, frozenset[str]] = {
    "system": frozenset({"tag", "language", "style"}),
    "brief": frozenset({"tag", "language", "style"}),
    "newcomer": frozenset(),
    "tools": frozenset(),
    "actions": frozenset({"tools"}),
    "reading": frozenset(),
    "question": frozenset({"evidence", "question"}),
    "finish": frozenset(),
    "form": frozenset(),
    "repair": frozenset({"sentences"}),
}
"""The prompts that the agent asks for, and the slots it fills in each."""
_SLOT = re.compile(r"\{\{([a-z_]+)\}\}")
_FRONT = re.compile(r"\A---\n(.*?)\n---\n(.*)\Z", re.DOTALL)


class Front(BaseModel):
    """The front matter."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal["rootrank.prompt/1"] = Field(alias="schema")
    id: str = Field(pattern=r"[a-z][a-z-]{0,40}")
    version: int = Field(ge=1)
    what: str = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt."""

    id: str
    version: int
    text: str

    def filled(self, **slots: str) -> str:
        """The text with its slots filled; what is filled in is not looked at for slots again."""
        return _SLOT.sub(lambda found: slots[found[1]], self.text)


@dataclass(frozen=True, slots=True)
class Prompts:
    """All prompts by id."""

    by_id: dict[str, Prompt]

    def filled(self, name: str, **slots: str) -> str:
        """One prompt with its slots filled."""
        return self.by_id[name].filled(**slots)

    @property
    def version(self) -> str:
        """What a session notes down: id and version of each."""
        return " ".join(f"{name}/{self.by_id[name].version}" for name in sorted(self.by_id))


def load_prompts(folders: Sequence[Path] | None = None) -> Prompts:
    """The prompts of all folders, a later folder's in place of an earlier one's of the same id.

    Raises PromptError for a file that cannot work, and for a prompt that is missing.
    """
    found: dict[str, Prompt] = {}
    for folder in locate("prompts") if folders is None else folders:
        for path in sorted(folder.glob("*.md")):
            if path.name != "README.md":
                prompt = read_prompt(path)
                found[prompt.id] = prompt
    missing = sorted(set(WANTED) - set(found))
    if missing:
        raise PromptError(f"no prompt {', '.join(missing)}", hint="reinstall Rootrank, or restore prompts/")
    return Prompts(found)


def read_prompt(path: Path) -> Prompt:
    """One file, checked: front matter, an id that is asked for, and exactly the slots that will be filled."""
    hint = "prompts/README.md says what a prompt file holds"
    try:
        match = _FRONT.match(path.read_text(encoding="utf-8"))
        front = Front.model_validate(yaml.safe_load(match[1]) if match else None)
    except ValidationError as error:
        first = error.errors()[0]
        raise PromptError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}", hint=hint) from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise PromptError(f"{path}: {' '.join(str(error).split())[:300]}", hint=hint) from None
    text = match[2].strip() if match else ""
    wanted, used = WANTED.get(front.id), frozenset(_SLOT.findall(text))
    if wanted is None:
        raise PromptError(f"{path}: no prompt is called {front.id}", hint=f"ids: {', '.join(sorted(WANTED))}")
    if used != wanted:
        odd = ", ".join(sorted(used ^ wanted))
        raise PromptError(f"{path}: slots do not fit: {odd}", hint=f"it must use {', '.join(sorted(wanted)) or 'none'}")
    return Prompt(front.id, front.version, text)
