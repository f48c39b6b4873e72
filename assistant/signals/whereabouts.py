"""Who is meant: nodes and global ranks for the local ranks, folders, hosts and pids that launchers speak of."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from assistant.events.models import Record, Scan
from assistant.intake.models import Source, Stream
from assistant.intake.numerals import whole
from assistant.signals.windows import known_records

RANK_FOLDER = re.compile(
    r"^(?P<run>.*?)(?P<attempt_folder>(?:^|/|!)attempt_(?P<attempt>\d{1,4}))/(?P<local>\d{1,4})/[^/]+$"
)
"""torchrun's log tree: `<run>/attempt_0/3/stderr.log`."""


@dataclass(frozen=True, slots=True)
class RankFolder:
    """The folder that one worker of one attempt has in torchrun's log tree."""

    run: str
    attempt: int
    local_rank: int

    @property
    def tail(self) -> str:
        """What the same folder's path ends with on the machine that wrote it: the run folder has a random name."""
        return f"{self.run.rpartition('/')[2]}/attempt_{self.attempt}/{self.local_rank}"


def order(folder: RankFolder) -> tuple[str, int, int]:
    """Sort key of folders."""
    return folder.run, folder.attempt, folder.local_rank


def rank_folder(name: str) -> RankFolder | None:
    """The rank folder that a source name or a path lies in."""
    found = RANK_FOLDER.match(name)
    if found is None:
        return None
    return RankFolder(found["run"], int(found["attempt"]), int(found["local"]))


@dataclass(slots=True)
class Whereabouts:
    """Identities known from the scan, to which the launchers' own words are added as they are read."""

    scan: Scan
    empty: tuple[str, ...] = ()
    """Names of sources without a byte."""
    folders: dict[RankFolder, int | None] = field(default_factory=dict)
    """Global rank by folder; None where it is not known yet."""
    nodes: dict[int, str] = field(default_factory=dict)
    """Node by global rank."""
    _records: dict[int, list[Record]] = field(default_factory=dict)
    _by_group: dict[str, list[Stream]] = field(default_factory=dict)
    _beside: dict[str, list[RankFolder]] = field(default_factory=dict)
    _tails: dict[str, list[RankFolder]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for stream in self.scan.streams:
            self._by_group.setdefault(stream.group, []).append(stream)
            if stream.rank is not None and stream.node is not None:
                self.nodes.setdefault(stream.rank, stream.node)
        for source in self.scan.sources:
            if folder := rank_folder(source.name):
                known = self.folders.get(folder)
                self.folders[folder] = known if known is not None else self._rank_of_group(source.group)
        for name in self.empty:
            if folder := rank_folder(name):
                self.folders.setdefault(folder, None)
        for folder in self.folders:
            self._tails.setdefault(folder.tail, []).append(folder)
        for record in known_records(self.scan):
            self._records.setdefault(record.source, []).append(record)
        for records in self._records.values():
            records.sort(key=lambda record: record.line)

    def _rank_of_group(self, group: str) -> int | None:
        ranks = {stream.rank for stream in self._by_group.get(group, ()) if stream.rank is not None}
        return ranks.pop() if len(ranks) == 1 else None

    @property
    def world_size(self) -> int | None:
        """The number of ranks, where all lines that state it agree."""
        stated = {size for fact in self.scan.facts if (size := whole(fact.get("world_size"))) is not None}
        return stated.pop() if len(stated) == 1 else None

    def node(self, source: Source, host: str = "", rank: int | None = None) -> str | None:
        """The node's name as the rest of the case uses it; the launcher's host name where nothing else is known."""
        if rank is not None and rank in self.nodes:
            return self.nodes[rank]
        streams = [stream for stream in self._by_group.get(source.group, ()) if stream.node is not None]
        for own in (
            {stream.node for stream in streams if not stream.key},
            {host} if host else {s.node for s in streams},
        ):
            if len(own) == 1:
                return own.pop()
        return None

    def node_of_folder(self, folder: RankFolder) -> str | None:
        """The node of a log tree: that of any stream in it, since a launcher runs on one node."""
        inside = f"{folder.run}/"
        found = {s.node for s in self.scan.streams if s.node is not None and s.group.startswith(inside)}
        return found.pop() if len(found) == 1 and folder.run else None

    def global_rank(self, node: str | None, local_rank: int) -> int | None:
        """The rank that streams of a node show for a local rank; with one known node local ranks are global."""
        found = {
            s.rank for s in self.scan.streams if s.local_rank == local_rank and s.node == node and s.rank is not None
        }
        return found.pop() if len(found) == 1 else None

    def record_before(self, source: int, line: int) -> Record | None:
        """The record at the line, or the nearest one before it in the same source."""
        records = self._records.get(source, [])
        position = bisect_right(records, line, key=lambda record: record.line)
        return records[position - 1] if position else None

    def learn_host(self, rank: int, host: str) -> None:
        """Takes over the host that a launcher names for a rank whose node nothing else tells."""
        if host:
            self.nodes.setdefault(rank, host)

    def learn(self, error_file: str | None, rank: int) -> None:
        """Takes over that an error file at this path is the given rank's."""
        folder = rank_folder(error_file) if error_file else None
        for known in self._tails.get(folder.tail, ()) if folder else ():
            self.folders[known] = rank

    def learn_map(self, source: Source, ranks: dict[int, int]) -> None:
        """Takes over a launcher's local-to-global map for the log trees that lie beside its console."""
        near = self._near(source)
        if len({folder.run for folder in near}) != 1:
            return
        for folder in near:
            if self.folders[folder] is None and ranks.get(folder.local_rank, -1) >= 0:
                self.folders[folder] = ranks[folder.local_rank]

    def ranks_beside(self, source: Source) -> set[int]:
        """Global ranks of the log trees below the folder that a launcher's console lies in."""
        return {rank for folder in self._near(source) if (rank := self.folders[folder]) is not None}

    def rank_beside(self, source: Source, local_rank: int) -> int | None:
        """Global rank of a local one in the log trees below the folder that a launcher's console lies in."""
        near = [folder for folder in self._near(source) if folder.local_rank == local_rank]
        found = {rank for folder in near if (rank := self.folders[folder]) is not None}
        return found.pop() if len(found) == 1 else None

    def attempts_beside(self, source: Source) -> int:
        """The last attempt of the log trees below the folder that a launcher's console lies in."""
        return max((folder.attempt for folder in self._near(source)), default=0)

    def _near(self, source: Source) -> list[RankFolder]:
        beside = source.name.rpartition("/")[0]
        if beside not in self._beside:
            inside = f"{beside}/" if beside else ""
            self._beside[beside] = [folder for folder in self.folders if folder.run.startswith(inside)]
        return self._beside[beside]

    def settle(self) -> None:
        """What follows from the rest: with one launcher local is global; the last open one has the rest."""
        open_folders = [folder for folder in sorted(self.folders, key=order) if self.folders[folder] is None]
        if len({folder.run for folder in self.folders}) == 1:
            self.folders |= {folder: folder.local_rank for folder in open_folders}
            return
        for attempt in {folder.attempt for folder in open_folders}:
            here = [folder for folder in self.folders if folder.attempt == attempt]
            left = set(range(len(here))) - {self.folders[folder] for folder in here}
            mine = [folder for folder in open_folders if folder.attempt == attempt]
            if len(left) == len(mine) and len({folder.run for folder in mine}) == 1:
                self.folders |= dict(zip(mine, sorted(left), strict=True))
