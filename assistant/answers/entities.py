"""What a question names: ranks, nodes, evidence, files, codes, causes, quotations, words of the glossary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assistant.case.models import Case
from assistant.case.vocabulary import CAUSES
from assistant.tools.words import Glossary

_RANK = re.compile(r"(?i)\branks?[\s_#-]*(\d{1,6})(?:\s*(,|and|or|with|to|vs\.?|against)\s*(?:rank\s*)?(\d{1,6})\b)?")
_EVIDENCE = re.compile(r"\b([EST]\d{1,6})\b")
_FILE = re.compile(
    r"(?<!\w)([\w./@+-]+\.(?:log|err|out|txt|json)(?:\.\d+)?(?:\.gz|\.zst|\.bz2|\.xz)?)(?::(\d{1,9}))?(?!\w)"
)
_QUOTE = re.compile(
    r"[\"\u201c\u201e]([^\"\u201c\u201d]{1,200})[\"\u201d\u201c]|`([^`]{1,200})`|(?<!\w)'([^']{2,200})'(?!\w)"
)
_CODE = re.compile(
    r"(?i)\b(s?xid\s*\d{1,6})\b|\b(errno\s*\d{1,3})\b|\b(exit(?:\s?code)?\s*-?\d{1,3})\b|\b(signal\s*\d{1,2})\b|\b(sig(?:kill|term|segv|abrt|bus|"
    r"ill|int|hup|fpe))\b|\b(e[a-z]\d{4})\b|\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b|\b([A-Za-z]+(?:Error|Exception))\b"
    r"|\b(nccl error)\b|\b(\d{6})\b"
)
_ITERATION = re.compile(r"(?i)\b(?:iteration|step)\s*#?\s*(\d{1,9})\b")
_NAME = re.compile(r"(?<![\w<.-])[A-Za-z][\w.-]*\d[\w-]*(?![\w>-])")
_HOSTLIKE = re.compile(r"(?i)\b(?:node|host|machine|server)\s+([a-z][\w.-]*\d[\w.-]*|\d{1,5})\b")


@dataclass(frozen=True, slots=True)
class Entities:
    """What was named, each kind in the order of naming."""

    ranks: tuple[int, ...] = ()
    nodes: tuple[str, ...] = ()
    """Nodes of the case."""
    strangers: tuple[str, ...] = ()
    """What was called a node and is none of the case."""
    evidence: tuple[str, ...] = ()
    files: tuple[tuple[str, int | None], ...] = ()
    codes: tuple[str, ...] = ()
    causes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(as it was said, the classes it means)"""
    quotes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    iterations: tuple[int, ...] = ()
    plain: str = ""
    """The question with all that replaced by placeholders, for the matching."""
    bare: str = ""
    """The same with causes as they were said: a word such as `killed` is not always meant as a cause."""


def entities(text: str, case: Case, glossary: Glossary, named_causes: Mapping[str, tuple[str, ...]]) -> Entities:
    """Finds what the question names.

    Args:
        named_causes: what people call a cause, and the cause classes (or layers, ending in a point) that it means.
    """
    plain = text
    files = tuple((m[1], int(m[2]) if m[2] else None) for m in _FILE.finditer(plain))
    plain = _FILE.sub(" <file> ", plain)
    quotes = tuple(next(filter(None, m.groups())) for m in _QUOTE.finditer(plain))
    plain = _QUOTE.sub(" <quote> ", plain)
    ranks = tuple(int(n) for m in _RANK.finditer(plain) for n in (m[1], m[3]) if n)
    plain = _RANK.sub(lambda m: f" <rank> {m[2]} <rank> " if m[3] else " <rank> ", plain)
    iterations = tuple(int(m[1]) for m in _ITERATION.finditer(plain))
    plain, nodes = _nodes(_ITERATION.sub(" <iteration> ", plain), known_nodes(case))
    evidence = tuple(m[1] for m in _EVIDENCE.finditer(plain))
    plain = _EVIDENCE.sub(" <evidence> ", plain)
    codes = tuple(next(filter(None, m.groups())) for m in _CODE.finditer(plain))
    plain = _CODE.sub(" <code> ", plain)
    strangers = tuple(m[1] for m in _HOSTLIKE.finditer(plain))
    plain, alike = _like_nodes(_HOSTLIKE.sub(" <node> ", plain), known_nodes(case))
    strangers += alike
    bare = plain
    plain, causes = _causes(plain, named_causes)
    words = tuple(word.term for word in glossary.inside(text))
    return Entities(ranks, nodes, strangers, evidence, files, codes, causes, quotes, words, iterations, plain, bare)


def known_nodes(case: Case) -> tuple[str, ...]:
    """All nodes that the case names."""
    named = [node.node for node in case.nodes] + [one.node for one in case.candidates if one.node]
    return tuple(dict.fromkeys(named))


def _nodes(text: str, known: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    found: list[tuple[int, str]] = []
    for node in sorted(known, key=len, reverse=True):
        regex = re.compile(rf"(?i)(?<![\w-])(?:(?:node|host|machine)\s+)?{re.escape(node)}(?![\w-])")
        found += [(m.start(), node) for m in regex.finditer(text)]
        text = regex.sub(" <node> ", text)
    return text, tuple(dict.fromkeys(node for _, node in sorted(found)))


def _like_nodes(text: str, known: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Names that are built like those of the nodes, but with other numbers."""
    shapes = {re.sub(r"\d+", "#", node.lower()) for node in known if re.search(r"[a-z].*\d", node.lower())}
    found = [m[0] for m in _NAME.finditer(text) if re.sub(r"\d+", "#", m[0].lower()) in shapes]
    for name in found:
        text = text.replace(name, " <node> ")
    return text, tuple(dict.fromkeys(found))


def _causes(text: str, named: Mapping[str, tuple[str, ...]]) -> tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]:
    found: list[tuple[int, str, tuple[str, ...]]] = []
    exact = {f"{layer}.{name}": (f"{layer}.{name}",) for layer, names in CAUSES.items() for name in names}
    for name, classes in sorted((exact | dict(named)).items(), key=lambda item: -len(item[0])):
        regex = re.compile(rf"(?i)(?<![\w<]){re.escape(name)}(?![\w>])")
        if hit := regex.search(text):
            found.append((hit.start(), name, classes))
            text = regex.sub(" <cause> ", text)
    return text, tuple((name, classes) for _, name, classes in sorted(found))
