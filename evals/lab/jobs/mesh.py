"""A grid of ranks whose groups all wait as long as the settings say.

`init_device_mesh` gives the groups of a grid the default of half an hour, whatever the job's own group has.
"""

from __future__ import annotations

from datetime import timedelta

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh


def grid(rows: int, names: tuple[str, str], timeout: float) -> DeviceMesh:
    """All ranks in `rows` rows of neighbours; `names` are those of the columns' and of the rows' groups. Collective."""
    ranks = torch.arange(dist.get_world_size()).view(rows, -1)
    groups = [_own(lines, timeout) for lines in (ranks.T, ranks)]
    return DeviceMesh.from_group(groups, "cpu", mesh=ranks, mesh_dim_names=names)


def _own(lines: torch.Tensor, timeout: float) -> dist.ProcessGroup:
    """Makes the group of every line, as all ranks must, and returns the one that holds this rank."""
    made = {tuple(line): dist.new_group(line, timeout=timedelta(seconds=timeout)) for line in lines.tolist()}
    mine: dist.ProcessGroup = next(group for line, group in made.items() if dist.get_rank() in line)
    return mine
