"""What is done before a picture is taken, as steps that wait for what they bring about, and the jobs that are shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from assistant.answers.models import (
    AnswerEvent,
    Hypothesis,
    Question,
    Replaced,
    Standing,
    Suggested,
    ToolFinished,
    ToolStarted,
    Usage,
)
from assistant.answers.sessions import Header, SessionStore, SessionWriter
from assistant.baselines.statistics import from_scans
from assistant.case.models import Case
from assistant.incidents.confirm import Ruling, incident_of
from assistant.incidents.models import Incident
from assistant.patterns.cross_job import compare
from assistant.pipeline import Examination, Options, case_of, examine
from assistant.retrieval.documents import Document, Section
from assistant.tools.models import ResultStatus
from assistant.tui.talk.transcript import Transcript
from assistant.tui.workplace import Workplace
from tests.tui.outside import BIDI, CONTROLS, ESCAPES, MARKUP, WIDE
from tests.tui.stage import text_of, until
from tests.tui.talkers import said

Step = Callable[[Pilot[Any]], Awaitable[None]]
Job = tuple[Case, Examination]

# --- steps ---


def keys(*names: str) -> Step:
    """Presses keys."""

    async def step(pilot: Pilot[Any]) -> None:
        await pilot.press(*names)

    return step


def sees(*words: str) -> Step:
    """Waits until all of some words are in sight."""

    async def step(pilot: Pilot[Any]) -> None:
        await until(pilot, lambda: all(word in text_of(pilot.app) for word in words))

    return step


def lacks(*words: str) -> Step:
    """Waits until none of some words is in sight any more."""

    async def step(pilot: Pilot[Any]) -> None:
        await until(pilot, lambda: not any(word in text_of(pilot.app) for word in words))

    return step


def types(text: str) -> Step:
    """Types into the field that has the focus."""

    async def step(pilot: Pilot[Any]) -> None:
        field = pilot.app.screen.focused
        assert isinstance(field, Input | TextArea)
        if isinstance(field, Input):
            field.value = text
        else:
            field.load_text(text)
            field.move_cursor(field.document.end)

    return step


def says(text: str) -> list[Step]:
    """Sends a question or a command."""
    return [types(text), keys("enter")]


def opens(place: str) -> Step:
    """Opens something cited."""

    async def step(pilot: Pilot[Any]) -> None:
        screen = pilot.app.screen
        assert isinstance(screen, Workplace)
        screen.open_place(place)

    return step


async def reads_back(pilot: Pilot[Any]) -> None:
    """Gives the keys to the conversation, at its begin."""
    pilot.app.screen.query_one(Transcript).focus()
    await pilot.press("home")


async def at_rest(pilot: Pilot[Any]) -> None:
    """Waits until all that works beside the screen has ended, and nothing moves any more."""
    await until(pilot, lambda: not any(worker.is_running for worker in pilot.app.workers))
    await still(pilot)


async def still(pilot: Pilot[Any]) -> None:
    """Takes away what comes and goes, and waits until one look at the screen is like the next, colours included."""
    pilot.app.clear_notifications()
    for field in [*pilot.app.screen.query(Input), *pilot.app.screen.query(TextArea)]:
        field.cursor_blink = False
    same, last = 0, ""
    while same < 3:
        await pilot.pause(0.03)
        shown = pilot.app.export_screenshot(simplify=True)
        same, last = (same + 1 if shown == last else 0), shown


# --- jobs ---

OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 79.15 GiB "
    "of which 1.06 GiB is free. Including non-PyTorch memory, this process has 78.08 GiB memory in use. Of the "
    "allocated memory 71.44 GiB is allocated by PyTorch, and 4.87 GiB is reserved by PyTorch but unallocated."
)
STEPS = 90


def _at(second: float) -> str:
    return f"2031-04-02 10:{int(second) // 60:02d}:{int(second) % 60:02d}.{round(second % 1 * 1000):03d}"


def _lines(rank: int, steps: int) -> list[str]:
    """Iterations of 0.8 s, every 20th slower, each 30th followed by a checkpoint."""
    now, found = 0.0, [f"{_at(0)} [INFO] launch: rank {rank} of 8, NCCL 2.21.5, world size 8"]
    for step in range(1, steps + 1):
        took = 1.4 if step % 20 == 0 else 0.8 + step % 7 / 50
        now += took
        loss = 2.1 + 6.5 / (1 + step / 8)
        found.append(f"{_at(now)} [INFO] train: Step: {step}/400 | loss: {loss:.3f} | step time: {took * 1000:.1f} ms")
        if step % 30 == 0 and rank == 0:
            found.append(f"{_at(now + 0.2)} [INFO] train: successfully saved checkpoint at iteration {step} to /ckpt")
    return found


def _write(folder: Path, ranks: int, steps: int, ends: Callable[[int], Sequence[str]]) -> Path:
    for rank in range(ranks):
        node = folder / f"gpu-a{rank // 2 + 7:02d}"
        node.mkdir(parents=True, exist_ok=True)
        (node / f"rank-{rank}.log").write_text("\n".join([*_lines(rank, steps), *ends(rank)]) + "\n")
    return folder


def _out_of_memory(rank: int) -> list[str]:
    hostile = (
        [f"{_at(86)} [WARN] data: {text}" for text in (MARKUP, ESCAPES, CONTROLS, BIDI, WIDE)] if rank == 6 else []
    )
    if rank != 5:
        slow = [f"{_at(85 + n / 4)} [WARN] data: queue is low" for n in range(8)] if rank == 0 else []
        return [
            *hostile,
            *slow,
            f"{_at(88 + rank)} [rank{rank}]: RuntimeError: Connection closed by peer [10.0.0.2]:29500",
        ]
    return [
        *(f"{_at(80 + n)} [WARN] train: allocator retried {n + 1} times on rank 5" for n in range(4)),
        f"{_at(87)} [ERROR] train: iteration 91 failed",
        "Traceback (most recent call last):",
        '  File "/srv/train/train.py", line 81, in <module>',
        "    main()",
        OOM,
    ]


def _unknown(rank: int) -> list[str]:
    return [f"{_at(88)} [ERROR] train: unexpected state 7 in planner", f"{_at(88)} [ERROR] launch: exit code 3"]


def _finished(rank: int, more: int = 0) -> list[str]:
    slow = [f"{_at(87)} [WARN] data: queue is low"] * (rank == 0)
    return [
        *slow,
        *[f"{_at(88)} [INFO] train: saved all shards"] * (more + 1),
        f"{_at(88)} [INFO] train: training finished",
    ]


def _read(folder: Path) -> Job:
    seen = examine([str(folder)], Options())
    return case_of(seen, seconds=1.5), seen


def _compared(folder: Path) -> Job:
    """The job with two healthy runs to compare it with."""
    _, seen = _read(_write(folder / "job", 8, STEPS, _out_of_memory))
    runs = [_read(_write(folder / f"run{n}", 8, STEPS, partial(_finished, more=n)))[1] for n in range(2)]
    baseline = from_scans([run.reading.scan for run in runs], "llama-70b")
    cross = compare(seen.reading.scan, baseline)
    seen = replace(seen, baseline=baseline, findings=replace(seen.findings, cross_job=cross))
    return case_of(seen, seconds=1.5), seen


JOBS: dict[str, Callable[[Path], Job]] = {
    "failed": lambda folder: _read(_write(folder, 8, STEPS, _out_of_memory)),
    "unknown": lambda folder: _read(_write(folder, 4, STEPS, _unknown)),
    "healthy": lambda folder: _read(_write(folder, 4, STEPS, _finished)),
    "incomplete": lambda folder: _read(_write(folder, 4, STEPS, lambda rank: [])),
    "compared": _compared,
}


@cache
def job(kind: str, folder: Path) -> Job:
    """A job of some kind, written and read once."""
    return JOBS[kind](folder / kind)


# --- an answer, and what lies outside the case ---

ANSWER: list[AnswerEvent] = [
    ToolStarted(call="T1", tool="rank_status", arguments={"rank": 5}),
    ToolFinished(call="T1", tool="rank_status", status=ResultStatus.FOUND, seconds=0.02,
                 text="rank 5 on gpu-a09: blamed, score 1.00\nlast iteration 90, as the others\n"
                      "4 warnings that no other rank wrote: allocator retried <*> times on rank <*>"),
    ToolStarted(call="T2", tool="search_logs", arguments={"pattern": "Xid|ECC", "ranks": [4, 5]}),
    ToolFinished(call="T2", tool="search_logs", status=ResultStatus.NOTHING, seconds=0.31,
                 text="no line of 8 files matches"),
    ToolStarted(call="T3", tool="show_line", arguments={"place": "gpu-a09/rank-5.log:999"}),
    ToolFinished(call="T3", tool="show_line", status=ResultStatus.ERROR, seconds=0.0, text="the file has 99 lines"),
    Hypothesis(id="H1", cause="memory.gpu_oom", statement="Rank 5 ran out of GPU memory.", state="supported",
               supporting=("E1", "T1")),
    Hypothesis(id="H2", cause="hardware.gpu_memory", statement="A GPU lost memory to ECC errors.", state="refuted",
               supporting=("E1",), opposing=("T2", "gpu-a09/rank-5.log:94")),
    said(1, "**Rank 5** on gpu-a09 ran out of GPU memory [E1], and the others lost their connection to it [E2]. ",
         Standing.SUPPORTED, "E1", "E2"),
    said(2, "Rank 3 had the same trouble. ", Standing.UNSUPPORTED),
    said(3, "It had failed at iteration 40. ", Standing.UNSUPPORTED),
    Replaced(number=3, text="It failed at iteration 91 [E1].\n\n", standing=Standing.SUPPORTED, citations=("E1",)),
    said(4, "To be done:\n\n- lower the micro batch size\n- or set `expandable_segments`\n"),
    Suggested(questions=("What should I do now?", "Could it be a broken GPU?", "Is a restart safe?")),
    Usage(model="scripted", input_tokens=3_200, output_tokens=180, cost=0.0123, context_share=0.21, calls=1),
]  # fmt: skip

PAGE = Document(
    id="cuda-oom", kind="doc", title="What CUDA says when memory is short",
    sections=(
        Section("", "The allocator of PyTorch raises OutOfMemoryError when neither its own cache nor the device has a "
                    "block that is large enough."),
        Section("How it shows", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate <size>.\n"
                                "[rank<n>]: cudaErrorMemoryAllocation"),
        Section("What it does not prove", "That this rank held more than the others: all of them may be full, and one "
                                          "is the first to ask for more."),
    ),
    source="https://docs.example.org/notes/cuda.html", layer="memory", vendor="nvidia", framework="pytorch",
    versions="2.x", date="2030-11-04", checked="read",
)  # fmt: skip


def past(case: Case) -> list[Incident]:
    """An incident like the case, and one that is a little like it."""
    before = case.model_copy(update={"case": "c-00000000aa"})
    ruling = Ruling(fix="a smaller micro batch", by="ada", note="the batch grew the day before")
    ours = incident_of(before, ruling).model_copy(update={"date": "2031-02-11", "confirmed_at": "2031-02-11"})
    other = Incident(
        id="first-step-memory", title="Memory ran out in the first iteration after the sequence length was doubled",
        date="2029-06", source="https://example.org/postmortem", checked="read", framework="Megatron-LM",
        hardware="A100", scale="256 GPUs on 32 nodes", cause="memory.gpu_oom", symptom="one rank of each stage",
        root_cause="activations of twice the length", fix="recomputing activations", lesson="try one iteration first",
    )  # fmt: skip
    return [ours, other]


def converse(store: SessionStore, case: str) -> None:
    """Three conversations of certain days."""
    asked = ("Why rank 5 and not rank 4?", "Is a restart safe, or will [bold]it[/bold] fail again at once?", "Xid 79?")
    store.folder.mkdir(parents=True)
    for number, text in enumerate(asked):
        header = Header(
            session=f"s-2031040{number + 2}-0000000{number}", case=case if number else "c-00000000aa", revision=1,
            created=f"2031-04-0{number + 2}T1{number}:05:00Z", answerer=("offline", "local-llama", "offline")[number],
            program="test",
        )  # fmt: skip
        with SessionWriter(store.folder / f"{header.session}.jsonl", header) as writer:
            for _ in range(3 * number + 1):
                writer.ask(Question(text=text))
