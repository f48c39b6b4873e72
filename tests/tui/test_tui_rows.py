"""Rows of tools lead to pages of knowledge, stop with their turn, and explanations can be called up again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assistant.answers.models import Cancelled, Hypothesis, Question, ToolFinished, ToolStarted
from assistant.tools.models import ResultStatus
from assistant.tui.talk.blocks import HypothesisBlock, ToolRow
from assistant.tui.talk.passages import CITE
from assistant.tui.talk.scribe import Scribe
from assistant.tui.talk.transcript import Transcript


def links(row: ToolRow) -> Iterator[str]:
    for line in row.lines(120):
        for span in line.spans:
            meta = getattr(span.style, "meta", None) or {}
            if CITE in meta:
                yield meta[CITE]


def row_of(tool: str, text: str) -> ToolRow:
    row = ToolRow(ToolStarted(call="T1", tool=tool))
    row.finish(ToolFinished(call="T1", tool=tool, status=ResultStatus.FOUND, text=text))
    row.toggle(True)
    return row


@pytest.mark.parametrize(
    ("tool", "text", "key"),
    [
        ("search_knowledge", "doc xid-79: Xid 79 - What it means (code Xid 79)\n  doc other: within", "doc:xid-79"),
        ("similar_incidents", "incident bloom-x: A hang (words #1)", "incident:bloom-x"),
        ("explain_code", "gpu-oom: No memory (cause memory.gpu_oom, usually root)", "fault:gpu-oom"),
        ("explain_code", "doc oom: Memory (words #1)", "doc:oom"),
    ],
)
def test_a_row_of_knowledge_leads_to_its_page(tool: str, text: str, key: str) -> None:
    assert list(links(row_of(tool, text))) == [key]


def test_the_same_words_in_a_log_lead_nowhere() -> None:
    assert list(links(row_of("grep_log", "doc xid-79: Xid 79"))) == []


def test_a_row_that_waited_when_the_turn_was_stopped_waits_no_more() -> None:
    page = Transcript("page")
    scribe = Scribe(page)
    scribe.ask(Question(text="What?"))
    scribe.take(ToolStarted(call="T1", tool="overview"))
    (row,) = [block for block in page.blocks if isinstance(block, ToolRow)]
    assert "running" in row.lines(80)[0].plain
    scribe.take(Cancelled())
    assert "⊘ overview" in row.lines(80)[0].plain
    assert "stopped" in row.lines(80)[0].plain


def test_explanations_are_called_up_again_as_they_stand_now() -> None:
    page = Transcript("page")
    scribe = Scribe(page)
    assert scribe.recall() == 0
    for state in ("proposed", "refuted"):
        scribe.take(Hypothesis.model_validate({"id": "H1", "cause": "network.link", "statement": "x", "state": state}))
    assert scribe.recall() == 1
    blocks = [block for block in page.blocks if isinstance(block, HypothesisBlock)]
    assert [block.event.state for block in blocks] == ["refuted", "refuted"]
    scribe.take(Hypothesis(id="H1", cause="network.link", statement="x", state="established"))
    assert blocks[-1].event.state == "established"
