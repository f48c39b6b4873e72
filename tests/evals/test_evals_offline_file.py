"""The offline answerer is scored with any set of questions, and its sayings by leaving them out."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.errors import BadTruth
from evals.offline.__main__ import main
from evals.offline.questions import FILE

SET = """
schema: rootrank.offline-questions/1
blames: ['(?i)blamed: {place}']
beyond: beyond me
cases:
  - job: tests/fixtures/torchrun/job-05
    innocent: [rank 0]
    tune:
      - {ask: which rank is to blame, facts: ['rank 2']}
      - {ask: who wrote the bible, facts: [$beyond]}
    held:
      - {ask: what happened, facts: ['a unicorn']}
"""


def test_a_file_of_ones_own_is_scored_and_the_kept_figures_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(SET)
    kept = (FILE.parent / "offline.json").read_bytes()
    assert main(["score", "--file", str(file), "--tune"]) == 0
    assert "tuned on: 2 of 2" in capsys.readouterr().out
    assert main(["score", "--file", str(file)]) == 1
    assert "held back: 0 of 1" in capsys.readouterr().out
    assert (FILE.parent / "offline.json").read_bytes() == kept


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadTruth, match=r"none\.yaml"):
        main(["score", "--file", str(tmp_path / "none.yaml")])
