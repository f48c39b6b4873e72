"""What a library file may hold, and what is said about one that cannot work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assistant.errors import KnowledgeError
from assistant.faults.library import Library, build, load_library

ENTRY = """
- id: {id}
  title: The pump stopped
  cause: {cause}
  role: root
  signatures: [{{regex: '{regex}'}}]
  explains: [{explains}]
  explanation: The pump has no oil.
  action: {{kind: collect, text: Look at the oil.}}
  examples: {{match: ['pump 7 stopped']}}
"""


def entry(
    id: str = "pump-stopped", cause: str = "hardware.host", regex: str = "pump .* stopped", explains: str = ""
) -> str:
    return ENTRY.format(id=id, cause=cause, regex=regex, explains=explains)


def written(folder: Path, **files: str) -> Library:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return load_library([folder])


def test_entries_come_by_file_name_and_then_as_they_stand(tmp_path: Path) -> None:
    library = written(tmp_path, b=entry("third"), a=entry("first") + entry("second"))
    assert [fault.id for fault in library] == ["first", "second", "third"]
    assert len(library) == 3
    assert "second" in library
    assert library["second"].title == "The pump stopped"


def test_an_unknown_id_has_no_entry(tmp_path: Path) -> None:
    library = written(tmp_path, a=entry())
    assert library.get("valve-stuck") is None
    assert "valve-stuck" not in library


def test_a_later_folder_replaces_entries_and_adds_new_ones(tmp_path: Path) -> None:
    written(tmp_path / "shipped", a=entry("one") + entry("two"))
    written(tmp_path / "own", z=entry("two", regex="pump .* halted") + entry("three"))
    library = load_library([tmp_path / "shipped", tmp_path / "own"])
    assert [fault.id for fault in library] == ["one", "two", "three"]
    assert library["two"].signatures[0].regex == "pump .* halted"


def test_the_shipped_library_covers_every_layer() -> None:
    library = load_library()
    layers = {fault.cause.split(".")[0] for fault in library}
    assert len(library) >= 80
    assert layers >= {
        "hardware", "network", "collective", "process", "memory", "storage", "checkpoint", "data", "numerics", "code",
        "config", "launch", "scheduler", "platform", "performance", "none",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (entry(regex="pump ("), "not RE2"),
        (entry(regex="pump (?=stopped)"), "not RE2"),
        (entry(regex="pump (?P<colour>red)"), "unknown groups: colour"),
        (entry(regex="(?:pump)?"), "matches the empty text"),
        (entry(cause="hardware.plumbing"), "unknown cause class"),
        (entry(explains="valve-stuck"), "valve-stuck"),
        (entry() + entry(), "taken already"),
        (entry().replace("title", "tilte"), "title"),
    ],
)
def test_a_bad_entry_is_named_with_its_file(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(KnowledgeError) as raised:
        written(tmp_path, pumps=text)
    assert re.search(r"pumps\.yaml, line \d+, entry pump-stopped: ", raised.value.message)
    assert said in raised.value.message
    assert raised.value.hint


def test_an_entry_without_id_is_named_by_its_number(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match="entry number 2: id"):
        written(tmp_path, pumps=entry() + entry().replace("  title", "  name").replace("id: pump-stopped", "titel: x"))


@pytest.mark.parametrize("text", ["id: pump\n", "- [", "\t- x", "just text"])
def test_a_file_that_is_no_list_of_entries_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(KnowledgeError, match=r"pumps\.yaml"):
        written(tmp_path, pumps=text)


def test_bytes_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    (tmp_path / "pumps.yaml").write_bytes(b"- id: \xff\xfe\n")
    with pytest.raises(KnowledgeError, match=r"pumps\.yaml"):
        load_library([tmp_path])


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text("", encoding="utf-8")
    with pytest.raises(KnowledgeError, match="no fault entries"):
        load_library([tmp_path])


def test_entries_at_hand_are_held_to_the_same_rules(tmp_path: Path) -> None:
    fault = written(tmp_path, a=entry())["pump-stopped"]
    assert list(build([fault])) == [fault]
    with pytest.raises(KnowledgeError, match="taken already"):
        build([fault, fault])
    with pytest.raises(KnowledgeError, match="unknown entries"):
        build([fault.model_copy(update={"explains": ("valve-stuck",)})])
