"""Each sample case as every report shows it, compared with a stored copy.

`python -m tests.report.test_report_golden` writes the copies anew; read the difference before committing it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.text import Text

from assistant.report import markdown, terminal
from tests.samples import all_cases

GOLDEN = Path(__file__).parent / "golden"


def reports() -> dict[str, str]:
    """Every report by file name."""
    found = {}
    for name, case in all_cases().items():
        found[f"{name}-80x24.txt"] = _plain(terminal.render(case))
        found[f"{name}-verbose.txt"] = _plain(terminal.render(case, verbose=True))
        found[f"{name}.md"] = markdown.render(case)
    return found


def _plain(lines: list[Text]) -> str:
    return "".join(f"{line.plain}\n" for line in lines)


@pytest.mark.parametrize("name", sorted(reports()))
def test_the_report_reads_as_stored(name: str) -> None:
    assert reports()[name] == (GOLDEN / name).read_text("utf-8")


def test_no_stored_report_is_left_over() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == set(reports())


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for file_name, text in reports().items():
        (GOLDEN / file_name).write_text(text, "utf-8")
