"""The team's memory by command: confirm, recognise, correct, export, import, learn."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assistant.cli.main import main

EXAMPLE = Path(__file__).parents[2] / "knowledge" / "examples" / "hanging-rank"


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    """Standard output and error of a command that must end with the code."""
    assert main(arguments) == code
    captured = capsys.readouterr()
    return captured.out, captured.err


@pytest.fixture
def confirmed(own_home: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The bundled failure, diagnosed and confirmed; the incident's id."""
    said(capsys, "diagnose", str(EXAMPLE), code=10)
    out, err = said(capsys, "confirm", "last", "--fix", "replaced the NIC", "--by", "mara")
    assert "collective.hang" in err
    return out.strip()


def test_a_confirmed_failure_is_recognised_when_it_comes_back(
    confirmed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = shutil.copytree(EXAMPLE, tmp_path / "again")
    log = again / "gpu-a02" / "launcher.log"
    log.write_text(log.read_text() + "2026-11-30 00:00:00 INFO another run\n")
    _, err = said(capsys, "diagnose", str(again), code=10)
    assert "seen before: Second time on gpu-a03" in err
    assert "last fix: replaced the NIC" in err


def test_the_first_time_nothing_is_said(own_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, err = said(capsys, "diagnose", str(EXAMPLE), code=10)
    assert "seen before" not in err


def test_a_correction_is_a_revision_and_the_list_shows_it(confirmed: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, err = said(capsys, "correct", "last", "--cause", "network.link", "--note", "a bad cable")
    assert "revision 2" in err
    out, _ = said(capsys, "incidents", "list")
    assert "network.link" in out
    history, _ = said(capsys, "incidents", "show", confirmed, "--history")
    assert history.count('"revision"') == 2


def test_an_export_is_taken_once(confirmed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "incidents", "export")
    (tmp_path / "team.jsonl").write_text(out)
    _, err = said(capsys, "incidents", "import", str(tmp_path / "team.jsonl"))
    assert "0 added, 0 revised, 1 known already" in err


def test_contradictions_unknown_causes_and_unknown_cases_are_refused(
    confirmed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys, "confirm", "last", "--nobody", "--rank", "1", code=2)
    said(capsys, "correct", "last", "--cause", "nope.nope", code=2)
    said(capsys, "confirm", "c-ffffffffff", code=4)


def test_what_the_library_knows_is_not_learned_again(confirmed: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, err = said(capsys, "learn", "propose", "last", code=4)
    assert "the library knows this fault" in err
    _, err = said(capsys, "learn", "list")
    assert "nothing is proposed yet" in err
