"""Files that several processes wrote, and folders whose files all come from one.

Where only rank 0 announces itself in a console that all ranks share, its announcement says nothing about the other
unlabelled lines.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from assistant.intake.claims import Claim
from assistant.intake.launchers import Fact

_STANDARD = re.compile(r"(?:std)?(?:out|err)(?:put|or)?(?:\.(?:log|txt))?$", re.I)


@dataclass(frozen=True, slots=True)
class Crowds:
    """What shows that several processes wrote into a group of sources."""

    labels: dict[str, frozenset[str]] = field(default_factory=dict)
    """The rank labels in each group, and the ranks that launchers in it name as their workers."""
    launched: frozenset[str] = frozenset()
    """Groups in which a launcher speaks of several workers of its own."""

    def holds(self, claim: Claim, stated: Iterable[str]) -> bool:
        """Whether unlabelled lines are not one process's, although they state a rank."""
        if claim.origin.names_one_process:
            return False
        ranks = self.labels.get(claim.stream.group, frozenset())
        return claim.stream.group in self.launched or bool(ranks - set(stated))


def crowds(claims: Sequence[Claim]) -> Crowds:
    """Gather the evidence from labels and launchers' lines."""
    labels: dict[str, set[str]] = defaultdict(set)
    launched: set[str] = set()
    for claim in claims:
        if claim.parts.get("rank"):
            labels[claim.stream.group].add(claim.parts["rank"])
        if not claim.parts:
            labels[claim.stream.group] |= {f["rank"] for f in claim.facts if f.get("rank") and _of_launcher(f)}
        if not claim.parts and any(_speaks_of_several(fact) for fact in claim.facts):
            launched.add(claim.stream.group)
    return Crowds({group: frozenset(ranks) for group, ranks in labels.items()}, frozenset(launched))


def _of_launcher(fact: Fact) -> bool:
    return fact.get("dialect") in ("torchrun", "deepspeed")


def _speaks_of_several(fact: Fact) -> bool:
    if not _of_launcher(fact):
        return False
    if fact.get("local_rank", "0") != "0":
        return True
    try:
        return len(ast.literal_eval(fact.get("local_ranks", "[]"))) > 1
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False


def share_folders(claims: Sequence[Claim]) -> None:
    """`stdout` and `stderr` in a folder of their own come from one process: the one tells the other's rank."""
    folders: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        folders[claim.stream.group.rpartition("/")[0]].append(claim)
    for folder, members in folders.items():
        names = {claim.stream.group.rpartition("/")[2] for claim in members}
        known = {claim.rank for claim in members} - {None}
        if folder and len(known) == 1 and len(names) > 1 and all(_STANDARD.match(name) for name in names):
            for claim in members:
                if not claim.mixed:
                    claim.take("rank", next(iter(known)), "the other stream of its process in the same folder")
