"""For every test: no configuration, data folder or colour setting of the developer's leaks in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

LEAKY = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty configuration folder and an empty data folder."""
    for name in [name for name in os.environ if name.startswith("ROOTRANK_") and name != "ROOTRANK_REAL_LOGS"]:
        monkeypatch.delenv(name)
    for name in LEAKY:
        monkeypatch.delenv(name, raising=False)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("ROOTRANK_HOME", str(home / "config"))
    monkeypatch.setenv("ROOTRANK_DATA_DIR", str(home / "data"))
    return home
