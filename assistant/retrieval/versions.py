"""Whether facts apply to a version. Ranges are spelled `>=2.18,<2.21`; other words exclude nothing."""

from __future__ import annotations

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version


def admits(versions: str, wanted: str) -> bool:
    """False only where both are understood and the wanted version lies outside."""
    if not versions or not wanted:
        return True
    try:
        return Version(wanted) in SpecifierSet(versions, prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return True
