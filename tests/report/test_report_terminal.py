"""The report for a terminal: it fits, it shows log text as it is, and nothing in a log can act on the terminal."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.text import Text

from assistant.case.models import Candidate, Case, Failure, NotRead, Step
from assistant.case.vocabulary import ActionKind
from assistant.report import terminal
from assistant.report.terminal import SPARE, console_for, render, styled
from tests.samples import all_cases, evidence, failed_case, healthy_case, unknown_case

HOSTILE = "\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m [bold]x[/bold] \r\b\x00 \u202egnirts :smile: [rank0]: open [/data]"


def plain(case: Case, width: int = 80, height: int = 24, *, verbose: bool = False) -> str:
    return "\n".join(line.plain for line in render(case, width, height, verbose=verbose))


def crowded(text: str = "word " * 200) -> Case:
    """A case in which everything is long and there is much of it."""
    case = failed_case()
    action = case.verdict.action.model_copy(update={"text": text, "steps": (Step(text=text, command=text),) * 9})
    verdict = case.verdict.model_copy(
        update={"statement": text, "why": (text,) * 12, "missing": (text,) * 9, "action": action,
                "evidence": tuple(f"E{number}" for number in range(1, 20))}
    )  # fmt: skip
    return case.model_copy(
        update={
            "verdict": verdict,
            "job": case.job.model_copy(update={"framework": text}),
            "suspects": (Candidate(node=text, rank=3, score=1.0, reasons=(text, text)),) * 20,
            "evidence": tuple(evidence(number, text + ".log", number, text, text, 5) for number in range(1, 20)),
            "not_read": (NotRead(source=text, why=text),) * 100,
            "failures": (Failure(verdict=verdict),) * 3,
        }
    )


@pytest.mark.parametrize("case", [*all_cases().values(), crowded(), crowded("x" * 5_000), crowded(HOSTILE * 20)])
@pytest.mark.parametrize("size", [(80, 24), (100, 30), (132, 50)])
def test_it_fits_the_screen(case: Case, size: tuple[int, int]) -> None:
    lines = render(case, *size)
    assert len(lines) <= size[1] - SPARE
    assert max(line.cell_len for line in lines) <= size[0]


@pytest.mark.parametrize("width", [1, 40, 60, 79])
def test_a_narrow_terminal_is_no_error(width: int) -> None:
    for verbose in (False, True):
        lines = render(crowded(), width, 24, verbose=verbose)
        assert max(line.cell_len for line in lines) <= max(width, 40)


def test_a_larger_screen_shows_more() -> None:
    assert len(render(crowded(), 80, 60)) > len(render(crowded(), 80, 24))


def test_the_essentials_stay_on_a_crowded_screen() -> None:
    text = plain(crowded())
    for label in ("FAILED · memory.gpu_oom", "Why", "Suspects", "Do now", "Evidence", "Missing", "Not read", "Also"):
        assert label in text
    assert "100 sources, the first: " in text
    assert "3 failures, the first: memory.gpu_oom" in text


def test_what_does_not_fit_is_said_to_be_missing() -> None:
    assert "+17 more" in plain(crowded())


def test_verbose_leaves_nothing_out() -> None:
    text = " ".join(plain(failed_case(), verbose=True).split())
    for part in ("hardware.gpu_memory", "undo: set the old value", "E3", "cascade, 7 times", "cross_job: did not run",
                 "3 lines held broken UTF-8", "core.4242: binary", "attempt 2 of 2", "ranks 0-4, 6-7"):  # fmt: skip
        assert part in text, part


def test_bracketed_prefixes_stay_visible() -> None:
    assert "[rank5]: torch.OutOfMemoryError" in plain(failed_case())


@pytest.mark.parametrize("verbose", [False, True])
def test_nothing_of_a_log_acts_on_the_terminal(verbose: bool) -> None:
    text = plain(crowded(HOSTILE), verbose=verbose)
    assert not {character for character in text if ord(character) < 32 and character != "\n"}
    assert "\u202e" not in text
    assert "[bold]x[/bold]" in text
    assert ":smile:" in text


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=300))
def test_no_text_can_break_out_of_its_line(text: str) -> None:
    case = crowded(text.encode("utf-8", "replace").decode())
    lines = render(case)
    assert len(lines) <= 24 - SPARE
    assert max(line.cell_len for line in lines) <= 80
    assert all(character.isprintable() for line in lines for character in line.plain)


def test_a_long_line_keeps_its_alarming_part() -> None:
    line = "[2026-03-04 05:06:07,123] [INFO] " + "path/" * 60 + " CUDA error: an illegal memory access was encountered"
    case = failed_case().model_copy(update={"evidence": (evidence(1, "a.log", 1, line),)})
    assert "CUDA error: an illegal memory access" in plain(case)


def test_a_long_path_keeps_its_end_and_the_line_number() -> None:
    case = failed_case().model_copy(update={"evidence": (evidence(1, "deep/" * 40 + "rank-5.err", 118, "x", "n", 5),)})
    assert "deep/rank-5.err:118  n rank 5" in plain(case)


def test_a_healthy_job_gets_no_suspects_and_nothing_to_do() -> None:
    text = plain(healthy_case())
    assert text.startswith("HEALTHY · nothing failed")
    assert "Suspect" not in text
    assert "Do now" not in text


def test_nobody_is_blamed_is_said_aloud() -> None:
    assert "nobody is blamed" in plain(unknown_case())


def test_an_unknown_cause_still_says_what_to_collect() -> None:
    text = plain(unknown_case())
    assert "cause not determined" in text
    assert "the logs do not show it" in text
    assert ActionKind.COLLECT in text


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, colour: terminal.Colour = "auto") -> str:
    return styled(failed_case(), console_for(stream, colour))


def test_colours_only_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" in shown(Screen())
    assert "\x1b[" not in shown(io.StringIO())
    assert "\x1b[" in shown(io.StringIO(), "always")
    assert "\x1b[" not in shown(Screen(), "never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in shown(Screen())
    assert "\x1b[" in shown(Screen(), "always")
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b[" not in shown(Screen())


def test_without_colours_the_text_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert Text.from_ansi(shown(Screen())).plain.split() == shown(io.StringIO()).split()


def test_columns_set_the_width_of_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert max(map(len, shown(io.StringIO()).splitlines())) > 80
