"""Rules about the project's own files that no other tool checks."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

CHECKOUT = Path(__file__).resolve().parents[2]
LONGEST = 400
ROOMS = ("assistant", "tests", "evals")
DATA = ("knowledge", "prompts", "configs", "docs", ".ci")
MACHINE = re.compile(rf"{re.escape(str(CHECKOUT))}|/root/|/home/runner/")
"""Paths that only exist where the project happened to be written."""


def sources(*folders: str, suffix: str = "*.py") -> list[Path]:
    return sorted(
        path for folder in folders for path in (CHECKOUT / folder).rglob(suffix) if "__pycache__" not in path.parts
    )


def test_no_module_is_longer_than_a_person_reads() -> None:
    long = {str(path.relative_to(CHECKOUT)): lines for path in sources(*ROOMS) if (lines := _lines(path)) > LONGEST}
    assert long == {}


def test_nothing_names_a_place_on_one_machine() -> None:
    files = [*sources(*ROOMS), *sources(*DATA, suffix="*.*"), *CHECKOUT.glob("*.*"), CHECKOUT / ".ci/run"]
    found = {
        str(path.relative_to(CHECKOUT)): match.group()
        for path in files
        if path.is_file() and path != Path(__file__) and (match := MACHINE.search(path.read_text("utf-8", "replace")))
    }
    assert found == {}


def test_every_module_says_what_it_is_for() -> None:
    silent = [str(path) for path in sources("assistant") if not re.match(r'(#.*\n)*r?"""[\w`]', path.read_text())]
    assert silent == []


def test_the_readme_has_two_set_up_lines() -> None:
    first, second = set_up()
    assert first.startswith("python3 -m venv .venv && ")
    assert first.endswith("rootrank demo")
    assert "-c constraints.txt" in second
    assert '".[all]"' in second
    assert second.endswith("-m pytest")


def test_ci_runs_the_second_line_of_the_readme_and_every_check() -> None:
    script = (CHECKOUT / ".ci/run").read_text()
    shell = script.split("# The second line")[0].replace('cd "$(dirname "$0")/.."', f"cd {CHECKOUT}") + "setup 2\n"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == set_up()[1]
    for step in ("ruff check", "ruff format --check", "mypy --strict assistant tests evals", "lint-imports"):
        assert step in script


@pytest.mark.parametrize("pin", ["torch==2.13.0", "pytest==8.4.2"])
def test_pins_are_exact_and_explained(pin: str) -> None:
    blocks = (CHECKOUT / "constraints.txt").read_text().split("\n\n")
    (block,) = [block for block in blocks if pin in block.splitlines()]
    assert block.startswith("# ")


def test_the_extra_all_is_all_extras() -> None:
    extras = project()["optional-dependencies"]
    (all_,) = map(Requirement, extras["all"])
    assert all_.name == "rootrank"
    assert all_.extras == set(extras) - {"all"}


def test_what_people_edit_ships_in_the_wheel() -> None:
    document = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
    shipped = document["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert shipped == {kind: f"assistant/packaged/{kind}" for kind in ("knowledge", "prompts", "configs")}


def set_up() -> list[str]:
    """The lines of the README's first shell block."""
    block = re.search(r"^```sh\n(.*?)^```$", (CHECKOUT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    assert block
    return block[1].splitlines()


def project() -> dict[str, dict[str, list[str]]]:
    """The `[project]` table."""
    table: dict[str, dict[str, list[str]]] = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    return table


def _lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())
