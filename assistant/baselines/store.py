"""Baselines on disk: one compressed JSON file each under `<data folder>/baselines`.

Files are written beside their final name and moved into place, so that a reader never sees half a file; adding a run
reads, merges and writes under a lock, so that runs added at the same time are all counted. Template texts may hold
private words: the folder is 0700, the files 0600.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson
import zstandard

from assistant.baselines.models import Baseline, LogSum, Run, TemplateStats
from assistant.baselines.statistics import with_run
from assistant.case.vocabulary import Status
from assistant.disk import locked, replace_file, reported
from assistant.errors import NotHealthy, StoreError, UnknownBaseline, UsageError
from assistant.events.models import Scan

SCHEMA = "rootrank.baseline/1"
LARGEST = 1 << 30
"""Decompressed size in bytes above which a file is no baseline of ours."""

_SUFFIX = ".json.zst"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Added:
    """What `add` did."""

    baseline: Baseline
    new: bool
    """False where the baseline held this very run already."""


@dataclass(frozen=True, slots=True)
class BaselineStore:
    """The baselines under `root`/baselines. Safe to use from several processes at once."""

    root: Path

    @property
    def folder(self) -> Path:
        """Where the files lie."""
        return self.root / "baselines"

    def add(self, name: str, scan: Scan, status: str, *, force: bool = False) -> Added:
        """Adds a run to a baseline, which is made if there is none of that name.

        Args:
            status: how the run ended (`case.vocabulary.Status`).
            force: take it although it is not healthy.

        Raises:
            NotHealthy: the run did not end well and `force` is not set.
            UsageError: the name cannot be a file name.
            StoreError: the data folder cannot be used.
        """
        path = self._path(name)
        if status != Status.HEALTHY and not force:
            raise NotHealthy(f"this run is {status}, not healthy", hint="give a run that ended well, or --force")
        with reported(f"cannot use the data folder {self.root}"), locked(self.folder):
            held = _read(path) if path.exists() else Baseline(name)
            grown = with_run(held, scan)
            if grown is not held:
                replace_file(path, _packed(grown))
            return Added(grown, grown is not held)

    def names(self) -> list[str]:
        """Names of all baselines, sorted."""
        with reported(f"cannot use the data folder {self.root}"):
            if not self.folder.is_dir():
                return []
            found = [path.name.removesuffix(_SUFFIX) for path in self.folder.glob(f"*{_SUFFIX}")]
        return sorted(name for name in found if _NAME.fullmatch(name))

    def load(self, name: str) -> Baseline:
        """One baseline.

        Raises:
            UnknownBaseline: none of that name; the hint gives the nearest names.
            StoreError: the file is damaged or from a newer version.
        """
        path = self._path(name)
        with reported(f"cannot use the data folder {self.root}"):
            if path.is_file():
                return _read(path)
        raise self.unknown(name)

    def load_all(self) -> tuple[list[Baseline], list[str]]:
        """All readable baselines by name, and one line for each that could not be read."""
        loaded, damaged = [], []
        for name in self.names():
            try:
                loaded.append(self.load(name))
            except (StoreError, UnknownBaseline) as error:
                damaged.append(error.message)
        return loaded, damaged

    def remove(self, name: str) -> None:
        """Removes a baseline; UnknownBaseline if there is none of that name."""
        path = self._path(name)
        with reported(f"cannot use the data folder {self.root}"):
            if path.is_file():
                with locked(self.folder):
                    path.unlink(missing_ok=True)
                return
        raise self.unknown(name)

    def unknown(self, name: str) -> UnknownBaseline:
        """The error for a name that is not stored, with the nearest names in the hint."""
        return _unknown(name, self.names())

    def _path(self, name: str) -> Path:
        if not is_name(name):
            raise UsageError(
                f"{name!r} cannot name a baseline", hint="use up to 64 letters, digits, dots, dashes and underscores"
            )
        return self.folder / f"{name}{_SUFFIX}"


def is_name(name: str) -> bool:
    """Whether a baseline can be called so."""
    return _NAME.fullmatch(name) is not None


def dumped(baseline: Baseline) -> bytes:
    """A baseline as JSON, the same bytes for the same content."""
    return orjson.dumps({"schema": SCHEMA, **asdict(baseline)}, option=orjson.OPT_SORT_KEYS)


def parsed(document: dict[str, Any]) -> Baseline:
    """The baseline that `dumped` wrote; KeyError or TypeError where a field is missing or strange."""
    return Baseline(
        name=document["name"],
        runs=tuple(Run(**run) for run in document["runs"]),
        frameworks=tuple(document["frameworks"]),
        templates={key: _stats(stats) for key, stats in document["templates"].items()},
    )


def _stats(fields: dict[str, Any]) -> TemplateStats:
    sums = {key: LogSum(**fields[key]) for key in ("writers", "per_writer", "per_iteration", "per_second")}
    return TemplateStats(**{**fields, **sums, "aliases": tuple(fields["aliases"])})


def _packed(baseline: Baseline) -> bytes:
    return zstandard.ZstdCompressor(level=9).compress(dumped(baseline))


def _read(path: Path) -> Baseline:
    try:
        document = orjson.loads(zstandard.ZstdDecompressor().decompress(path.read_bytes(), max_output_size=LARGEST))
        if document["schema"] != SCHEMA:
            raise StoreError(f"{path} has the schema {document['schema']!r}", hint="update Rootrank, or add it anew")
        return parsed(document)
    except (zstandard.ZstdError, orjson.JSONDecodeError, KeyError, TypeError, AttributeError, MemoryError):
        raise StoreError(f"{path} is damaged", hint="remove it and add its runs again") from None


def _unknown(name: str, known: list[str]) -> UnknownBaseline:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    else:
        hint = f"there are: {', '.join(known[:10])}" if known else "add one: rootrank baseline add NAME LOGS"
    return UnknownBaseline(f"no baseline {name!r}", hint=hint)
