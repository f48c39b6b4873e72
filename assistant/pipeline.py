"""`diagnose(sources) -> Case`: walks the rooms in order and is the only place that knows them all."""

from __future__ import annotations

import hashlib
import importlib
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import polars as pl

from assistant.baselines.choice import choose_baseline
from assistant.baselines.models import Baseline
from assistant.baselines.store import BaselineStore
from assistant.case.models import Case, Evidence
from assistant.diagnosis.actions import actions_left_out
from assistant.diagnosis.conclude import conclude
from assistant.diagnosis.models import Findings
from assistant.errors import NothingFound, StoreError
from assistant.events.models import Scan
from assistant.events.scan import scan
from assistant.faults.library import Library, load_library
from assistant.faults.matcher import Matcher
from assistant.faults.models import Blame, FaultRole, Specificity
from assistant.intake.dialects import Dialects, load_dialects
from assistant.intake.discover import discover
from assistant.intake.excerpt import read_places
from assistant.intake.jobs import select_job
from assistant.intake.limits import Limits
from assistant.intake.models import Discovery, ProgressHook
from assistant.intake.times import parse_moment
from assistant.intake.topology import Topology, read_topology
from assistant.paths import locate
from assistant.patterns import cross_job, spatial, temporal
from assistant.patterns.models import PatternResult
from assistant.patterns.volumes import FOREST_PLACES
from assistant.signals.read import read_signals

PATTERNS = ("cross_job", "spatial", "temporal")


@dataclass(frozen=True, slots=True)
class Options:
    """What a caller may choose about one diagnosis."""

    baseline: str | None = None
    """Name of a stored baseline, or a folder of healthy runs; None chooses the most similar stored one."""
    without: frozenset[str] = frozenset()
    """Patterns to switch off, of `PATTERNS`."""
    job: str | None = None
    since: str | None = None
    until: str | None = None
    topology: Mapping[str, int] = field(default_factory=dict)
    data_folder: Path | None = None
    """Where stored baselines lie; None compares with none unless `baseline` is a folder."""
    progress: ProgressHook | None = None
    threads: int = 2
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Reading:
    """A job as it was read, before anything is concluded; baselines are made from it."""

    discovery: Discovery
    scan: Scan
    library: Library
    topology: Topology


@dataclass(frozen=True, slots=True)
class Examination:
    """A job as it was read and compared: what a case is concluded from, and what later questions are answered from."""

    reading: Reading
    findings: Findings
    baseline: Baseline | None


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The data under `knowledge/`, ready to use."""

    library: Library
    matcher: Matcher
    dialects: Dialects


@lru_cache(maxsize=4)
def knowledge(folders: tuple[Path, ...]) -> Knowledge:
    """Library and dialects of some folders, made once: a job and its baselines are read with the same."""
    library = load_library([folder / "faults" for folder in folders if (folder / "faults").is_dir()], strict=False)
    return Knowledge(library, Matcher(library), load_dialects(strict=False))


def left_out(known: Knowledge) -> list[str]:
    """What of the knowledge could not be used, for the reader of the case."""
    problems = [problem.said() for problem in known.library.left_out]
    return [f"Knowledge left out: {one}" for one in (*problems, *known.dialects.left_out, *actions_left_out())]


def warm_up(discovery: Discovery) -> None:
    """Load scikit-learn beside the reading where a forest will be grown over many places, since loading takes long."""
    if len(discovery.sources) >= FOREST_PLACES:
        threading.Thread(target=importlib.import_module, args=("sklearn.ensemble",), daemon=True).start()


def read(paths: Sequence[str], options: Options) -> Reading:
    """Find, read and tabulate one job.

    Raises InputError where nothing can be read and SeveralJobs where one job must be chosen.
    """
    discovery = discover(paths, limits=options.limits)
    if len(paths) == 1 or options.job is not None:
        # Several paths are one job by contract; only a single folder can turn out to hold several.
        discovery = select_job(discovery, options.job)
    known = knowledge(tuple(locate("knowledge")))
    warm_up(discovery)
    library = known.library
    scanned = scan(
        discovery,
        known.dialects,
        known.matcher,
        progress=options.progress,
        threads=options.threads,
        since=parse_moment(options.since) if options.since else None,
        until=parse_moment(options.until) if options.until else None,
        limits=options.limits,
    )
    unread = tuple(dict.fromkeys((*discovery.unread, *scanned.unread)))
    scanned = replace(scanned, unread=unread, notes=(*left_out(known), *scanned.notes))
    _refuse_nothing(scanned, windowed=options.since is not None or options.until is not None)
    topology = read_topology(scanned.facts, given=options.topology)
    return Reading(discovery, scanned, library, topology)


def _refuse_nothing(scanned: Scan, *, windowed: bool) -> None:
    """What was not read, or lies outside the window, gives no verdict."""
    if not scanned.bytes and scanned.unread:
        first = scanned.unread[0]
        hint = "the logs changed after they were listed: copy them, and diagnose the copy"
        raise NothingFound(f"nothing could be read: {first.source}: {first.why}", hint=hint)
    if windowed and not scanned.counts.height:
        raise NothingFound(
            "no line of these logs was written between --since and --until",
            hint="times without a zone are UTC, lines without a time are left out by --since; widen the window",
        )


def diagnose(paths: Sequence[str], options: Options | None = None) -> Case:
    """The Case of the job whose logs stand under `paths` (files, folders, archives, globs, or `-`)."""
    started = time.monotonic()
    examination = examine(paths, options or Options())
    return case_of(examination, seconds=time.monotonic() - started)


def examine(paths: Sequence[str], options: Options) -> Examination:
    """Read a job and compare it with healthy runs, its places with each other, and its iterations with each other."""
    reading = read(paths, options)
    baseline, why = _baseline(reading.scan, options)
    return Examination(reading, compare(reading, baseline, why, options.without), baseline)


def case_of(examination: Examination, *, seconds: float) -> Case:
    """What an examination proves. `seconds` is what it took."""
    reading = examination.reading
    return with_exact_text(conclude(examination.findings, name=case_name(reading), seconds=seconds), reading)


def _baseline(scanned: Scan, options: Options) -> tuple[Baseline | None, str]:
    """The healthy runs to compare with, and why those."""
    if "cross_job" in options.without or (options.baseline is None and options.data_folder is None):
        return None, ""
    plain = replace(options, progress=None, job=None, since=None, until=None)
    store = BaselineStore(options.data_folder or Path())
    try:
        return choose_baseline(
            scanned, options.baseline, store, lambda files: read([str(f) for f in files], plain).scan
        )
    except StoreError as error:
        if options.baseline is not None:
            raise
        return None, f"stored baselines cannot be read: {error.message}"


def compare(reading: Reading, baseline: Baseline | None, why: str, without: frozenset[str]) -> Findings:
    """Run the three comparisons, each unless switched off, and read the signals."""
    scanned = reading.scan
    protected = _protected(reading)
    cross = _off("cross_job") if "cross_job" in without else cross_job.compare(scanned, baseline, protected, note=why)
    steps = temporal.compare(scanned, dropped=cross.dropped)
    places = (
        _off("spatial")
        if "spatial" in without
        else spatial.compare(
            scanned, cross=cross, protected=protected, harmless=_harmless(reading), progress=steps.progress
        )
    )
    if "temporal" in without:
        steps = temporal.switched_off(steps)
    signals = read_signals(scanned, reading.discovery)
    return Findings(scanned, reading.library, reading.topology, cross, places, steps, signals)


def _off(name: str) -> PatternResult:
    return PatternResult(name=name, ran=False, note="switched off")


def _protected(reading: Reading) -> frozenset[int]:
    """Templates that carry a root signature of a place; they are never filtered away."""
    fatal = {
        fault.id
        for fault in reading.library
        if fault.role is FaultRole.ROOT
        and fault.specificity is not Specificity.GENERIC
        and fault.blame is not Blame.NOBODY
    }
    return _templates(reading, fatal)


def _harmless(reading: Reading) -> frozenset[int]:
    """Templates that the library knows to be benign."""
    return _templates(reading, {fault.id for fault in reading.library if fault.role is FaultRole.BENIGN})


def _templates(reading: Reading, faults: set[str]) -> frozenset[int]:
    return frozenset(i.record.template for i in reading.scan.indicators if faults.intersection(i.faults[:1]))


def case_name(reading: Reading) -> str:
    """A stable id: the same sources with the same events give the same name."""
    scanned = reading.scan
    totals = scanned.counts.group_by("template").agg(pl.col("count").sum()).sort("template").iter_rows()
    events = [f"{scanned.templates[template].id}\0{count}" for template, count in totals]
    parts = [f"{source.name}\0{source.size}" for source in reading.discovery.sources]
    text = "\n".join([*parts, str(scanned.bytes), *events])
    digest = hashlib.sha1(text.encode("utf-8", "surrogateescape"), usedforsecurity=False)
    return f"c-{digest.hexdigest()[:10]}"


def with_exact_text(case: Case, reading: Reading) -> Case:
    """The case with each piece of evidence re-read at its offset, so that what is shown is what stands there."""
    by_name = {source.name: source for source in reading.discovery.sources}
    places = [(by_name[item.source], item.offset) for item in case.evidence if item.source in by_name]
    texts = read_places(places)

    def exact(item: Evidence) -> Evidence:
        source = by_name.get(item.source)
        text = texts.get((source.id, item.offset)) if source else None
        return item if text is None else item.model_copy(update={"text": text})

    return case.model_copy(update={"evidence": tuple(map(exact, case.evidence))})
