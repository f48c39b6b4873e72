"""Where the data that people edit lives: `knowledge/`, `prompts/`, `configs/`.

A checkout's own folders come first, else the copy packaged in the wheel; a user's folder lies over both. The folders of
a checkout are found only beside a `pyproject.toml`, so that a foreign `site-packages/knowledge` is never read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import platformdirs

Kind = Literal["knowledge", "prompts", "configs"]

HOME_VARIABLE = "ROOTRANK_HOME"
"""Environment variable that replaces the platform's configuration folder."""

PACKAGE = Path(__file__).resolve().parent
PACKAGED = "packaged"
"""Folder inside the installed package that holds the wheel's copy."""


def user_folder() -> Path:
    """The user's own folder, whether it exists or not."""
    override = os.environ.get(HOME_VARIABLE)
    return Path(os.path.expanduser(override)) if override else Path(platformdirs.user_config_dir("rootrank"))


def shipped(kind: Kind, package: Path = PACKAGE) -> Path | None:
    """The folder that came with the code: the checkout's, else the packaged one, else None."""
    checkout = package.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / kind).is_dir():
        return checkout / kind
    packaged = package / PACKAGED / kind
    return packaged if packaged.is_dir() else None


def locate(kind: Kind) -> list[Path]:
    """The existing folders of a kind, weakest first: an entry in a later folder replaces one of the same id."""
    found = [shipped(kind), user_folder() / kind]
    return [folder for folder in found if folder is not None and os.path.isdir(folder)]
