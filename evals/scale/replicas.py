"""Makes replicas of the jobs of a set, one after another, straight to folders or archives."""

from __future__ import annotations

import io
import random
import re
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import zstandard

from evals.scale.follow import follow
from evals.scale.noise import Noise, learn
from evals.scale.original import Node, Original, fits, read_original
from evals.scale.plan import make_plan
from evals.scale.render import Renderer
from evals.truth import Truth, TruthFile

OLD_ENOUGH = 1_700_000_000
"""Time stamp of all members: epoch seconds."""
YEAR = re.compile(r"\b(20\d\d)-\d\d-\d\d")
LOSS = re.compile(r"\bstep\D{0,12}(\d+).{0,60}?\bloss\W{1,4}(\d+\.\d+)", re.IGNORECASE)
Form = Literal["folder", "archive"]


def make_replicas(
    set_folder: Path, out: Path, ranks: int, count: int, seed: int, *, form: Form = "archive"
) -> TruthFile:
    """Makes `count` replicas of `ranks` ranks and writes them, with truth and small healthy twins, to `out`.

    Each kind of fault in turn gives one job, in an order that follows from the seed; jobs that cannot be multiplied
    (one node, one rank a node, every node guilty) are passed over. Returns what was written as `truth.json`; the twins
    are in it too, so that `out` is a set like any other.
    """
    told = TruthFile.model_validate_json((set_folder / "truth.json").read_bytes())
    out.mkdir(parents=True, exist_ok=True)
    truths: list[Truth] = []
    twins: dict[str, Truth] = {}
    known = {truth.job: truth for truth in told.jobs}
    for source in in_turn(told.jobs, seed):
        if len(truths) == count:
            break
        try:
            truths.append(
                make_replica(set_folder, source, known, out, ranks, seed, f"scaled-{len(truths) + 1:03}", form)
            )
        except ValueError:
            continue
        twins |= {name: known[name] for name in truths[-1].twins}
    for name in sorted(twins):
        _copy(archive_of(set_folder, name), out)
    jobs = (*truths, *(twins[name].model_copy(update={"twins": ()}) for name in sorted(twins)))
    document = told.model_copy(update={"jobs": tuple(sorted(jobs, key=lambda truth: truth.job))})
    (out / "truth.json").write_text(document.model_dump_json(indent=1, by_alias=True) + "\n", encoding="utf-8")
    return document


def in_turn(jobs: tuple[Truth, ...], seed: int) -> Iterator[Truth]:
    """Jobs that can be multiplied, a kind at a time; each kind comes again when all had their turn."""
    draw = random.Random(seed)
    kinds: dict[str, list[Truth]] = {}
    for truth in jobs:
        if fits(truth):
            kinds.setdefault(truth.kind, []).append(truth)
    queues = [draw.sample(each, len(each)) for _, each in sorted(kinds.items())]
    draw.shuffle(queues)
    while any(queues):
        for queue in queues:
            if queue:
                yield queue.pop()


def make_replica(
    set_folder: Path,
    truth: Truth,
    known: dict[str, Truth],
    out: Path,
    ranks: int,
    seed: int,
    name: str,
    form: Form = "archive",
) -> Truth:
    """One replica under a name, as a folder or an archive of that name; an older one goes.

    Raises ValueError where the job cannot be multiplied to so many ranks.
    """
    original = read_original(archive_of(set_folder, truth.job), truth)
    healthy = [known[twin] for twin in truth.twins if twin in known]
    learnt = [read_original(archive_of(set_folder, twin.job), twin) for twin in healthy if fits(twin)]
    plan = make_plan(original, ranks, seed)
    # What a rank writes is also on a teed console: a line more would have to be in both.
    noise = Noise() if truth.settings.get("streams") == "tee" else learn(learnt, original)
    renderer = Renderer(plan, noise, year_of(original), losses_differ(original))
    target = out / (name if form == "folder" else f"{name}.tar.zst")
    for old in (out / name, out / f"{name}.tar.zst"):
        shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)
    (_to_folder if form == "folder" else _to_archive)(renderer.files(), target)
    return follow(plan, name, tuple(twin.job for twin in healthy), renderer.moved)


def archive_of(folder: Path, job: str) -> Path:
    """The file or folder of a job.

    Raises ValueError where there is none.
    """
    for ending in (".tar.zst", ".tar.gz", ".tar", ""):
        if (found := folder / f"{job}{ending}").exists():
            return found / "job" if (found / "job").is_dir() else found
    raise ValueError(f"{folder} holds no job {job}")


def year_of(original: Original) -> int:
    """The year that the job ran in, for spellings of time without one."""
    for text in _texts(original.nodes):
        if found := YEAR.search(text):
            return int(found[1])
    return 2026


def losses_differ(original: Original) -> bool:
    """Whether two ranks log different losses at the same step."""
    seen: dict[str, set[str]] = {}
    for text in _texts(original.nodes):
        for step, loss in LOSS.findall(text):
            seen.setdefault(step, set()).add(loss)
    return any(len(losses) > 1 for losses in seen.values())


def _texts(nodes: tuple[Node, ...]) -> Iterator[str]:
    for node in nodes:
        yield from (file.text for files in node.ranks.values() for file in files)
        yield from node.consoles.values()


def _to_folder(files: Iterator[tuple[str, bytes]], target: Path) -> None:
    for path, data in files:
        file = target / "job" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def _to_archive(files: Iterator[tuple[str, bytes]], target: Path) -> None:
    """A compressed tar whose only folder is `job`; the same files give the same bytes."""
    with (
        target.open("wb") as raw,
        zstandard.ZstdCompressor(level=3).stream_writer(raw) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for path, data in files:
            member = tarfile.TarInfo(f"job/{path}")
            member.size, member.mtime, member.mode = len(data), OLD_ENOUGH, 0o644
            tar.addfile(member, io.BytesIO(data))


def _copy(source: Path, out: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, out / source.name, dirs_exist_ok=True)
    elif source.resolve() != (out / source.name).resolve():
        shutil.copyfile(source, out / source.name)
