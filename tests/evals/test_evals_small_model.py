"""The parts of the evaluation with a real small model that need none."""

from __future__ import annotations

import sys

import pytest

from assistant.answers.models import AnswerEvent, Done, Fallback, Replaced, Standing, Text, Usage
from evals.small_model import Skipped, Told, free_port, gguf_of, main, summary, told_of

EVENTS: list[AnswerEvent] = [
    Text(number=1, text="a", standing=Standing.SUPPORTED),
    Text(number=2, text="b", standing=Standing.UNSUPPORTED),
    Text(number=3, text="c", standing=Standing.UNSUPPORTED),
    Replaced(number=3, text="d", standing=Standing.SUPPORTED),
    Usage(model="small", input_tokens=900, output_tokens=80),
]
TAKEN_OVER: list[AnswerEvent] = [
    Fallback(source="small", target="offline", reason="nothing holds"),
    Text(number=4, text="e", standing=Standing.SUPPORTED),
    Usage(model="offline", input_tokens=900, output_tokens=80),
    Done(answerer="offline"),
]


def told(events: list[AnswerEvent], seconds: float = 9.0, *, faithful: bool = True) -> Told:
    """A turn of these events."""
    return told_of(events, "job", "why?", 2048, ("actions", "reading"), seconds, faithful=faithful)


def test_an_answer_is_counted_as_it_stands_in_the_end() -> None:
    one = told([*EVENTS, Done(answerer="small")])
    assert (one.supported, one.marked, one.plain) == (2, 1, 0)
    assert (one.sent, one.received, one.answerer, one.fallback) == (900, 80, "small", "")


def test_sentences_of_the_offline_answerer_are_not_the_model_s() -> None:
    one = told([*EVENTS, *TAKEN_OVER])
    assert (one.supported, one.marked) == (2, 1)
    assert (one.answerer, one.fallback) == ("offline", "nothing holds")


def test_the_summary_counts_what_must_hold() -> None:
    turns = [told([*EVENTS, Done(answerer="small")]), told([*EVENTS, *TAKEN_OVER], 500.0, faithful=False)]
    figures = summary(turns, 60.0)
    assert (figures["all turns"], figures["in time"], figures["faithful"], figures["answered by the model"]) == (
        2,
        1,
        1,
        1,
    )
    assert figures["fallbacks"] == {"nothing holds": 1}
    assert figures["protocols"] == {"actions to reading": 2}


def test_without_llama_cpp_it_is_skipped_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "skipped: name an interpreter" in capsys.readouterr().out
    assert main(["--base-url", f"http://127.0.0.1:{free_port()}/v1"]) == 0
    assert "nobody listens" in capsys.readouterr().out


def test_an_interpreter_that_lacks_it_or_is_none_is_named() -> None:
    with pytest.raises(Skipped, match="cannot be run"):
        gguf_of("/no/such/python")
    with pytest.raises(Skipped, match="lacks llama-cpp-python"):
        gguf_of(sys.executable)
