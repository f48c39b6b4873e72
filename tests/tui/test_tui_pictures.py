"""Screens as pictures: a changed layout is seen, and looked at, before it is accepted.

`pytest tests/tui/test_tui_pictures.py --snapshot-update` takes them anew; where some differ, pytest names a page that
shows old and new beside each other.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.pilot import Pilot

from assistant.case.models import Case
from assistant.incidents.models import Incident
from assistant.intake.models import Progress, ProgressHook
from assistant.retrieval.documents import Document
from assistant.tui.app import RootrankApp
from assistant.tui.ports import Look, Table
from tests.tui.conftest import table_of
from tests.tui.scenes import (
    ANSWER,
    PAGE,
    Step,
    at_rest,
    converse,
    job,
    keys,
    lacks,
    opens,
    past,
    reads_back,
    says,
    sees,
    still,
    types,
)
from tests.tui.stage import TestWorkshop, opened, text_of, until
from tests.tui.talkers import Scripted
from tests.tui.test_tui_first_screen import soaked

Snap = Callable[..., bool]
SMALL, USUAL, WIDE = (80, 24), (100, 30), (140, 40)
ASKED = [*says("Why rank 5?"), sees("3,380 tokens", "Is a restart safe?")]
LOG = [opens("E1"), sees(" of 100")]


@dataclass(frozen=True)
class Picture:
    """One screen."""

    name: str
    size: tuple[int, int] = USUAL
    steps: Sequence[Step] = ()
    job: str = "failed"
    look: Look = field(default_factory=Look)
    environment: Mapping[str, str] = field(default_factory=dict)
    soaked: str = ""
    """Text that stands in place of all that comes from outside."""


PICTURES = [
    Picture("first-screen"),
    Picture("first-screen-small", SMALL),
    Picture("healthy", SMALL, job="healthy"),
    Picture("unknown", job="unknown"),
    Picture("incomplete", SMALL, job="incomplete"),
    Picture("side-by-side", WIDE, ASKED),
    Picture("conversation", USUAL, ASKED),
    Picture("conversation-begin", USUAL, [*ASKED, reads_back, keys("n", "enter"), sees("4 warnings")]),
    Picture("conversation-small", SMALL, [*ASKED, reads_back, keys(*["n"] * 6)]),
    Picture("names-offered", SMALL, [types("Compare @gpu-a0"), sees("gpu-a10")]),
    Picture("commands-offered", USUAL, [types("/"), sees("/compare")]),
    Picture("palette", USUAL, [keys("ctrl+p"), sees("/merge")]),
    Picture("help", SMALL, [keys("f1"), sees("Keys here")]),
    Picture("log", USUAL, LOG),
    Picture("log-filters", USUAL, [*LOG, keys("f"), *says("rank=5 level=warning"), sees("lines pass"), lacks("far")]),
    Picture("log-search", SMALL, [*LOG, keys("slash"), *says("allocator"), sees("4 found")]),
    Picture("log-wrapped", SMALL, [*LOG, keys("w")]),
    Picture("log-hostile", USUAL, [opens("gpu-a10/rank-6.log:94"), sees("aGFja2Vk", " of 9")]),
    Picture("log-followed", SMALL, [*LOG, keys("F"), sees("following")]),
    Picture("merged", USUAL, [*says("/merge"), sees("by corrected time")]),
    Picture("nodes", SMALL, [keys("f3"), sees("ranks by suspicion")]),
    Picture("node-and-peers", USUAL, [keys("f3"), sees("ranks by suspicion"), keys("enter"), sees("Only on gpu-a09")]),
    Picture("timeline", USUAL, [keys("f4"), sees("Iteration time", "Loss")]),
    Picture("timeline-small", SMALL, [keys("f4"), sees("Iteration time", "Loss")]),
    Picture("compare", USUAL, [*says("/compare"), sees("Only in healthy runs")], job="compared"),
    Picture("similar", SMALL, [*says("/similar"), sees("not searched")]),
    Picture("beside", WIDE, [*says("/similar"), sees("not searched"), keys("enter"), sees("What fixed it")]),
    Picture("beside-small", SMALL, [*says("/similar"), sees("not searched"), keys("enter"), sees("What fixed it")]),
    Picture("knowledge", SMALL, [*says("/knowledge CUDA out of memory"), sees("not set up here")]),
    Picture("page", USUAL, [opens("doc:cuda-oom"), sees("How it shows")]),
    Picture("actions", SMALL, [keys("f5"), sees("[ ] 1."), keys("space", "down"), sees("[x] 1.")]),
    Picture("sessions", USUAL, [*says("/sessions"), sees("Xid 79?")]),
    Picture("copy-mode", SMALL, [keys("f7"), sees("mark with the mouse")]),
    Picture("copy-conversation", SMALL, [*ASKED, keys("f7"), sees("mark with the mouse")]),
    Picture("too-small", (34, 8)),
    Picture("hostile", USUAL, soaked="[bold red]x[/] \x1b[31m \u202eabc 表格 [@click=app.quit]q[/] שלום"),
    Picture("no-colour", USUAL, ASKED, environment={"NO_COLOR": "1"}),
    Picture("ansi", SMALL, look=Look(theme="ansi-light")),
]  # fmt: skip


class Gallery(TestWorkshop):
    """A workshop with incidents and pages of its own."""

    __test__ = False
    past: Sequence[Incident] = ()

    def incidents(self) -> Sequence[Incident]:
        return self.past

    def page(self, key: str) -> Document | Incident:
        return next((one for one in self.past if key == f"incident:{one.id}"), PAGE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pictured")


def told(case: Case, picture: Picture) -> Case:
    return soaked(case, picture.soaked) if picture.soaked else case


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_picture(
    snap_compare: Snap, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, picture: Picture
) -> None:
    for name, value in picture.environment.items():
        monkeypatch.setenv(name, value)
    case, seen = job(picture.job, folder)
    table = table_of(told(case, picture), seen)
    workshop = Gallery(tmp_path, lambda hook: table, answerer=Scripted(ANSWER), keep=False, look=picture.look)
    workshop.past = past(job("failed", folder)[0])
    converse(workshop.sessions, case.case)

    async def prepare(pilot: Pilot[Any]) -> None:
        place = await opened(pilot)
        await until(pilot, lambda: place.talk.dialogue)
        for step in picture.steps:
            await step(pilot)
        await at_rest(pilot)

    assert snap_compare(RootrankApp(workshop), terminal_size=picture.size, run_before=prepare)


def test_while_logs_are_read(snap_compare: Snap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.chain([0.0], itertools.repeat(4.0))
    monkeypatch.setattr("assistant.tui.reading_screen.time", SimpleNamespace(monotonic=lambda: next(clock)))

    def slow(hook: ProgressHook) -> Table:
        for finding in ("rank 5: torch.OutOfMemoryError: CUDA out of memory", "[red]rank 3[/]: closed"):
            hook(Progress(1_400_000_000, 2_400_000_000, 6, finding))
        while True:
            hook(Progress(1_400_000_000, 2_400_000_000, 6))
            threading.Event().wait(0.02)

    async def prepare(pilot: Pilot[Any]) -> None:
        await until(pilot, lambda: "First findings (2)" in text_of(pilot.app) and "1.4 GB" in text_of(pilot.app))
        await still(pilot)

    assert snap_compare(RootrankApp(TestWorkshop(tmp_path, slow)), terminal_size=USUAL, run_before=prepare)
