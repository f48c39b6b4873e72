"""Rootrank itself as one of the tools, whole or with a part taken out.

A part is taken out by putting something in its place that finds nothing, so that the rest runs as it always does:
the pattern is switched off, the library has no entries, silence tells nothing, records have no times.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from unittest.mock import patch

import assistant
from assistant import pipeline
from assistant.baselines.models import Baseline
from assistant.baselines.statistics import from_scans
from assistant.case.models import Case
from assistant.diagnosis import choose
from assistant.diagnosis.conclude import conclude
from assistant.diagnosis.exhibits import exhibits, last_attempt
from assistant.diagnosis.groups import group
from assistant.diagnosis.models import Findings, Group
from assistant.diagnosis.population import population
from assistant.diagnosis.theory import Bench
from assistant.events.models import Record, Scan
from assistant.faults.library import Library
from assistant.faults.matcher import Matcher
from assistant.paths import locate
from assistant.patterns import temporal
from assistant.patterns.models import TemporalResult
from evals.jobset import digest_of_files
from evals.memory import fresh_peak, peak
from evals.prediction import Context, Flag, Prediction, Suspect

SILENCE, LIBRARY, ORDER = "silence", "library", "time_order"
PARTS = (*pipeline.PATTERNS, SILENCE, LIBRARY, ORDER)
"""What can be taken out."""

FIELDS = frozenset({"stage", "iteration", "action", "confidence"})


@dataclass(frozen=True, slots=True)
class Rootrank:
    """This project, asked in process."""

    name: str = "rootrank"
    with_baselines: bool = True
    without: frozenset[str] = frozenset()
    """Of `PARTS`."""

    @property
    def version(self) -> str:
        """Of the package."""
        return assistant.__version__

    @property
    def fingerprint(self) -> str:
        """Of the code and the knowledge."""
        parts = ",".join(sorted(self.without))
        return f"{code_digest()}:{self.with_baselines}:{parts}"

    def predict(self, job: Path, baselines: tuple[Path, ...], context: Context) -> Prediction:
        """Healthy runs are read beforehand, as they would be when they are stored; their time is not counted."""
        baseline = baseline_of(baselines) if self.with_baselines and baselines else None
        fresh_peak()
        started = time.monotonic()
        with taken_out(self.without):
            case, findings = diagnosed(job, baseline, self.without)
        return answer_of(case, findings, time.monotonic() - started, peak())


@lru_cache(maxsize=8)
def baseline_of(folders: tuple[Path, ...]) -> Baseline:
    """The baseline of some healthy runs, each a folder."""
    return from_scans((read(folder).scan for folder in folders), "twins")


def diagnosed(job: Path, baseline: Baseline | None, without: frozenset[str]) -> tuple[Case, Findings]:
    """What `pipeline.diagnose` does, with the findings kept."""
    reading = _kept_reading(job, LIBRARY in without) if without else read(job)
    if ORDER in without:
        reading = replace(reading, scan=timeless(reading.scan))
    why = "healthy twins" if baseline else ""
    findings = pipeline.compare(reading, baseline, why, without & frozenset(pipeline.PATTERNS))
    case = conclude(findings, name=pipeline.case_name(reading), seconds=0.0)
    return pipeline.with_exact_text(case, reading), findings


def read(job: Path) -> pipeline.Reading:
    """The job as the product reads it."""
    return pipeline.read([str(job)], pipeline.Options())


@lru_cache(maxsize=2)
def _kept_reading(job: Path, bare: bool) -> pipeline.Reading:
    """Ablations are not timed, so those of one job share what was read, with the library (or, `bare`, without)."""
    return read(job)


@contextmanager
def taken_out(parts: frozenset[str]) -> Iterator[None]:
    """Something that finds nothing in the place of silence and the library."""
    with ExitStack() as stack:
        if SILENCE in parts:
            stack.enter_context(patch("assistant.diagnosis.conclude.prepare", _without_silence))
            stack.enter_context(patch("assistant.patterns.temporal.compare", _without_lag))
        if LIBRARY in parts:
            stack.enter_context(patch("assistant.pipeline.knowledge", _without_faults))
        yield


def _without_silence(findings: Findings) -> Bench:
    return replace(choose.prepare(findings), silent=())


_COMPARE = temporal.compare


def _without_lag(scan: Scan, dropped: frozenset[int] = frozenset()) -> TemporalResult:
    """The temporal comparison, whose word on who lags or fell silent is dropped."""
    result = _COMPARE(scan, dropped=dropped)
    plain = (replace(rank, lagging=False, silent=False) for rank in result.progress)
    return replace(result, progress=tuple(plain))


_KNOWLEDGE = pipeline.knowledge


@lru_cache(maxsize=1)
def _bare(folders: tuple[Path, ...]) -> pipeline.Knowledge:
    empty = Library(())
    return replace(_KNOWLEDGE(folders), library=empty, matcher=Matcher(empty))


def _without_faults(folders: tuple[Path, ...]) -> pipeline.Knowledge:
    return _bare(folders)


def timeless(scan: Scan) -> Scan:
    """The scan whose records have no times, so that only their places in the files order them.

    Iterations keep theirs: how long a step takes is no question of what came first.
    """

    def bare(record: Record) -> Record:
        return replace(record, time=None)

    indicators = tuple(replace(each, record=bare(each.record)) for each in scan.indicators)
    tails = {stream: tuple(map(bare, records)) for stream, records in scan.tails.items()}
    return replace(scan, indicators=indicators, tails=tails)


def answer_of(case: Case, findings: Findings, seconds: float, size: int | None) -> Prediction:
    """A case in the words that all tools share."""
    verdict = case.verdict
    return Prediction(
        status=case.status,
        cause=verdict.cause,
        ranks=tuple(dict.fromkeys(c.rank for c in case.candidates if c.rank is not None)),
        nodes=tuple(dict.fromkeys(c.node for c in case.candidates if c.node is not None)),
        blamed=tuple(Suspect(s.rank, s.node) for s in case.suspects),
        events=flags_of(case, findings),
        stage=verdict.stage,
        iteration=verdict.iteration,
        action=verdict.action.kind,
        confidence=verdict.confidence,
        further=tuple(failure.verdict.cause for failure in case.failures),
        fields=FIELDS,
        seconds=seconds,
        bytes=size,
    )


def flags_of(case: Case, findings: Findings) -> frozenset[Flag]:
    """The records that the reported events stand for: all that an event counts, not only the few that it cites."""
    people = population(findings.scan, findings.topology, findings.signals)
    attempt = last_attempt(findings.scan)
    shown = [e for e in exhibits(findings, people) if e.stands and e.record.attempt == attempt]
    by_key = {_key(each, findings.scan): each for each in group(shown)}
    names = [source.name for source in findings.scan.sources]
    return frozenset(
        Flag(names[record.source], record.line, event.role)
        for event in case.events
        if (found := by_key.get((event.fault, event.id)))
        for record in (exhibit.record for exhibit in found.exhibits)
    )


def _key(one: Group, scan: Scan) -> tuple[str | None, str]:
    template = one.first.record.template
    return one.fault.id if one.fault else None, scan.templates[template].id if template >= 0 else one.key


@lru_cache(maxsize=1)
def code_digest() -> str:
    """A hash of everything that an answer of ours depends on."""
    package = Path(assistant.__file__).parent
    files = [*package.rglob("*.py"), Path(__file__)]
    files += [file for folder in locate("knowledge") for file in folder.rglob("*") if file.is_file()]
    return digest_of_files(files)
