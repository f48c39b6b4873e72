"""Profiles of model endpoints: read, checked, printed without secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant import config
from assistant.config import load
from assistant.errors import ConfigError

GOOD = '[profiles.gw]\nbase_url = "https://llm.example/v1/"\nmodel = "large"\n'


@pytest.fixture(autouse=True)
def own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's file lies in the test's folder."""
    monkeypatch.setenv("ROOTRANK_CONFIG", str(tmp_path / "own.toml"))


def read(tmp_path: Path, text: str, environment: dict[str, str] | None = None) -> config.Loaded:
    (tmp_path / "own.toml").write_text(text)
    return load(shipped=(), start=tmp_path, environment=environment or {})


def test_a_folder_of_logs_must_not_say_where_keys_are_sent(tmp_path: Path) -> None:
    read(tmp_path, GOOD)
    (tmp_path / "rootrank.toml").write_text('[profiles.gw]\nbase_url = "https://evil.example/v1"\n')
    with pytest.raises(ConfigError, match="may hold no profiles") as caught:
        load(shipped=(), start=tmp_path, environment={})
    assert "own.toml" in caught.value.hint


def test_a_profile_is_read_with_its_defaults(tmp_path: Path) -> None:
    loaded = read(tmp_path, GOOD)
    profile = loaded.settings.profiles["gw"]
    assert (profile.base_url, profile.model, profile.api) == ("https://llm.example/v1", "large", "chat")
    assert profile.redact
    assert loaded.origin("profiles.gw.model") == str(tmp_path / "own.toml")


def test_the_environment_sets_fields_of_a_profile(tmp_path: Path) -> None:
    environment = {"ROOTRANK_PROFILES__GW__MODEL": "small", "ROOTRANK_PROFILES__GW__HEADERS": "X-A: 1, X-B: 2"}
    profile = read(tmp_path, GOOD, environment).settings.profiles["gw"]
    assert profile.model == "small"
    assert profile.headers == ("X-A: 1", "X-B: 2")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (GOOD + 'modle = "x"\n', "unknown key profiles.gw.modle", "profiles.gw.model"),
        ('[profiles.gw]\nmodel = "x"\n', "[profiles.gw]: base_url is missing", "models.md"),
        ('[profiles]\nbase_url = "x"\n', "unknown key profiles.base_url", "profiles.NAME.base_url"),
        ('[profiles.offline]\nmodel = "x"\n', "no name for a profile", "offline is taken"),
        ('[profiles."Has Space"]\nmodel = "x"\n', "no name for a profile", "lower-case"),
        (GOOD.replace("https", "ftp"), "http or https", "base_url"),
        (GOOD.replace("llm.example", "me:pw@llm.example"), "no user name", "base_url"),
        (GOOD + "redact = false\n", "needs local = true", "models.md"),
        (GOOD + "max_output = 40000\n", "smaller than context_window", "models.md"),
        (GOOD + "context_window = 3\n", "greater than or equal to 512", "Tokens"),
    ],
)
def test_a_wrong_profile_is_refused_by_file_and_key(tmp_path: Path, text: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    assert str(tmp_path) in caught.value.message
    assert message in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize("line", ['key_env = "sk-secret-1"', 'headers = ["sk-secret-1"]', "proxy = 5"])
def test_what_may_be_a_secret_is_not_repeated(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, f"{GOOD}{line}\n")
    assert "sk-" not in caught.value.message + caught.value.hint


def test_values_are_listed_without_secrets(tmp_path: Path) -> None:
    more = 'headers = ["X-Key: sk-secret-1", "X-Team: $TEAM"]\nproxy = "http://me:secret@proxy:3128"\n'
    values = config.values(read(tmp_path, GOOD + more).settings)
    assert values["profiles.gw.headers"] == ("X-Key: ***", "X-Team: $TEAM")
    assert values["profiles.gw.proxy"] == "http://***@proxy:3128"


def test_headers_take_values_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM", "training")
    profile = read(tmp_path, GOOD + 'headers = ["X-Team: $TEAM"]\n').settings.profiles["gw"]
    assert profile.filled_headers() == {"X-Team": "training"}


def test_prices_make_a_cost(tmp_path: Path) -> None:
    profile = read(tmp_path, GOOD + "input_price = 2.0\n").settings.profiles["gw"]
    assert profile.cost(500_000, 10) == 1.0
    assert read(tmp_path, GOOD).settings.profiles["gw"].cost(5, 5) is None


@pytest.mark.parametrize(
    ("section", "line"),
    [
        ("retrieval", 'endpoint = "https://evil.example/v1"'),
        ("retrieval", 'chroma_url = "http://evil.example:8000"'),
        ("incidents", 'folder = "/tmp/elsewhere"'),
    ],
)
def test_a_projects_file_may_not_say_where_texts_and_incidents_go(tmp_path: Path, section: str, line: str) -> None:
    read(tmp_path, GOOD)
    (tmp_path / "rootrank.toml").write_text(f"[{section}]\n{line}\n")
    with pytest.raises(ConfigError, match="may hold no"):
        load(shipped=(), start=tmp_path, environment={})


@pytest.mark.parametrize("address", ["https://u:p4ss@llm.example/v1", "https://llm.example/v1?api_key=p4ss"])
def test_an_address_with_a_secret_is_refused_without_printing_it(tmp_path: Path, address: str) -> None:
    with pytest.raises(ConfigError, match="must") as caught:
        read(tmp_path, GOOD.replace("https://llm.example/v1/", address))
    assert "p4ss" not in f"{caught.value} {caught.value.hint}"
    assert "value error" not in str(caught.value)
