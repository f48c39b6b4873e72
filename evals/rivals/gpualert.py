"""PyPI gpualert: a wrapper that names the failure class of one command from its exit code and what it printed.

It has no notion of ranks, stages or lines: it fills status and cause. It would have seen the exit code itself; here it
is told a non-zero one where a launcher reports a failed worker or a signal. Standard error is all files but those of
standard output, put together in time. It looks at the last 50 lines of each when it wraps a command; here it gets
everything, which finds more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from assistant.case.vocabulary import NO_CAUSE, UNKNOWN_CAUSE, Status
from evals.prediction import Context, Prediction
from evals.rivals.environments import Environment
from evals.rivals.lines import open_job
from evals.rivals.merged import merge
from evals.rivals.remote import ask

ENVIRONMENT = Environment(name="gpualert", requirement="gpualert==0.1.6")

CAUSES = {
    "GPU out-of-memory (CUDA OOM)": "memory.gpu_oom",
    "NCCL communication error": "network.unreachable",
    "CUDA runtime error": "hardware.gpu_fault",
    "System out-of-memory (RAM)": "memory.host_oom",
    "Segmentation fault": "process.segfault",
    "File not found": "storage.missing_path",
    "Permission denied": "storage.permission",
    "Missing Python module": "code.import",
    "Division by zero": "code.exception",
    "Tensor device mismatch": "code.device",
    "NaN detected in loss": "numerics.nan",
    "Process killed by OS (OOM)": "memory.host_oom",
    "Assertion failed": "code.exception",
    "Python RuntimeError": "code.exception",
    "Python exception (traceback)": "code.exception",
}
"""Its labels, each with the cause class that it means."""

_BROKEN = re.compile(rb"ChildFailedError|SignalException|exitcode: -?[1-9]|srun: error|DistNetworkError|DistStoreError")
_QUIET = re.compile(r"stdout|\bout(?:put)?\b")


@dataclass(frozen=True, slots=True)
class Gpualert:
    """Its classifier of what a job printed."""

    name: str = "gpualert"
    version: str = ENVIRONMENT.version
    fingerprint: str = f"gpualert/1/{ENVIRONMENT.version}"

    def predict(self, job: Path, baselines: tuple[Path, ...], context: Context) -> Prediction:
        """The answer for one job; healthy runs are not used. Merging the files does not count into the seconds.

        Raises RivalFailedError.
        """
        errors, output = context.scratch / "stderr.log", context.scratch / "stdout.log"
        broken = _split(job, context.scratch / "job.log", errors, output)
        request = {"stderr": str(errors), "stdout": str(output), "exit_code": int(broken)}
        reply = ask(ENVIRONMENT, "ask_gpualert.py", request, seconds=context.seconds)
        failed = broken
        cause = cause_of(str(reply.result["summary"])) if failed else NO_CAUSE
        status = Status.FAILED if failed else Status.HEALTHY
        return Prediction(status=status, cause=cause, seconds=reply.seconds, bytes=reply.bytes)


def cause_of(summary: str) -> str:
    """The cause class of its summary, whose first line is its label."""
    return CAUSES.get(summary.partition("\n")[0].strip(), UNKNOWN_CAUSE)


def _split(job: Path, merged: Path, errors: Path, output: Path) -> bool:
    """Writes the two streams and says whether the job's command must have ended badly."""
    places = merge(open_job(job), merged)
    broken = False
    with merged.open("rb") as lines, errors.open("wb") as err, output.open("wb") as out:
        for place, line in zip(places, lines, strict=True):
            broken = broken or _BROKEN.search(line) is not None
            (out if _QUIET.search(place.source.rpartition("/")[2]) else err).write(line)
    return broken
