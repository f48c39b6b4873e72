"""What the rivals that run inside this process have in common."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from evals.prediction import Prediction
from evals.rivals.lines import JobLog, open_job


def answer(job: Path, method: Callable[[JobLog], Prediction]) -> Prediction:
    """Reads the job, asks a method, and adds seconds and memory. Reading counts: the method needs it."""
    began = time.perf_counter()
    prediction = method(open_job(job))
    return replace(prediction, seconds=time.perf_counter() - began, bytes=peak_memory())


def peak_memory() -> int:
    """Largest resident size of this process so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
