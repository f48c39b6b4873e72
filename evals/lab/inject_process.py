"""Faults of one process: it raises, dies, stops, is slow, or computes something else than its peers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from evals.lab.change import Change, any_place, step_at, strike
from evals.lab.draw import Draw
from evals.lab.jobs.settings import Callback


def exception(draw: Draw) -> Change:
    """An exception of user code, of five flavours."""
    return strike(f"exception/{draw.job.flavour}", draw, draw.rank(), any_place(draw))


def sigkill(draw: Draw) -> Change:
    """SIGKILL from within, as from anybody."""
    return strike("sigkill", draw, draw.rank(), any_place(draw), shows=("-9|SIGKILL|Signal 9",))


def sigsegv(draw: Draw) -> Change:
    """A segmentation fault; torch catches the signal first, so that the kernel writes nothing."""
    return strike("sigsegv", draw, draw.rank(), any_place(draw), shows=("SIGSEGV|Signal 11",))


def sigbus(draw: Draw) -> Change:
    """A bus error."""
    return strike("sigbus", draw, draw.rank(), any_place(draw), shows=("SIGBUS|Signal 7",))


def sigabrt(draw: Draw) -> Change:
    """An abort."""
    shown = ("SIGABRT|Signal 6",) if draw.job.flavour == "quiet" else ("SIGABRT|Signal 6", "double free")
    return strike(f"sigabrt/{draw.job.flavour}", draw, draw.rank(), any_place(draw), shows=shown)


def silent_exit(draw: Draw) -> Change:
    """`os._exit`, of a code or of zero."""
    code = 0 if draw.job.flavour == "zero" else draw.chance.choice((1, 3, 77))
    return strike("silent_exit", draw, draw.rank(), any_place(draw), detail={"code": code})


def hang_compute(draw: Draw) -> Change:
    """A rank stays in its own computation."""
    place = draw.chance.choice(("step", "step", "evaluate", "save"))
    return strike(f"hang_compute/{draw.job.flavour}", draw, draw.rank(), place, shows=("Timed out waiting|timed out",))


def hang_collective(draw: Draw) -> Change:
    """A rank stops before a collective, or waits in another one."""
    change = strike(
        f"hang_collective/{draw.job.flavour}", draw, draw.rank(), "collective", shows=("Timed out waiting",)
    )
    return replace(change, settings={"reduced_loss": True})


def extra_collective(draw: Draw) -> Change:
    """A rank reduces once more than its peers."""
    return strike("extra_collective", draw, draw.rank(), "step", detail={"size": draw.chance.choice((5, 7, 9))})


def wrong_shape(draw: Draw) -> Change:
    """A rank reduces a longer tensor."""
    change = strike("wrong_shape", draw, draw.rank(), "metrics", detail={"more": draw.chance.choice((2, 3, 12))})
    return replace(change, settings={"reduced_loss": True})


def wrong_dtype(draw: Draw) -> Change:
    """A rank reduces numbers of double width."""
    return replace(strike("wrong_dtype", draw, draw.rank(), "metrics"), settings={"reduced_loss": True})


def slow_rank(draw: Draw) -> Change:
    """From some step on one rank takes longer; provable only where each rank tells its own part of the step."""
    return _slow(draw, (draw.rank(),))


def slow_node(draw: Draw) -> Change:
    """From some step on all ranks of a node take longer."""
    node = draw.node()
    return replace(_slow(draw, draw.job.ranks_of(node)), nodes=(node,))


def _slow(draw: Draw, ranks: tuple[int, ...]) -> Change:
    step = draw.step(4, 7)
    seconds = draw.chance.choice((0.4, 0.6, 0.9))
    planned = Callback("slow", "step", ranks, step, until=99, detail={"seconds": seconds})
    told = draw.number % 3 != 2
    settings = {"timers": told, "steps": 20, **({"who_logs": "all"} if told else {})}
    hidden = not told or not draw.labelled
    return Change((planned,), settings, ranks=ranks, step=step, fails=False, silent=hidden)


def growing_step(draw: Draw) -> Change:
    """Steps that take longer and longer: on all ranks, on one, or on one until its peers give up."""
    step = draw.step(3, 5)
    flavour = draw.job.flavour
    ranks = () if flavour == "all" else (draw.rank(),)
    detail = {"seconds": 0.02, "power": 2.6} if flavour == "until" else {"seconds": 0.06, "power": 1.0}
    planned = Callback("growing_step", "step", ranks, step, until=99, detail=detail)
    settings: dict[str, object] = {"steps": 24, "timers": flavour != "all" and draw.number % 2 == 1}
    if flavour == "until":
        return Change(
            (planned,), {**settings, "timeout": 8.0}, ranks=ranks, provable={"status": "failed", "iteration": None}
        )
    hidden = bool(ranks) and not (settings["timers"] and draw.labelled and draw.all_log)
    return Change((planned,), settings, ranks=ranks, step=step, fails=False, silent=hidden)


def nan_one_rank(draw: Draw) -> Change:
    """Inputs that are no numbers; each rank's own loss shows whose, the mean of all shows nobody's."""
    own = draw.job.flavour == "own"
    change = strike("scale", draw, draw.rank(), "batch", shows=("loss is nan",))
    settings = {"reduced_loss": not own, **({"who_logs": "all"} if own else {})}
    return replace(change, settings=settings, silent=own and not draw.labelled)


def loss_spike(draw: Draw) -> Change:
    """Inputs far out of scale on every rank; the job's guard sees the mean of the loss."""
    step = draw.step(6)
    planned = Callback("scale", "batch", (), step, detail={"factor": draw.chance.choice((300.0, 1000.0))})
    settings = {"reduced_loss": True, "loss_limit": 4.0}
    return Change((planned,), settings, place="batch", step=step, shows=("loss spike at step",))


def loader_exception(draw: Draw) -> Change:
    """A worker process of the loader raises."""
    return _loader("loader_exception", draw, shows=("in DataLoader worker process",))


def loader_killed(draw: Draw) -> Change:
    """A worker process of the loader is killed."""
    return _loader("loader_killed", draw, shows=("DataLoader worker .* is killed by signal|exited unexpectedly",))


def loader_hang(draw: Draw) -> Change:
    """A worker process of the loader no longer answers; the loader notices, or nobody does."""
    timed = draw.job.flavour == "timed"
    shown = ("DataLoader timed out after",) if timed else ("Timed out waiting",)
    change = _loader("loader_hang", draw, shows=shown)
    return replace(change, settings={**change.settings, "loader_timeout": 5.0 if timed else 0.0})


def _loader(name: str, draw: Draw, shows: tuple[str, ...]) -> Change:
    change = strike(name, draw, draw.rank(), "sample", draw.step(5), shows=shows)
    return replace(change, settings={"loader_workers": 1})


def fd_limit(draw: Draw) -> Change:
    """Files opened and never closed."""
    return strike("fd_limit", draw, draw.rank(), any_place(draw), shows=("Too many open files",))


def two_faults(draw: Draw) -> Change:
    """Two ranks on two nodes fail in the same step, the second a little later, before anybody could tell it to stop."""
    first = draw.rank()
    other = draw.rank(
        tuple(rank for rank in range(draw.job.world) if draw.job.node_of(rank) != draw.job.node_of(first))
    )
    step = step_at(draw, "step")
    pairs = ((EXCEPTION, LOOK_UP), (KILL, EXCEPTION), (EXCEPTION, KILL), (SEGV, EXCEPTION))
    (name, kind, causes), (later, later_kind, later_causes) = pairs[draw.number % len(pairs)]
    second = strike(later, draw, other, "step", step, delay=0.4)
    second = replace(second, kind=later_kind, causes=later_causes)
    main = strike(name, draw, first, "step", step)
    return replace(
        main,
        callbacks=(*main.callbacks, *second.callbacks),
        further=(second,),
        kind=kind,
        provable={"causes": causes},
    )


EXCEPTION = ("exception/key", "exception", ("code.exception", "data.invalid"))
LOOK_UP = ("exception/matmul", "exception", ("code.shape", "code.exception"))
KILL = ("sigkill", "sigkill", ("process.killed", "memory.host_oom"))
SEGV = ("sigsegv", "sigsegv", ("process.segfault",))


def benign_beside_real(draw: Draw) -> Change:
    """A loud harmless error at one rank all the time, a quiet fault at another once."""
    rank = draw.rank()
    loud = draw.rank(tuple(other for other in range(draw.job.world) if other != rank))
    name = {"kill": "sigkill", "exit": "silent_exit", "hang": "hang_compute/sleep"}[draw.job.flavour]
    change = strike(name, draw, rank, "step", draw.step(8))
    noise = draw.chance.choice(("benign/metrics", "benign/cache"))
    steps = sorted(draw.chance.sample(range(2, 8), 3))
    planned = tuple(Callback(noise, "step", (loud,), step) for step in steps)
    return replace(change, callbacks=(*planned, *change.callbacks))


def self_healing(draw: Draw) -> Change:
    """A failure that is overcome: by a retry, by leaving a record out, or by a new attempt of the launcher."""
    flavour = draw.job.flavour
    if flavour == "restart":
        name = draw.chance.choice(("sigkill", "exception/key"))
        change = strike(name, draw, draw.rank(), "step", attempt=0)
        return replace(change, launch={"restarts": 1, "rendezvous": "c10d", "verbose": True}, fails=False)
    return replace(strike(f"heals/{flavour}", draw, draw.rank(), "step"), fails=False)


INJECTIONS: dict[str, Callable[[Draw], Change]] = {
    function.__name__: function
    for function in (
        exception, sigkill, sigsegv, sigbus, sigabrt, silent_exit, hang_compute, hang_collective, extra_collective,
        wrong_shape, wrong_dtype, slow_rank, slow_node, growing_step, nan_one_rank, loss_spike, loader_exception,
        loader_killed, loader_hang, fd_limit, two_faults, benign_beside_real, self_healing,
    )
}  # fmt: skip
"""By kind."""
