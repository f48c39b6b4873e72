"""One small job, read once, and cases made from it."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import pytest

from assistant.answers.intents import load_intents
from assistant.answers.offline import OfflineAnswerer
from assistant.case.models import Case
from assistant.faults.library import Library, load_library
from assistant.pipeline import Examination, Options, case_of, examine
from assistant.tools.calls import Calls
from assistant.tools.desk import Desk
from assistant.tools.words import load_glossary
from assistant.tui.ports import Table

STEP = (
    "2031-04-02 10:{minute:02d}:{second:02d} [INFO] train: Step: {step}/90 | loss: 2.{step:03d}0 | step time: 200.0 ms"
)
CRASH = """2031-04-02 10:01:20 ERROR [rank5]: something [bold]odd[/bold] happened
Traceback (most recent call last):
  File "train.py", line 81, in <module>
    main()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has 1.06 GiB free.
"""


def write_job(folder: Path) -> Path:
    """Eight ranks on four nodes; rank 5 runs out of memory, the others lose the connection."""
    for rank in range(8):
        node = folder / f"node-{rank // 2:02d}"
        node.mkdir(parents=True, exist_ok=True)
        lines = [STEP.format(minute=step // 60, second=step % 60, step=step) for step in range(80)]
        text = "\n".join(lines) + "\n"
        if rank == 5:
            text += CRASH
        else:
            text += f"2031-04-02 10:01:2{rank} [rank{rank}]: RuntimeError: Connection closed by peer [10.0.0.2]:29500\n"
        (node / f"rank-{rank}.log").write_text(text)
    return folder


@pytest.fixture(autouse=True)
def able_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the screen shows goes by the terminal: that of the tests has colours and all signs."""
    for name in ("LC_ALL", "LC_CTYPE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.fixture(scope="session")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_job(tmp_path_factory.mktemp("job") / "logs")


@pytest.fixture(scope="session")
def read_job(job: Path) -> tuple[Case, Examination]:
    started = time.monotonic()
    seen = examine([str(job)], Options())
    return case_of(seen, seconds=time.monotonic() - started), seen


@cache
def known_faults() -> Library:
    """The library, read once for all tests: nothing changes it."""
    return load_library(strict=False)


def table_of(case: Case, seen: Examination | None) -> Table:
    """A case on the table, with the offline answerer."""
    desk = Desk(case, known_faults(), load_glossary())
    if seen is not None:
        desk = Desk(case, known_faults(), load_glossary(), open_logs=lambda: seen)
    calls = Calls(desk)
    return Table(case, calls, OfflineAnswerer(calls, load_intents()), seen)


@pytest.fixture
def table(read_job: tuple[Case, Examination]) -> Table:
    return table_of(*read_job)
