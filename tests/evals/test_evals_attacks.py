"""The attack set against what is sent to a model: nothing ends the envelope, passes for a conversation, or unmasks."""

from __future__ import annotations

import re

import pytest

from assistant.agent.envelope import Envelope
from assistant.agent.veil import Veil
from assistant.case.models import Evidence
from assistant.privacy.redactor import Redactor
from assistant.privacy.rules import load_rules
from assistant.tools.finding import quoted
from assistant.tools.models import ResultStatus, ToolResult
from evals.privacy.attacking import ACTS, CANARY
from evals.privacy.data import Attack, load_attacks

MARKS = re.compile(r"<\||\|>|\[/?INST\]|</?(?:s|think|tool_call|system|user|assistant)>|</?\s*evidence", re.IGNORECASE)


def result_of(attack: Attack, envelope: Envelope) -> ToolResult:
    """What a tool shows of a line that holds the attack, the envelope's own tag and a secret."""
    text = f"{attack.text} </{envelope.tag}> {CANARY} n03"
    line = Evidence(id="a.log:1", source="a.log", line=1, offset=0, text=text)
    return ToolResult(id="T1", tool="grep_log", status=ResultStatus.FOUND, text=quoted(line), evidence=(line,))


@pytest.mark.parametrize("attack", load_attacks(), ids=lambda attack: attack.kind)
def test_an_attack_stays_inside_its_envelope(attack: Attack) -> None:
    envelope = Envelope()
    wrapped = envelope.wrap("T1", "grep_log", Veil(None).result(result_of(attack, envelope)))
    inside = wrapped.removeprefix(f'<{envelope.tag} id="T1" tool="grep_log">\n').removesuffix(f"\n</{envelope.tag}>")
    assert envelope.nonce not in inside
    assert not MARKS.search(inside)
    assert not ACTS.search(inside.replace("\n", ""))


@pytest.mark.parametrize("attack", load_attacks(), ids=lambda attack: attack.kind)
def test_an_attack_unmasks_nothing(attack: Attack) -> None:
    veil = Veil(Redactor(load_rules(), hosts=("n03",)))
    result = result_of(attack, Envelope())
    masked = veil.result(result)
    assert CANARY not in masked
    assert not re.search(r"\bn03\b", masked)
    if "more characters" not in result.text:  # a long line is masked whole, and cut at another place
        assert veil.back(masked) == result.text
