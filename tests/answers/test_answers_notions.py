"""What sentences say in words: a notion is known from its sentence, carried by its line, and denied without claim."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assistant.answers.claims import Sort, claims
from assistant.answers.notions import Entry, load_notions, read_notions
from assistant.errors import KnowledgeError
from assistant.faults.hostile import Pattern, slow_patterns
from assistant.paths import locate

ENTRIES = read_notions(locate("knowledge")[0] / "notions.yaml")


def said(sentence: str) -> set[str]:
    """The notions that a sentence claims."""
    return {claim.value for claim in claims(sentence, ()) if claim.sort is Sort.NOTION}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_a_notion_is_known_from_its_sentence_and_carried_by_its_line(entry: Entry) -> None:
    assert entry.id in said(entry.as_)
    assert load_notions()[entry.id].seen.search(entry.line)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_an_unrelated_line_does_not_carry_it(entry: Entry) -> None:
    assert not load_notions()[entry.id].seen.search("epoch 3 | 812 TFLOPS")


def test_ids_are_given_once() -> None:
    assert len({entry.id for entry in ENTRIES}) == len(ENTRIES)


@pytest.mark.parametrize(
    "sentence", ["It was not the firewall.", "No quota was exceeded.", "Rank 2 wrote `quota exceeded`."]
)
def test_what_is_denied_or_quoted_is_not_claimed(sentence: str) -> None:
    assert said(sentence) == set()


@pytest.mark.parametrize(
    ("text", "told"),
    [("schema: rootrank.notions/1\nnotions: [{id: x, said: ['('], as: a, line: b}]", "regular expression"), ("[", ""),
     ("schema: rootrank.notions/1\nnotions: [{id: x, said: [], as: a, line: b}]", "said")],
)  # fmt: skip
def test_a_file_that_is_wrong_is_named(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "notions.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(KnowledgeError) as raised:
        read_notions(path)
    assert str(path) in raised.value.message
    assert told in raised.value.message


def test_no_pattern_explodes_on_a_hostile_text() -> None:
    made = load_notions()
    patterns = [Pattern(f"{name}.{kind}", getattr(made[name], kind).pattern, "re", flags=re.IGNORECASE, length=8_000)
                for name in made for kind in ("said", "seen")]  # fmt: skip
    assert [slow.name for slow in slow_patterns(patterns)] == []
