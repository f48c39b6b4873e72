"""All sources of signals, with one pass over what they want to read."""

from __future__ import annotations

from assistant.events.models import Scan
from assistant.intake.models import Discovery
from assistant.signals import exits, settings, torchelastic
from assistant.signals.models import Signal
from assistant.signals.windows import Place, read_around

EMPTY = "empty"
"""Why discovery did not list a source: it has no byte."""


def read_signals(scan: Scan, discovery: Discovery | None = None) -> tuple[Signal, ...]:
    """Every signal, source by source, in a stable order. The discovery tells which ranks wrote nothing at all."""
    empty = tuple(unread.source for unread in discovery.unread if unread.why == EMPTY) if discovery else ()
    wanted: dict[int, list[Place]] = {}
    for places in (torchelastic.places(scan), exits.places(scan)):
        for source, found in places.items():
            wanted[source] = sorted({*wanted.get(source, ()), *found})
    lines = read_around(scan.sources, wanted)
    return (*torchelastic.read(scan, lines, empty), *exits.read(scan, lines), *settings.read(scan))
