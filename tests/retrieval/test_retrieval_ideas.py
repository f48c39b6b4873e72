"""Words that mean the same: one idea on both sides of a search."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.errors import KnowledgeError
from assistant.retrieval.chunks import chunks_of, name_of
from assistant.retrieval.codes import CodeReader
from assistant.retrieval.documents import Document, Section
from assistant.retrieval.fusion import relative
from assistant.retrieval.ideas import ideas_of, is_idea
from assistant.retrieval.tuning import Tuning, read_tuning
from assistant.retrieval.words import terms

ROWS = (("gpu", "card"), ("network card", "nic"), ("uncorrectable", "could not be repaired"))
IDEAS = ideas_of(ROWS, frozenset({"be", "the", "could"}))
CODES = CodeReader(Tuning(synonyms=ROWS))


def ideas_in(text: str) -> set[str]:
    return {term for term in terms(text, CODES) if is_idea(term)}


def test_different_words_meet_in_one_idea() -> None:
    assert ideas_in("a GPU failed") == ideas_in("two cards failed") != set()


def test_the_longer_phrase_wins_over_a_word_within_it() -> None:
    assert ideas_in("the network cards") == ideas_in("a NIC")
    assert not ideas_in("the network cards") & ideas_in("a card")


def test_a_text_is_said_in_the_words_of_the_knowledge() -> None:
    assert IDEAS.reworded("Both cards, with errors.") == "Both gpu, with errors."
    assert IDEAS.reworded("two network cards") == "two network card"
    assert IDEAS.reworded("it not be repaired?") == "it uncorrectable?"


@pytest.mark.parametrize("text", ["", " ", "nothing of it", "卡 \0 \ud800", "card" * 10_000])
def test_a_text_without_ideas_stays_as_it_is(text: str) -> None:
    assert IDEAS.reworded(text) == text


def test_no_rows_change_nothing() -> None:
    none = ideas_of((), frozenset())
    assert none.terms(["card", "gpu"]) == []
    assert none.reworded("a card") == "a card"


@pytest.mark.parametrize("rows", ["[[gpu, card], [card, board]]", "[[gpu, GPU]]", "[[]]", "[['']]"])
def test_a_phrase_that_cannot_be_told_to_its_row_is_refused(tmp_path: Path, rows: str) -> None:
    path = tmp_path / "retrieval.yaml"
    path.write_text(f"synonyms: {rows}\n", "utf-8")
    with pytest.raises(KnowledgeError, match="synonyms"):
        read_tuning(path)


def test_a_document_is_also_known_by_its_title_alone() -> None:
    document = Document("page", "doc", "A title", (Section("", "first text " * 200), Section("More", "second")))
    name = name_of(document)
    assert name.spoken == "A title"
    assert name.text == chunks_of(document)[0].text
    assert name.number == len(chunks_of(document))


def test_scores_count_between_the_floor_and_the_best() -> None:
    assert relative({"a": 4.0, "b": 3.0, "c": 2.0}, 2.0, 2.0) == {"a": 2.0, "b": 1.0, "c": 0.0}
    assert relative({"a": 0.5}, 1.0, 0.5) == {"a": 1.0}
    assert relative({}, 1.0) == {}
