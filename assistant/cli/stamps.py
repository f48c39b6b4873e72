"""What a session notes of the knowledge that shaped its answers."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assistant.faults.library import Library

LENGTH = 16


def library_stamp(library: Library) -> str:
    """Hash of the fault library."""
    digest = hashlib.sha256()
    for fault in library:
        digest.update(fault.model_dump_json().encode("utf-8", "backslashreplace"))
    return digest.hexdigest()[:LENGTH]


def knowledge_stamp() -> str:
    """Hash of the names, sizes and times of all knowledge files; their text is not read for it."""
    from assistant.paths import locate

    digest = hashlib.sha256()
    for folder in locate("knowledge"):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "examples" not in path.relative_to(folder).parts:
                about = path.stat()
                digest.update(
                    f"{path.relative_to(folder)}\0{about.st_size}\0{about.st_mtime_ns}\n".encode("utf-8", "replace")
                )
    return digest.hexdigest()[:LENGTH]
