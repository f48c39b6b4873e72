"""Knowledge that cannot be used is named with file, line and remedy, and the rest is served."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.errors import KnowledgeError
from assistant.faults.library import load_library
from assistant.faults.matcher import Matcher
from assistant.faults.problems import Problem

GOOD = """
- id: pump-stopped
  title: The pump stopped
  cause: hardware.host
  role: root
  signatures: [{regex: 'pump \\d+ stopped'}]
  explanation: The pump has no oil.
  action: {kind: collect, text: Look at the oil.}
  examples: {match: ['pump 7 stopped']}
"""


def left_out(folder: Path, text: str | bytes) -> tuple[Problem, ...]:
    """What is said of a file beside a good one, once the good one was seen to work."""
    (folder / "good.yaml").write_text(GOOD, encoding="utf-8")
    (folder / "wrong.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    library = load_library([folder], strict=False)
    assert Matcher(library).match("pump 3 stopped") == ("pump-stopped",)
    assert all(problem.remedy and problem.said() for problem in library.left_out)
    return library.left_out


OTHER = GOOD.replace("pump", "valve")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("- id: x\n  title: [\n", 3, "not YAML"),
        ("- id: x\n\t- y\n", 2, "not YAML"),
        ("just words\n", 1, "expected a list of entries"),
        ("id: valve\ntitle: x\n", 1, "expected a list of entries"),
        (b"- id: a\n- id: \xff\n", 2, "not UTF-8"),
        ("- id: a\n- id: '\x00'\n", 2, "not YAML"),
        ("- !!python/object/apply:os.system ['true']\n", 1, "not YAML"),
        ("- when: 2024-13-45\n", 0, "not YAML"),
        ("[" * 100_000, 1, "not YAML"),
        ("- &a [*a]\n", 0, "too many values"),
        (OTHER.replace("role: root", "role: rooot"), 5, "role"),
        (OTHER.replace("signatures: [{regex:", "signatures: [{regexx:"), 6, "signatures.0"),
        (OTHER.replace("\\d+", "(?=x)"), 2, "not RE2"),
        (OTHER.replace("valve \\d+ stopped", ".*"), 2, "matches the empty text"),
        (OTHER.replace("\\d+", "x" * 5000), 2, "longer than"),
        (GOOD, 2, "taken already in"),
    ],
)
def test_a_wrong_file_is_named_with_its_line(tmp_path: Path, text: str | bytes, line: int, said: str) -> None:
    (problem,) = left_out(tmp_path, text)
    assert problem.file == str(tmp_path / "wrong.yaml")
    assert problem.line == line
    assert said in problem.message


def test_aliases_that_stand_for_billions_are_refused_at_once(tmp_path: Path) -> None:
    rows = "".join(f"  b{n}: &b{n} [*b{n - 1}, *b{n - 1}]\n" for n in range(1, 40))
    (problem,) = left_out(tmp_path, "- id: bomb\n  b0: &b0 [x, x]\n" + rows)
    assert "too many values" in problem.message


def test_only_the_wrong_entries_of_a_file_are_left_out(tmp_path: Path) -> None:
    third = OTHER.replace("valve", "motor")
    (problem,) = left_out(tmp_path, OTHER.replace("title", "tilte") + third)
    assert problem.fault == "valve-stopped"
    assert "motor-stopped" in load_library([tmp_path], strict=False)


def test_an_entry_keeps_working_without_a_reference_that_leads_nowhere(tmp_path: Path) -> None:
    (problem,) = left_out(tmp_path, OTHER + "  explains: [nobody, pump-stopped]\n")
    library = load_library([tmp_path], strict=False)
    assert "unknown entries: nobody" in problem.message
    assert library["valve-stopped"].explains == ("pump-stopped",)


def test_a_broken_replacement_leaves_the_entry_that_was_there(tmp_path: Path) -> None:
    for name in ("ours", "own"):
        (tmp_path / name).mkdir()
    (tmp_path / "ours" / "a.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "own" / "a.yaml").write_text(GOOD.replace("hardware.host", "hardware.ghost"), encoding="utf-8")
    library = load_library([tmp_path / "ours", tmp_path / "own"], strict=False)
    assert library["pump-stopped"].cause == "hardware.host"
    assert [problem.fault for problem in library.left_out] == ["pump-stopped"]


def test_nothing_at_all_is_an_error_that_says_why(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("- [", encoding="utf-8")
    with pytest.raises(KnowledgeError, match=r"no fault entries.*a\.yaml, line \d: not YAML"):
        load_library([tmp_path], strict=False)


def test_places_of_entries_are_kept(tmp_path: Path) -> None:
    left_out(tmp_path, OTHER)
    place = load_library([tmp_path]).places["valve-stopped"]
    assert (place.file, place.line) == (str(tmp_path / "wrong.yaml"), 2)
