"""Keyword grep: what an engineer types first. Every line with one of the words is an event; with none, all is well."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from assistant.case.vocabulary import Status
from evals.prediction import Context, Prediction, flags
from evals.rivals.lines import JobLog
from evals.rivals.local import answer

WORDS = (
    r"error|exception|traceback|fatal|fail(?:ed|ure|ing)?\b|abort|panic|critical|segfault|segmentation fault"
    r"|core dumped|killed|out of memory|\boom\b|time ?out|timed out|unreachable|refused|\bnan\b|\bxid\b"
)
_KEYWORDS = re.compile(WORDS, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Grep:
    """`grep -riE` over all files."""

    name: str = "grep"
    version: str = "20 words"
    fingerprint: str = f"grep/{WORDS}"

    def predict(self, job: Path, baselines: tuple[Path, ...], context: Context) -> Prediction:
        """The answer for one job; healthy runs are not used."""
        return answer(job, _hits)


def _hits(log: JobLog) -> Prediction:
    events = flags((line.source, line.number) for line in log.lines() if _KEYWORDS.search(line.text))
    return Prediction(status=Status.FAILED if events else Status.HEALTHY, events=events)
