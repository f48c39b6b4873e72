"""How fast is `diagnose`, and how much memory does it take, beside Drain3 alone and beside `grep -c`?

`python -m evals.bench --gb 1` writes made-up jobs (see `generate`) into a temporary folder, which is kept and used
again, measures everything on the same files in one run, each in a process of its own, and prints Markdown.
Drain3 reads a sample, because it would take many minutes for all; its rate is that of the sample.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evals.generate import GUILTY, Shape, generate

MB = 1_000_000
SAMPLE_MB = 20
FILES, SMALL_FILES = 256, 4_096


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurement. `note` is what was found, to show that work was done."""

    seconds: float
    megabytes: float
    peak_mb: float
    note: str

    @property
    def rate(self) -> float:
        """MB a second."""
        return self.megabytes / self.seconds


def measure_diagnose(logs: Path) -> Measured:
    """The whole way from files to a Case."""
    from assistant.pipeline import diagnose

    started = time.perf_counter()
    case = diagnose([str(logs)])
    seconds = time.perf_counter() - started
    blamed = ", ".join(f"rank {suspect.rank}" for suspect in case.suspects) or "nobody"
    return _measured(seconds, case.timing.bytes, f"{case.verdict.cause}, {blamed}")


def measure_scan(logs: Path) -> Measured:
    """Only the pass over the lines."""
    from assistant.events.scan import scan
    from assistant.faults.library import load_library
    from assistant.faults.matcher import Matcher
    from assistant.intake.dialects import load_dialects
    from assistant.intake.discover import discover

    started = time.perf_counter()
    found = scan(discover([str(logs)]), load_dialects(), Matcher(load_library()))
    seconds = time.perf_counter() - started
    return _measured(seconds, found.bytes, f"{found.lines:,} lines, {len(found.templates):,} templates")


def measure_drain(logs: Path) -> Measured:
    """Drain3 alone as its documentation shows it, with the same masks, on the first lines of each file."""
    from drain3 import TemplateMiner
    from drain3.masking import MaskingInstruction
    from drain3.template_miner_config import TemplateMinerConfig

    from assistant.events.masks import MASKS

    config = TemplateMinerConfig()
    config.masking_instructions = [MaskingInstruction(mask.pattern, mask.put.strip("<>")) for mask in MASKS]
    miner = TemplateMiner(config=config)
    lines = list(_sample_lines(logs))
    started = time.perf_counter()
    for line in lines:
        miner.add_log_message(line)
    seconds = time.perf_counter() - started
    size = sum(len(line.encode()) + 1 for line in lines)
    return _measured(seconds, size, f"a sample, {len(lines):,} lines, {len(miner.drain.clusters):,} templates")


def measure_grep(logs: Path) -> Measured:
    """`grep -c` for one word."""
    files = sorted(str(path) for path in logs.iterdir())
    started = time.perf_counter()
    done = subprocess.run(["grep", "-c", "Traceback", *files], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    hits = sum(int(line.rpartition(":")[2]) for line in done.stdout.splitlines())
    return _measured(seconds, sum(Path(name).stat().st_size for name in files), f"{hits} lines")


def _sample_lines(logs: Path) -> Iterator[str]:
    files = sorted(logs.iterdir())
    for path in files:
        with path.open("rb") as data:
            part = data.read(SAMPLE_MB * MB // len(files))
        yield from part.decode().splitlines()


def _measured(seconds: float, size: int, note: str) -> Measured:
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Measured(seconds, size / MB, own / 1_000, note)


MEASURES = {"diagnose": measure_diagnose, "scan": measure_scan, "drain": measure_drain, "grep": measure_grep}


def measure(what: str, logs: Path, times: int = 1) -> Measured:
    """The median of several measurements, each in a new process."""
    found = []
    for _ in range(times):
        command = [sys.executable, "-m", "evals.bench", "--measure", what, "--logs", str(logs)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found.append(Measured(**json.loads(done.stdout)))
    middle = statistics.median_low([each.seconds for each in found])
    return next(each for each in found if each.seconds == middle)


def compare(folder: Path, gigabytes: float) -> Iterator[tuple[str, Measured]]:
    """All measurements; the largest job is made and measured last."""
    shapes = [Shape(int(gigabytes * part * 1_000) * MB) for part in (0.25, 0.5, 1.0)]
    for shape, times in zip(shapes, (3, 3, 1), strict=True):
        logs = generate(folder, shape)
        yield f"diagnose, {shape.size / MB:,.0f} MB in {FILES} files", measure("diagnose", logs, times)
    small = generate(folder, Shape(shapes[-1].size, files=SMALL_FILES))
    yield f"diagnose, {shapes[-1].size / MB:,.0f} MB in {SMALL_FILES:,} files", measure("diagnose", small)
    logs = generate(folder, shapes[-1])
    yield "the scan alone", measure("scan", logs)
    yield "Drain3 alone, same masks", measure("drain", logs)
    yield "`grep -c`", measure("grep", logs)


def table(rows: Iterable[tuple[str, Measured]]) -> str:
    """The measurements as Markdown."""
    lines = ["| what | MB | seconds | MB/s | peak memory, MB | found |", "| --- | --- | --- | --- | --- | --- |"]
    for name, each in rows:
        cells = f"{each.megabytes:,.0f} | {each.seconds:,.1f} | {each.rate:,.1f} | {each.peak_mb:,.0f} | {each.note}"
        lines.append(f"| {name} | {cells} |")
    return "\n".join(lines)


def summary(rows: list[tuple[str, Measured]]) -> str:
    """What the bars ask for, from the same measurements."""
    quarter, _, whole, small, _, drain, _ = (each for _, each in rows)
    return "\n".join(
        (
            f"- {whole.rate:.0f} MB/s end to end; {whole.rate / drain.rate:.0f} times Drain3 alone with the same masks",
            f"- four times the size takes {whole.seconds / quarter.seconds:.1f} times as long",
            f"- {SMALL_FILES:,} small files take {small.seconds / whole.seconds:.2f} times as long as {FILES} files",
            f"- peak memory {max(each.peak_mb for _, each in rows):,.0f} MB",
            f"- planted: rank {GUILTY} runs out of GPU memory",
        )
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gb", type=float, default=1.0, help="size of the largest job")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "rootrank-bench")
    parser.add_argument("--measure", choices=MEASURES, help="one measurement, printed as JSON")
    parser.add_argument("--logs", type=Path, help="what to measure")
    options = parser.parse_args()
    if options.measure:
        found = MEASURES[options.measure](options.logs)
        sys.stdout.write(
            json.dumps({name: getattr(found, name) for name in ("seconds", "megabytes", "peak_mb", "note")})
        )
        return
    rows = []
    for row in compare(options.folder, options.gb):
        rows.append(row)
        sys.stderr.write(f"{row[0]}: {row[1].seconds:.1f} s, {row[1].rate:.1f} MB/s\n")
    sys.stdout.write(f"{table(rows)}\n\n{summary(rows)}\n")


if __name__ == "__main__":
    main()
