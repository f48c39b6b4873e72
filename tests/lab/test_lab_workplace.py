"""What a job runs in looks like any training code: its names reach tracebacks, and tracebacks reach the logs."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evals.lab.checkpoints import spoil
from evals.lab.jobs.settings import Settings, settings_from
from evals.lab.workplace import add_package, furnish, recipes

TELLING = re.compile(r"(?i)inject|chaos|fault|sabot|broken|evals")


@pytest.mark.parametrize("recipe", sorted(recipes()))
def test_a_workplace_stands_alone(recipe: str, tmp_path: Path) -> None:
    script = furnish(recipe, tmp_path)
    for path in tmp_path.glob("*.py"):
        imported = [
            node.module or "" for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)
        ]
        assert not [module for module in imported if module.startswith(("evals", "assistant"))]
    assert script.name == "train.py"


@pytest.mark.parametrize("recipe", sorted(recipes()))
def test_no_name_in_a_workplace_tells_that_something_is_done_to_the_job(recipe: str, tmp_path: Path) -> None:
    furnish(recipe, tmp_path)
    for path in tmp_path.glob("*.py"):
        names = [path.stem]
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.append(node.name)
        assert not [name for name in names if TELLING.search(name) and name != "default_factory"]


def test_settings_with_an_unknown_key_are_refused() -> None:
    assert settings_from({"steps": 3, "callbacks": []}) == Settings(steps=3)
    with pytest.raises(ValueError, match="unknown settings: colour"):
        settings_from({"colour": "red"})


def test_packages_of_a_job_can_be_imported_and_older_ones_lack_what_it_calls(tmp_path: Path) -> None:
    add_package(tmp_path, "ops", "1.4.0")
    code = "import ops; ops.register(); print(ops.__version__)"
    told = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "1.4.0"
    add_package(tmp_path, "ops", "1.3.2", complete=False)
    shutil.rmtree(tmp_path / "ops" / "__pycache__", ignore_errors=True)
    older = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "has no attribute 'register'" in older.stderr


@pytest.mark.parametrize(("how", "size"), [("cut", 600), ("garbled", 1000), ("empty", 0), ("removed", None)])
def test_a_checkpoint_is_spoiled_as_asked(how: str, size: int | None, tmp_path: Path) -> None:
    file = tmp_path / "model.pt"
    file.write_bytes(bytes(range(250)) * 4)
    spoil(file, how)
    assert (file.stat().st_size if file.exists() else None) == size
    assert not file.exists() or file.read_bytes() != bytes(range(250)) * 4
