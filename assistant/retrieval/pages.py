"""Pages of facts: Markdown files under `knowledge/docs/` with front matter, cut at their headings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, field_validator

from assistant.case.models import Cause, Model
from assistant.errors import KnowledgeError
from assistant.incidents.models import Checked, Day, Spelled
from assistant.retrieval.documents import Document, Section

Layer = Literal[
    "hardware", "network", "collective", "process", "memory", "storage", "checkpoint", "data", "numerics", "code",
    "config", "launch", "scheduler", "platform", "performance", "method",
]  # fmt: skip

LARGEST = 2 << 20
"""Bytes above which a page is refused: a page is one topic."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_HINT = "correct the file, or take it out of the folder"


class FrontMatter(Model):
    """What stands between the two `---` lines of a page."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,119}$")
    title: str = Field(min_length=1, max_length=300)
    kind: Literal["doc", "runbook", "ticket"] = "doc"
    product: str = ""
    vendor: str = ""
    layer: Layer | Literal[""] = ""
    versions: Spelled | None = None
    """To which versions the facts apply: a range such as `>=2.18,<2.21`, or words; null: all."""
    codes: tuple[Spelled, ...] = ()
    """Exact tokens under which it must be found: `Xid 79`, `EI0006`, `exit 137`, `NCCL_IB_GID_INDEX`."""
    causes: tuple[Cause, ...] = ()
    faults: tuple[str, ...] = ()
    """Ids of entries of `knowledge/faults`."""
    source: str = ""
    """An address; of an imported page, the file it was made from."""
    date: Day | None = None
    checked: Checked = "unverified"
    sha256: str = ""
    """Of the file that an imported page was made from."""

    @field_validator("codes", "causes", "faults", mode="before")
    @classmethod
    def _absent_is_empty(cls, value: object) -> object:
        return () if value is None else value

    @field_validator("product", "vendor", "source", mode="before")
    @classmethod
    def _null_is_unstated(cls, value: object) -> object:
        return "" if value is None else value


def read_page(path: Path, origin: str = "shipped") -> Document:
    """One page. KnowledgeError, naming file, line and remedy, where it is none."""
    try:
        if path.stat().st_size > LARGEST:
            raise KnowledgeError(f"{path}: larger than {LARGEST >> 20} MiB", hint="split it into one topic a file")
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise KnowledgeError(f"{path}: byte {error.start} is not UTF-8", hint=_HINT) from None
    except OSError as error:
        raise KnowledgeError(f"{path}: {(error.strerror or str(error)).lower()}", hint=_HINT) from None
    return parse_page(text, str(path), origin)


def parse_page(text: str, file: str, origin: str = "shipped") -> Document:
    """A page from its text; `file` names it in errors."""
    front, body = front_matter(text, file)
    return Document(
        front.id,
        front.kind,
        front.title,
        sections_of(body.split("\n"), text.removesuffix(body).count("\n") + 1),
        file=file,
        source=front.source,
        layer=front.layer,
        vendor=front.vendor,
        framework=front.product,
        versions=front.versions or "",
        date=front.date or "",
        checked=front.checked,
        origin=origin,
        codes=front.codes,
        faults=front.faults,
    )


def front_matter(text: str, file: str) -> tuple[FrontMatter, str]:
    """The front matter of a page, and what follows it."""
    lines = text.removeprefix("\ufeff").split("\n")
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if lines[0].rstrip() != "---" or end is None:
        raise KnowledgeError(f"{file}, line 1: no front matter between two --- lines", hint=_HINT)
    return _front("\n".join(lines[1:end]), file), "\n".join(lines[end + 1 :])


def sections_of(lines: list[str], first: int = 1) -> tuple[Section, ...]:
    """The parts under each heading, deeper ones named with those above; headings within code are text.

    Args:
        first: line number of the first of `lines`.
    """
    found: list[Section] = []
    trail: list[tuple[int, str]] = []
    start, body, fence = first, list[str](), ""
    for number, line in enumerate(lines, first):
        fence = _fence_after(line, fence)
        heading = _HEADING.match(line) if not fence else None
        if heading is None:
            body.append(line)
            continue
        found.append(Section(_named(trail), "\n".join(body).strip(), start))
        depth = len(heading[1])
        trail = [above for above in trail if above[0] < depth] + [(depth, heading[2])]
        start, body = number, []
    found.append(Section(_named(trail), "\n".join(body).strip(), start))
    return tuple(section for section in found if section.text)


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open after a line: empty, or the marks that close it."""
    mark = _FENCE.match(line)
    if mark is None:
        return fence
    if not fence:
        return mark[1]
    return "" if mark[1].startswith(fence) else fence


def _named(trail: list[tuple[int, str]]) -> str:
    return " > ".join(name for _, name in trail)


def _front(text: str, file: str) -> FrontMatter:
    try:
        loaded = yaml.load(text, Loader=_LOADER)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 2 if mark else 1
        what = getattr(error, "problem", None) or "cannot be read"
        raise KnowledgeError(f"{file}, line {line}: broken YAML: {what}", hint=_HINT) from None
    if not isinstance(loaded, dict):
        raise KnowledgeError(f"{file}, line 2: the front matter holds no keys", hint=_HINT)
    try:
        return FrontMatter.model_validate(loaded)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = str(first["loc"][0]) if first["loc"] else ""
        line = _line_of(text, key)
        where = ".".join(str(part) for part in first["loc"])
        raise KnowledgeError(f"{file}, line {line}: {where}: {first['msg']}", hint=_HINT) from None


def _line_of(text: str, key: str) -> int:
    """The line of a key in the file; that of the opening `---` where it is missing."""
    found = (number for number, line in enumerate(text.split("\n"), 2) if line.startswith(f"{key}:"))
    return next(found, 1)
