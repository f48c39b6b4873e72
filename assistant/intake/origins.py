"""What the path of a source says about who wrote it: node, rank, local rank, device, process, attempt.

Only names that say so by a word are read (`rank-7.err`, `node3/`, `attempt_0/3/stderr.log`), besides folders and files
that differ from their neighbours in a number alone (`n01/`, `n02/`), which are hosts. A bare number is kept as `index`:
whether it is a rank is for the launcher's lines to say.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from assistant.intake.models import Source, WriterKind
from assistant.intake.numerals import whole


@dataclass(frozen=True, slots=True)
class Origin:
    """What one path says; None where it says nothing."""

    node: str | None = None
    rank: int | None = None
    local_rank: int | None = None
    device: str | None = None
    pid: str | None = None
    task: int | None = None
    index: int | None = None
    attempt: int | None = None
    job: str | None = None
    kind: WriterKind | None = None
    folder: str = ""
    """The folder that holds what one launcher or node left behind."""

    @property
    def names_one_process(self) -> bool:
        """The path belongs to a single process, so that all its lines have one writer."""
        return any(x is not None for x in (self.rank, self.local_rank, self.pid, self.task))


_EXTENSION = re.compile(r"(?:\.(?:log|txt|out|err|stdout|stderr|json|jsonl|data|gz|bz2|xz|zst|\d{1,3}))+$", re.I)
_TORCHRUN = re.compile(r"(?:^|/)attempt_(\d+)/(\d+)/(?:stdout|stderr|error|[^/]+)\.(?:log|json|txt)")
_SLURM = re.compile(r"^slurm[-_](\d+)(?:[._]\d+)?[-_.]([A-Za-z][\w-]*?\d[\w]*)[-_.](\d+)$")
_SLURM_TASK = re.compile(r"^(?:slurm|job|srun)[-_](\d{3,})[-_.](?:task[-_]?)?(\d{1,6})$")
_LOCAL = re.compile(r"local[-_]?rank[-_=]?(\d{1,4})(?![0-9])", re.I)
_RANK = re.compile(r"(?<![A-Za-z])(?:global[-_]?)?rank[-_=.]?(\d{1,6})(?![0-9])", re.I)
_DEVICE = re.compile(r"(?<![A-Za-z])(?:device|gpu|npu)[-_]?(\d{1,3})(?![0-9A-Za-z])", re.I)
MOST_DEVICES = 15
"""Highest index of a device in one machine."""
_PLOG = re.compile(r"^(?:plog|device)-(\d+)_\d{8,}$")
_TASK = re.compile(r"(?<![A-Za-z])(?:task|proc(?:ess)?)[-_]?(\d{1,6})(?![0-9])", re.I)
_PLACE = re.compile(
    r"(?:^|[-_.])((?:[A-Za-z0-9]+-)*?(?:node|host|worker|master|launcher|server|machine|compute|pod|gpu-node|agent)s?"
    r"(?:[-_]?[A-Za-z]*\d+|-[a-z]\b)|(?:n|cn|gn|nid|dgx|hgx)-?\d{1,6})(?=$|[.])",
    re.I,
)
_KERNEL = re.compile(r"(?:^|[/._-])(?:dmesg|kern(?:el)?|kmsg|syslog|messages|journal(?:ctl)?)(?:$|[/._-])", re.I)
_SCHEDULER = re.compile(r"(?:^|[/._-])(?:slurmctld|slurmd|slurmdbd|pbs_mom|kubelet|scheduler)(?:$|[/._-])", re.I)
_LAUNCHER = re.compile(r"(?:^|[/._-])(?:launcher|torchrun|elastic|mpirun|srun)(?:$|[/._-])", re.I)
_KINDS = ((_KERNEL, WriterKind.KERNEL), (_SCHEDULER, WriterKind.SCHEDULER), (_LAUNCHER, WriterKind.LAUNCHER))
_ROLE = re.compile(r"^(?:launcher|torchrun|elastic|mpirun|srun|console|train)[-_.]+(?=[A-Za-z])", re.I)
"""What a file name says of its writer's role before it names the host."""
_COUNTED = re.compile(r"^[A-Za-z][A-Za-z0-9.-]*?\d+[A-Za-z]?\d*$")
_NO_HOST = re.compile(
    r"^(?:attempt|rank|local|run|trial|epoch|step|iter|exp|version|v|part|try|retry|restart|job|slurm|"
    r"dev-os|stdout|stderr|log|logs|train|global|task|proc|pid|out|err|checkpoint|ckpt|tmp|seed|fold|shard|day|plog)"
    r"[-_.]?\d*",
    re.I,
)


_NO_HOSTS = (_NO_HOST, _RANK, _LOCAL, _PLOG, _TASK)


def _stem(name: str) -> str:
    return _EXTENSION.sub("", name)


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    return whole(found.group(1)) if found else None


def _kind(path: str, rank_known: bool) -> WriterKind | None:
    if rank_known:
        return WriterKind.RANK
    name = path.rpartition("/")[2]
    return next((kind for pattern, kind in _KINDS if pattern.search(name)), None)


def _named_place(parts: Sequence[str]) -> str | None:
    """A component that calls itself a node, nearest to the file first."""
    for part in reversed(parts):
        found = _PLACE.search(part)
        if found and not found.group(1).lower().startswith("launcher"):
            return found.group(1) if part.startswith(("log.", "log-", "log_")) else part
    return None


def origin_of(name: str) -> Origin:
    """What one source's name says by itself."""
    path = name.replace("!", "/").replace("\\", "/")
    parts = [part for part in path.split("/") if part]
    stems = [*parts[:-1], _stem(parts[-1])] if parts else []
    if not stems:
        return Origin()
    stem, text = stems[-1], "/".join(stems)
    local = _number(_LOCAL, text)
    ranks = _RANK.findall(_LOCAL.sub("", text))
    torchrun = _TORCHRUN.search(path)
    plog = _PLOG.match(stem)
    slurm = _SLURM.match(stem)
    rank = whole(ranks[-1]) if ranks else None
    found = Origin(
        node=_node(stems, slurm),
        rank=rank,
        local_rank=whole(torchrun.group(2)) if torchrun else local,
        device=_device(stems),
        pid=plog.group(1) if plog else None,
        task=_task(stem, slurm),
        index=whole(stem),
        attempt=whole(torchrun.group(1)) if torchrun else None,
        job=slurm.group(1) if slurm else None,
        folder=_launch_folder(path),
    )
    return replace(found, kind=_kind(text, found.names_one_process))


def _node(stems: Sequence[str], slurm: re.Match[str] | None) -> str | None:
    if slurm:
        return slurm.group(2)
    named = [part for part in stems if not _RANK.search(part) and not _PLOG.match(part)]
    return _named_place(named)


def _device(stems: Sequence[str]) -> str | None:
    """The device that a component names: `gpu3` alone, behind a place (`node1-gpu3`), or, in a file's name, a word.

    `row2-gpu11` and, as a folder, `blue-gpu12` are machines: many are called by what they hold.
    """
    named = (_device_in(part, file=depth == len(stems) - 1) for depth, part in enumerate(stems))
    return next((device for device in reversed(list(named)) if device is not None), None)


def _device_in(part: str, *, file: bool) -> str | None:
    found = _DEVICE.search(part)
    if found is None:
        return None
    before = part[: found.start()].rstrip("-_.")
    if not file and not before and _numbers_a_machine(found.group(1)):
        return None
    plain = file and not any(letter.isdecimal() for letter in before)
    return found.group(1) if not before or plain or _RANK.search(before) or _PLACE.search(before) else None


def _task(stem: str, slurm: re.Match[str] | None) -> int | None:
    if slurm:
        return whole(slurm.group(3))
    found = _SLURM_TASK.match(stem)
    return whole(found.group(2)) if found else _number(_TASK, stem)


def _launch_folder(path: str) -> str:
    """The part of a path above a torchrun log tree's own run folder; else the file's folder."""
    head, found, _ = path.partition("/attempt_")
    return head.rpartition("/")[0] if found else path.rpartition("/")[0]


def _numbers_a_machine(digits: str) -> bool:
    """`gpu-012` and `gpu64`: devices are counted from 0, without zeros in front, and no machine holds so many."""
    return (len(digits) > 1 and digits.startswith("0")) or int(digits) > MOST_DEVICES


def _no_host(part: str, *, file: bool) -> bool:
    return _device_in(part, file=file) is not None or any(pattern.search(part) for pattern in _NO_HOSTS)


def _siblings(names: Iterable[Sequence[str]]) -> set[tuple[int, str]]:
    """(depth, component) of components that differ from others at their place in numbers alone, and look like hosts."""
    shapes: dict[tuple[int, tuple[str, ...], str], set[str]] = defaultdict(set)
    for parts in names:
        for depth, part in enumerate(parts):
            if _COUNTED.match(part) and not _no_host(part, file=depth == len(parts) - 1):
                shapes[depth, tuple(parts[:depth]), re.sub(r"\d+", "0", part)].add(part)
    return {(key[0], part) for key, group in shapes.items() if len(group) > 1 for part in group}


def _cut(name: str) -> list[str]:
    parts = [part for part in name.replace("!", "/").split("/") if part]
    return [*parts[:-1], _stem(parts[-1])] if parts else []


def origins(sources: Sequence[Source]) -> dict[int, Origin]:
    """What the paths say, by source id, each seen beside the others."""
    cut = {source.id: _cut(source.name) for source in sources}
    hosts = _siblings(cut.values())
    found = {}
    for source in sources:
        origin = origin_of(source.name)
        if origin.node is None:
            named = [part for depth, part in enumerate(cut[source.id]) if (depth, part) in hosts]
            origin = replace(origin, node=_ROLE.sub("", named[-1]) if named else None)
        found[source.id] = origin
    return found
