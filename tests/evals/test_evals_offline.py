"""Small parts of the question, grounding and privacy sets, with thresholds; and that the sets are whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.errors import BadTruth
from evals.desks import packed
from evals.grounding.__main__ import judged
from evals.grounding.sentences import answers, load_sentences
from evals.offline.questions import facts_of, forbidden_of, load_questions
from evals.offline.score import marks
from evals.privacy.__main__ import attack_problems
from evals.privacy.attacking import masking_holds
from evals.privacy.data import benign_lines, load_attacks, load_secrets
from evals.privacy.masking import leaks, touched

SMALL = ("knowledge/examples/hanging-rank", "tests/fixtures/torchrun/job-05")


def test_the_question_set_is_large_and_every_fact_is_defined() -> None:
    file = load_questions()
    asked = [(case, one) for case in file.cases for one in (*case.tune, *case.held)]
    assert (len(file.cases) >= 10, len(asked) >= 120) == (True, True)
    for case, one in asked:
        assert packed(case.job).exists()
        assert facts_of(file, case, one)
        forbidden_of(file, case, one)


def test_most_questions_are_answered_and_nobody_innocent_is_blamed() -> None:
    made = list(marks(load_questions(), jobs=SMALL))
    assert sum(mark.right for mark in made) >= 0.9 * len(made)
    assert [mark.said for mark in made if mark.said] == []


def test_the_grounding_set_is_large() -> None:
    file = load_sentences()
    assert sum(1 for case in file.cases for _ in answers(case)) >= 80
    assert sum(len(case.mute) for case in file.cases) >= 25


def test_planted_claims_are_caught_and_sound_ones_pass() -> None:
    made = list(judged(SMALL))
    planted = [one for one in made if one.part.kind not in ("sound", "mute")]
    sound = [one for one in made if one.part.kind == "sound"]
    assert sum(one.marked for one in planted) >= 0.95 * len(planted)
    assert sum(one.marked for one in sound) <= 0.05 * len(sound)


def test_every_secret_is_masked() -> None:
    secrets = load_secrets()
    assert len(secrets) >= 60
    assert leaks(secrets) == []


def test_ordinary_lines_are_left_alone() -> None:
    lines = benign_lines(every=12)
    assert len(lines) >= 1500
    assert len(touched(lines)) < 0.01 * len(lines)


def test_no_attack_changes_what_is_masked() -> None:
    attacks = load_attacks()
    assert len(attacks) >= 40
    assert [one.text for one in attacks if not masking_holds(one, ("n01",))] == []


def test_no_attack_changes_verdict_tools_or_what_is_printed() -> None:
    assert attack_problems("tests/fixtures/torchrun/job-05") == []


def test_a_broken_set_is_named(tmp_path: Path) -> None:
    file = tmp_path / "offline.yaml"
    file.write_text("schema: rootrank.offline-questions/1\n")
    with pytest.raises(BadTruth, match=r"offline\.yaml"):
        load_questions(file)
    with pytest.raises(BadTruth, match=r"offline\.yaml"):
        load_sentences(file)
