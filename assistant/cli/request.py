"""One diagnosis as it was asked for: kept with its case, so that it can be asked again with a file more."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from assistant.cli import narration
from assistant.cli.progress import progress_bar
from assistant.errors import InputError, StoreError

if TYPE_CHECKING:
    from assistant.case.models import Case
    from assistant.case.store import Inputs
    from assistant.config import Settings
    from assistant.intake.models import ProgressHook
    from assistant.pipeline import Options

STDIN = "-"


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be diagnosed, and the choices that change the result."""

    paths: tuple[str, ...]
    baseline: str | None = None
    without: tuple[str, ...] = ()
    job: str | None = None
    since: str | None = None
    until: str | None = None
    topology: dict[str, int] = field(default_factory=dict)

    def inputs(self) -> Inputs:
        """As it is stored: with absolute paths."""
        from assistant.case.store import Inputs

        choices = asdict(self)
        del choices["paths"]
        return Inputs(tuple(map(_absolute, self.paths)), choices)


def run(request: Request, settings: Settings, *, bar: bool) -> Case:
    """Diagnoses; a bar on standard error shows how far it is."""
    if settings.diagnose.threads:
        # Polars reads this once, when it is first imported.
        os.environ.setdefault("POLARS_MAX_THREADS", str(settings.diagnose.threads))
    from assistant.pipeline import diagnose

    if STDIN in request.paths and sys.stdin is not None and sys.stdin.isatty():
        narration.say("reading standard input; end it with Ctrl-D")
    with progress_bar(bar) as hook:
        return diagnose(request.paths, options(request, settings, hook))


def options(request: Request, settings: Settings, hook: ProgressHook | None = None) -> Options:
    """The request in the words of the pipeline."""
    from assistant.case.store import data_dir
    from assistant.intake.limits import Limits
    from assistant.pipeline import Options

    bounds = settings.limits
    compared = request.baseline is not None or settings.baseline.auto
    return Options(
        baseline=request.baseline,
        without=frozenset(request.without),
        job=request.job,
        since=request.since,
        until=request.until,
        topology=request.topology,
        data_folder=data_dir(settings.storage.data_dir) if compared else None,
        progress=hook,
        threads=settings.diagnose.threads or os.cpu_count() or 1,
        limits=Limits(
            total_bytes=bounds.total_bytes,
            member_bytes=bounds.archive_bytes,
            line_bytes=bounds.line_bytes,
            spool_bytes=bounds.spool_bytes,
        ),
    )


def again(stored: Inputs, added: Sequence[str]) -> Request:
    """The request of a stored case with further files.

    Raises:
        InputError: what the case was made from is no longer there.
        StoreError: the stored choices are not understood.
    """
    gone = [path for path in stored.paths if path == STDIN or not exists(path)]
    if STDIN in gone:
        raise InputError("the case was read from standard input, which cannot be read again", hint=_ANEW)
    if gone:
        rest = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        raise InputError(f"the original logs are gone: {gone[0]}{rest}", hint=_ANEW)
    return replace(_restored(stored.options), paths=tuple(dict.fromkeys((*stored.paths, *map(_absolute, added)))))


_ANEW = "run `rootrank diagnose` on the files that you have; the stored case stays as it is"


def _restored(choices: dict[str, Any]) -> Request:
    try:
        return Request(paths=(), **{**choices, "without": tuple(choices.get("without", ()))})
    except TypeError:
        raise StoreError("the case was stored by another version", hint=_ANEW) from None


def _absolute(path: str) -> str:
    try:
        return path if path == STDIN else os.path.abspath(path)
    except FileNotFoundError:
        return path


def exists(path: str) -> bool:
    """Whether a path is there, or a glob fits something."""
    import glob

    return os.path.exists(path) or bool(glob.glob(path))
