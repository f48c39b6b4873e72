"""`rootrank diagnose` around the diagnosis itself: options, forms, targets, and what is kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import jsonschema
import orjson
import pytest

from assistant.case.models import Case
from assistant.case.schema import case_schema
from assistant.case.store import CaseStore, Inputs
from assistant.cli import diagnose as command
from assistant.cli.main import main
from assistant.cli.request import Request
from assistant.config import Settings
from tests.samples import all_cases, failed_case, healthy_case

Stub = Callable[[Case], list[tuple[Request, Settings]]]


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Stub:
    """Makes the diagnosis return a given case; tells with what it was called."""

    def install(case: Case) -> list[tuple[Request, Settings]]:
        calls: list[tuple[Request, Settings]] = []

        def run(request: Request, settings: Settings, *, bar: bool) -> Case:
            calls.append((request, settings))
            return case

        monkeypatch.setattr(command, "run", run)
        return calls

    return install


@pytest.fixture
def store(own_home: Path) -> CaseStore:
    return CaseStore(own_home / "data")


@pytest.mark.parametrize("name", sorted(all_cases()))
def test_json_keeps_the_schema(name: str, stub: Stub, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    stub(all_cases()[name])
    main(["diagnose", "x", "--json"])
    jsonschema.validate(orjson.loads(capsysbinary.readouterr().out), case_schema())


def test_markdown_and_text_come_on_standard_output(stub: Stub, capsys: pytest.CaptureFixture[str]) -> None:
    stub(failed_case())
    assert main(["diagnose", "x", "--markdown"]) == 10
    assert capsys.readouterr().out.startswith("# FAILED · memory.gpu\\_oom")
    assert main(["diagnose", "x", "-v"]) == 10
    assert "Patterns" in capsys.readouterr().out


def test_two_forms_exclude_each_other(stub: Stub, capsys: pytest.CaptureFixture[str]) -> None:
    calls = stub(failed_case())
    assert main(["diagnose", "x", "--json", "--markdown"]) == 2
    assert "exclude" in capsys.readouterr().err
    assert calls == []


def test_a_report_can_go_to_a_file(stub: Stub, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stub(failed_case())
    for form in ("--json", "--markdown", "-v"):
        assert main(["diagnose", "x", form, "-o", str(tmp_path / form)]) == 10
        assert (tmp_path / form).stat().st_size > 100
    assert capsys.readouterr().out == ""
    assert main(["diagnose", "x", "-o", str(tmp_path / "absent/file")]) == 2
    assert "no such file or directory" in capsys.readouterr().err


def test_options_reach_the_diagnosis(stub: Stub) -> None:
    (calls := stub(failed_case()))
    main(
        ["diagnose", "a", "b", "--baseline", "llama", "--without", "cross-job", "--without", "spatial", "--job", "17",
         "--since", "10:00", "--until", "11:00", "--topology", "tp=2, PP=4", "--threads", "3", "--no-save"]
    )  # fmt: skip
    request, settings = calls[0]
    assert request == Request(("a", "b"), "llama", ("cross_job", "spatial"), "17", "10:00", "11:00", {"pp": 4, "tp": 2})
    assert settings.diagnose.threads == 3
    assert not settings.cases.save


def test_a_topology_can_stand_in_a_file(stub: Stub, tmp_path: Path) -> None:
    calls = stub(failed_case())
    (tmp_path / "sizes.yaml").write_text("tp: 8\npp: 2\n")
    main(["diagnose", "x", "--topology", str(tmp_path / "sizes.yaml")])
    assert calls[0][0].topology == {"pp": 2, "tp": 8}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--without", "spacial"],
        ["--topology", "tp=big"],
        ["--topology", "tp=0"],
        ["--topology", "zz=3"],
        ["--topology", "absent.yaml"],
        ["--topology", str(Path(__file__))],
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_read(
    arguments: list[str], stub: Stub, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = stub(failed_case())
    assert main(["diagnose", "x", *arguments]) == 2
    assert arguments[0] in capsys.readouterr().err
    assert calls == []


def test_each_run_is_kept_with_what_it_was_made_from(
    stub: Stub, store: CaseStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub(failed_case())
    monkeypatch.chdir(tmp_path)
    main(["diagnose", "logs", "-", "--without", "temporal"])
    stored = store.load("last")
    assert stored.case == failed_case()
    assert stored.inputs.paths == (str(tmp_path / "logs"), "-")
    assert stored.inputs.options["without"] == ["temporal"]


@pytest.mark.parametrize("way", ["option", "environment", "file"])
def test_nothing_is_kept_where_that_is_not_wanted(
    way: str, stub: Stub, store: CaseStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub(failed_case())
    monkeypatch.chdir(tmp_path)
    if way == "environment":
        monkeypatch.setenv("ROOTRANK_CASES__SAVE", "false")
    if way == "file":
        (tmp_path / "rootrank.toml").write_text("[cases]\nsave = false\n")
    main(["diagnose", "x", *(["--no-save"] if way == "option" else [])])
    assert store.ids() == []


def test_an_unwritable_data_folder_costs_one_warning_not_the_verdict(
    stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ROOTRANK_DATA_DIR", str(tmp_path / "file/data"))
    stub(failed_case())
    assert main(["diagnose", "x"]) == 10
    out, err = capsys.readouterr()
    assert "FAILED" in out
    assert err.startswith("warning: the case is not kept: ")
    assert err.count("\n") == 1
    assert main(["cases", "list"]) in (0, 4)


def test_cases_past_their_time_go_when_another_is_kept(stub: Stub, store: CaseStore) -> None:
    old = store.save(healthy_case(), Inputs(("/x",)))
    os.utime(old, (0, 0))
    stub(failed_case())
    main(["diagnose", "x"])
    assert store.ids() == [failed_case().case]


def test_a_wrong_setting_ends_with_4(
    stub: Stub, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stub(failed_case())
    monkeypatch.setenv("ROOTRANK_CASES__RETENTION_DAYS", "soon")
    assert main(["diagnose", "x"]) == 4
    assert "ROOTRANK_CASES__RETENTION_DAYS" in capsys.readouterr().err
