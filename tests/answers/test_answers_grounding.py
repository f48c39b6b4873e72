"""The check of one sentence: what is carried, what is not, and what claims nothing."""

from __future__ import annotations

import pytest

from assistant.answers.claims import citations, claims
from assistant.answers.grounding import Known, check
from assistant.answers.models import Standing
from assistant.answers.quantities import agree, quantity
from assistant.case.models import Evidence
from assistant.tools.desk import Shown
from assistant.tools.models import ResultStatus, ToolResult

HOSTS = ("gpu-03", "gpu-07")
OOM = "[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. 1.02 GiB is free."
LATE = "[rank1]: watchdog: collective SeqNum=77 timed out after 600000 ms (exit code 134)"
LINES = (
    Evidence(
        id="E1", source="gpu-07/rank-5.err", line=118, offset=0, text=OOM, node="gpu-07", rank=5,
        time="2026-03-04T05:06:07Z",
    ),
    Evidence(
        id="E2", source="gpu-03/rank-1.err", line=90, offset=0, text=LATE, node="gpu-03", rank=1,
        time="2026-03-04T05:16:07Z",
    ),
)  # fmt: skip
OVERVIEW = ToolResult(
    id="T1", tool="overview", status=ResultStatus.FOUND,
    text="Status: failed. Job: 8 ranks, 2 nodes.\nCause: memory.gpu_oom, confidence high. Rank 5 on gpu-07 ran out.\n"
    "Why: 7 other ranks report a timeout [E2].\nSuspect: gpu-07 rank 5, score 0.97: first error\n"
    "Candidate, not blamed: gpu-03 rank 1, score 0.20: a collective timed out",
)  # fmt: skip


def standing(sentence: str) -> Standing:
    """How a sentence stands on the lines above."""
    shown = Shown()
    shown.add(LINES)
    return check(sentence, Known(shown, {"T1": OVERVIEW}, HOSTS)).standing


@pytest.mark.parametrize(
    "sentence",
    [
        "Rank 5 ran out of memory [E1].",
        "It wanted 2.5 GiB and 1.02 GiB were free [E1].",
        "It waited for 10 minutes, 600 s, 600,000 ms [E2].",
        "It gave up ten minutes after rank 5 failed [E1, E2].",
        "Seven other ranks waited [T1].",
        "Sieben andere Ränge warteten [T1].",
        "Rang 5 auf gpu-07 brauchte 2,5 GiB [E1].",
        "其他七个rank超时 [T1]。",
        "rank 5 显存不足 [E1]。",
        "Ranks 1 and 5 are both involved [E1, E2].",
        "It stands at `gpu-07/rank-5.err:118` [E1].",
        "The exit code was 134 (SIGABRT) [E2].",
        'It says "Tried to allocate … is free" [E1].',
        "At 05:06:07 rank 5 failed [E1].",
        "Of 8 ranks one failed [T1].",
        "| rank | says |\n| --- | --- |\n| 5 | out of memory [E1] |\n| 1 | timed out [E2] |",
    ],
)
def test_what_the_evidence_says_is_supported(sentence: str) -> None:
    assert standing(sentence) is Standing.SUPPORTED


@pytest.mark.parametrize(
    "sentence",
    [
        "Rank 4 ran out of memory [E1].",
        "rank four ran out of memory [E1].",
        "\uff32\uff41\uff4e\uff4b \uff14 ran out of memory [E1].",
        "ra\u200bnk 4 ran out of memory [E1].",
        "Ranks 1-3 failed [E2].",
        "It wanted 2.50 MiB [E1].",
        "It wanted 3.5 GiB [E1].",
        "It waited for 600 ms [E2].",
        "It waited for 10 seconds [E2].",
        "It gave up one hour, that is 60 minutes, after rank 5 [E1, E2].",
        "Six other ranks waited [T1].",
        "Rang 4 brauchte 2,5 GiB [E1].",
        "rank 4 显存不足 [E1]。",
        "其他三个rank超时 [T1]。",
        "gpu-03 ran out of memory [E1].",
        "gpu-09 is down [T1].",
        "It was a ValueError [E1].",
        "It was an uncorrectable ECC error [E1].",
        "It was SIGKILL [E2].",
        "At 05:09:07 rank 5 failed [E1].",
        "Rank 1 is to blame [T1].",
        "The log says `NCCL WARN Call to ibv_poll_cq failed` [E1].",
        "Rank 5 failed [E9].",
        "Rank 5 failed [T7].",
        "Rank 5 failed.",
        "See line 119 [E1].",
        "Free memory was 8.11 GiB [E1].",
        "| rank | says |\n| --- | --- |\n| 5 | out of memory [E1] |\n| 2 | timed out [E2] |",
        "```\n[rank5]: RuntimeError: invented\n```",
    ],
)
def test_what_the_evidence_does_not_say_is_marked(sentence: str) -> None:
    assert standing(sentence) is Standing.UNSUPPORTED


@pytest.mark.parametrize(
    "sentence",
    [
        "Restart from the last checkpoint.",
        "1. Run `nvidia-smi -q` on the node.",
        "Halve the batch from 8 to 4.",
        "Set `NCCL_TIMEOUT=1800` and watch it.",
        "That would need another measurement.",
        "Is it the network?",
        "## What to do",
        "```\nnvidia-smi -q -d ECC\n```",
        "It is no hardware fault as far as the logs show.",
    ],
)
def test_advice_and_plain_prose_need_no_evidence(sentence: str) -> None:
    assert standing(sentence) is Standing.PLAIN


def test_problems_name_what_is_not_carried() -> None:
    shown = Shown()
    shown.add(LINES)
    found = check("Rank 4 used 9 GiB [E1].", Known(shown, {}, HOSTS))
    assert "Rank 4" in found.problems[0]
    assert "9 GiB" in found.problems[0]


def test_citations_are_read_in_all_their_forms() -> None:
    assert citations("a [E1, T2; n03/rank-7.err:118] b [S3]") == ("E1", "T2", "n03/rank-7.err:118", "S3")
    assert citations("a [link](http://x) [not one] [E]") == ()


def test_hostile_sentences_are_read_in_time() -> None:
    for text in (
        "rank " + "1," * 20_000,
        "[E1" * 20_000,
        "`" * 20_000,
        "9" * 50_000,
        "1-" * 20_000,
        "a-" * 20_000 + "1",
    ):
        claims(text[:60_000], HOSTS)


@pytest.mark.parametrize(
    ("claimed", "unit", "seen", "seen_unit", "same"),
    [
        ("10", "minutes", "600000", "ms", True), ("1", "GiB", "1024", "MiB", True), ("1", "GB", "1", "GiB", True),
        ("2.5", "s", "2.54", "s", True), ("2.5", "s", "2.56", "s", False), ("12", "%", "0.12", "", False),
        ("5", "", "5", "s", False), ("79", "GiB", "79.15", "GiB", True), ("80", "GiB", "79.15", "GiB", False),
    ],
)  # fmt: skip
def test_numbers_agree_within_what_rounding_hides(
    claimed: str, unit: str, seen: str, seen_unit: str, same: bool
) -> None:
    assert agree(quantity(claimed, unit), quantity(seen, seen_unit)) is same
