"""The folder a job runs in: the recipe and its helpers under ordinary names, one copy a node."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

HERE = Path(__file__).parent
SHARED = {
    "common.py": HERE / "jobs" / "harness.py",
    "options.py": HERE / "jobs" / "settings.py",
    "reporting.py": HERE / "jobs" / "voices.py",
    "dataset.py": HERE / "jobs" / "dataset.py",
    "loop.py": HERE / "jobs" / "loop.py",
    "mesh.py": HERE / "jobs" / "mesh.py",
    "callbacks.py": HERE / "faults.py",
}
"""Names in the workplace, as tracebacks show them, and where the files are in this package."""
IMPORTS = {
    "evals.lab.jobs.harness": "common",
    "evals.lab.jobs.settings": "options",
    "evals.lab.jobs.voices": "reporting",
    "evals.lab.jobs.dataset": "dataset",
    "evals.lab.jobs.loop": "loop",
    "evals.lab.jobs.mesh": "mesh",
    "evals.lab.faults": "callbacks",
}


def recipes() -> dict[str, Path]:
    """Scripts by the name of their recipe."""
    helpers = {path.name for path in SHARED.values()} | {"__init__.py"}
    found = [path for folder in ("jobs", "recipes") for path in sorted((HERE / folder).glob("*.py"))]
    return {path.stem: path for path in found if path.name not in helpers}


def furnish(recipe: str, folder: Path) -> Path:
    """Copies what the recipe needs into the folder and returns the script to start."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in SHARED.items():
        _copy(source, folder / name)
    script = folder / "train.py"
    _copy(recipes()[recipe], script)
    return script


def add_package(folder: Path, name: str, version: str, *, complete: bool = True) -> None:
    """A small package of the job's own with a version and, where complete, the function that jobs call."""
    package = folder / name
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    body = "\n\ndef register() -> None:\n    pass\n" if complete else "\n\ndef register_ops() -> None:\n    pass\n"
    (package / "__init__.py").write_text(f'__version__ = "{version}"\n{body}', encoding="utf-8")


def _copy(source: Path, target: Path) -> None:
    text = source.read_text(encoding="utf-8")
    for module, name in IMPORTS.items():
        text = re.sub(rf"^(\s*)from {re.escape(module)} import", rf"\1from {name} import", text, flags=re.MULTILINE)
    target.write_text(text, encoding="utf-8")
