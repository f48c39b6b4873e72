"""The cheap gate in front of the library: line regexes that Rust's regex crate (Polars) and RE2 read alike.

Whatever a signature can match must pass the gate, and so must lines with generic failure words, so that a failure the
library does not know still becomes an indicator. A signature that needs a generic word is left out: the word is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from assistant.faults.literals import BORDER, needs_known
from assistant.intake.regexes import ascii_token, compile_regex, tokens

_LEFT = "(?:^|[^0-9A-Za-z_])"
_RIGHT = "(?:[^0-9A-Za-z_]|$)"
_BORDER_FIRST = re.compile(r"\\b(?:\(\?:)*\w")
_BORDER_LAST = re.compile(r"(?:\w|(?<!\\)[])+*?}])\\b$")
"""A border beside something that can be read as the first or last letter of a word."""
_NAMED = re.compile(r"\(\?P?<\w+>")
_FLAGS = frozenset("imsU-")

_WORDS = "|".join(
    (
        r"error|errors? occurred|fatal|critical|exception|panic|abort(?:ed|ing)?|crash(?:ed)?|fail(?:ed|ure|ing)?",
        r"killed|killing|terminated|interrupted|cancell?ed|timeout|deadlock|mismatch|assertion|oom|nan",
    )
)
"""Words that mean something else within longer words."""

_STEMS = "|".join(
    (
        r"refused|timed out|disconnected|broken pipe|reset by peer|no route to host|unreachable|denied|not permitted",
        r"segfault|segmentation fault|bus error|floating point exception|core dumped|unhandled|uncaught",
        r"preempt(?:ed|ion)|evict(?:ed|ing)",
        r"no such file|no space left|quota exceeded|read-only file system|out of memory|corrupt(?:ed|ion)",
        r"cannot|can't|could not|couldn't|unable to|invalid|illegal|unrecognized|uncorrectable|non-zero exit|errno",
        r"(?:not|must be|should be|not evenly) divisible by|must match|not available|unsupported|not supported",
        r"oom[-_]kill",
    )
)
"""Words and phrases that mean the same within longer ones."""

GENERIC: tuple[str, ...] = (
    f"(?i){_LEFT}(?:{_WORDS}){_RIGHT}|{_STEMS}",
    r"Traceback \(most recent call last\)",
    r"[A-Za-z](?:Error|Exception|Interrupt|SystemExit)(?:[^0-9A-Za-z]|$)",
    r"[A-Z]_(?:ERR|ERROR|FAILED|FAILURE)(?:[^A-Za-z]|$)",
    r"NCCL WARN|Xid[^0-9A-Za-z]",
    r"(?i)signal[ :(#=]{1,3}[0-9]",
    r"(?:^|[^A-Z])SIG(?:KILL|TERM|SEGV|BUS|ABRT|ILL|FPE|INT|HUP|XCPU|USR[12])(?:[^A-Z]|$)",
    r"(?i)(?:exit ?code|exit status|return code|exited with code|exited with)[ :=]{1,3}-?[1-9]",
    r"(?i)(?:loss|norm|ppl)[^0-9A-Za-z]{1,8}[-+]?inf(?:[^A-Za-z]|$)",
    r"^[EF][0-9]{4} [0-9]{2}:",
)
"""Lines with these may tell of a failure that no entry describes."""


_COMPILED = tuple((compile_regex(pattern), pattern.startswith("(?i)")) for pattern in GENERIC)


def gate_of(regexes: Iterable[str]) -> list[str]:
    """The generic patterns, and each regex whose matches do not pass one of those anyway."""
    return [*GENERIC, *(portable(regex) for regex in dict.fromkeys(regexes) if not _implied(regex))]


def _implied(regex: str) -> bool:
    return needs_known(regex, _passes)


def _passes(text: str, folded: bool) -> bool:
    """A line with this text passes the generic patterns, whatever stands around it."""
    around = (" " if text.startswith(BORDER) else "x") + text.strip(BORDER) + (" " if text.endswith(BORDER) else "x")
    plain = around.replace(BORDER, "")
    return any(regex.search(plain) is not None for regex, any_case in _COMPILED if any_case or not folded)


def portable(regex: str) -> str:
    """The same expression without captures, Unicode classes and word borders, wrapped so that its flags stay inside.

    It matches at least what `regex` matches in RE2. Word borders inside are dropped: for them Rust leaves its fast
    engine on every line that is not pure ASCII, such as one with a progress bar.
    """
    head, body = _split_flags(_without_captures(regex))
    left = _LEFT if _BORDER_FIRST.match(body) and not _has_branches(body) else ""
    right = _RIGHT if _BORDER_LAST.search(body) and not _has_branches(body) else ""
    return f"(?:{head}{left}{_plain(body)}{right})"


def _has_branches(body: str) -> bool:
    depth = 0
    for _, token, in_class in tokens(body):
        depth += 0 if in_class else (token == "(") - (token == ")")
        if token == "|" and depth == 0 and not in_class:
            return True
    return False


def _split_flags(regex: str) -> tuple[str, str]:
    end = regex.find(")")
    if regex.startswith("(?") and end > 2 and set(regex[2:end]) <= _FLAGS:
        return regex[: end + 1], regex[end + 1 :]
    return "", regex


def _without_captures(regex: str) -> str:
    out: list[str] = []
    skip_to = 0
    for at, token, in_class in tokens(regex):
        if at < skip_to:
            continue
        opening = _NAMED.match(regex, at) if token == "(" and not in_class else None
        plain = token == "(" and not in_class and not regex.startswith("(?", at)
        out.append("(?:" if opening or plain else token)
        skip_to = opening.end() if opening else at
    return "".join(out)


def _plain(body: str) -> str:
    return "".join(_ascii(token, in_class) for _, token, in_class in tokens(body))


def _ascii(token: str, in_class: bool) -> str:
    return "" if not in_class and token in (r"\b", r"\B") else ascii_token(token, in_class)
