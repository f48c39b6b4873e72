"""How fast is the index built, opened again and asked, and how fast is it with 100,000 passages?

`python -m evals.retrieval.bench [--embedder minilm] [--passages 100000]` uses a folder of its own and prints Markdown.
The large index holds made-up pages of words drawn by rank (few are common, most rare) and ready vectors; the query is
the whole of it, words and codes and nearest vectors.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assistant.config import Retrieval, Settings, Storage
from assistant.retrieval.cache import Cache
from assistant.retrieval.corpus import Corpus
from assistant.retrieval.documents import Document, Section
from assistant.retrieval.embedders import unit
from assistant.retrieval.index import Wanted, open_index
from assistant.retrieval.models import Query
from assistant.retrieval.opening import open_search
from assistant.retrieval.search import Searcher
from assistant.retrieval.tuning import tuning
from assistant.retrieval.vectors import Vectors

QUESTIONS = (
    "babiba ZZ001230 dedo kuli rare fagobu",
    "Xid 79",
    "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', GPU has fallen off the bus",
    "all ranks wait in an all-reduce and none says why",
    "exit code 137",
    "the checkpoint cannot be read after the volume ran full",
)
REPEATS = 10
DIMENSIONS = 384
VOCABULARY = 20_000
_CONSONANTS = "bdfgklmnprst"
BARS = {"build": 60.0, "reopen": 1.0, "query": 0.050, "large": 0.150}
"""Seconds."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Vectors that cost nothing: what is measured is the store. The same text gives the same vector."""

    id: str = f"drawn/{DIMENSIONS}"

    def documents(self, texts: Sequence[str]) -> Vectors:
        """One row a text."""
        return np.stack([self.query(text) for text in texts])

    def query(self, text: str) -> Vectors:
        """The vector of one text."""
        seed = int.from_bytes(text.encode()[:64], "big")
        return unit(np.random.default_rng(seed).standard_normal(DIMENSIONS, dtype=np.float32))


def seconds_of(work: Callable[[], object]) -> float:
    """How long something takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def queries(searcher: Searcher) -> list[float]:
    """Seconds of each warm query."""
    for text in QUESTIONS:
        searcher.search(Query(text=text))
    return [seconds_of(lambda text=text: searcher.search(Query(text=text))) for text in QUESTIONS * REPEATS]  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class MadeUp(Wanted):
    """An index of made-up documents that no file holds."""

    passages: int = 0

    def stamp(self) -> str:
        """Of their number alone."""
        return f"made up {self.passages}"

    def gather(self) -> Corpus:
        """The same documents every time."""
        return Corpus(tuple(made_up(self.passages // 2)))


def made_up(documents: int) -> Iterator[Document]:
    """Documents of two passages each, the text and the title: words by rank, every tenth with a code of its own."""
    draw = random.Random(7)
    words = ["".join(letters) for letters in itertools.product(*[_CONSONANTS, "aeiou"] * 3)][:VOCABULARY]
    weights = list(itertools.accumulate(1 / rank for rank in range(1, len(words) + 1)))
    for number in range(documents):
        chosen = draw.choices(words, cum_weights=weights, k=65)
        codes = (f"ZZ{number:06d}",) if number % 10 == 0 else ()
        title, text = " ".join(chosen[:5]), " ".join(chosen[5:])
        yield Document(f"p{number}", "doc", title, (Section("", text),), codes=codes)


def small(data: Path, embedder: str) -> list[tuple[str, float, float]]:
    """Everything that ships: build, open again, ask."""
    settings = Settings(storage=Storage(data_dir=data), retrieval=Retrieval.model_validate({"embedder": embedder}))
    spent = time.process_time()
    built = seconds_of(lambda: open_search(settings).close())
    spent = time.process_time() - spent
    opened: list[Searcher] = []
    again = seconds_of(lambda: opened.append(open_search(settings)))
    asked = queries(opened[0])
    opened[0].close()
    return [
        (f"building the index of everything, {embedder}", built, BARS["build"]),
        ("of that, processor time of all threads", spent, float("nan")),
        ("opening it again", again, BARS["reopen"]),
        ("a warm query, median", statistics.median(asked), BARS["query"]),
        ("a warm query, slowest", max(asked), BARS["query"]),
    ]


def large(folder: Path, passages: int) -> list[tuple[str, float, float]]:
    """Many passages with ready vectors."""
    wanted = MadeUp(tuning(), Drawn(), passages=passages)
    cache = Cache(folder / "large")
    built = seconds_of(lambda: open_index(cache, wanted).close())
    searcher = Searcher(open_index(cache, wanted), wanted)
    asked = queries(searcher)
    searcher.close()
    return [
        (f"building {passages:,} passages with ready vectors", built, float("nan")),
        (f"a warm query over {passages:,}, median", statistics.median(asked), BARS["large"]),
        (f"a warm query over {passages:,}, slowest", max(asked), BARS["large"]),
    ]


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--passages", type=int, default=100_000, help="0 leaves the large index out")
    options = parser.parse_args()
    print("| what | bar | measured |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        told(small(Path(folder, "small"), options.embedder))
        if options.passages:
            told(large(Path(folder), options.passages))


def told(rows: list[tuple[str, float, float]]) -> None:
    """Prints rows of the table as soon as they are known."""
    for what, seconds, bar in rows:
        print(f"| {what} | {'' if bar != bar else f'{bar:g} s'} | {seconds:.3f} s |", flush=True)


if __name__ == "__main__":
    main()
