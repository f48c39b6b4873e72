"""docs/chat.md tells the commands and keys that there are."""

from __future__ import annotations

import re
from pathlib import Path

from assistant.tui.handbook import commands_table, keys_table

PAGE = Path(__file__).resolve().parents[2] / "docs/chat.md"


def part(name: str) -> str:
    found = re.search(rf"<!-- {name} -->\n(.*?)\n?<!-- /{name} -->", PAGE.read_text("utf-8"), re.DOTALL)
    assert found
    return found[1]


def test_the_commands_are_those_of_the_registry() -> None:
    assert part("commands") == commands_table()


def test_the_keys_are_those_of_the_bindings() -> None:
    assert part("keys") == keys_table()


def test_every_key_has_an_id_of_its_own() -> None:
    ids = re.findall(r"\| `([a-z.-]+)` \|$", keys_table(), re.MULTILINE)
    assert len(ids) == len(set(ids))
    assert len(ids) == len(keys_table().splitlines()) - 2
