"""Turns files of a team into pages: Markdown, HTML, PDF, text, ticket exports. One bad file does not stop the rest."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.errors import InputError, KnowledgeError, NothingFound, RootrankError
from assistant.retrieval.html import markdown_of
from assistant.retrieval.pages import FrontMatter, front_matter
from assistant.retrieval.pdf import pages_of
from assistant.retrieval.shelf import Shelf
from assistant.retrieval.tickets import tickets_in

if TYPE_CHECKING:
    from assistant.config import Retrieval

MOST = 20_000
"""Files of one import."""
LONGEST = 1_500_000
"""Characters of one page; what follows is cut."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_UNDERLINE = re.compile(r"^(?P<title>\S.*)\n(?:={3,}|-{3,})[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    """A page that is ready to be stored."""

    front: FrontMatter
    body: str


@dataclass(slots=True)
class Imported:
    """What an import did."""

    ids: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    """Files that were not taken, each with the reason and the remedy."""


def import_paths(paths: Sequence[Path], shelf: Shelf, settings: Retrieval, facts: dict[str, object]) -> Imported:
    """Stores every page that the files and folders hold.

    Args:
        facts: front matter that is set on all of them, such as `vendor` or `codes`.

    Raises:
        NothingFound: a path does not exist.
        StoreError: the user's folder cannot be written.
    """
    done = Imported()
    for path in _files(paths, done):
        try:
            pages = list(read_file(path, settings))
        except RootrankError as error:
            done.skipped.append((str(path), f"{error.message.removeprefix(f'{path}: ')} ({error.hint})"))
            continue
        for page in pages:
            front = FrontMatter.model_validate({**page.front.model_dump(), **facts})
            shelf.put(front, page.body)
            done.ids.append(front.id)
    return done


def read_file(path: Path, settings: Retrieval) -> Iterator[Page]:
    """The pages of one file. InputError or KnowledgeError, naming it, where it cannot be taken."""
    kind = path.suffix.lower()
    if kind not in _READERS:
        raise InputError(f"{path}: {kind or 'no suffix'} is not imported", hint=f"known: {', '.join(_READERS)}")
    try:
        size = path.stat().st_size
        if size > settings.import_bytes:
            shown = f"{size / 1e6:,.0f} MB, more than {settings.import_bytes / 1e6:,.0f} MB"
            raise InputError(f"{path}: {shown}", hint="split it, or raise retrieval.import_bytes")
        if kind == ".pdf":
            yield _pdf(path, settings)
            return
        yield from _READERS[kind](path, path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}", hint="check its rights") from None


def _markdown(path: Path, data: bytes) -> Iterator[Page]:
    text = _text(data)
    if text.startswith("---\n"):
        front, body = front_matter(text, str(path))
        yield Page(front, body)
        return
    title = next((line.lstrip("# ").strip() for line in text.splitlines() if line.startswith("# ")), "")
    yield _page(path, data, title, text)


def _plain(path: Path, data: bytes) -> Iterator[Page]:
    escaped = re.sub(r"^(#+\s)", r"\\\1", _text(data), flags=re.MULTILINE)
    yield _page(path, data, "", _UNDERLINE.sub(r"## \g<title>", escaped))


def _html(path: Path, data: bytes) -> Iterator[Page]:
    title, body = markdown_of(_text(data))
    yield _page(path, data, title, body)


def _tickets(path: Path, data: bytes) -> Iterator[Page]:
    try:
        found = tickets_in(data)
    except ValueError as error:
        raise InputError(f"{path}: {str(error).splitlines()[0]}", hint="export tickets of Jira or GitHub") from None
    for ticket in found:
        front = FrontMatter(
            id=_slug(ticket.key),
            title=_line(f"{ticket.key}: {ticket.title}"),
            kind="ticket",
            source=ticket.address or str(path.absolute()),
            date=ticket.day if re.fullmatch(r"\d{4}-\d\d-\d\d", ticket.day) else None,
        )
        yield Page(front, _clean(ticket.text)[:LONGEST])


def _pdf(path: Path, settings: Retrieval) -> Page:
    pages = pages_of(path, settings.pdf_pages, settings.pdf_seconds)
    parts = [f"## Page {number}\n\n{_clean(text).strip()}" for number, text in enumerate(pages, 1) if text.strip()]
    if not parts:
        raise InputError(f"{path}: its pages hold no text, only pictures", hint="run it through OCR first")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return _made(path, digest, "", "\n\n".join(parts))


_READERS: dict[str, Callable[[Path, bytes], Iterator[Page]]] = {
    ".md": _markdown,
    ".markdown": _markdown,
    ".txt": _plain,
    ".text": _plain,
    ".rst": _plain,
    ".html": _html,
    ".htm": _html,
    ".json": _tickets,
    ".jsonl": _tickets,
    ".pdf": lambda path, data: iter(()),
}


def _page(path: Path, data: bytes, title: str, body: str) -> Page:
    return _made(path, hashlib.sha256(data).hexdigest(), title, body)


def _made(path: Path, digest: str, title: str, body: str) -> Page:
    """A page of a file without front matter of its own; the same file gives the same id again."""
    if not body.strip():
        raise KnowledgeError(f"{path}: it holds no text", hint="leave it out")
    place = str(path.absolute())
    name = f"{_slug(path.stem)[:80]}-{hashlib.sha256(place.encode('utf-8', 'replace')).hexdigest()[:6]}"
    shown = place.encode("utf-8", "replace").decode()
    front = FrontMatter(id=name, title=_line(title or path.stem), kind="runbook", source=shown, sha256=digest)
    return Page(front, body[:LONGEST])


def _text(data: bytes) -> str:
    return _clean(data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n"))


def _clean(text: str) -> str:
    return _CONTROL.sub("", text).encode("utf-8", "replace").decode()


def _line(text: str) -> str:
    return " ".join(_clean(text).split())[:300] or "untitled"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:110] or "page"


def _files(paths: Sequence[Path], done: Imported) -> Iterator[Path]:
    """The files of all paths in stable order; hidden ones, links and devices in folders are left alone."""
    seen = 0
    for path in paths:
        if not path.exists():
            raise NothingFound(f"{path}: no such file or folder", hint="give a file or a folder")
        for file in [path] if path.is_file() else _walk(path):
            if seen == MOST:
                done.skipped.append((str(file), f"more than {MOST} files (import the rest by itself)"))
                return
            seen += 1
            yield file


def _walk(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(root, name)
            if not name.startswith(".") and stat.S_ISREG(path.lstat().st_mode):
                yield path
