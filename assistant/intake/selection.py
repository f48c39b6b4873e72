"""Names of files and folders that are no logs although they are text: programs, model files, libraries.

Error words in a program or a vocabulary are no errors. What is left out is listed, and read when it is named.
"""

from __future__ import annotations

import re

PROGRAM = "a program or document, not a log: give it by name to read it"
MODEL_FILE = "part of a model, not a log: give it by name to read it"
HIDDEN = "a hidden or library folder"

_LIBRARIES = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages"})
_PROGRAM = re.compile(r"\.(py[ixc]?|ipynb|c|cc|cpp|cxx|cu|cuh|h|hpp|java|go|rs|js|ts|css|html?|md|rst|tex)$", re.I)
_MODEL_FILE = re.compile(
    r"(tokenizer|tokenizer_config|vocab|special_tokens_map|.*\.(safetensors|bin)\.index)\.json$|(vocab|merges)\.txt$"
)


def is_skipped(folder: str) -> bool:
    """Whether a folder of this name is never entered."""
    return folder.startswith(".") or folder in _LIBRARIES


def why_unlikely(path: str) -> str | None:
    """Why a file found in a folder or archive need not be opened; `path` has no leading `./`."""
    *folders, name = path.split("/")
    if any(map(is_skipped, folders)):
        return HIDDEN
    if _PROGRAM.search(name):
        return PROGRAM
    return MODEL_FILE if _MODEL_FILE.match(name) else None
