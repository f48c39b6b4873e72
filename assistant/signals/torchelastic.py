"""torchrun (torchelastic): how each worker ended, by the launcher's words and by the error files that ranks leave.

What these facts are worth: an exit code without an error file is how a process died. An exit by a signal *with* an
error file is tear-down: the exception in the file came before. Where others left error files, a rank without one is
silent: killed, hung, or stopped by its launcher before it noticed anything.
"""

from __future__ import annotations

from collections.abc import Iterable

from assistant.events.models import Scan
from assistant.intake.models import Source
from assistant.signals.consoles import Console, Remains
from assistant.signals.ends import ends, maps
from assistant.signals.failures import entries
from assistant.signals.launcher import WORDS, agents
from assistant.signals.lines import Line
from assistant.signals.models import Signal
from assistant.signals.reports import candidates, error_files
from assistant.signals.silence import reported, unreported
from assistant.signals.whereabouts import Whereabouts
from assistant.signals.windows import Place, anchors, read_around


def places(scan: Scan) -> dict[int, list[Place]]:
    """What `read` wants to see of the sources."""
    return anchors(scan, WORDS) | candidates(scan.sources)


def read(
    scan: Scan, lines: dict[int, tuple[Line, ...]] | None = None, empty: tuple[str, ...] = ()
) -> tuple[Signal, ...]:
    """All signals of torchrun's launchers and workers, in a stable order; empty where torchrun did not run.

    `lines` are those around `places`, where the caller has read them already; `empty` names sources without a byte,
    which tell that a rank ran and wrote nothing.
    """
    seen = read_around(scan.sources, places(scan)) if lines is None else lines
    found = Remains(Whereabouts(scan, empty), files=list(error_files(scan.sources, seen)))
    told = {file.source.id for file in found.files}
    for parts in _rotated(scan.sources):
        own = [line.head for source in parts if source.id not in told for line in seen.get(source.id, ())]
        if own:
            found.consoles.append(Console(parts[-1], tuple(entries(own)), agents(own)))
    found.identify()
    return _unique([*ends(found), *maps(found), *reported(found), *unreported(found)])


def _rotated(sources: Iterable[Source]) -> list[list[Source]]:
    """The parts of each rotated set together, oldest first: a block may begin in one and end in the next."""
    groups: dict[str, list[Source]] = {}
    for source in sources:
        groups.setdefault(source.group or source.name, []).append(source)
    return [sorted(parts, key=lambda source: source.part) for parts in groups.values()]


def _unique(found: list[Signal]) -> tuple[Signal, ...]:
    """The same fact told twice (a console saved twice, a block repeated by a wrapper) counts once."""
    seen: dict[tuple[object, ...], Signal] = {}
    for signal in found:
        key = (signal.kind, signal.node, signal.rank, signal.local_rank, signal.pid, signal.exitcode, signal.attempt)
        seen.setdefault(key, signal)
    return tuple(seen.values())
