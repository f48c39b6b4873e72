"""How bad a line says it is: the level that it writes itself, or what its words stand for. Knows no screen."""

from __future__ import annotations

import re2

LEVELS = ("trace", "debug", "info", "warning", "error", "fatal")
"""From the least to the worst; a level's number is its place here."""
OTHER_NAMES = {
    "notice": "info", "warn": "warning", "err": "error", "severe": "error", "critical": "fatal", "crit": "fatal",
    "alert": "fatal", "emerg": "fatal", "panic": "fatal",
}  # fmt: skip
UNSAID = LEVELS.index("info")
"""Level of a line that tells none."""
HEAD = 400
"""Bytes of a line in which its level is looked for."""
_CAPITALS = {
    "trace": "TRACE|FINEST", "debug": "DEBUG|FINE", "info": "INFO|NOTICE", "warning": "WARN|WARNING",
    "error": "ERR|ERROR|SEVERE", "fatal": "FATAL|CRITICAL|CRIT|ALERT|EMERG|PANIC",
}  # fmt: skip
_SMALL = {
    "trace": "trace", "debug": "debug", "info": "info|notice", "warning": "warn|warning", "error": "err|error",
    "fatal": "fatal|critical|crit|alert|emerg|panic",
}  # fmt: skip
_GLOG = {"debug": "D", "info": "I", "warning": "W", "error": "E", "fatal": "[FC]"}
_SYSLOG = {"debug": "7", "info": "[56]", "warning": "4", "error": "3", "fatal": "[012]"}
_WORDS = {
    "warning": r"\b[A-Za-z]+Warning:",
    "error": r"Traceback \(most recent|\b[A-Za-z_.]*(?:Error|Exception)(?::|$)|Segmentation fault|core dumped"
    r"|NVRM: Xid|\bBus error\b|^Killed$|^Aborted$|Out of memory: Killed",
}


def _spellings(level: str) -> str:
    """One expression without captures for all ways in which a level is written."""
    small = _SMALL[level]
    ways = [
        rf"\b(?:{_CAPITALS[level]})\b",
        rf"(?i:\b(?:log_?)?(?:level|levelname|severity|lvl)\b\"?\s{{0,3}}[=:]\s{{0,3}}\"?(?:{small})\b)",
        rf"(?i:\[(?:{small})\])",
        rf"(?:^|[a-z0-9\]]: )(?:{small}): ",
    ]
    if level in _GLOG:
        ways.append(rf"(?:^|[\s\]:\[]){_GLOG[level]}(?:20[0-9]{{2}})?[01][0-9][0-3][0-9] [0-9]{{2}}:[0-9]{{2}}:")
        ways.append(rf"^<{_SYSLOG[level]}>")
    if level in _WORDS:
        ways.append(_WORDS[level])
    return "|".join(ways)


def _compiled(pattern: str) -> re2._Regexp[bytes]:
    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(b"(?m)" + pattern.encode(), options)


_ANY = _compiled("|".join(f"({_spellings(level)})" for level in LEVELS))


def level_of(line: bytes) -> int | None:
    """Number of the level that a line tells first; None where it tells none."""
    found = _ANY.search(line[:HEAD])
    return None if found is None else next(n for n, text in enumerate(found.groups()) if text is not None)


def level_named(name: str) -> int | None:
    """Number of a level by its name."""
    name = OTHER_NAMES.get(name.lower(), name.lower())
    return LEVELS.index(name) if name in LEVELS else None


def telling(levels: range) -> re2._Regexp[bytes]:
    """What stands in every line of one of these levels, and perhaps in others: to look through much text quickly."""
    return _compiled("|".join(_spellings(LEVELS[level]) for level in levels))


_GOES_ON = _compiled(r"^(?:(?:\[[\w.:/-]{1,80}\]:?|[0-9]{1,7}:) ?){0,3}(?:[ \t]|\r?$)")


def goes_on(line: bytes) -> bool:
    """Whether a line belongs to the one above: indented or empty, behind whatever label."""
    return _GOES_ON.search(line[:HEAD]) is not None
