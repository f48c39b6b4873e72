"""Where `explain` meets what is broken around it: pipes, folders, encodings, sessions. An answer comes all the same."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assistant.cli.main import main

LOGS = str(Path(__file__).parent.parent.parent / "knowledge/examples/hanging-rank")


@pytest.fixture(autouse=True)
def words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No vectors are made for a question or two."""
    monkeypatch.setenv("ROOTRANK_RETRIEVAL__EMBEDDER", "none")


@pytest.fixture
def session(own_home: Path) -> Path:
    """The file of a session of one turn."""
    assert main(["explain", LOGS, "-q", "which rank"]) == 10
    return next((own_home / "data/sessions").glob("*.jsonl"))


@pytest.mark.parametrize("form", [(), ("--json",), ("--markdown",)], ids=["text", "json", "markdown"])
def test_a_reader_that_closes_its_end_is_no_error(form: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "assistant.cli", "explain", LOGS, *form]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ))
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait() == 10
    assert "internal error" not in said


def test_a_folder_that_cannot_be_written_costs_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("ROOTRANK_DATA_DIR", str(tmp_path / "file"))
    assert main(["explain", LOGS, "-q", "which rank"]) == 10
    out, err = capsys.readouterr()
    assert "Blamed: gpu-a03 rank 5" in out
    assert "the session is not kept" in err
    assert "ask on with" not in err


def test_a_question_that_is_no_utf8_is_answered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(b"\xff\xfe which rank".decode("utf-8", "surrogateescape")))
    assert main(["explain", LOGS, "-q", "-"]) == 10
    assert "rank 5" in capsys.readouterr().out


def test_a_session_of_a_newer_version_is_refused_as_such(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session.write_bytes(session.read_bytes().replace(b'"version":1', b'"version":9', 1))
    for command in (["sessions", "show", session.stem], ["explain", "--session", session.stem, "-q", "why"]):
        assert main(command) == 4
        assert "written by a newer version" in capsys.readouterr().err


def test_a_damaged_session_is_left_out_of_the_list_aloud(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session.write_bytes(session.read_bytes().replace(b'"kind":"asked"', b'"kind":\x00', 1))
    assert main(["sessions", "list"]) == 0
    said = capsys.readouterr().err
    assert "left out" in said
    assert f"{session.name}:2 is damaged" in said


def test_a_key_that_cannot_be_sent_is_never_printed(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own = own_home / "config/rootrank.toml"
    own.parent.mkdir(parents=True, exist_ok=True)
    fields = {"base_url": "http://127.0.0.1:1/v1", "model": "m", "key_env": "BROKEN_KEY"}
    own.write_text("\n".join(["[profiles.gw]", *(f"{key} = {json.dumps(value)}" for key, value in fields.items()), ""]))
    monkeypatch.setenv("BROKEN_KEY", "sk-secret\nX-Evil: 1")
    for command in (["doctor", "gw"], ["explain", LOGS, "--profile", "gw", "--no-save", "-q", "which rank"]):
        main(command)
        out, err = capsys.readouterr()
        assert "sk-secret" not in out + err
        assert "the key in BROKEN_KEY holds a line break" in err
