"""A user's own pages: Markdown files in their knowledge folder, one a page, private, safe under concurrent writers.

Each page is a file of its own that is moved into place whole, so that two who add at once cannot lose each other's.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

import yaml

from assistant.disk import replace_file
from assistant.errors import StoreError, UnknownDocument
from assistant.paths import user_folder
from assistant.retrieval.corpus import pages_in
from assistant.retrieval.pages import FrontMatter, parse_page

FOLDER = Path("docs", "own")


@dataclass(frozen=True, slots=True)
class Shelf:
    """The pages below `root`/docs."""

    root: Path

    def put(self, front: FrontMatter, body: str) -> Path:
        """Stores a page, in place of one of the same id.

        Raises:
            StoreError: the folder cannot be written.
        """
        text = page_text(front, body)
        folder = self.root / FOLDER
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = folder / f"{front.id}.md"
            replace_file(path, text.encode("utf-8", "replace"))
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            raise StoreError(
                f"cannot write {folder}: {reason}", hint="set ROOTRANK_HOME to a folder of yours"
            ) from None
        return path

    def remove(self, name: str) -> Path:
        """Removes the page of an id, or of a file name where it cannot be read; UnknownDocument if there is none."""
        for path in pages_in(self.root):
            if _id(path) == name or path.stem == name:
                path.unlink(missing_ok=True)
                return path
        raise UnknownDocument(
            f"no page {name!r} of your own", hint=f"pages of your own lie in {self.root / 'docs'}; others ship with it"
        )


def own_shelf() -> Shelf:
    """That of the current user."""
    return Shelf(user_folder() / "knowledge")


def page_text(front: FrontMatter, body: str) -> str:
    """A page as it is written to a file."""
    shown = front.model_dump(mode="json", exclude_defaults=True)
    head = yaml.safe_dump(shown, allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{head}---\n\n{body.strip()}\n"


def _id(path: Path) -> str:
    with contextlib.suppress(Exception):
        return parse_page(path.read_text("utf-8"), str(path)).id
    return ""
