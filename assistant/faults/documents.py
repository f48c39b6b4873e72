"""A YAML file that holds a list of entries, read so that whatever is wrong in it can be named with its line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from assistant.faults.problems import Problem

MOST_BYTES = 16 << 20
"""No file that a person edits is larger; a larger one is refused unread."""
MOST_NODES = 1_000_000
"""Most values of a file once its aliases are followed; a few lines of aliases can stand for billions."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MEND = "Mend the file's YAML, or take it out of the folder; the other files are used without it."
_ALIAS = re.compile(r"(?:^|[\s\[{,:-])\*[^\s]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Item:
    """One entry as it stands in a file."""

    raw: Any
    node: yaml.Node

    def line(self, *steps: str | int) -> int:
        """1-based line of the entry, or of its part under these keys and indexes as far as they lead."""
        node = self.node
        for step in steps:
            inner = _child(node, step)
            if inner is None:
                break
            node = inner
        return int(node.start_mark.line) + 1


def read_items(path: Path) -> list[Item] | Problem:
    """The entries of a file, or what keeps it from being read. An empty file has none."""
    text = _text(path)
    if isinstance(text, Problem):
        return text
    try:
        return _items(path, text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return _broken(path, f"not YAML: {error.problem or error.context}", mark.line + 1 if mark else 0)
    except yaml.reader.ReaderError as error:
        return _broken(path, f"not YAML: {error.reason}", text.count("\n", 0, error.position) + 1)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        return _broken(path, f"not YAML: {' '.join(str(error).split())[:200]}")


def _text(path: Path) -> str | Problem:
    try:
        if path.stat().st_size > MOST_BYTES:
            return _broken(path, f"larger than {MOST_BYTES >> 20} MiB")
        data = path.read_bytes()
    except OSError as error:
        return _broken(path, f"cannot be read: {error.strerror or error}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _broken(path, f"not UTF-8: {error.reason}", data.count(b"\n", 0, error.start) + 1)


def _items(path: Path, text: str) -> list[Item] | Problem:
    loader = _LOADER(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return []
        if not isinstance(node, yaml.SequenceNode):
            return _broken(path, "expected a list of entries", node.start_mark.line + 1)
        if _ALIAS.search(text) and _size(node, {}) > MOST_NODES:
            return _broken(path, "its aliases stand for too many values")
        raws = loader.construct_document(node)
        return [Item(raw, inner) for raw, inner in zip(raws, node.value, strict=True)]
    finally:
        loader.dispose()


def _size(node: yaml.Node, known: dict[int, int]) -> int:
    """Values below a node with aliases followed; an alias to something around itself counts as too many."""
    if id(node) not in known:
        known[id(node)] = MOST_NODES + 1
        known[id(node)] = 1 + sum(_size(inner, known) for inner in _children(node))
    return known[id(node)]


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _child(node: yaml.Node, step: str | int) -> yaml.Node | None:
    found: yaml.Node | None = None
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and 0 <= step < len(node.value):
        found = node.value[step]
    elif isinstance(node, yaml.MappingNode):
        found = next((inner for key, inner in node.value if key.value == step), None)
    return found


def _broken(path: Path, why: str, line: int = 0) -> Problem:
    return Problem("*", why, file=str(path), line=line, remedy=_MEND)
