"""Settings: which layer wins, where a value came from, and what is said about a wrong one."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from assistant import config
from assistant.config import Value, load
from assistant.errors import ConfigError

CHECKOUT = Path(__file__).resolve().parents[2]


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_without_any_layer_every_value_is_a_default(tmp_path: Path) -> None:
    loaded = load(shipped=(), start=tmp_path, environment={})
    assert loaded.settings == config.Settings()
    assert loaded.origin("cases.save") == "default"


def test_each_layer_wins_over_the_one_before(tmp_path: Path, own_home: Path) -> None:
    shipped = written(tmp_path / "configs/site.toml", "[cases]\nretention_days = 1\n")
    user = written(own_home / "config/rootrank.toml", "[cases]\nretention_days = 2\n")
    project = written(tmp_path / "job/rootrank.toml", "[cases]\nretention_days = 3\n")
    environment = {"ROOTRANK_CASES__RETENTION_DAYS": "4"}
    typed = {"cases.retention_days": Value(5, "--keep")}

    def days(**layers: object) -> tuple[int, str]:
        chosen = {"shipped": (), "start": tmp_path, "environment": {}, **layers}
        loaded = load(**chosen)  # type: ignore[arg-type]
        return loaded.settings.cases.retention_days, loaded.origin("cases.retention_days")

    below = project.parent / "deep/er"
    below.mkdir(parents=True)
    assert days() == (2, str(user))
    user.unlink()
    assert days(shipped=[shipped]) == (1, str(shipped))
    written(user, "[cases]\nretention_days = 2\n")
    assert days(shipped=[shipped]) == (2, str(user))
    assert days(shipped=[shipped], start=below) == (3, str(project))
    assert days(start=below, environment=environment) == (4, "ROOTRANK_CASES__RETENTION_DAYS")
    assert days(start=below, environment=environment, typed=typed) == (5, "--keep")


def test_a_list_in_the_environment_is_separated_by_commas(tmp_path: Path) -> None:
    loaded = load(shipped=(), start=tmp_path, environment={"ROOTRANK_DIAGNOSE__WITHOUT": "spatial, temporal"})
    assert loaded.settings.diagnose.without == ("spatial", "temporal")


def test_the_data_folder_has_a_short_variable_and_knows_the_home_folder(tmp_path: Path) -> None:
    loaded = load(shipped=(), start=tmp_path, environment={"ROOTRANK_DATA_DIR": "~/kept"})
    assert loaded.settings.storage.data_dir == Path.home() / "kept"
    assert loaded.origin("storage.data_dir") == "ROOTRANK_DATA_DIR"


@pytest.mark.parametrize(
    ("text", "named", "hint"),
    [
        ("[cases]\nretention_day = 3\n", "cases.retention_day", "cases.retention_days"),
        ("[case]\nsave = true\n", "case.save", "cases.save"),
        ("retention_days = 3\n", "retention_days", "[cases]"),
        ("[cases]\nretention_days = -1\n", "cases.retention_days = -1", "0 keeps all"),
        ("[output]\ncolor = 'pink'\n", "output.color = 'pink'", "Colours"),
        ("[diagnose]\nwithout = ['spacial']\n", "diagnose.without", "Comparisons"),
        ("[cases\n", "line 1", "correct the file"),
    ],
)
def test_a_wrong_file_is_named_with_its_key_and_a_remedy(tmp_path: Path, text: str, named: str, hint: str) -> None:
    path = written(tmp_path / "rootrank.toml", text)
    with pytest.raises(ConfigError) as caught:
        load(shipped=(), start=tmp_path, environment={})
    assert str(path) in caught.value.message
    assert named in caught.value.message
    assert hint in caught.value.hint


def test_a_wrong_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="ROOTRANK_CASES__SAFE") as caught:
        load(shipped=(), start=tmp_path, environment={"ROOTRANK_CASES__SAFE": "no"})
    assert "cases.save" in caught.value.hint


def test_a_chosen_file_that_is_missing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOTRANK_CONFIG", str(tmp_path / "absent.toml"))
    with pytest.raises(ConfigError, match="no such file"):
        load(shipped=(), start=tmp_path)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rootrank.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"rootrank\.toml"):
        load(shipped=(), start=tmp_path, environment={})


def test_every_setting_is_documented_and_has_a_schema() -> None:
    described = {key: config.describe(key) for key, _, _ in config.every_key()}
    assert all(described.values()), described
    assert set(config.schema()["properties"]) == {key.split(".")[0] for key in described} | {"profiles"}


def test_the_shipped_file_spells_out_every_default() -> None:
    text = (CHECKOUT / "configs/rootrank.toml").read_text()
    uncommented = [line.removeprefix("# ") if " = " in line else line for line in text.splitlines()]
    document = tomllib.loads("\n".join(line for line in uncommented if not line.startswith("#")))
    assert document["storage"].pop("data_dir")
    for field in ("base_url", "model", "key_env"):  # an example, below the bounds of a conversation
        assert document["chat"].pop(field)
    assert document["incidents"].pop("folder")
    defaults = config.Settings().model_dump(mode="json", exclude={"profiles": True, "incidents": {"folder"}})
    assert document == defaults | {"storage": {}}


def test_the_shipped_files_change_nothing(tmp_path: Path) -> None:
    assert load(start=tmp_path, environment={}).settings == config.Settings()
