"""What is masked, what is left alone, and that everything comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import KnowledgeError
from assistant.privacy.redactor import Redactor
from assistant.privacy.rules import CompiledRule, Kind, load_rules

RULES = load_rules()
GITHUB = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.rule.id)
def test_each_rule_hides_what_its_examples_name_and_gives_it_back(rule: CompiledRule) -> None:
    for example in rule.rule.match:
        redactor = Redactor((rule,))
        masked = redactor.redact(example.line)
        assert example.hidden not in masked
        assert redactor.restore(masked) == example.line


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.rule.id)
def test_each_rule_leaves_its_counter_examples_alone(rule: CompiledRule) -> None:
    for line in rule.rule.no_match:
        assert Redactor((rule,)).redact(line) == line


def test_the_same_text_has_the_same_name_and_another_text_another() -> None:
    redactor = Redactor(RULES, hosts=("n03", "n04"))
    assert redactor.redact("n03 waits for n04, N03 too") == "HOST_1 waits for HOST_2, HOST_1 too"


def test_a_host_name_inside_a_longer_word_is_no_host() -> None:
    assert Redactor(RULES, hosts=("n03",)).redact("chain03 and n031") == "chain03 and n031"


def test_a_secret_is_hidden_wherever_it_stands_again() -> None:
    redactor = Redactor(RULES)
    masked = redactor.redact("password=correct-horse9 was refused\nretry with correct-horse9")
    assert "correct-horse9" not in masked
    assert "correct-horse9" not in redactor.redact("a later text: correct-horse9")


def test_a_log_that_speaks_in_pseudonyms_cannot_make_up_a_host() -> None:
    redactor = Redactor(RULES, hosts=("n03",))
    text = "HOST_1 says hello to n03"
    masked = redactor.redact(text)
    assert "n03" not in masked
    assert redactor.restore(masked) == text
    assert redactor.restore("HOST_99 is unknown") == "HOST_99 is unknown"


def test_kinds_can_be_left_readable() -> None:
    redactor = Redactor(RULES, kinds=frozenset({Kind.SECRET}), hosts=("n03",))
    assert redactor.redact(f"n03 10.0.0.7 {GITHUB}") == "n03 10.0.0.7 SECRET_1"


def test_a_secret_inside_an_address_is_one_pseudonym() -> None:
    masked = Redactor(RULES).redact(f"clone https://bot:{GITHUB}@git.corp.example.com/ml.git")
    assert GITHUB not in masked
    assert masked.count("SECRET_") == 1


@given(st.text(max_size=300))
def test_restoring_undoes_redacting_for_any_text(text: str) -> None:
    redactor = Redactor(RULES, hosts=("n03", "gpu-1"))
    assert redactor.restore(redactor.redact(text)) == text


@given(st.sampled_from(["HOST_1", "SECRET_1", "n03", "LITERAL_1", GITHUB, "10.1.2.3"]), st.text(max_size=20))
def test_restoring_undoes_redacting_where_texts_look_like_pseudonyms(word: str, text: str) -> None:
    redactor = Redactor(RULES, hosts=("n03",))
    for whole in (f"{word} {text}", f"{text} {word} HOST_1 LITERAL_1", f"n03 {word}"):
        assert redactor.restore(redactor.redact(whole)) == whole


def test_broken_rules_are_refused_with_file_and_rule(tmp_path: Path) -> None:
    file = tmp_path / "redaction.yaml"
    file.write_text(
        "schema: rootrank.redaction/1\nrules:\n"
        "  - {id: odd, kind: secret, what: w, words: [a], regex: '(?=a)', match: [{line: a, hidden: a}]}\n"
    )
    with pytest.raises(KnowledgeError, match=r"redaction\.yaml: rule odd"):
        load_rules([tmp_path])


def test_without_rules_nothing_may_leave(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match="nothing may leave"):
        load_rules([tmp_path])


def test_a_secret_that_looks_like_a_pseudonym_comes_back() -> None:
    redactor = Redactor(RULES, hosts=("n03",))
    text = "password=SECRET_1 token=HOST_1 on n03, SECRET_1 again"
    assert redactor.restore(redactor.redact(text)) == text
    assert redactor.restore(redactor.redact(text)) == text
