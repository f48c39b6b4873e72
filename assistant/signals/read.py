"""All sources of signals, with one pass over what they want to read."""

from __future__ import annotations

from assistant.events.models import Scan
from assistant.signals import exits, torchelastic
from assistant.signals.models import Signal
from assistant.signals.windows import Place, read_around


def read_signals(scan: Scan) -> tuple[Signal, ...]:
    """Every signal, source by source, in a stable order."""
    wanted: dict[int, list[Place]] = {}
    for places in (torchelastic.places(scan), exits.places(scan)):
        for source, found in places.items():
            wanted[source] = sorted({*wanted.get(source, ()), *found})
    lines = read_around(scan.sources, wanted)
    return (*torchelastic.read(scan, lines), *exits.read(scan, lines))
