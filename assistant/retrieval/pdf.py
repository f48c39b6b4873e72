"""Text of a PDF, read by a child process bound in time and memory: the format is large, its files may be hostile.

`python -m assistant.retrieval.pdf FILE PAGES` is that child.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import orjson

from assistant.errors import InputError, ModelMissing

MEMORY = 2 << 30
"""Address space of the child, bytes."""
LONGEST = 8 << 20
"""Characters that are kept of all pages."""
_HINT = "convert it to text, or leave it out"


def pages_of(path: Path, pages: int, seconds: float) -> list[str]:
    """The text of each page, at most so many.

    Raises:
        ModelMissing: pypdf is not installed.
        InputError: it is no PDF, is encrypted, or took too long; names the file.
    """
    command = [sys.executable, "-m", "assistant.retrieval.pdf", str(path.absolute()), str(pages)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise InputError(f"{path}: took longer than {seconds:g} s", hint="raise retrieval.pdf_seconds") from None
    try:
        answer = orjson.loads(done.stdout)
    except orjson.JSONDecodeError:
        raise InputError(f"{path}: reading it needs too much memory or time", hint=_HINT) from None
    if answer.get("missing"):
        raise ModelMissing("pypdf is not installed, so PDFs are not read", hint="pip install 'rootrank[retrieval]'")
    if "error" in answer:
        raise InputError(f"{path}: {answer['error']}", hint=_HINT)
    return [str(page) for page in answer["pages"]]


def _read(path: str, most: int) -> dict[str, object]:
    try:
        from pypdf import PdfReader
    except ImportError:
        return {"missing": True}
    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            return {"error": "it is encrypted"}
        texts, room = [], LONGEST
        for page in reader.pages[:most]:
            texts.append(page.extract_text()[: max(room, 0)])
            room -= len(texts[-1])
        return {"pages": texts}
    except Exception as error:  # the library raises many kinds for broken files
        return {"error": f"not a readable PDF: {' '.join(str(error).split())[:200] or type(error).__name__}"}


def main() -> None:
    """Prints the pages, or what was wrong, as JSON."""
    import logging

    logging.disable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        answer = _read(sys.argv[1], int(sys.argv[2]))
    except (MemoryError, RecursionError):
        answer = {"error": "reading it needs too much memory"}
    text = orjson.dumps({"pages": [_plain(page) for page in answer["pages"]]} if "pages" in answer else answer)  # type: ignore[attr-defined]
    sys.stdout.buffer.write(text)


def _plain(text: str) -> str:
    """Without lone surrogates, which JSON cannot hold."""
    return text.encode("utf-8", "replace").decode()


if __name__ == "__main__":
    main()
