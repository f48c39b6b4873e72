"""The theory that one node ran with other settings, or another version, than all others.

It is tried where ranks waited for each other and none stands out by silence: a rank that computes with another batch or
another library makes collectives that do not fit, and every rank reports the same.
"""

from __future__ import annotations

from assistant.case.vocabulary import Confidence, EvidenceClass
from assistant.diagnosis.models import Place
from assistant.diagnosis.theory import Bench, Blamed, Theory
from assistant.signals.models import Signal, SignalKind
from assistant.signals.settings import VERSION

SCORE = 0.75
OF_A_STAGE = "layer"
"""The stages of a pipeline may hold different numbers of them."""


def settings_theory(bench: Bench) -> Theory | None:
    """A single node whose settings differ, while ranks report that they waited; None otherwise."""
    staged = (bench.findings.topology.pp or 1) > 1
    settings = [signal for signal in bench.findings.signals if signal.kind is SignalKind.SETTING]
    odd = [signal for signal in settings if not (staged and OF_A_STAGE in signal.value.split("=", 1)[0])]
    places = {_place(signal, bench) for signal in odd}
    if len(places) != 1 or not any(group.waits for group in bench.groups):
        return None
    reasons = tuple(f"its log says {signal.value}" for signal in odd)
    versions = all(signal.value.split("=", 1)[0].endswith(VERSION) for signal in odd)
    return Theory(
        cause="platform.version_mismatch" if versions else "config.argument",
        title="ran with another version than all others" if versions else "ran with other settings than all others",
        confidence=Confidence.MEDIUM,
        evidence_class=EvidenceClass.LOGS,
        blamed=(Blamed(places.pop(), SCORE, reasons, signals=tuple(odd)),),
        reasons=reasons,
        missing=("the configuration and package list of that node, compared with another",),
    )


def _place(signal: Signal, bench: Bench) -> Place:
    ranks = bench.people.ranks_on(signal.node) if signal.node else frozenset()
    rank = signal.rank if signal.rank is not None else next(iter(ranks)) if len(ranks) == 1 else None
    return Place(signal.node, rank)
