"""How much intake is willing to read, so that no input can exhaust memory, disk or patience."""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one run. All sizes are bytes; the defaults are far above any honest job."""

    total_bytes: int = 200 * 10**9
    """Unpacked bytes of everything together."""
    member_bytes: int = 200 * 10**9
    """Unpacked bytes of one source or one archive."""
    ratio: int = 2000
    """Unpacked bytes per packed byte, of one source or archive ..."""
    ratio_after: int = 100 * 10**6
    """... once this many bytes have come out."""
    line_bytes: int = 64 * KIB
    """Longer lines are cut to this length."""
    sniff_bytes: int = 64 * KIB
    """How much of a file decides whether it is text."""
    hole_bytes: int = GIB
    """How far text is looked for behind NULs, as a log begins with that was emptied while its writer went on."""
    spool_bytes: int = 50 * 10**9
    """How much of standard input is kept."""
    spool_reserve: int = GIB
    """Free space that the spool of standard input leaves on its disk."""
    sources: int = 200_000
    """Files and archive members that are listed."""
    entries: int = 2_000_000
    """Directory entries that are looked at."""
    depth: int = 64
    """How deep folders may nest."""


DEFAULT_LIMITS = Limits()


class Budget:
    """What is left of `total_bytes` while several sources are read one after another."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self.left = limits.total_bytes

    def take(self, count: int) -> bool:
        """Spend `count` bytes; False once the limit is passed."""
        self.left -= count
        return self.left >= 0
