"""`rootrank search` and `rootrank knowledge`: which stream gets what, how each ends, what is loaded and asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from assistant.case.store import CaseStore, Inputs
from assistant.cli.exit_codes import ExitCode
from assistant.cli.main import main
from tests.samples import failed_case


@pytest.fixture(autouse=True)
def _light(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOTRANK_RETRIEVAL__EMBEDDER", "none")


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_a_code_is_found_and_cited(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = ran(capsys, "search", "Xid 79")
    assert (code, err) == (0, "")
    assert out.startswith("1. ")
    assert "code Xid 79" in out


def test_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "search", "exit", "code", "137", "--json", "-n", "3", "--kind", "fault")
    answer = orjson.loads(out)
    assert code == 0
    assert answer["fits"]
    assert {hit["passage"]["kind"] for hit in answer["hits"]} == {"fault"}


def test_nothing_fits_is_said_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "search", "sourdough bread with poppy seeds")
    assert code == 0
    assert out.startswith("nothing")


def test_a_stored_case_can_be_looked_for(capsys: pytest.CaptureFixture[str]) -> None:
    case = failed_case()
    CaseStore(Path(os.environ["ROOTRANK_DATA_DIR"])).save(case, Inputs(("x",)))
    code, out, _ = ran(capsys, "search", "--case", "last", "--json")
    assert code == 0
    assert any(hit["passage"]["layer"] == "memory" for hit in orjson.loads(out)["hits"])


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("search",), ExitCode.USAGE),
        (("search", "x", "--kind", "moon"), ExitCode.USAGE),
        (("search", "--case", "c-0000000000"), ExitCode.CONFIG),
        (("knowledge", "show", "no-such-page"), ExitCode.CONFIG),
        (("knowledge", "remove", "no-such-page"), ExitCode.CONFIG),
        (("knowledge", "add", "/no/such/file"), ExitCode.INPUT),
    ],
)
def test_a_refusal_is_two_lines(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int) -> None:
    ended, out, err = ran(capsys, *arguments)
    assert (ended, out) == (code, "")
    assert [line.split(":")[0] for line in err.splitlines()] == ["error", "hint"]


def test_a_page_is_added_found_shown_listed_and_removed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "runbook.md"
    page.write_text("# Our zebrafish switch\n\nPower the zebrafish off and on.\n")
    code, out, _ = ran(capsys, "knowledge", "add", str(page), "--vendor", "ours", "--code", "ZEB 12")
    name = out.strip()
    assert code == 0
    assert ran(capsys, "search", "zebrafish")[1].startswith("1. Our zebrafish switch")
    assert "Power the zebrafish" in ran(capsys, "knowledge", "show", name)[1]
    assert name in ran(capsys, "knowledge", "list", "--kind", "runbook")[1]
    assert ran(capsys, "knowledge", "remove", name)[0] == 0
    assert ran(capsys, "search", "zebrafish")[1].startswith("nothing")


def test_an_import_names_what_it_left_out(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "wiki").mkdir()
    (tmp_path / "wiki/a.md").write_text("# A\n\ntext\n")
    (tmp_path / "wiki/b.md").write_text("---\nid: [\n---\n")
    code, out, err = ran(capsys, "knowledge", "import", str(tmp_path / "wiki"))
    assert code == 0
    assert len(out.splitlines()) == 1
    assert "b.md" in err


def test_a_broken_page_of_ones_own_is_a_note_and_a_problem(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(os.environ["ROOTRANK_HOME"]) / "knowledge/docs"
    folder.mkdir(parents=True)
    (folder / "broken.md").write_text("---\nid: x\ntitle: [\n---\n")
    code, out, err = ran(capsys, "search", "Xid 79")
    assert code == 0
    assert out.startswith("1. ")
    assert "broken.md, line" in err
    code, out, _ = ran(capsys, "knowledge", "check")
    assert code == ExitCode.PROBLEMS
    assert "broken.md, line" in out


def test_a_rebuild_tells_how_much_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = ran(capsys, "knowledge", "rebuild")
    assert (code, out) == (0, "")
    assert "passages, embedder none" in err


OFFLINE = """
import socket, sys
from assistant.cli.main import main

def refused(self, address, *more):
    raise AssertionError(f"asked for {address}")

socket.socket.connect = refused
socket.getaddrinfo = refused
code = main(sys.argv[1:])
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
sys.exit(code)
"""


def offline(*arguments: str, **environment: str) -> tuple[str, set[str]]:
    """What a command prints and which modules it has loaded, with every connection refused."""
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        env={**os.environ, **environment},
    )
    return done.stdout, set(done.stderr.splitlines()[-1].split())


def test_words_and_codes_need_no_extra_and_no_network() -> None:
    out, modules = offline("search", "Xid 79")
    assert out.startswith("1. ")
    assert not modules & {"chromadb", "torch", "sentence_transformers", "httpx", "polars"}


def test_an_embedded_vector_store_opens_no_connection() -> None:
    pytest.importorskip("chromadb")
    out, modules = offline("search", "Xid 79", ROOTRANK_RETRIEVAL__EMBEDDER="hashing")
    assert "meaning" in out
    assert "chromadb" in modules
    assert not modules & {"torch", "sentence_transformers"}
