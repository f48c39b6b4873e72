"""Where data files are found: the checkout first, the packaged copy second, the user's own over both."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant import paths


def test_a_checkout_gives_its_own_folder() -> None:
    folders = paths.locate("knowledge")
    assert (folders[0] / "dialects").is_dir()


def test_the_users_folder_comes_last_and_so_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(paths.HOME_VARIABLE, str(tmp_path))
    assert tmp_path / "knowledge" not in paths.locate("knowledge")
    (tmp_path / "knowledge").mkdir()
    assert paths.locate("knowledge")[-1] == tmp_path / "knowledge"


def test_an_installed_package_uses_its_packaged_copy_and_no_neighbour(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "assistant"
    (package / paths.PACKAGED / "knowledge").mkdir(parents=True)
    (package.parent / "knowledge").mkdir()
    assert paths.shipped("knowledge", package) == package / paths.PACKAGED / "knowledge"


def test_a_package_without_data_has_none(tmp_path: Path) -> None:
    assert paths.shipped("prompts", tmp_path / "assistant") is None
