"""What is known of each stream while its writer is being identified."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from assistant.intake.launchers import Fact
from assistant.intake.models import Source, Stream
from assistant.intake.numerals import LARGEST, whole
from assistant.intake.origins import Origin, origins
from assistant.intake.prefixes import parse_key

_SPOKEN = {"local": "local rank"}


@dataclass(slots=True)
class Claim:
    """What is known of one stream so far."""

    stream: Stream
    origin: Origin
    parts: dict[str, str]
    facts: list[Fact]
    node: str | None = None
    rank: int | None = None
    local: int | None = None
    task: int | None = None
    device: str | None = None
    process: str | None = None
    how: list[str] = field(default_factory=list)
    mixed: bool = False
    """Its own lines name several ranks: several processes wrote it."""

    def take(self, name: str, value: object, how: str) -> None:
        """Accept a value unless a better source gave one, or it is a number that no rank can have."""
        if isinstance(value, int) and not 0 <= value <= LARGEST:
            return
        if value is not None and getattr(self, name) is None:
            setattr(self, name, value)
            self.how.append(f"{_SPOKEN.get(name, name)} from {how}")


def make_claims(streams: Sequence[Stream], sources: Sequence[Source], facts: Sequence[Fact]) -> list[Claim]:
    """One claim a stream, in the same order."""
    by_path = origins(sources)
    own: dict[int, list[Fact]] = defaultdict(list)
    for fact in facts:
        own[int(fact.get("stream") or 0)].append(fact)
    return [
        Claim(stream, by_path.get(stream.first_source, Origin()), parse_key(stream.key), own[stream.id])
        for stream in streams
    ]


def integer(text: str | None) -> int | None:
    """The number that a text of digits spells."""
    return whole(text)
