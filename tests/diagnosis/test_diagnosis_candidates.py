"""A rank stands among the candidates once, with its node where any line tells it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from assistant.case.models import Candidate
from assistant.diagnosis.candidates import located
from assistant.diagnosis.models import Population
from assistant.pipeline import Options, diagnose

JOBS = Path(__file__).resolve().parents[1] / "fixtures/torchrun"
PEOPLE = Population(frozenset({0, 1}), frozenset({"n1"}), {1: "n1"}, 2)


@pytest.mark.parametrize("name", ["job-01.tar.zst", "job-06.tar.gz", "job-34.tar.zst"])
def test_no_rank_is_a_candidate_twice(name: str) -> None:
    case = diagnose([str(JOBS / name)], Options())
    for listed in (case.suspects, case.candidates):
        assert max(Counter(one.rank for one in listed if one.rank is not None).values()) == 1
    assert all(one.node for one in case.suspects)


def test_a_node_is_filled_in_only_where_it_is_known() -> None:
    assert located(Candidate(rank=1, score=1.0), PEOPLE).node == "n1"
    assert located(Candidate(rank=0, score=1.0), PEOPLE).node is None
    assert located(Candidate(node="n9", rank=1, score=1.0), PEOPLE).node == "n9"
