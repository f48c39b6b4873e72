"""Drain3 behind the TemplateMiner port, and the parameters of a line under a template."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from typing import Any

from assistant.events.models import Template

TOKENS = 60
"""Tokens of a form that are mined; what follows is dropped."""
MOST_OF_A_LENGTH = 8_000
"""Distinct forms of one length that Drain is given."""
WILD = "<*>"


class DrainMiner:
    """Mines masked forms with Drain3's tree, without its masking, persistence and profiling."""

    def __init__(self, *, depth: int = 4, similarity: float = 0.5, children: int = 100, clusters: int = 20_000) -> None:
        self._settings = {"depth": depth, "sim_th": similarity, "max_children": children, "max_clusters": clusters}

    def mine(self, forms: list[str]) -> list[str]:
        """The template of each form, in the same order.

        Forms of one token are their own template. The order of `forms` does not matter.
        """
        cut = [_cut(form) for form in forms]
        by_length: dict[int, list[str]] = defaultdict(list)
        for form in sorted(set(cut)):
            by_length[form.count(" ") + 1].append(form)
        template_of: dict[str, str] = {}
        for length, same in sorted(by_length.items()):
            template_of.update({form: form for form in same} if length == 1 else self._mine_length(same))
        return [template_of[form] for form in cut]

    def _mine_length(self, forms: list[str]) -> dict[str, str]:
        common = common_words(forms)
        drain = _new_drain(self._settings)
        cluster_of = {form: drain.add_log_message(form)[0] for form in sorted(set(common))}
        return {form: cluster_of[short].get_template() for form, short in zip(forms, common, strict=True)}


def common_words(forms: list[str], most: int = MOST_OF_A_LENGTH) -> list[str]:
    """Forms of one length, with their rare words as slots where there are too many distinct ones for Drain.

    Drain compares a form with every template of its branch, so its time grows with the square of forms that have
    nothing in common: text that is no log, or made to be slow. A word is rare that stands seldom at its place; what
    counts as seldom grows until few enough forms are left.
    """
    shown = forms
    rows = [form.split(" ") for form in forms] if len(forms) > most else []
    seldom = 2
    while len(set(shown)) > most:
        counts = [Counter(column) for column in zip(*rows, strict=True)]
        shown = [_with_slots(row, counts, seldom) for row in rows]
        seldom *= 8
    return shown


def _with_slots(row: list[str], counts: list[Counter[str]], seldom: int) -> str:
    return " ".join(word if count[word] > seldom else WILD for word, count in zip(row, counts, strict=True))


def _new_drain(settings: dict[str, Any]) -> Any:  # noqa: ANN401 - Drain3 has no types
    from drain3.drain import Drain

    return Drain(**settings, param_str=WILD)


def _cut(form: str) -> str:
    tokens = form.split()
    return " ".join(tokens[:TOKENS]) if tokens else form


def template_id(text: str) -> str:
    """The same text has the same id in every run."""
    return f"t-{hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:10]}"


def templates_of(mined: list[str]) -> tuple[tuple[Template, ...], list[int]]:
    """The distinct templates, sorted by text, and for each mined text its index."""
    texts = sorted(set(mined))
    index = {text: number for number, text in enumerate(texts)}
    return tuple(Template(template_id(text), text) for text in texts), [index[text] for text in mined]


_SLOT = re.compile(r"<(?:\*|[A-Z]{2,5})>")


def parameters(template: str, line: str) -> tuple[str, ...]:
    """What stands in a line where its template has slots, from left to right; empty where the line does not fit.

    A template may describe only the line's middle: leading times and labels are not part of it.
    """
    pieces = [re.escape(piece).replace(r"\ ", r"\s+") for piece in _SLOT.split(template)]
    slots = len(pieces) - 1
    pattern = "".join(f"{piece}(.{{1,2000}}?)" for piece in pieces[:-1]) + pieces[-1]
    end = r"\s*$" if slots and not pieces[-1] else ""
    found = re.search(pattern + end, line[:8192])
    return tuple(found.groups()) if found and slots else ()
