"""What varies from line to line and says nothing: masked before templates are mined, in this order.

Each mask must hit a line and its digit-folded form alike, because the scan masks folded forms. The same list serves
Drain3 alone in the bench, so that both mine the same text.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True, slots=True)
class Mask:
    """One replacement. `pattern` is in the subset that RE2, Rust and Python read alike."""

    name: str
    pattern: str
    put: str
    why: str


MASKS: tuple[Mask, ...] = (
    Mask(
        "time",
        r"(?:[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[-T _]?|[A-Z][a-z]{2} [A-Z]?[a-z]{0,2} ?[ 0-9][0-9] )?"
        r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,:][0-9]{1,9})*(?:Z| ?[+-][0-9]{2}:?[0-9]{2}| UTC)?",
        "<TIME>",
        "the time of day, with the date and zone where they stand beside it",
    ),
    Mask("date", r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}", "<TIME>", "a date alone"),
    Mask(
        "uuid",
        r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
        "<UUID>",
        "GPU, job and request ids",
    ),
    Mask("url", r"[a-z]{2,8}://[^\s\"'<>]+", "<URL>", "endpoints and store addresses"),
    Mask("ip6", r"(?:[0-9a-fA-F]{1,4}:){4,7}[0-9a-fA-F]{0,4}(?:%[a-z0-9]+)?", "<IP>", "GIDs and IPv6 addresses"),
    Mask("ip", r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}(?::[0-9]{1,5}|<[0-9]+>|/[0-9]{1,2})?", "<IP>", "addresses"),
    Mask("mac", r"(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}", "<MAC>", "network cards"),
    Mask("pci", r"(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9]", "<PCI>", "device addresses"),
    Mask(
        "path",
        r"(?:\.{0,2}/[^\s/:,;'\"\[\](){}<>|=]+){2,}/?(\.[A-Za-z]{1,5})?",
        "<PATH>",
        "paths differ by user, run and shard",
    ),
    Mask("hex", r"0x[0-9a-fA-F]+", "<HEX>", "addresses in memory and error codes"),
    Mask(
        "digest",
        r"(?i)\b(?:[0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{6,}\b",
        "<HEX>",
        "hashes, communicator ids: eight or more hex digits of which one is a number and one a letter",
    ),
    Mask("host", r"\b[A-Za-z][A-Za-z0-9.-]*[0-9][A-Za-z0-9.-]*:[0-9]+:[0-9]+\b", "<HOST>:<NUM>:<NUM>", "host, process, thread"),
    Mask(
        "number",
        r"[-+]?\b[0-9]+(?:[.,][0-9]+)*(?:[eE][-+]?[0-9]+)?(?:\s?(?:[KMGTP]i?B|[kKMGT]?bytes|ms|us|ns|s|%)\b)?",
        "<NUM>",
        "counts, sizes, durations, losses",
    ),
    Mask("digits", r"[0-9]+", "<NUM>", "digits inside names: layer_12, rank3, loss0"),
)


def masked(texts: pl.Series) -> pl.Series:
    """Each text with its variable parts masked and its spaces squeezed."""
    expression = pl.col("text")
    for mask in MASKS:
        expression = expression.str.replace_all(mask.pattern, mask.put.replace("$", "$$"))
    squeezed = expression.str.replace_all(r"\s+", " ").str.strip_chars()
    bare = squeezed.str.replace(r"^(?:[\[(]?<TIME>[\])]?[\s:,|-]*)+", "")
    return pl.DataFrame({"text": texts}).select(pl.when(bare == "").then(squeezed).otherwise(bare).alias("text"))["text"]
