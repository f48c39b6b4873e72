"""`rootrank cases` and `rootrank config`."""

from __future__ import annotations

import os
from pathlib import Path

import jsonschema
import orjson
import pytest

from assistant.case.models import Case
from assistant.case.schema import case_schema
from assistant.case.store import CaseStore, Inputs
from assistant.cli import cases as command
from assistant.cli.main import main
from assistant.cli.request import Request
from assistant.config import Settings
from tests.samples import failed_case, healthy_case, incomplete_case


@pytest.fixture
def store(own_home: Path, tmp_path: Path) -> CaseStore:
    """Two cases, the failed one saved last; its log exists."""
    store = CaseStore(own_home / "data")
    (tmp_path / "job.log").write_text("x\n")
    os.utime(store.save(healthy_case(), Inputs(("/gone/healthy.log",))), (10**9, 10**9))
    store.save(failed_case(), Request((str(tmp_path / "job.log"),), without=("spatial",)).inputs())
    return store


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """Makes a diagnosis return another case; collects what was asked."""
    asked: list[Request] = []

    def run(request: Request, settings: Settings, *, bar: bool) -> Case:
        asked.append(request)
        return incomplete_case()

    monkeypatch.setattr(command, "run", run)
    return asked


def output(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert main(list(arguments)) == code
    return capsys.readouterr()


def test_an_empty_store_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, "cases", "list") == ("", "no case is stored yet\n")
    assert output(capsys, "cases", "list", "--json") == ("[]\n", "")


def test_the_list_tells_what_each_case_is(store: CaseStore, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = output(capsys, "cases", "list")
    head, first, second = out.splitlines()
    assert head.split()[:2] == ["CASE", "SAVED"]
    assert first.split()[0] == failed_case().case
    assert "memory.gpu_oom" in first
    assert "gpu-07 rank 5" in first
    assert "healthy" in second
    out, err = output(capsys, "cases", "list", "-n", "1")
    assert len(out.splitlines()) == 2
    assert "1 more" in err
    listed = orjson.loads(output(capsys, "cases", "list", "--json")[0])
    assert [entry["id"] for entry in listed] == [failed_case().case, healthy_case().case]


def test_a_case_reopens_in_every_form(store: CaseStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, "cases", "show", "last")[0].startswith("FAILED")
    assert output(capsys, "cases", "show", "c-00", "--markdown")[0].startswith("# HEALTHY")
    document = orjson.loads(output(capsys, "cases", "show", failed_case().case, "--json")[0])
    jsonschema.validate(document, case_schema())
    assert Case.model_validate(document) == failed_case()


def test_an_unknown_case_ends_with_4(store: CaseStore, capsys: pytest.CaptureFixture[str]) -> None:
    _, err = output(capsys, "cases", "show", "c-ffff", code=4)
    assert err.startswith("error: no stored case 'c-ffff'\nhint: ")
    output(capsys, "cases", "remove", "c-ffff", code=4)
    output(capsys, "cases", "add-files", "c-ffff", "x", code=4)


def test_added_files_make_a_new_revision_from_old_and_new(
    store: CaseStore, requests: list[Request], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dmesg.txt").write_text("y\n")
    out, _ = output(capsys, "cases", "add-files", "last", str(tmp_path / "dmesg.txt"), code=12)
    assert "c-0123456789 rev 2" in out
    assert requests[0].paths == (str(tmp_path / "job.log"), str(tmp_path / "dmesg.txt"))
    assert requests[0].without == ("spatial",)
    assert store.load("last").case.revision == 2
    assert store.load("last").inputs.paths == requests[0].paths
    assert store.load("last", 1).case == failed_case()


def test_vanished_originals_are_named_and_nothing_changes(
    store: CaseStore, requests: list[Request], capsys: pytest.CaptureFixture[str]
) -> None:
    _, err = output(capsys, "cases", "add-files", healthy_case().case, "dmesg.txt", code=3)
    assert "the original logs are gone: /gone/healthy.log" in err
    store.save(healthy_case(), Inputs(("-",)))
    _, err = output(capsys, "cases", "add-files", healthy_case().case, "dmesg.txt", code=3)
    assert "standard input" in err
    assert requests == []
    assert store.load(healthy_case().case).case == healthy_case()


def test_pruning_prints_what_it_removes(store: CaseStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, "cases", "prune", "--dry-run")[0] == f"{healthy_case().case}\n"
    assert len(store.ids()) == 2
    assert output(capsys, "cases", "prune", "--older-than", "30")[0] == f"{healthy_case().case}\n"
    assert store.ids() == [failed_case().case]


def test_pruning_without_any_time_is_refused(
    store: CaseStore, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROOTRANK_CASES__RETENTION_DAYS", "0")
    assert "--older-than" in output(capsys, "cases", "prune", code=2)[1]


def test_removing_is_all_or_nothing(store: CaseStore, capsys: pytest.CaptureFixture[str]) -> None:
    output(capsys, "cases", "remove", failed_case().case, "c-ffff", code=4)
    assert len(store.ids()) == 2
    output(capsys, "cases", "remove", failed_case().case, healthy_case().case)
    assert store.ids() == []


def test_a_data_folder_that_cannot_be_used_ends_with_4(
    requests: list[Request], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/cases").write_text("in the way")
    monkeypatch.setenv("ROOTRANK_DATA_DIR", str(tmp_path / "data"))
    for arguments in (["list"], ["show", "last"], ["prune"], ["remove", "last"]):
        _, err = output(capsys, "cases", *arguments, code=4)
        assert err.startswith(f"error: cannot read the data folder {tmp_path / 'data'}")


def test_config_show_tells_where_each_value_came_from(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROOTRANK_CASES__SAVE", "no")
    rows = dict(line.split(maxsplit=1) for line in output(capsys, "config", "show")[0].splitlines())
    assert rows["cases.save"].split() == ["false", "ROOTRANK_CASES__SAVE"]
    assert rows["cases.retention_days"].split() == ["180", "default"]
    shown = orjson.loads(output(capsys, "config", "show", "--json")[0])
    assert shown["cases.save"] == {"value": False, "origin": "ROOTRANK_CASES__SAVE"}


def test_config_validate_names_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    good.write_text("[cases]\nsave = false\n")
    bad.write_text("[cases]\nsafe = false\n")
    assert output(capsys, "config", "validate")[0] == ""
    assert output(capsys, "config", "validate", str(good)) == ("", f"{good}: ok\n")
    _, err = output(capsys, "config", "validate", str(bad), code=4)
    assert err == f"error: {bad}: unknown key cases.safe\nhint: did you mean cases.save?\n"


def test_config_schema_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    jsonschema.Draft202012Validator.check_schema(orjson.loads(output(capsys, "config", "schema")[0]))
