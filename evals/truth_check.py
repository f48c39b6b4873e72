"""What is wrong with a set of jobs: everything that would make a score mean nothing. `python -m evals check-truth`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assistant.case.vocabulary import Status, all_causes
from assistant.errors import BadTruth
from evals.jobset import SPLIT, TRUTH, Split, archive_of, load_split, load_truth, unpacked
from evals.scorers.labelled import idle, matchers
from evals.scorers.records import records_of
from evals.truth import Provable, Truth, TruthFile


@dataclass(frozen=True, slots=True)
class Problem:
    """Something to put right."""

    file: str
    job: str
    message: str
    remedy: str

    def __str__(self) -> str:
        where = f"{self.file}: {self.job}" if self.job else self.file
        return f"{where}: {self.message}\n    {self.remedy}"


def problems(folder: Path, split: Split | None = None) -> Iterator[Problem]:
    """All problems of one set, in the order of its jobs."""
    file = str(folder / TRUTH)
    try:
        split, truths = split or load_split(), load_truth(folder)
    except BadTruth as error:
        yield Problem(file, "", error.message, error.hint)
        return
    yield from _of_names(file, truths)
    known = {truth.job: truth for truth in truths.jobs}
    for truth in truths.jobs:
        for message, remedy in (*_of_truth(truth, known, split), *_of_files(folder, truth)):
            yield Problem(file, truth.job, message, remedy)


def _of_names(file: str, truths: TruthFile) -> Iterator[Problem]:
    if not truths.jobs:
        yield Problem(file, "", "it names no job", "make the set again")
    for job, count in Counter(truth.job for truth in truths.jobs).items():
        if count > 1:
            yield Problem(file, job, f"stands {count} times", "give every job a name of its own")


def _of_truth(truth: Truth, known: dict[str, Truth], split: Split) -> Iterator[tuple[str, str]]:
    try:
        split.half(truth.kind)
    except KeyError:
        yield f"the split does not name the kind {truth.kind!r}", f"add it to {SPLIT.name}, or correct the kind"
    for twin in truth.twins:
        healthy = known.get(twin)
        if healthy is None:
            yield f"its twin {twin} is no job of this set", "name healthy jobs of the same set"
        elif healthy.provable.status is not Status.HEALTHY:
            yield f"its twin {twin} is not healthy", "a job is compared with healthy runs only"
    yield from _of_provable(truth, truth.provable)
    if truth.provable.status is Status.FAILED and not truth.labels:
        yield "it failed, but no record is labelled", "label the records that indicate the failure"


def _of_provable(truth: Truth, provable: Provable) -> Iterator[tuple[str, str]]:
    for cause in provable.causes:
        if cause not in all_causes():
            yield f"there is no cause class {cause!r}", "use one of assistant/case/vocabulary.py"
    for rank in provable.ranks:
        if not 0 <= rank < truth.world_size:
            yield f"rank {rank} is none of its {truth.world_size} ranks", "correct `ranks` or `world_size`"
    for node in provable.nodes:
        if truth.nodes and node not in truth.nodes:
            yield f"{node!r} is none of its nodes", "correct `nodes` of the job or of `provable`"
    for further in provable.further:
        yield from _of_provable(truth, further)


def _of_files(folder: Path, truth: Truth) -> Iterator[tuple[str, str]]:
    try:
        labels = matchers(truth)
        with unpacked(archive_of(folder, truth.job)) as job:
            records = records_of(job)
    except BadTruth as error:
        yield error.message, error.hint
        return
    if not records:
        yield "its files hold no line", "pack the job again"
    for label in idle(records, labels):
        at = f" in {label.source}" if label.source != "*" else ""
        if label.first_line is not None or label.last_line is not None:
            at += f", lines {label.first_line or 1} to {label.last_line or 'the end'}"
        yield (
            f"the label {label.role.value} {label.pattern!r} matches no record{at}",
            "a label is searched in the first line of a record: correct its pattern, source or lines, or take it out",
        )
