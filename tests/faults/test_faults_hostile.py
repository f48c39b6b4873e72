"""Hostile texts find the patterns that explode, and the limit ends them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assistant.faults.attacks import LENGTH, attacks
from assistant.faults.check import check_library
from assistant.faults.hostile import Pattern, slow_patterns
from assistant.faults.library import load_library

ENTRY = """
- id: pump-stopped
  title: The pump stopped
  cause: hardware.host
  role: root
  signatures: [{regex: 'pump .* stopped'}]
  explanation: The pump has no oil.
  action: {kind: collect, text: Look at the oil.}
  axes: {symptom: crash, root_cause: node_hardware, stages: [training], fix: replace_hardware}
  examples: {match: ['pump 7 stopped']}
"""

HARMLESS = [
    Pattern("word", r"\bpump stopped\b", "re"),
    Pattern("class", r"pump \[[^\]]*\] stopped", "re", anchored=True),
    Pattern("re2", r"(?:a+)+$|(a|a)*b|pump.*stopped.*again"),
]


@pytest.mark.parametrize(
    "regex", [r"(?:a+)+$", r"(?:\w+\s?)*!", r"x(?:[0-9]+,?)+;", r"(a|aa)+$", r"pump (?:\d+\.?)+ stopped"]
)
def test_an_exploding_pattern_is_found(regex: str) -> None:
    bad = Pattern("bad", regex, "re")
    assert slow_patterns([HARMLESS[0], bad, HARMLESS[1]], limit=1.0) == [bad]


def test_patterns_that_are_linear_pass() -> None:
    assert slow_patterns(HARMLESS, limit=5.0) == []
    assert slow_patterns([], limit=1.0) == []


def test_an_attack_pumps_what_the_pattern_repeats_behind_what_leads_there() -> None:
    texts = list(attacks(r"pump (?P<n>x[yz])*!"))
    assert any(text.startswith("pump xyxy") for text in texts)
    assert all(LENGTH // 2 < len(text) <= LENGTH + 2 for text in texts)


def test_a_pattern_for_re2_alone_gets_the_plain_attacks() -> None:
    with pytest.raises(re.error):
        re.compile(r"\pL+\z")
    assert len(list(attacks(r"\pL+\z"))) > 10


def test_the_shipped_library_passes_the_whole_check() -> None:
    assert [problem.said() for problem in check_library()] == []


def test_a_slow_signature_is_named_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pumps.yaml").write_text(ENTRY, encoding="utf-8")
    monkeypatch.setattr("assistant.faults.check.slow_patterns", lambda patterns, limit: list(patterns))
    (problem,) = check_library(load_library([tmp_path]), limit=1.0)
    assert (problem.fault, problem.file, problem.line) == ("pump-stopped", str(tmp_path / "pumps.yaml"), 2)
    assert "hostile text" in problem.message
    assert problem.remedy
