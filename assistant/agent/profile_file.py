"""Writes fields of a profile into a configuration file and leaves everything else in it as it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assistant.disk import folder_for, replace_file, reported
from assistant.errors import ConfigError


def write_profile(path: Path, name: str, fields: Mapping[str, Any]) -> None:
    """Sets fields of `[profiles.NAME]`; comments and order of the file stay.

    Raises ConfigError where the file is no TOML, StoreError where it cannot be written.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    path = path.resolve()  # a link to the file stays one
    try:
        document = tomlkit.parse(path.read_text("utf-8") if path.is_file() else "")
    except (TOMLKitError, OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}", hint="correct the file or move it away") from None
    profiles = document.setdefault("profiles", tomlkit.table(is_super_table=True))
    table = profiles.setdefault(name, tomlkit.table())
    for key, value in fields.items():
        table[key] = list(value) if isinstance(value, tuple) else value
    with reported(str(path)):
        folder_for(path)
        replace_file(path, tomlkit.dumps(document).encode())
