"""Numbers with their units, as sentences and log lines write them, in one measure, so that they can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

NUMBER = (
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3}){2,}|\d+,\d{1,2}(?=\s?(?:[KMGT]i?B|%|s\b|ms\b|Sek|Min))"
    r"|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
)
UNIT = (
    r"%|percent|Prozent|ms|milliseconds?|Millisekunden?|毫秒|seconds?|secs?|s|Sekunden?|秒|minutes?|mins?|Minuten?|分钟|"
    r"hours?|h|Stunden?|小时|days?|Tagen?|Tage?|天|[KMGT]i?B|[KMGT]i?bytes|bytes?|字节"
)
COUNTED = (
    r"(?:other |further |more |different |affected |healthy |andere[nr]? |weitere[nr]? |个|台|其他|其它|的|\s)*"
    r"(?:ranks?|others|R[aä]ngen?|Ränge|processes|workers|Prozessen?|进程|nodes?|hosts?|machines?|Knoten|Rechnern?|节点|机器)"
)
"""What is counted, with an adjective in between."""
MEASURED = re.compile(
    rf"(?<![\w.,:/+-])[-+]?(?P<number>{NUMBER})(?:(?P<unit>\s?(?:{UNIT}))(?![A-Za-z0-9_])|(?P<counted>\s?{COUNTED})(?![A-Za-z_]))?"
    r"(?![A-Za-z0-9_]|\.\d|:\d)",
    re.ASCII,
)
"""A number in a sentence."""
_SEEN = re.compile(
    rf"(?<![A-Za-z0-9_.])(?P<number>{NUMBER})(?:(?P<unit>[\s_]?(?:{UNIT}))(?![A-Za-z0-9_])|(?P<counted>\s?{COUNTED})(?![A-Za-z_]))?",
    re.ASCII,
)
_NAMED_UNIT = re.compile(r"[(_\[](ms|s|sec|seconds|bytes|[KMGT]i?B|%)[)\]]?\s*[:=]\s*$", re.IGNORECASE)
_TIME = {"ms": 0.001, "millisecond": 0.001, "millisekunde": 0.001, "毫秒": 0.001, "s": 1.0, "sec": 1.0, "second": 1.0,
         "sekunde": 1.0, "秒": 1.0, "min": 60.0, "minute": 60.0, "分钟": 60.0, "h": 3600.0, "hour": 3600.0,
         "stunde": 3600.0, "小时": 3600.0, "day": 86400.0, "tag": 86400.0, "tage": 86400.0, "天": 86400.0}  # fmt: skip
_SIZES = {f"{letter}{i}b": base**power for i, base in (("", 1000.0), ("i", 1024.0))
          for power, letter in enumerate("kmgt", start=1)}  # fmt: skip
_NODES = re.compile(r"(?i)node|host|machine|knoten|rechner|节点|机器")
PLAIN, TIME, BYTES, SHARE, RANKS, NODES = "plain", "time", "bytes", "share", "ranks", "nodes"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in its dimension: seconds, bytes, shares of one, counted ranks or nodes, or a bare number."""

    dimension: str
    value: float
    slack: float = 0.0
    """Half a unit of the last digit that is given: what rounding may hide."""


def quantity(number: str, unit: str, counted: str = "") -> Quantity:
    """A number with what stands behind it."""
    dimension, factor = (NODES if _NODES.search(counted) else RANKS, 1.0) if counted else unit_of(unit)
    plain = _decimal(number, dimension)
    digits = len(plain.split(".")[1]) if "." in plain and "e" not in plain.lower() else 0
    rounded = dimension in (TIME, BYTES, SHARE)
    slack = 0.5 * 10.0**-digits if digits or rounded else 0.0
    return Quantity(dimension, float(plain) * factor, slack * factor)


def _decimal(number: str, dimension: str) -> str:
    if re.fullmatch(r"\d+,\d{1,2}", number):
        return number.replace(",", ".")
    if re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}", number):
        return number.replace(".", "")
    return number.replace(",", "")


def unit_of(unit: str) -> tuple[str, float]:
    """The dimension of a unit, and what one of it is."""
    plain = unit.strip().lower()
    if plain in ("%", "percent", "prozent"):
        return SHARE, 0.01
    size = plain.replace("bytes", "b")
    if size in _SIZES:
        return BYTES, _SIZES[size]
    if plain in ("byte", "bytes", "字节"):
        return BYTES, 1.0
    for form in (plain, plain.removesuffix("s"), plain.removesuffix("n")):
        if form in _TIME:
            return TIME, _TIME[form]
    return PLAIN, 1.0


def quantities(text: str) -> Iterator[Quantity]:
    """All numbers of a log line or of a tool's row."""
    for found in _SEEN.finditer(text):
        unit = found["unit"] or ""
        if not unit and not found["counted"] and (named := _NAMED_UNIT.search(text, 0, found.start())):
            unit = named[1]
        yield quantity(found["number"], unit, found["counted"] or "")


def agree(claimed: Quantity, seen: Quantity) -> bool:
    """Whether a number in a sentence is the one that was seen, rounding allowed."""
    if claimed.dimension != seen.dimension:
        return False
    apart = abs(claimed.value - seen.value)
    return apart <= 1e-9 * max(1.0, abs(seen.value)) or apart < claimed.slack
