"""Local ranks become ranks: by the launcher's table or failure block, by a fellow's rank, or as the last left.

torchrun numbers the workers of one launcher through, so that one whose rank is known tells those of all beside it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assistant.intake.claims import Claim
from assistant.intake.launchers import Launch, Maps
from assistant.intake.models import WriterKind
from assistant.intake.topology import Topology

Worker = tuple[str, int]
"""A team's name and a local rank in it."""


@dataclass(slots=True)
class Team:
    """The workers of one launcher, and the launcher's own stream where it is known."""

    name: str
    workers: list[Claim] = field(default_factory=list)
    launcher: Claim | None = None


def rank_workers(claims: Sequence[Claim], maps: Maps, shape: Topology) -> None:
    """Fill in ranks (and the launcher's host) of all streams whose local rank is known."""
    teams = _teams(claims)
    for team in teams:
        _share_files(team)
        _from_table(team, maps, len(teams))
        _from_offset(team)
        _take_host(team)
    if shape.nodes == 1 or (shape.world_size and shape.world_size == shape.ranks_per_node):
        for claim in claims:
            claim.take("rank", claim.local, "its local rank, in a job of one node")
    _from_elimination(teams, shape)


def _outer(claim: Claim) -> str:
    """The label that the launcher around a worker carries too."""
    return ";".join(f"{part}={value}" for part, value in claim.parts.items() if part in ("task", "node", "pod"))


def _team_name(claim: Claim) -> str:
    if claim.origin.local_rank is not None:
        return f"folder {claim.origin.folder}"
    return f"label {claim.stream.group} {_outer(claim)}"


def _teams(claims: Sequence[Claim]) -> list[Team]:
    found: dict[str, Team] = {}
    for claim in claims:
        if claim.local is not None:
            name = _team_name(claim)
            found.setdefault(name, Team(name)).workers.append(claim)
    teams = list(found.values())
    by_label: dict[str, list[Claim]] = defaultdict(list)
    by_folder: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        if claim.local is None and _is_launcher(claim):
            by_label[f"label {claim.stream.group} {_outer(claim)}"].append(claim)
            by_folder[claim.origin.folder].append(claim)
    for team in teams:
        team.launcher = _launcher_of(team, by_label, by_folder)
    led = Counter(id(team.launcher) for team in teams)
    for team in teams:
        if led[id(team.launcher)] > 1:
            team.launcher = None
    return teams


def _is_launcher(claim: Claim) -> bool:
    lines = any(fact.get("dialect") in ("torchrun", "deepspeed") for fact in claim.facts)
    return lines or claim.origin.kind is WriterKind.LAUNCHER


def _launcher_of(
    team: Team, by_label: Mapping[str, Sequence[Claim]], by_folder: Mapping[str, Sequence[Claim]]
) -> Claim | None:
    """On the same label in the same source; else the one in the nearest folder above, on the same node if both say."""
    worker = team.workers[0]
    if worker.origin.local_rank is None:
        here = by_label.get(team.name, ())
        return here[0] if len(here) == 1 else None
    for folder in _folders_up(worker.origin.folder):
        here = [claim for claim in by_folder.get(folder, ()) if _same_node(claim, worker)]
        if here:
            return here[0] if len(here) == 1 else None
    return None


def _folders_up(folder: str) -> list[str]:
    """The folder, its parent, and so on to the top."""
    parts = folder.split("/") if folder else []
    return ["/".join(parts[:length]) for length in range(len(parts), -1, -1)]


def _same_node(one: Claim, other: Claim) -> bool:
    return one.node is None or other.node is None or one.node == other.node


def _attempt(claim: Claim) -> int:
    return claim.origin.attempt or 0


def _share_files(team: Team) -> None:
    """The files and labels of one worker in one attempt share its rank."""
    ranks: dict[tuple[int, int | None], set[int]] = defaultdict(set)
    for claim in team.workers:
        if claim.rank is not None:
            ranks[_attempt(claim), claim.local].add(claim.rank)
    for claim in team.workers:
        known = ranks[_attempt(claim), claim.local]
        if len(known) == 1:
            claim.take("rank", next(iter(known)), "the rank label on other lines of the same worker")


def _from_table(team: Team, maps: Maps, teams: int) -> None:
    """The rendezvous result that the team's launcher printed, or the only launcher there is."""
    own = [launch for launch in maps.launches if team.launcher and launch.stream == team.launcher.stream.id]
    if not own and teams == 1 and len({launch.stream for launch in maps.launches}) == 1:
        own = maps.launches
    for claim in team.workers:
        launch = _of_attempt(own, claim.origin.attempt)
        if launch and claim.local in launch.ranks:
            how = f"the launcher's rendezvous result, line {launch.line}"
            claim.take("rank", launch.ranks[claim.local], how)


def _of_attempt(launches: Sequence[Launch], attempt: int | None) -> Launch | None:
    """The launch of an attempt; the last one for lines that name none."""
    if attempt is None or len(launches) == 1:
        return launches[-1] if launches else None
    return next((launch for launch in reversed(launches) if launch.restart == attempt), None)


def _pairs(team: Team) -> set[tuple[int, int]]:
    """(rank, local rank) of fellow workers, known from their labels or from the launcher's failure block."""
    pairs = {(c.rank, c.local) for c in team.workers if c.rank is not None and c.local is not None}
    for fact in team.launcher.facts if team.launcher else []:
        if fact.get("dialect") == "torchrun" and fact.get("rank") and fact.get("local_rank"):
            pairs.add((int(fact["rank"]), int(fact["local_rank"])))
    return pairs


def _from_offset(team: Team) -> None:
    pairs = _pairs(team)
    offsets = {rank - local for rank, local in pairs}
    if len(offsets) != 1 or min(offsets) < 0:
        return
    offset, (rank, local) = next(iter(offsets)), min(pairs)
    for claim in team.workers:
        if claim.local is not None:
            claim.take("rank", claim.local + offset, f"its launcher, whose local rank {local} is rank {rank}")


def _take_host(team: Team) -> None:
    """The host in the launcher's failure block is its own: each launcher reports its own workers only."""
    facts = team.launcher.facts if team.launcher else []
    hosts = {fact["host"] for fact in facts if fact.get("dialect") == "torchrun" and fact.get("host")}
    if len(hosts) == 1:
        for claim in [*team.workers, *([team.launcher] if team.launcher else [])]:
            claim.take("node", next(iter(hosts)), "its launcher's failure block")


def _from_elimination(teams: Sequence[Team], shape: Topology) -> None:
    """The one worker without a rank has the one rank that is left, where all the others are known."""
    workers: dict[Worker, list[Claim]] = defaultdict(list)
    for team in teams:
        for claim in team.workers:
            workers[team.name, claim.local or 0].append(claim)
    ranks = _ranks_of(workers)
    open_workers = [worker for worker in workers if worker not in ranks]
    left = set(range(len(workers))) - set(ranks.values())
    complete = shape.world_size in (None, len(workers)) and len(set(ranks.values())) == len(ranks)
    if complete and len(open_workers) == len(left) == 1 and len(workers) > 1:
        for claim in workers[open_workers[0]]:
            claim.take("rank", next(iter(left)), f"being the only one left of {len(workers)} workers")


def _ranks_of(workers: Mapping[Worker, Sequence[Claim]]) -> dict[Worker, int]:
    found = {}
    for worker, claims in workers.items():
        ranks = [claim.rank for claim in claims if claim.rank is not None]
        if ranks:
            found[worker] = ranks[-1]
    return found
