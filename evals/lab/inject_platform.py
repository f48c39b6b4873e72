"""Faults around the process: launch, packages, settings, network, storage, checkpoints, memory, scheduler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from evals.lab.change import Change, step_at, strike
from evals.lab.draw import Draw
from evals.lab.job import Checkpoint, Mount, Trigger
from evals.lab.jobs.settings import Callback

FULL = "No space left|unexpected pos|file write failed|failed writing file|iostream error"
"""What torch says of a file that it could not write to its end."""


def nothing(draw: Draw) -> Change:
    """A healthy job; now and then it goes on from a checkpoint, or shows its packages."""
    launch: dict[str, object] = {}
    settings: dict[str, object] = {}
    if draw.number % 4 == 1:
        step = 6
        launch["checkpoint"] = Checkpoint(step)
        settings = {"resume": step, "steps": 16}
    if draw.number % 4 == 2:
        settings = {"packages": ("fused_ops",), "package_check": draw.number % 8 == 2}
        launch["packages"] = {}
    return Change(settings=settings, launch=launch, fails=False)


def late_start(draw: Draw) -> Change:
    """One launcher starts when the others have given up."""
    node = draw.node()
    launch = {"late": {node: 22.0}, "verbose": True}
    return Change(settings={"timeout": 8.0}, launch=launch, nodes=(node,), place="start")


def never_started(draw: Draw) -> Change:
    """A launcher that does not come (nothing says which ranks it would have had), or a rank that stays away."""
    if draw.job.flavour == "rank":
        rank = draw.rank()
        planned = Callback("hang_compute/sleep", "start", (rank,))
        return Change((planned,), {"timeout": 10.0, "who_logs": "all"}, ranks=(rank,), place="start")
    node = draw.node()
    return Change(settings={"timeout": 8.0}, launch={"absent": (node,)}, nodes=(node,), place="start")


def import_missing(draw: Draw) -> Change:
    """One node's copy of the job lacks a package."""
    node = draw.node()
    settings = {"packages": ("fused_ops",)}
    launch = {"packages": {node: "removed"}}
    return Change((), settings, launch=launch, nodes=(node,), place="start", shows=("No module named 'fused_ops'",))


def library_version(draw: Draw) -> Change:
    """One node has an older package: the job's own check says so, or what it calls is not there."""
    node = draw.node()
    check = draw.job.flavour == "check"
    settings = {"packages": ("fused_ops",), "package_check": check, "who_logs": "all"}
    launch = {"packages": {node: "1.3.2" if check else "older"}}
    shown = "fused_ops differs between ranks" if check else "has no attribute 'register'"
    return Change((), settings, launch=launch, nodes=(node,), place="start", shows=(shown,))


def config_differs(draw: Draw) -> Change:
    """One node has another width (noticed when the model is wrapped) or batch size (its epoch is shorter)."""
    node = draw.node()
    shown: dict[str, object] = {"settings_shown": True, "who_logs": "all"}
    if draw.job.flavour == "hidden":
        other = {"hidden": draw.chance.choice((48, 96))}
        return Change((), shown, {node: other}, nodes=(node,), place="build")
    other = {"batch_size": 16}
    return Change((), {**shown, "samples": 160, "batch_size": 8}, {node: other}, nodes=(node,), step=11)


def port_in_use(draw: Draw) -> Change:
    """The master port is taken."""
    launch = {"occupied": True, "rendezvous": "static"}
    return Change(launch=launch, place="start", shows=("EADDRINUSE|[Aa]ddress already in use",))


def master_unresolvable(draw: Draw) -> Change:
    """A master name that no resolver knows, given to all nodes or to one that is not the master itself."""
    name = draw.chance.choice(("gpu-master.cluster.invalid", "train-0.train-headless.invalid", "mn01.invalid"))
    one = draw.job.flavour == "one"
    nodes = (draw.chance.randrange(1, draw.job.nodes),) if one else tuple(range(draw.job.nodes))
    launch = {"masters": dict.fromkeys(nodes, name), "rendezvous": "static" if one else draw.job.rendezvous}
    shown = ("gai error|[Nn]ame or service not known|failure in name resolution|getaddrinfo",)
    return Change(settings={"timeout": 8.0}, launch=launch, nodes=nodes if one else (), place="start", shows=shown)


def link_cut(draw: Draw) -> Change:
    """The link of a node goes down in the middle of training."""
    node, step = draw.node(), draw.step(5)
    mark = Callback("mark", "step", draw.job.ranks_of(node)[:1], step)
    launch = {"network": True, "trigger": Trigger("cut", node), "patience": 150.0}
    settings = {"pace": 0.25, "reduced_loss": True}
    alike = draw.job.nodes == 2  # both sides then see the same: nothing tells whose link it was
    return Change((mark,), settings, launch=launch, nodes=(node,), step=step, silent=alike)


def device_full(draw: Draw) -> Change:
    """No room for a checkpoint: a device that is always full, or a file system of a few kilobytes."""
    rank = draw.rank()
    if draw.job.flavour == "mount":
        change = _stored(draw, "full", rank, step_at(draw, "save"))
        return replace(change, shows=(FULL,))
    change = strike("device_full", draw, rank, "write", 0, shows=(FULL,))
    first = int(str(draw.job.settings["save_every"]))
    return replace(change, settings={"sharded": True}, place="save", step=first)


def permission(draw: Draw) -> Change:
    """A folder without write permission for the one that writes."""
    change = _stored(draw, "closed", draw.rank(), step_at(draw, "save"))
    return replace(change, shows=("[Pp]ermission denied|cannot be opened",))


def read_only(draw: Draw) -> Change:
    """A folder that is mounted read-only."""
    change = _stored(draw, "read_only", draw.rank(), step_at(draw, "save"))
    return replace(change, shows=("[Rr]ead-only file system|cannot be opened",))


def _stored(draw: Draw, how: str, rank: int, step: int) -> Change:
    path = f"checkpoints/step-{step}/rank-{rank:02}"
    mark = Callback("mark", "save", (rank,), step)
    launch = {"mounts": (Mount(draw.job.node_of(rank), path, how),)}
    return Change((mark,), {"sharded": True}, launch=launch, ranks=(rank,), place="save", step=step)


def checkpoint_corrupt(draw: Draw) -> Change:
    """A file that was not written to its end, lost bytes in the middle, or is empty."""
    how = {"cut": "cut", "garbled": "garbled", "empty": "empty", "shared": "cut"}[draw.job.flavour]
    return _resumed(draw, how, shared=draw.job.flavour == "shared")


def checkpoint_missing(draw: Draw) -> Change:
    """A file that is not there."""
    return _resumed(draw, "removed", shared=draw.job.flavour == "shared", shows=("No such file or directory",))


def checkpoint_mismatch(draw: Draw) -> Change:
    """A file of a model with other shapes."""
    return _resumed(draw, "wide", shared=draw.job.flavour == "shared", shows=("size mismatch",))


def _resumed(draw: Draw, how: str, *, shared: bool, shows: tuple[str, ...] = ()) -> Change:
    step = draw.chance.choice((4, 6))
    ranks = () if shared else (draw.rank(),)
    settings = {"resume": step, "sharded": not shared, "who_logs": "all"}
    mark = Callback("mark", "resume", ranks, step)
    launch = {"checkpoint": Checkpoint(step, ranks, how)}
    provable: Mapping[str, object] = {"iteration": None}
    return Change(
        (mark,), settings, launch=launch, ranks=ranks, place="resume", step=step, shows=shows, provable=provable
    )


def memory_limit(draw: Draw) -> Change:
    """More memory than allowed: the kernel's control group, Python's own report, or that of torch's allocator."""
    rank, flavour = draw.rank(), draw.job.flavour
    shown = {
        "kernel": "Memory cgroup out of memory",
        "python": "MemoryError",
        "torch": "can't allocate memory|not enough memory",
    }[flavour]
    place = draw.chance.choice(("step", "step", "evaluate", "build"))
    change = strike(f"memory_limit/{flavour}", draw, rank, place, shows=(shown,))
    return replace(change, launch={"kernel_log": (draw.job.node_of(rank),)}) if flavour == "kernel" else change


def sigterm_all(draw: Draw) -> Change:
    """Every launcher gets SIGTERM, as at the end of a time limit."""
    step = draw.step(6)
    mark = Callback("mark", "step", (0,), step)
    launch = {"trigger": Trigger("terminate", wait=0.1)}
    return Change((mark,), {"steps": 60}, launch=launch, step=step)


def launcher_killed(draw: Draw) -> Change:
    """A node is lost: its launcher and its ranks are gone at once."""
    node, step = draw.node(), draw.step(5)
    mark = Callback("mark", "step", draw.job.ranks_of(node)[:1], step)
    launch = {"trigger": Trigger("lose", node)}
    return Change((mark,), launch=launch, nodes=(node,), step=step)


INJECTIONS: dict[str, Callable[[Draw], Change]] = {
    function.__name__: function
    for function in (
        nothing, late_start, never_started, import_missing, library_version, config_differs, port_in_use,
        master_unresolvable, link_cut, device_full, permission, read_only, checkpoint_corrupt, checkpoint_missing,
        checkpoint_mismatch, memory_limit, sigterm_all, launcher_killed,
    )
}  # fmt: skip
"""By kind."""
