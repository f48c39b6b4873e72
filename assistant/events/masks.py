"""What varies from line to line and says nothing: masked before templates are mined, in this order.

No mask may care how many digits a number has, because the scan masks collapsed forms (see `folding`): masking a line
and masking its form give the same text. The same list serves Drain3 alone in the bench, so both mine the same text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

LONGEST = 1_000
"""Characters of a masked form that are kept."""


@dataclass(frozen=True, slots=True)
class Mask:
    """One replacement. `pattern` is in the subset that Rust and Python read alike."""

    name: str
    pattern: str
    put: str
    why: str


IDS: tuple[Mask, ...] = (
    Mask("uuid", r"\b[0-9a-fA-F]+(?:-[0-9a-fA-F]+){4}\b", "<UUID>", "GPU, job and request ids"),
    Mask("hex", r"[0-9]+x[0-9a-fA-F]+", "<HEX>", "addresses, error codes; once collapsed, sizes look like them"),
    Mask(
        "id",
        r"\b[A-Za-z]*[0-9]+[A-Za-z]+[0-9][0-9A-Za-z]*\b",
        "<ID>",
        "hashes, communicators, random names: a digit, letters, a digit again",
    ),
)
"""Masks of what is seldom written twice; applied first, so that forms that differ only in these become one."""

MASKS: tuple[Mask, ...] = (
    *IDS,
    Mask("url", r"[a-z]{2,8}://[^\s\"'<>]+", "<URL>", "endpoints and store addresses"),
    Mask("host", r"\b[A-Za-z][A-Za-z0-9.-]*:[0-9]+:[0-9]+\b", "<HOST>", "host, process, thread"),
    Mask("ip6", r"(?:[0-9a-fA-F]*:){4,}[0-9a-fA-F]*(?:%[a-z0-9]+)?", "<IP>", "GIDs, IPv6 and hardware addresses"),
    Mask(
        "time",
        r"(?:[0-9]+[-/.][0-9]+[-/.][0-9]+[-T _]?|(?:[A-Z][a-z]{2} +){1,2}[0-9]+ +)?"
        r"[0-9]+:[0-9]+:[0-9]+(?:[.,:][0-9]+)*(?:Z\b| ?[+-][0-9]+:[0-9]+\b| UTC\b)?",
        "<TIME>",
        "the time of day, with the date and zone where they stand beside it",
    ),
    Mask("ip", r"[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+(?::[0-9]+|<[0-9]+>|/[0-9]+)?", "<IP>", "addresses"),
    Mask(
        "path",
        r"(?:\.{0,2}/[^\s/:,;'\"\[\](){}<>|=]+){2,}/?",
        "<PATH>",
        "paths differ by user, run and shard",
    ),
    Mask(
        "number",
        r"[0-9]+(?:[.,][0-9]+)*(?:[eE][-+]?[0-9]+)?(?:\s?(?:[KMGTP]i?B|ms|us|ns|s)\b|%)?",
        "<NUM>",
        "counts, sizes, durations, losses, and digits inside names",
    ),
)


def replaced(texts: pl.Series, masks: Sequence[Mask]) -> pl.Series:
    """The texts after some masks."""
    expression = pl.col("text")
    for mask in masks:
        expression = expression.str.replace_all(mask.pattern, mask.put)
    return pl.DataFrame({"text": texts}).select(expression)["text"]


def tidied(texts: pl.Series) -> pl.Series:
    """Masked texts with spaces squeezed and leading times taken off, cut to LONGEST."""
    squeezed = pl.col("text").str.replace_all(r"[ \t\r\n\f]+", " ").str.strip_chars()
    bare = squeezed.str.replace(r"^[\[(]?<TIME>[\])]?[ :,|-]*", "")
    chosen = pl.when(bare == "").then(squeezed).otherwise(bare).str.slice(0, LONGEST)
    return pl.DataFrame({"text": texts}).select(chosen.alias("text"))["text"]


def masked(texts: pl.Series) -> pl.Series:
    """Each text with its variable parts masked."""
    return tidied(replaced(texts, MASKS))
