"""Reads `knowledge/faults/*.yaml` into one ordered, immutable library; what could not work is refused or left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from assistant.errors import KnowledgeError
from assistant.faults.documents import Item, read_items
from assistant.faults.models import Fault
from assistant.faults.problems import Place, Problem
from assistant.intake.regexes import Regex, RegexError, compile_regex
from assistant.paths import locate

LONGEST_REGEX = 4_000
"""Characters; some ten times the longest that was needed so far."""
GROUPS = frozenset({"rank", "local_rank", "task", "node", "device", "pid", "peer", "iteration", "exitcode", "signal"})
"""Names that a signature's groups may have."""


@dataclass(frozen=True, slots=True)
class Library:
    """All entries, ordered by file name and then as they stand in their file."""

    faults: tuple[Fault, ...]
    places: Mapping[str, Place] = field(default_factory=dict, repr=False, compare=False)
    """Where each entry stands."""
    left_out: tuple[Problem, ...] = ()
    """What could not be used, where the library was read leniently."""
    _index: dict[str, Fault] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._index.update((fault.id, fault) for fault in self.faults)

    def get(self, fault_id: str) -> Fault | None:
        """The entry of that id, or None."""
        return self._index.get(fault_id)

    def __getitem__(self, fault_id: str) -> Fault:
        return self._index[fault_id]

    def __contains__(self, fault_id: object) -> bool:
        return fault_id in self._index

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.faults)

    def __len__(self) -> int:
        return len(self.faults)


@dataclass(frozen=True, slots=True)
class _Placed:
    fault: Fault
    place: Place

    def wrong(self, message: str) -> Problem:
        return Problem(self.fault.id, message, file=self.place.file, line=self.place.line)


@dataclass(slots=True)
class _Shelf:
    """What has been read so far: entries by id, and what was wrong on the way."""

    entries: dict[str, _Placed] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def put(self, read: Iterable[_Placed | Problem]) -> None:
        """Take in what was read together: an id may come once here, and replaces what was there before."""
        fresh: dict[str, _Placed] = {}
        for one in read:
            wrong = one if isinstance(one, Problem) else _flaw(one, fresh)
            if wrong is not None:
                self.problems.append(wrong)
            elif isinstance(one, _Placed):
                fresh[one.fault.id] = one
        self.entries |= fresh

    def library(self, *, strict: bool) -> Library:
        placed = [self._linked(one) for one in self.entries.values()]
        if strict and self.problems:
            first = self.problems[0]
            raise KnowledgeError(first.said(), hint=first.remedy)
        places = {one.fault.id: one.place for one in placed}
        return Library(tuple(one.fault for one in placed), places, tuple(self.problems))

    def _linked(self, placed: _Placed) -> _Placed:
        """The entry without references that lead nowhere."""
        for name in ("explains", "beside"):
            named: tuple[str, ...] = getattr(placed.fault, name)
            if unknown := sorted(set(named) - set(self.entries)):
                self.problems.append(placed.wrong(f"`{name}` names unknown entries: {', '.join(unknown)}"))
                known = {name: tuple(other for other in named if other in self.entries)}
                placed = _Placed(placed.fault.model_copy(update=known), placed.place)
        return placed


def load_library(folders: Sequence[Path] | None = None, *, strict: bool = True) -> Library:
    """The entries of all YAML files in the folders, weakest folder first; by default those of `knowledge/faults`.

    An entry in a later folder replaces the one of the same id. Where not `strict`, what is wrong is left out and said
    in `Library.left_out`. Raises KnowledgeError, naming file, line and entry, for anything wrong where `strict`, and
    always where no entry is left.
    """
    chosen = [folder / "faults" for folder in locate("knowledge")] if folders is None else list(folders)
    shelf = _Shelf()
    for folder in chosen:
        shelf.put(placed for path in sorted(folder.glob("*.yaml")) for placed in _read(path))
    if not shelf.entries and not (strict and shelf.problems):
        raise _nothing(chosen, shelf.problems)
    return shelf.library(strict=strict)


def build(entries: Iterable[Fault]) -> Library:
    """A library of entries that are at hand already, such as learned ones, under the same rules."""
    shelf = _Shelf()
    shelf.put(_Placed(fault, Place("-")) for fault in entries)
    return shelf.library(strict=True)


def _nothing(chosen: Sequence[Path], problems: Sequence[Problem]) -> KnowledgeError:
    shown = ", ".join(map(str, chosen)) or "knowledge/faults"
    why = f" ({problems[0].said()})" if problems else ""
    return KnowledgeError(f"no fault entries in {shown}{why}", hint="Reinstall Rootrank, or name another folder.")


def _read(path: Path) -> Iterator[_Placed | Problem]:
    items = read_items(path)
    if isinstance(items, Problem):
        yield items
        return
    for number, item in enumerate(items, start=1):
        yield _entry(path, number, item)


def _entry(path: Path, number: int, item: Item) -> _Placed | Problem:
    name = item.raw.get("id") if isinstance(item.raw, dict) else None
    try:
        return _Placed(Fault.model_validate(item.raw), Place(str(path), item.line()))
    except ValidationError as error:
        detail = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, detail["loc"]))
        message = f"{where}: {detail['msg']}" if where else str(detail["msg"])
        return Problem(str(name or f"number {number}"), message, file=str(path), line=item.line(*detail["loc"]))


def _flaw(placed: _Placed, fresh: Mapping[str, _Placed]) -> Problem | None:
    """What keeps an entry from working, if anything."""
    fault = placed.fault
    if fault.id in fresh:
        return placed.wrong(f"this id is taken already in {fresh[fault.id].place.file}")
    for signature in fault.signatures:
        for regex in (signature.regex, *signature.requires, *signature.excludes):
            if len(regex) > LONGEST_REGEX:
                return placed.wrong(f"regex {regex[:40]!r}... is longer than {LONGEST_REGEX} characters")
            compiled = _compiled(regex)
            if isinstance(compiled, str):
                return placed.wrong(f"regex {regex!r} is not RE2: {compiled}")
            if regex == signature.regex and (why := _unfit(compiled)):
                return placed.wrong(f"regex {regex!r} {why}")
    return None


def _unfit(regex: Regex) -> str | None:
    if regex.search("") is not None:
        return "matches the empty text"
    unknown = sorted(set(regex.groupindex) - GROUPS)
    return f"has unknown groups: {', '.join(unknown)}" if unknown else None


def _compiled(regex: str) -> Regex | str:
    try:
        return compile_regex(regex)
    except RegexError as error:
        raw = error.args[0] if error.args else error
        text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
        return " ".join(text.split())
