"""Draws the verdict on the bundled example as `docs/demo.svg`: `python -m evals.picture`."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

from rich.console import Console

from assistant.cli.demo import examples
from assistant.pipeline import diagnose
from assistant.report.terminal import render

WIDTH, HEIGHT = 100, 30
TARGET = Path(__file__).resolve().parent.parent / "docs" / "demo.svg"


def main() -> None:
    """Write the picture."""
    case = diagnose([str(examples()["hanging-rank"])])
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True, color_system="truecolor")
    for line in render(case, WIDTH, HEIGHT):
        console.print(line, soft_wrap=True)
    TARGET.write_text(console.export_svg(title="rootrank demo", unique_id="rootrank"), encoding="utf-8")


if __name__ == "__main__":
    main()
