"""The questions of the retrieval score: what is checked of them, how they are halved, how answers are marked."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from assistant.errors import BadTruth
from assistant.paths import locate
from assistant.retrieval.corpus import gather
from assistant.retrieval.models import Answer, Hit, Passage
from assistant.retrieval.signs import Signs
from assistant.retrieval.tuning import Threshold
from evals.retrieval.calibrate import told
from evals.retrieval.marks import figures, mark
from evals.retrieval.questions import HALVES, Question, halves, load_questions, wrong
from evals.retrieval.score import RESULT, misses


def question_of(name: str, *answers: str, half: str = "tune", has_code: bool = False) -> Question:
    """A question that is checked like those of the file."""
    return Question.model_validate(
        {"id": name, "question": f"what of {name}", "answers": answers, "has_code": has_code, "half": half}
    )


def answer_of(*documents: str, folded: tuple[str, ...] = ()) -> Answer:
    """An answer that lists documents; the last one with twins folded into it."""
    hits = [
        Hit(passage=Passage(document=name, kind="doc", title=name, text=name), score=1.0, reasons=())
        for name in documents
    ]
    hits[-1:] = [hit.model_copy(update={"folded": folded}) for hit in hits[-1:]]
    return Answer(query="", fits=bool(hits), hits=tuple(hits))


def test_every_answer_is_a_document_that_ships() -> None:
    shipped = [folder for folder in locate("knowledge") if (folder / "docs").is_dir()][:1]
    known = {document.id for document in gather(shipped).documents}
    assert list(wrong(load_questions(), known)) == []


def test_there_are_as_many_questions_as_asked_for() -> None:
    questions = load_questions()
    assert sum(bool(one.answers) for one in questions) >= 170
    assert sum(not one.answers for one in questions) >= 50


def test_halves_are_balanced_in_code_and_answer() -> None:
    counts = Counter((bool(one.answers), one.has_code, one.half) for one in load_questions())
    for answered in (True, False):
        for coded in (True, False):
            assert abs(counts[answered, coded, "tune"] - counts[answered, coded, "held"]) <= 1
        with_code = counts[answered, True, "tune"] + counts[answered, True, "held"]
        without = counts[answered, False, "tune"] + counts[answered, False, "held"]
        assert 0.45 <= with_code / (with_code + without) <= 0.55


def test_the_figures_that_are_quoted_are_of_these_questions() -> None:
    quoted = json.loads(RESULT.read_text("utf-8"))["halves"]
    counts = Counter((one.half, bool(one.answers)) for one in load_questions())
    for half in HALVES:
        for groups in quoted[half].values():
            assert groups["all"]["answerable"] == counts[half, True]
            assert groups["all"]["unanswerable"] == counts[half, False]


def test_the_draw_does_not_depend_on_the_order_of_the_file() -> None:
    questions = load_questions()
    assert halves(questions) == halves(reversed(questions))


def test_a_question_moved_to_the_other_half_is_noticed() -> None:
    first, *others = load_questions()
    moved = first.model_copy(update={"half": "held" if first.half == "tune" else "tune"})
    assert any(first.id in problem and "draw" in problem for problem in wrong([moved, *others]))


def test_what_is_listed_twice_or_absent_is_noticed() -> None:
    twins = [question_of("q1", "a", "a"), question_of("q2", "b").model_copy(update={"question": "what of q1"})]
    found = "\n".join(wrong(twins, known=["a"]))
    assert "question twice" in found
    assert "answer is listed twice" in found
    assert "no document b" in found


@pytest.mark.parametrize(
    "text", ["", "questions: 3", "schema: rootrank.questions/1\nquestions: [{id: x}]", "a: [", "\0"]
)
def test_a_broken_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "questions.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(BadTruth, match=r"questions\.yaml"):
        load_questions(path)


def test_the_first_answering_document_decides_the_place() -> None:
    found = mark(question_of("q", "b", "c"), answer_of("a", "b", "c"))
    assert found.first == 2
    one = figures([found])
    assert (one.recall_at_5, one.mrr, one.all_at_5) == (1.0, 0.5, 1.0)


def test_a_folded_twin_counts_where_it_is_shown() -> None:
    assert mark(question_of("q", "twin"), answer_of("a", "b", folded=("twin",))).first == 2


def test_an_answer_below_the_fifth_place_is_not_recalled() -> None:
    one = figures([mark(question_of("q", "z"), answer_of("a", "b", "c", "d", "e", "z"))])
    assert (one.recall_at_5, one.mrr) == (0.0, round(1 / 6, 4))


def test_saying_that_nothing_fits_is_right_only_where_nothing_does() -> None:
    one = figures([mark(question_of("q1", "a"), answer_of()), mark(question_of("q2"), answer_of())])
    assert (one.recall_at_5, one.mrr, one.recognised) == (0.0, 0.0, 1.0)


def test_nothing_to_count_is_no_figure() -> None:
    assert figures([]).recall_at_5 is None
    assert figures([]).recognised is None


def test_misses_of_the_held_half_are_not_told() -> None:
    marks = [
        mark(question_of("open", "z"), answer_of("a")),
        mark(question_of("shut", "z", half="held"), answer_of("a")),
    ]
    text = "\n".join(misses({"hybrid": marks}))
    assert "open" in text
    assert "shut" not in text


def test_calibration_tells_what_a_threshold_costs() -> None:
    beside = [(question_of(f"n{place}"), place / 10) for place in range(10)]
    asked = [(question_of("q1", "a"), 0.05), (question_of("q2", "a"), 2.0)]
    assert any("90% recognised from 0.800 to 0.900 on, 1 of 2 lost" in line for line in told("x", [*beside, *asked]))


def test_signs_are_enough_when_they_reach_the_threshold() -> None:
    threshold = Threshold(meaning=1, words=0.5, unknown=0.5, strange=1, least=0.6)
    good = Signs(decisive=False, near=0.5, share=0.4, unknown=0.0, strange=(), nearest=1)
    assert good.enough(threshold)
    assert not Signs(False, 0.5, 0.4, 0.5, (), 1).enough(threshold)
    assert not Signs(False, 0.5, 0.4, 0.0, ("Xid 999",), 1).enough(threshold)
    assert not Signs(False, 0.9, 0.9, 0.0, (), None).enough(threshold)
    assert Signs(True, 0.0, 0.0, 1.0, (), None).enough(threshold)
