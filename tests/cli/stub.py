"""`rootrank` as a process of its own, with a pipeline that does what the first argument says instead of reading logs.

`python -m tests.cli.stub BEHAVIOUR ARGUMENT...`, where BEHAVIOUR is the name of a sample case, of an error class,
`wait` or `crash`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from assistant import errors
from assistant.case.models import Case
from assistant.cli.main import main
from tests.samples import all_cases


@dataclass(frozen=True)
class Options:
    """Takes what the real one takes."""

    baseline: str | None = None
    without: frozenset[str] = frozenset()
    job: str | None = None
    since: str | None = None
    until: str | None = None
    topology: dict[str, int] = field(default_factory=dict)
    data_folder: Any = None
    progress: Any = None
    threads: int = 1
    limits: Any = None


def behave(behaviour: str) -> Case:
    """What the stubbed `diagnose` does."""
    if behaviour in all_cases():
        return all_cases()[behaviour]
    if behaviour == "wait":
        print("waiting", file=sys.stderr, flush=True)
        threading.Event().wait(60)
    if behaviour == "crash":
        raise RuntimeError("a line\nand \x1b[2J another")
    raise getattr(errors, behaviour)("cannot do it", hint="do something else")


def install(behaviour: str) -> None:
    """Puts the stub where the command looks for the pipeline."""

    def diagnose(_paths: Sequence[str], _options: Options | None = None, **_more: object) -> Case:
        return behave(behaviour)

    module = ModuleType("assistant.pipeline")
    vars(module).update(diagnose=diagnose, Options=Options)
    sys.modules["assistant.pipeline"] = module


if __name__ == "__main__":
    install(sys.argv[1])
    sys.exit(main(sys.argv[2:]))
