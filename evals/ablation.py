"""What each part is worth: the same jobs, with one part taken out at a time (see `ours.taken_out`)."""

from __future__ import annotations

from evals.ours import LIBRARY, ORDER, PARTS, SILENCE, Rootrank

TITLES = {
    "cross_job": "comparison with healthy runs",
    "spatial": "comparison of nodes and ranks",
    "temporal": "comparison of iterations",
    SILENCE: "silence and lag",
    LIBRARY: "fault library",
    ORDER: "order by time",
}
"""The parts, in words."""

WHOLE = Rootrank()


def ablations() -> tuple[Rootrank, ...]:
    """The whole, then the whole without each part."""
    return (WHOLE, *(Rootrank(f"without {TITLES[part]}", without=frozenset({part})) for part in PARTS))
