"""The loop of every server: a request a line in, an answer a line out. It runs in a rival's environment."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any


def serve(method: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answers each line of standard input with `method(request)`, timed."""
    for line in sys.stdin:
        began = time.perf_counter()
        try:
            answer = {"result": method(json.loads(line)), "seconds": time.perf_counter() - began, "bytes": _peak()}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


def _peak() -> int:
    """Largest resident size in bytes. Linux hands the parent's own peak on to `ru_maxrss`, but not to VmHWM."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
