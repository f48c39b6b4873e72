"""Throw-away virtual environments for rivals whose requirements clash with ours, built once under the cache folder.

`python -m evals.rivals build` makes them. An environment is ready when its marker file exists; what went wrong is kept
beside it, so that a report can say why a rival is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

LIMIT = 600.0
"""Seconds that one installation may take."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What to install for one rival."""

    name: str
    requirement: str
    """The pinned distribution itself."""
    others: tuple[str, ...] = ()
    """What else it needs, where its own list is not followed."""
    options: tuple[str, ...] = ()
    """Further words for pip's installation of `requirement`."""
    foreign: bool = False
    """Install it as files for another platform: only its pure Python is used."""

    @property
    def version(self) -> str:
        """The pinned version."""
        return self.requirement.partition("==")[2]

    @property
    def folder(self) -> Path:
        """Where it lies; `ROOTRANK_RIVALS` overrides the parent."""
        parent = os.environ.get("ROOTRANK_RIVALS")
        base = Path(parent) if parent else user_cache_path("rootrank") / "rivals"
        return base / f"{self.name}-{self.version}"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def ready(self) -> bool:
        """Whether it was built to the end."""
        return (self.folder / "ready").is_file()

    @property
    def problem(self) -> str:
        """Why it cannot be used; empty where it can."""
        if self.ready:
            return ""
        note = self.folder.with_suffix(".failed")
        return note.read_text(encoding="utf-8").strip() if note.is_file() else "not built: python -m evals.rivals build"


def build(environment: Environment) -> bool:
    """Makes the environment anew unless it is ready. Says whether it is; a failure is noted, not raised."""
    if environment.ready:
        return True
    note = environment.folder.with_suffix(".failed")
    note.unlink(missing_ok=True)
    shutil.rmtree(environment.folder, ignore_errors=True)
    environment.folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        venv.create(environment.folder, with_pip=True, symlinks=os.name != "nt")
        _install(environment)
    except (subprocess.SubprocessError, OSError) as error:
        note.write_text(_reason(error), encoding="utf-8")
        shutil.rmtree(environment.folder, ignore_errors=True)
        return False
    (environment.folder / "ready").touch()
    return True


def _install(environment: Environment) -> None:
    words = [*environment.options, environment.requirement]
    if environment.foreign:
        words = ["--target", str(_packages(environment)), "--upgrade", *words]
    _pip(environment, words)
    if environment.others:
        _pip(environment, list(environment.others))


def _packages(environment: Environment) -> Path:
    """The folder that the environment's interpreter imports from."""
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    found = subprocess.run([environment.python, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return Path(found.stdout.strip())


def _pip(environment: Environment, words: list[str]) -> None:
    command = [str(environment.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *words]
    subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT, stdin=subprocess.DEVNULL)


def _reason(error: Exception) -> str:
    """The last line that says something."""
    told = error.stderr if isinstance(error, subprocess.CalledProcessError) else str(error)
    lines = [line.strip() for line in (told or str(error)).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[
        :300
    ] + f" (Python {sys.version_info[0]}.{sys.version_info[1]})"
