"""What do the given paths hold? A file, a folder, an archive, a glob, several of them, or `-` for standard input."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from assistant.errors import NotALog, NothingFound
from assistant.intake.archives import survey
from assistant.intake.files import FileStream, reason_of
from assistant.intake.folders import Found, Walk
from assistant.intake.limits import DEFAULT_LIMITS, Limits
from assistant.intake.models import Discovery, Source, Unread
from assistant.intake.names import DistinctNames, member_path, natural_key, printable
from assistant.intake.rotation import rotated
from assistant.intake.selection import why_unlikely
from assistant.intake.sniff import BINARY, ONLY_NULS, look
from assistant.intake.spool import STDIN, spool_stdin

FOLD_ABOVE = 5
"""So many unread files of one kind are listed one by one; more become one entry."""


def discover(paths: Sequence[str], *, limits: Limits = DEFAULT_LIMITS) -> Discovery:
    """Everything that can be read, in stable order, and one line for everything that cannot.

    Raises NothingFound where there is nothing to read and NotALog where all there is is binary.
    """
    if not paths:
        raise NothingFound("no log was given", hint="name files, folders or archives, or `-` for standard input")
    given = list(dict.fromkeys(_expanded(paths)))
    base, root = _base([path for path in given if path != STDIN])
    finds = _Finds(base, limits)
    for path in given:
        if path == STDIN:
            finds.add_stdin()
    for path in given:
        if path != STDIN:
            finds.walk(Path(path))
    finds.judge_all()
    if not finds.sources:
        raise _nothing(paths, finds.unread)
    return Discovery(root=printable(root), sources=_placed(finds.sources), unread=folded(finds.unread))


def _expanded(paths: Sequence[str]) -> Iterator[str]:
    """Globs become what they match; a name that exists is never taken for a glob."""
    for path in paths:
        if path == STDIN or os.path.lexists(path) or not glob.has_magic(path):
            yield path
        else:
            yield from sorted(glob.glob(os.path.expanduser(path), recursive=True)) or [path]


def _base(paths: Sequence[str]) -> tuple[Path | None, str]:
    """The folder that names are relative to, and how it is called."""
    if not paths:
        return None, STDIN
    if len(paths) == 1:
        path = Path(paths[0])
        return (path, paths[0]) if os.path.isdir(path) else (path.parent, str(path.parent))
    absolute = [os.path.abspath(path) for path in paths]
    common = os.path.commonpath([path if os.path.isdir(path) else os.path.dirname(path) for path in absolute])
    return Path(common), common


@dataclass
class _Finds:
    """Collects sources and refusals."""

    base: Path | None
    limits: Limits
    sources: list[Source] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    _names: DistinctNames = field(default_factory=DistinctNames)
    _found: dict[Path, Found] = field(default_factory=dict)
    _files: dict[tuple[int, int], str] = field(default_factory=dict)
    _walk: Walk = field(init=False)

    def __post_init__(self) -> None:
        self._walk = Walk(self.limits)

    def add_stdin(self) -> None:
        try:
            path, cut = spool_stdin(self.limits)
        except OSError as error:
            self.unread.append(Unread(STDIN, reason_of(error)))
            return
        if cut:
            self.unread.append(Unread(STDIN, cut))
        self._judge(path, STDIN)

    def walk(self, path: Path) -> None:
        for found in self._walk.give(path):
            self._found.setdefault(found.path, found)

    def judge_all(self) -> None:
        """Real files before links, so that a file is called by its own name."""
        ordered = sorted(self._found.values(), key=lambda one: (os.path.islink(one.path), natural_key(str(one.path))))
        for found in ordered:
            name = self._name(found.path)
            if found.why_not is None:
                self._judge(found.path, name)
            else:
                self.unread.append(Unread(name, found.why_not))

    def _name(self, path: Path) -> str:
        if self.base is None:
            return printable(str(path))
        relative = os.path.relpath(path, self.base)
        return printable(path.name if relative == "." else relative)

    def _judge(self, path: Path, name: str) -> None:
        try:
            file = FileStream(path)
        except OSError as error:
            self.unread.append(Unread(name, reason_of(error)))
            return
        try:
            first = self._files.setdefault(file.identity, name)
            if first != name:
                self.unread.append(Unread(name, f"the same file as {first}"))
            else:
                self._sort_in(file, path, name)
        finally:
            file.close()

    def _sort_in(self, file: FileStream, path: Path, name: str) -> None:
        seen = look(file, self.limits)
        source = Source(id=0, name=name, path=path, codec=seen.codec, size=file.size)
        if seen.archive:
            self._add_archive(replace(source, archive=seen.archive))
        elif seen.why_not:
            self.unread.append(Unread(name, seen.why_not))
        else:
            self._add(source)

    def _add_archive(self, archive: Source) -> None:
        try:
            held = survey(archive.path, archive.archive or "", archive.codec, self.limits)
        except OSError as error:
            self.unread.append(Unread(archive.name, reason_of(error)))
            return
        if why := held.damage or held.whole or (None if held.items else "an empty archive"):
            self.unread.append(Unread(archive.name, why))
        for item in held.items:
            inside = member_path(item.name)
            name = f"{archive.name}!{printable(inside)}"
            if why_not := item.why_not or why_unlikely(inside):
                self.unread.append(Unread(name, why_not))
            else:
                self._add(replace(archive, name=name, member=item.key, size=item.size))

    def _add(self, source: Source) -> None:
        if len(self.sources) < self.limits.sources:
            self.sources.append(replace(source, name=self._names(source.name)))
        else:
            self.unread.append(Unread(source.name, f"beyond the limit of {self.limits.sources:,} files"))


def _placed(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Sorted by rotated set, oldest part first, and numbered."""
    found = list(sources)
    places = rotated(source.name for source in found)
    placed = [replace(source, group=places[source.name].group, part=places[source.name].part) for source in found]
    placed.sort(key=lambda source: (natural_key(source.group), source.part, source.name))
    return tuple(replace(source, id=index) for index, source in enumerate(placed))


def folded(unread: Iterable[Unread]) -> tuple[Unread, ...]:
    """Sorted; many of the same ending and reason become one entry that names the first."""
    kinds: dict[tuple[str, str], list[Unread]] = {}
    for one in sorted(unread, key=lambda one: natural_key(one.source)):
        kinds.setdefault((os.path.splitext(one.source)[1], one.why), []).append(one)
    result: list[Unread] = []
    for (ending, why), alike in kinds.items():
        if len(alike) > FOLD_ABOVE:
            title = f"{len(alike)} files *{ending}" if ending else f"{len(alike)} files without ending"
            result.append(Unread(title, f"{why} (the first: {alike[0].source})"))
        else:
            result.extend(alike)
    return tuple(result)


def _nothing(paths: Sequence[str], unread: Sequence[Unread]) -> NothingFound | NotALog:
    given = ", ".join(printable(path) for path in paths[:3]) + (" ..." if len(paths) > 3 else "")
    itself = {os.path.basename(paths[0]), paths[0]} if len(paths) == 1 else set()
    reasons = [one.why if one.source in itself else f"{one.source}: {one.why}" for one in folded(unread)]
    told = "; ".join(reasons[:5]) + (f"; and {len(reasons) - 5} more" if len(reasons) > 5 else "")
    if any(one.why.startswith(BINARY) or one.why == ONLY_NULS for one in unread):
        return NotALog(f"no log text in {given}: {told}", hint="give the folder with the ranks' text logs")
    message = f"no log in {given}" + (f": {told}" if told else ": the folder is empty")
    return NothingFound(message, hint="check the path and the permissions, or pipe the log into `-`")
