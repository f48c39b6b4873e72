"""How much each template looks like a failure, before anything is known of who wrote it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from assistant.baselines.matching import has_failure_word
from assistant.events.models import Scan
from assistant.patterns.models import PatternResult

FATAL, KNOWN, WORDED, PLAIN = 1.0, 0.6, 0.5, 0.15
"""A fatal signature; another entry of the library; only an error word; nothing of the kind."""
NEW_TO_HEALTHY = 0.35
"""An ordinary-looking event that no healthy run shows."""
FAILURE_LIKE = 0.4
"""From here on a template is called failure-like."""
WENT_ON = 0.5
"""Factor for what the job went on after, for many iterations."""
LAST_ITERATIONS = 2
"""An event seen only in the last iterations is not one that the job went on after."""

Numbers = npt.NDArray[np.float64]


def failure_likeness(
    scan: Scan, protected: frozenset[int], cross: PatternResult | None, harmless: frozenset[int] = frozenset()
) -> Numbers:
    """0 to 1 for each template.

    Args:
        protected: templates that carry a fatal signature.
        cross: the comparison with healthy runs.
        harmless: templates that a library entry knows to be benign.
    """
    result = np.full(len(scan.templates), PLAIN)
    for template, known in indicated(scan).items():
        result[template] = KNOWN if known else WORDED
    result[[at for at in harmless if at < len(result)]] = PLAIN
    if cross is not None and cross.ran:
        result = _with_cross_job(result, cross)
    result *= np.where(_went_on(scan), WENT_ON, 1.0)
    held = [at for at in protected if 0 <= at < len(result)]
    result[held] = FATAL
    return result


def indicated(scan: Scan) -> dict[int, bool]:
    """Templates of indicators that a library entry matched (True) or that hold a word of failure (False).

    The gate that indicators pass is wider than that: it lets through all that could begin a failure.
    """
    found: dict[int, bool] = {}
    for indicator in scan.indicators:
        template = indicator.record.template
        if 0 <= template < len(scan.templates) and (indicator.faults or has_failure_word(indicator.record.text)):
            found[template] = found.get(template, False) or bool(indicator.faults)
    return found


def _with_cross_job(result: Numbers, cross: PatternResult) -> Numbers:
    scores = {event.template: event.score for event in cross.events}
    dropped = [at for at in cross.dropped if at < len(result)]
    for template, score in scores.items():
        raised = max(result[template], NEW_TO_HEALTHY) if score >= 1 else result[template]
        result[template] = raised * (0.5 + 0.5 * score)
    result[dropped] = 0.0
    return result


def _went_on(scan: Scan) -> npt.NDArray[np.bool_]:
    """Templates after whose last appearance, anywhere, training went on."""
    flags = np.zeros(len(scan.templates), dtype=np.bool_)
    ended = scan.counts.group_by("template").agg(pl.col("last_iteration").max(), pl.col("first_iteration").max())
    last = ended["last_iteration"].max()
    if not isinstance(last, int):
        return flags
    over = ended.filter(pl.col("last_iteration").fill_null(-1) < last - LAST_ITERATIONS)
    flags[over["template"].to_numpy()] = True
    return flags
