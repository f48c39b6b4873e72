"""What a command loads: static rules cannot see deferred imports, a process can."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "torch",
    "chromadb",
    "sentence_transformers",
    "langchain",
    "langchain_core",
    "langchain_openai",
    "openai",
    "textual",
}
ANALYSIS = {"polars", "sklearn", "scipy", "numpy", "drain3", "re2", "zstandard"}

PROBE = """
import sys
from assistant.cli.main import main
code = main(sys.argv[1:])
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


def loaded(*arguments: str) -> set[str]:
    """Top-level modules that a command has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments], capture_output=True, text=True, timeout=120, check=True
    )
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["diagnose", "--help"],
        ["cases", "list"],
        ["cases", "show", "last"],
        ["config", "show"],
    ],
)
def test_a_light_command_loads_no_analysis_library(arguments: list[str]) -> None:
    assert not loaded(*arguments) & (HEAVY | ANALYSIS)


def test_help_does_not_even_load_the_models() -> None:
    assert not loaded("--help") & {"orjson", "yaml", "platformdirs"}


def test_a_diagnosis_loads_no_library_of_the_other_rooms(tmp_path: Path) -> None:
    lines = [f"step {number} loss 2.{number}" for number in range(9)]
    trace = ["Traceback (most recent call last):", '  File "train.py", line 7, in <module>', "ValueError: no"]
    (tmp_path / "rank0.log").write_text("\n".join([*lines, *trace, ""]))
    modules = loaded("diagnose", str(tmp_path), "--no-save")
    assert "polars" in modules
    assert not modules & HEAVY
    assert "sklearn" not in modules
