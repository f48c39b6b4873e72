"""A set of jobs: a folder with `truth.json` and, for each job it names, an archive or a folder of logs."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import yaml
import zstandard
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistant.errors import BadTruth
from evals.truth import Truth, TruthFile

DATA = Path(__file__).parent / "data"
LAB = DATA / "lab"
SPLIT = DATA / "split.yaml"
TRUTH = "truth.json"
ENDINGS = (".tar.zst", ".tar.gz", "")
INNER = "job"
"""Where an archive holds nothing but a folder of this name, that folder is the job's folder."""


class Half(StrEnum):
    """What a job may be used for."""

    TUNE = "tune"
    REPORT = "report"
    BOTH = "both"


class Split(BaseModel):
    """Which kinds of fault belong to which half."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal["rootrank.split/1"] = Field(alias="schema")
    tune: tuple[str, ...]
    report: tuple[str, ...]
    both: tuple[str, ...]

    def half(self, kind: str) -> Half:
        """The half of a kind of fault. Raises KeyError for one that the split does not name."""
        for half in Half:
            if kind in getattr(self, half.value):
                return half
        raise KeyError(kind)


@dataclass(frozen=True, slots=True)
class Job:
    """One job of a set, with its files."""

    truth: Truth
    path: Path
    """Archive or folder."""
    half: Half
    twins: tuple[Path, ...] = ()

    @property
    def name(self) -> str:
        """Unique within its set."""
        return self.truth.job

    @property
    def scaled(self) -> bool:
        """A replica of a real run."""
        return self.truth.replica_of is not None


@dataclass(frozen=True, slots=True)
class JobSet:
    """Jobs in the order of their truth file."""

    folder: Path
    made_with: dict[str, str]
    jobs: tuple[Job, ...]


def load_split(path: Path = SPLIT) -> Split:
    """The split. Raises BadTruth where it cannot be read."""
    try:
        return Split.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        raise BadTruth(f"{path}: {_short(error)}", hint="the split names the kinds of tune, report and both") from error


def load_truth(folder: Path) -> TruthFile:
    """The truth file of a set. Raises BadTruth."""
    path = folder / TRUTH
    try:
        return TruthFile.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        hint = "make the laboratory's jobs first (python -m evals.lab), or name the folder that holds them"
        raise BadTruth(f"{path}: there is no such file", hint=hint) from error
    except (OSError, ValidationError) as error:
        raise BadTruth(f"{path}: {_short(error)}", hint="its form is that of evals/truth.py") from error


def load_set(folder: Path, split: Split | None = None) -> JobSet:
    """All jobs of a set with their files. Raises BadTruth for the first that cannot be used."""
    split = split or load_split()
    truths = load_truth(folder)
    return JobSet(folder, truths.made_with, tuple(_job(folder, truth, split) for truth in truths.jobs))


def _job(folder: Path, truth: Truth, split: Split) -> Job:
    try:
        half = split.half(truth.kind)
    except KeyError as error:
        raise BadTruth(
            f"{folder / TRUTH}: {truth.job}: the split does not name the kind {truth.kind!r}",
            hint=f"add the kind to tune, report or both in {SPLIT.name}, before any score of it is seen",
        ) from error
    return Job(truth, archive_of(folder, truth.job), half, tuple(archive_of(folder, twin) for twin in truth.twins))


def archive_of(folder: Path, job: str) -> Path:
    """The file or folder of a job. Raises BadTruth where there is none, or the name leads out of the set."""
    if Path(job).name == job and job not in ("", ".", ".."):
        for ending in ENDINGS:
            if (found := folder / f"{job.removesuffix(ending) if ending else job}{ending}").exists():
                return found
    raise BadTruth(
        f"{folder / TRUTH}: {job}: no archive or folder of that name lies beside it",
        hint=f"pack the job again ({job}.tar.zst), or take it out of {TRUTH}",
    )


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The job's folder, for as long as the context lasts. Raises BadTruth for a broken archive."""
    if path.is_dir():
        yield path
        return
    with TemporaryDirectory(prefix="job-") as folder:
        _unpack(path, Path(folder))
        inner = list(Path(folder).iterdir())
        yield inner[0] if [one.name for one in inner] == [INNER] and inner[0].is_dir() else Path(folder)


def _unpack(path: Path, target: Path) -> None:
    try:
        with path.open("rb") as packed:
            plain: io.BufferedIOBase = packed
            if path.suffix == ".zst":
                plain = io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(packed))
            with tarfile.open(fileobj=plain, mode="r|gz" if path.suffix == ".gz" else "r|") as tar:
                tar.extractall(target, filter="data")
    except (OSError, EOFError, tarfile.TarError, zstandard.ZstdError) as error:
        raise BadTruth(f"{path}: cannot be unpacked: {error}", hint="pack the job again") from error


def digest_of(path: Path) -> str:
    """Changes with the bytes of an archive, or with names, sizes and contents of a folder's files."""
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file()):
        digest.update(f"{file.relative_to(path) if file != path else path.name}\0".encode())
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()


def digest_of_files(files: Sequence[Path]) -> str:
    """A hash of names and contents."""
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _short(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return " ".join(str(error).split())
