"""The data of laboratory jobs: random tokens behind a real DataLoader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch.utils.data import DataLoader, Dataset

if TYPE_CHECKING:
    from evals.lab.jobs.harness import Harness

Sample = tuple[torch.Tensor, torch.Tensor]


class TokenDataset(Dataset[Sample]):
    """Samples that follow from their index and the rank."""

    def __init__(self, run: Harness) -> None:
        self.run = run
        settings = run.settings
        self.size = settings.samples or settings.steps * settings.batch_size

    def __len__(self) -> int:
        """How many samples there are."""
        return self.size

    def __getitem__(self, index: int) -> Sample:
        """One sample; in a worker process where there are workers."""
        settings = self.run.settings
        if index % settings.batch_size == 0:
            self.run.at("sample", settings.resume + index // settings.batch_size + 1)
        generator = torch.Generator().manual_seed(index * 1009 + self.run.rank)
        return torch.randn(settings.hidden, generator=generator), torch.tensor(index % 10)


def batches_of(run: Harness) -> Iterator[Sample]:
    """Batches in the order of their steps."""
    settings = run.settings
    more = {"timeout": settings.loader_timeout, "prefetch_factor": 2} if settings.loader_workers else {}
    loader = DataLoader(
        TokenDataset(run),
        batch_size=settings.batch_size,
        num_workers=settings.loader_workers,
        **more,  # type: ignore[arg-type]
    )
    for number, (inputs, classes) in enumerate(loader, start=settings.resume + 1):
        yield run.at("batch", number, inputs), classes
