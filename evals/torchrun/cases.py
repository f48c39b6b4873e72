"""The catalogue of runs: what is broken where, and what a right diagnosis of it says."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Run:
    """One run: `nodes` launchers with `per_node` ranks each."""

    name: str
    mishap: str = "nothing"
    rank: int | None = None
    """Who suffers it; None is everybody."""
    step: int = 7
    when: str = "step"
    nodes: int = 1
    per_node: int = 4
    voice: str = "plain"
    who_logs: str = "all"
    record: bool = True
    streams: str = "redirects"
    """`redirects`, `tee` or `console` (neither: all ranks share the launcher's console)."""
    rendezvous: str = "static"
    hosts: tuple[str, ...] = ("n01", "n02", "n03", "n04")
    restarts: int = 0
    attempt: int = -1
    absent: tuple[int, ...] = ()
    """Nodes whose launcher is never started."""
    verbose: bool = False
    """LOGLEVEL=INFO: the launcher then prints its rendezvous result."""
    debug: bool = False
    """TORCH_DISTRIBUTED_DEBUG=DETAIL; torch 2.13 on the CPU then crashes in every rank while it wraps the model."""
    terminate_after: float | None = None
    """Seconds until every launcher gets SIGTERM."""
    reaper: str = "term"
    """How launchers that outlive the first failed one are stopped: `term` (as a scheduler does) or `kill` (lost)."""
    occupied: bool = False
    """Another process holds the master port."""
    steps: int = 20
    status: str = "failed"
    causes: tuple[str, ...] = field(default=())
    guilty: int | None = None
    nobody_too: bool = False
    """Blaming nobody is right as well: the logs hint at the guilty rank rather than prove it."""
    stages: tuple[str, ...] = ("training",)
    iteration: int | None = None


def _broken(name: str, mishap: str, causes: tuple[str, ...], rank: int, **more: object) -> Run:
    facts: dict[str, object] = {"mishap": mishap, "causes": causes, "rank": rank, "guilty": rank, **more}
    if facts.get("when", "step") == "step":
        facts.setdefault("iteration", facts.get("step", 7))
    return Run(name, **facts)  # type: ignore[arg-type]


def _four(name: str, mishap: str, causes: tuple[str, ...], rank: int, **more: object) -> Run:
    return _broken(name, mishap, causes, rank, nodes=4, per_node=1, **more)


EXCEPTION = ("code.exception", "data.invalid")
HANG = ("collective.hang",)

CORE: tuple[Run, ...] = (
    _broken("one-exception", "exception", EXCEPTION, 2),
    _broken("one-kill", "kill", ("process.killed", "memory.host_oom"), 1, step=9, voice="timed"),
    _broken("one-segv", "segv", ("process.segfault",), 3, step=6, voice="megatron", streams="tee"),
    _broken("one-hang", "hang", HANG, 2, step=11),
    _broken("one-exit", "exit", ("process.exit",), 1, step=5, voice="timed", streams="tee"),
    _four("four-exception", "exception", EXCEPTION, 1, voice="megatron"),
    _four("four-kill", "kill", ("process.killed", "memory.host_oom"), 2),
    _four("four-segv", "segv", ("process.segfault",), 1, step=9, voice="timed"),
    _four("four-hang", "hang", HANG, 2, step=6, voice="timed", streams="tee"),
    _four("four-exit", "exit", ("process.exit",), 3, step=8),
)
"""Five ways to fail, under one launcher and under four."""

MORE: tuple[Run, ...] = (
    Run("one-healthy", status="healthy", causes=("none",), stages=()),
    Run("four-healthy", nodes=4, per_node=1, voice="timed", status="healthy", causes=("none",), stages=()),
    _broken("one-hang-first-logs", "hang", HANG, 1, who_logs="first", voice="megatron"),
    _four("four-hang-plain-main", "hang", HANG, 3, record=False, step=9),
    _four("four-hang-lost", "hang", HANG, 1, step=9, reaper="kill"),
    _broken("one-hang-plain-main", "hang", HANG, 2, record=False, streams="tee"),
    _broken("one-deaf", "deaf", HANG, 0, voice="timed"),
    _broken("one-kill-first-logs", "kill", ("process.killed", "memory.host_oom"), 3, who_logs="first"),
    _four("four-kill-first-logs", "kill", ("process.killed", "memory.host_oom"), 1, who_logs="first", verbose=True),
    _broken("one-exception-console", "exception", EXCEPTION, 2, streams="console", record=False, voice="timed"),
    _four("four-exception-c10d", "exception", EXCEPTION, 2, rendezvous="c10d", voice="timed", verbose=True),
    _broken("one-exit-plain-main", "exit", ("process.exit",), 0, record=False),
    _four("four-exit0", "exit0", ("process.exit", "collective.hang"), 2, step=9),
    _broken("one-abort", "abort", ("process.abort",), 1),
    _broken("one-bus", "bus", ("process.bus_error",), 2, streams="tee"),
    _broken("two-oom", "oom", ("memory.gpu_oom",), 3, nodes=2, per_node=2, voice="megatron", step=12),
    _broken("two-hang", "hang", HANG, 2, nodes=2, per_node=2, voice="plain", step=9),
    _four(
        "four-oom-evaluate",
        "oom",
        ("memory.gpu_oom",),
        2,
        when="evaluate",
        step=10,
        stages=("evaluation",),
        iteration=10,
    ),
    _broken(
        "one-space-save",
        "space",
        ("storage.disk_full",),
        0,
        when="save",
        step=8,
        stages=("checkpoint_save",),
        iteration=8,
    ),
    _four(
        "four-import", "import", ("code.import", "config.environment"), 2, when="start", stages=("startup", "loading")
    ),
    _broken(
        "one-absent",
        "hang",
        ("launch.rank_absent", "collective.init", "collective.hang", "launch.rendezvous"),
        3,
        when="start",
        stages=("startup", "loading"),
    ),
    Run(  # that one launcher is missing is plain, but nothing says which ranks it would have had
        "four-absent",
        nodes=4,
        per_node=1,
        absent=(2,),
        causes=("launch.rank_absent", "launch.rendezvous", "collective.init"),
        stages=("startup", "loading"),
    ),
    Run("one-port", occupied=True, causes=("launch.port_in_use",), stages=("startup",)),
    _broken(
        "one-extra", "extra", ("collective.mismatch", "collective.hang"), 2, step=8, voice="timed", nobody_too=True
    ),
    Run(
        "one-all-segv",
        debug=True,
        causes=("process.segfault", "platform.library_bug"),
        stages=("startup", "loading"),
    ),
    Run("one-all-exception", mishap="exception", causes=EXCEPTION, iteration=7),
    Run("four-all-nan", mishap="nan", nodes=4, per_node=1, causes=("numerics.nan", "code.exception"), iteration=7),
    Run(
        "one-terminated",
        terminate_after=11.0,
        steps=100,
        causes=("scheduler.cancelled", "scheduler.preempted", "scheduler.time_limit"),
    ),
    Run(
        "four-terminated",
        nodes=4,
        per_node=1,
        terminate_after=12.0,
        steps=100,
        voice="timed",
        causes=("scheduler.cancelled", "scheduler.preempted", "scheduler.time_limit"),
    ),
    Run(
        "one-restarted",
        rendezvous="c10d",
        mishap="kill",
        rank=1,
        restarts=1,
        attempt=0,
        status="healthy",
        causes=("none",),
        stages=(),
        verbose=True,
    ),
    _broken("one-restarted-twice", "exception", EXCEPTION, 3, restarts=1, voice="timed", rendezvous="c10d"),
    Run(
        "one-slow", mishap="slow", rank=2, step=5, status="healthy", causes=("none", "performance.straggler"), stages=()
    ),
)
"""Further ways, and runs that end well."""

EIGHT = ("gpu-a01", "gpu-a02", "gpu-a03", "gpu-a04")
EXAMPLES: tuple[Run, ...] = (
    _broken(
        "hanging-rank",
        "hang",
        HANG,
        5,
        nodes=4,
        per_node=2,
        step=23,
        steps=40,
        voice="timed",
        verbose=True,
        hosts=EIGHT,
    ),
    Run(
        "healthy-run",
        nodes=4,
        per_node=2,
        steps=40,
        voice="timed",
        verbose=True,
        hosts=EIGHT,
        status="healthy",
        causes=("none",),
        stages=(),
    ),
)
"""The runs that ship with the program for its demonstration."""

RUNS: dict[str, Run] = {run.name: run for run in (*CORE, *MORE, *EXAMPLES)}
