"""Which command lines may be advised: those of the library, the actions and the case, and those that only look."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistant.case.models import Case
from assistant.diagnosis.actions import default_actions
from assistant.errors import KnowledgeError
from assistant.faults.library import Library
from assistant.paths import locate

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
LONGEST = 600
"""Characters of a command line that is looked at; a longer one is none that we know."""
_SPACES = re.compile(r"\s+")
_PARTS = re.compile(r"\|\||&&|[;|]")
_INERT = re.compile(r"'[^']*'|\"[^\"$`\\]*\"")
"""Quoted words, in which no character acts."""
_OPERATORS = re.compile(r"[;|&<>`$]")
CODE = frozenset({"-c", "-e", "--eval", "--command"})
"""Options behind which a program stands; of those that are known word for word only."""
_STRANGE = re.compile(r"[<>`]|\$\(|(?<!&)&(?!&)")
"""What sends output or commands elsewhere; a harmless end is taken off before."""
_HARMLESS_END = re.compile(r" ?2?> ?/dev/null| ?2>&1")
_ADDRESSES = ("://", "/dev/tcp/", "/dev/udp/")
_SETTING = re.compile(r"([A-Z][A-Z0-9_]*)=([\w.,:/%+-]*)")
_SIMPLE = re.compile(r"[A-Za-z0-9_.,:-]{0,40}")
"""A value that names no path and no address."""
_PLACEHOLDER = re.compile(r"(?<![\w=$-])[A-Z]{2,}(?:_[A-Z]+)*(?![\w=])|<[a-z][a-z _-]*>|\.\.\.|…|\{[a-z_]+\}")
_WORD = re.compile(r"[\w.@%+-]+", re.ASCII)
_QUOTED = re.compile(r"`([^`]+)`")
ANY, NAME = r"[^;|&<>`$]*", r"[\w.-]*"
"""What may stand in place of a placeholder, and in a command that changes or destroys."""


class Reading(BaseModel):
    """How a program may be called so that it only looks."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    only: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    never_starts: tuple[str, ...] = ()


class CommandFile(BaseModel):
    """`knowledge/commands.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal["rootrank.commands/1"] = Field(alias="schema")
    reading: dict[str, Reading]
    exact: frozenset[str]


@cache
def load_rules() -> CommandFile:
    """The rules, a user's own in place of the shipped ones. Raises KnowledgeError, naming the file."""
    found = [path for folder in locate("knowledge") if (path := folder / "commands.yaml").is_file()]
    if not found:
        raise KnowledgeError("no knowledge/commands.yaml", hint="Reinstall Rootrank.")
    return read_rules(found[-1])


def read_rules(path: Path) -> CommandFile:
    """One file of rules. Raises KnowledgeError, naming it."""
    try:
        return CommandFile.model_validate(yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        problem = " ".join(str(error).split())[:300]
        raise KnowledgeError(f"{path}: {problem}", hint="its form is told at the top of the shipped file") from error


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands that are known."""

    lines: frozenset[str] = frozenset()
    rules: CommandFile = field(default_factory=load_rules)

    def knows(self, command: str, shown: str = "") -> bool:
        """Whether a command line may be advised. `shown`: what tools have shown, whose words it may name."""
        if "\n" in command.strip():
            return all(self.knows(one, shown) for one in command.strip().splitlines())
        line = _plain(command.strip().removeprefix("$ "))
        if len(line) > LONGEST:
            return False
        if line.startswith("#") or line in self.lines or self._fits(line):
            return True
        bare = _INERT.sub(lambda found: _OPERATORS.sub(" ", found[0]), _HARMLESS_END.sub("", line))
        if _STRANGE.search(bare) or any(mark in bare for mark in _ADDRESSES):
            return False
        return all(self._part(part.split(), shown) for part in _PARTS.split(bare) if part.strip())

    def _fits(self, line: str) -> bool:
        destroys = any(set(part.split()) & self.rules.exact - {"sudo"} for part in _PARTS.split(line))
        return any(regex.fullmatch(line) for regex in _templates(self.lines, NAME if destroys else ANY))

    def _part(self, words: list[str], shown: str) -> bool:
        known = _words(self.lines)
        while words and (set_ := _SETTING.fullmatch(words[0].strip("'\""))) is not None:
            if not _SIMPLE.fullmatch(set_[2]) and not _told({set_[1], *_WORD.findall(set_[2])}, known, shown):
                return False
            words = words[1:]
        if words and words[0] == "export":
            return self._part(words[1:], shown)
        if words and words[0] == "sudo":
            words = words[1:]
        if not words:
            return True
        program, rest = words[0], words[1:]
        if (reading := self.rules.reading.get(program)) is not None:
            return _looks(reading, rest)
        if CODE & set(rest) or program in self.rules.exact or program not in _programs(self.lines):
            return bool(program.startswith("--")) and _setting_known(words, known, shown)
        return _told(_WORD.findall(" ".join(rest)), known, shown)


def _told(words: Iterable[str], known: frozenset[str], shown: str) -> bool:
    """Whether all words stand in known commands or in what was shown."""
    return all(word in known or word in shown for word in words)


def _setting_known(words: list[str], known: frozenset[str], shown: str) -> bool:
    name = words[0].split("=")[0].lstrip("-")
    return name in known or name in shown


def _looks(reading: Reading, words: list[str]) -> bool:
    plain = [word.strip("'\"") for word in words]
    if any(word in reading.never or word.startswith(reading.never_starts or ("\0",)) for word in plain):
        return False
    return not reading.only or not plain or plain[0].startswith(reading.only)


def commands_of(library: Library, case: Case) -> Commands:
    """All commands of the library's entries, of the actions, and of the case."""
    shipped = [*(fault.action for fault in library), *default_actions().values()]
    verdicts = [case.verdict, *(failure.verdict for failure in case.failures)]
    steps = [step for action in shipped for step in action.steps]
    steps += [step for verdict in verdicts for step in verdict.action.steps]
    told = [step.command for step in steps if step.command]
    prose = [text for step in steps for text in (step.text, step.verify, step.undo or "")]
    told += [quoted for text in prose for quoted in _QUOTED.findall(text)]
    return Commands(frozenset(filter(None, map(_plain, told))))


def _plain(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


@cache
def _templates(lines: frozenset[str], blank: str) -> tuple[re.Pattern[str], ...]:
    """Commands with placeholders, and what may stand in their place."""
    open_ = [line for line in sorted(lines) if _PLACEHOLDER.search(line)]
    return tuple(re.compile(blank.join(map(re.escape, _PLACEHOLDER.split(line)))) for line in open_)


@cache
def _words(lines: frozenset[str]) -> frozenset[str]:
    return frozenset(word for line in lines for word in _every_word(line))


def _every_word(line: str) -> Iterator[str]:
    yield from _WORD.findall(line)
    yield from (word for part in _WORD.findall(line) for word in part.lstrip("-").split("="))


@cache
def _programs(lines: frozenset[str]) -> frozenset[str]:
    """First words of the parts of known commands, but for those that stand for something."""
    return frozenset(_programs_in(lines))


def _programs_in(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        for part in _PARTS.split(line):
            words = [word for word in part.split() if not _SETTING.match(word) and word not in ("sudo", "export")]
            if words and not _PLACEHOLDER.fullmatch(words[0]):
                yield words[0]
