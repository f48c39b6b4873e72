"""Codes, words, passages, weights: the small parts, one by one."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import KnowledgeError
from assistant.paths import locate
from assistant.retrieval import fusion
from assistant.retrieval.chunks import LONGEST, chunks_of
from assistant.retrieval.codes import CodeReader, canonical, is_telling
from assistant.retrieval.documents import Document, Section
from assistant.retrieval.stems import stem
from assistant.retrieval.tuning import read_tuning
from assistant.retrieval.versions import admits
from assistant.retrieval.words import terms

CODES = CodeReader(read_tuning(locate("knowledge")[0] / "retrieval.yaml"))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>'", "xid_79"),
        ("XID 79", "xid_79"),
        ("SXid (PCI:0000:c1:00.0): 12028, Non-fatal", "sxid_12028"),
        ("exited with exit code 137", "exit_137"),
        ("exitcode  : -9 (pid: 77)", "exit_137"),
        ("got SIGKILL", "exit_137"),
        ("EI0006: socket build timed out", "ei0006"),
        ("[Errno 28] No space left on device", "errno_28"),
        ("set NCCL_IB_TIMEOUT=22", "nccl_ib_timeout"),
        ("ncclSystemError: a system call failed", "ncclsystemerror"),
        ("CUDA error: CUDNN_STATUS_INTERNAL_ERROR", "cudnn_status_internal_error"),
    ],
)
def test_a_code_is_read_in_whatever_way_it_is_written(text: str, code: str) -> None:
    assert code in CODES.read(text)


@pytest.mark.parametrize("code", ["Xid 79", "exit 137", "EI0006", "NCCL_IB_GID_INDEX", "Heartbeat Lost"])
def test_a_listed_code_is_found_in_words_that_hold_it(code: str) -> None:
    listed = CODES.one(code)
    assert listed in CODES.read(f"we saw {code} last night", {listed: code})


@pytest.mark.parametrize("word", ["Failed", "down", "out of memory", "NaN", "idle"])
def test_a_listed_word_of_everyday_is_no_code(word: str) -> None:
    assert not is_telling(word)


def test_a_listed_name_counts_only_as_it_is_spelled() -> None:
    listed = {"heartbeat_lost": "Heartbeat Lost"}
    assert "heartbeat_lost" in CODES.read("ExceptionType:[Heartbeat Lost Occurred]", listed)
    assert "heartbeat_lost" not in CODES.read("the heartbeat, lost for a minute", listed)


def test_words_around_a_code_do_not_make_one() -> None:
    assert CODES.read("the exit is on page 12 of 79") == {}


@given(st.text(max_size=300))
def test_any_text_gives_canonical_codes_and_words(text: str) -> None:
    for code in CODES.read(text):
        assert code
        assert " " not in code
    for word in terms(text, CODES):
        assert word
        assert '"' not in word
        assert " " not in word
    assert canonical(canonical(text)) == canonical(text)


@pytest.mark.parametrize(
    "words", [("hang", "hangs", "hanging"), ("stop", "stopped", "stopping"), ("node", "nodes"), ("retry", "retries")]
)
def test_forms_of_a_word_are_one(words: tuple[str, ...]) -> None:
    assert len({stem(word) for word in words}) == 1


def test_long_names_are_found_whole_and_by_their_parts() -> None:
    found = terms("NCCL_IB_TIMEOUT expired", CODES)
    assert {"nccl_ib_timeout", "nccl", "ib", "timeout"} <= set(found)


def document(*sections: Section) -> Document:
    return Document("a", "doc", "Title", sections)


def test_passages_keep_all_text_and_none_is_too_long() -> None:
    text = "\n\n".join(f"Paragraph {number} " + "word " * 60 for number in range(12)) + "\n\n" + "x" * 5_000
    chunks = chunks_of(document(Section("One", text, 5), Section("Two", "short", 90), Section("Three", "end", 95)))
    assert max(len(chunk.text) for chunk in chunks) <= LONGEST
    joined = "".join("".join(chunk.text.split()) for chunk in chunks)
    assert "".join(text.split()) in joined
    assert "Three: end" in chunks[-1].text
    assert chunks[0].line == 6


def test_a_document_without_text_is_found_by_its_title() -> None:
    assert [chunk.text for chunk in chunks_of(document())] == ["Title"]


@given(st.text(max_size=4_000), st.integers(0, 50))
def test_any_text_is_cut(text: str, line: int) -> None:
    for chunk in chunks_of(document(Section("H", text, line))):
        assert len(chunk.text) <= LONGEST


@pytest.mark.parametrize(
    ("versions", "wanted", "fits"),
    [
        (">=2.10,<2.21", "2.18.3", True),
        (">=2.10,<2.21", "2.21", False),
        (">=2.10", "", True),
        ("", "1", True),
        ("Blackwell only", "2.1", True),
        (">=2.1", "nightly", True),
    ],
)
def test_only_a_range_that_is_understood_leaves_out(versions: str, wanted: str, fits: bool) -> None:
    assert admits(versions, wanted) is fits


def test_equal_scores_share_a_rank() -> None:
    assert fusion.ranked({"a": 1.0, "b": 2.0, "c": 2.0, "d": 0.5}) == {"b": 1, "c": 1, "a": 3, "d": 4}


@pytest.mark.parametrize(("day", "age"), [("2026-01-01", 9.0), ("2026", 0.0), ("2025-12", 13.0), ("soon", None)])
def test_an_age_is_read_from_whatever_part_of_a_date_there_is(day: str, age: float | None) -> None:
    assert fusion.age_in_days(day, date(2026, 1, 10)) == age


@pytest.mark.parametrize(
    "text",
    [
        "codes: [{regex: '(', code: 'x'}]",
        "codes: [{regex: 'x', code: '{n}'}]",
        "fusion: {constant: 0}",
        "thresholds: {none: {least: 0.1}}",
        "moon: 1",
        "codes: [",
    ],
)
def test_a_wrong_tuning_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "retrieval.yaml"
    path.write_text(text)
    with pytest.raises(KnowledgeError, match=r"retrieval\.yaml"):
        read_tuning(path)
