"""Settings of one command: what is configured, with what was typed over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.errors import UsageError

if TYPE_CHECKING:
    from assistant.case.store import CaseStore
    from assistant.config import Settings

MOST = 1_000_000
"""Members of the largest group."""
PATTERNS = ("cross_job", "spatial", "temporal")


def configured(**typed: tuple[str, object] | None) -> Settings:
    """Settings with typed options over them: `section__name=(option, value)`, None where it was not typed."""
    from assistant.config import Value, load

    values: Mapping[str, Value] = {
        key.replace("__", "."): Value(given[1], given[0]) for key, given in typed.items() if given is not None
    }
    return load(typed=values).settings


def case_store(settings: Settings) -> CaseStore:
    """The store of cases that the settings name."""
    from assistant.case.store import CaseStore, data_dir

    return CaseStore(data_dir(settings.storage.data_dir))


def pattern_names(names: Iterable[str]) -> tuple[str, ...]:
    """Pattern names as they are spelled in a Case; `cross-job` is `cross_job`."""
    spelled = tuple(dict.fromkeys(name.replace("-", "_") for name in names))
    for name in spelled:
        if name not in PATTERNS:
            raise UsageError(f"--without {name}: no such pattern", hint="cross-job, spatial or temporal")
    return spelled


def group_sizes(text: str | None) -> dict[str, int] | None:
    """Sizes of the parallel groups, from `tp=2,pp=4` or from a YAML or JSON file with such keys.

    Raises:
        UsageError: neither of both, an unknown group, or a size that is no positive number.
    """
    if text is None:
        return None
    from assistant.intake.topology import SIZES

    pairs: Mapping[str, object] = _pairs(text) if "=" in text else _sizes_in(Path(text))
    for name, size in pairs.items():
        if name not in SIZES:
            raise UsageError(f"--topology: {name} is no group", hint=f"known sizes: {', '.join(SIZES)}")
        if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= MOST:
            raise UsageError(f"--topology: {name}={size} is no size", hint="sizes are whole numbers, for example tp=8")
    return {name: int(str(size)) for name, size in sorted(pairs.items())}


def _sizes_in(path: Path) -> dict[str, int]:
    from assistant.intake.topology import read_topology_file

    try:
        return read_topology_file(path)
    except UsageError as error:
        raise UsageError(f"--topology {error.message}", hint=error.hint) from None


def _pairs(text: str) -> dict[str, object]:
    split = [part.strip().partition("=") for part in text.split(",") if part.strip()]
    return {name.strip().lower(): _size(size.strip()) for name, _, size in split}


def _size(text: str) -> object:
    return int(text) if text.isdecimal() and len(text) < 10 else text
