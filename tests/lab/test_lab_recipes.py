"""Recipes of sharded, split and wrapped training: they end well, write checkpoints, and go on from them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from evals.lab.annex import launcher
from evals.lab.plan import other_recipes
from evals.lab.workplace import furnish

RECIPES = {recipe.name: recipe for recipe in other_recipes()}
RANKS = 2


def run(workplace: Path, **settings: object) -> subprocess.CompletedProcess[str]:
    """Two ranks of the recipe in the workplace under torchrun; standard output and error together."""
    document = {"voice": "plain", "steps": 4, "pace": 0.0, "save_every": 2, "evaluate_every": 4, "timeout": 60.0}
    (workplace / "config.json").write_text(json.dumps({**document, **settings}), encoding="utf-8")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(RANKS)]
    return subprocess.run(
        [*command, "train.py", "--config", "config.json"],
        cwd=workplace,
        env={**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=280,
        check=False,
    )


@pytest.mark.skipif(
    not os.environ.get("ROOTRANK_LAB_LIVE"), reason="runs four training jobs; set ROOTRANK_LAB_LIVE=1 to run them"
)
@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("name", ["fsdp", "pipeline", "tensor", "trainer"])
def test_a_recipe_goes_on_from_its_own_checkpoint(name: str, tmp_path: Path) -> None:
    if missing := RECIPES[name].missing():
        pytest.skip(f"not installed: {', '.join(missing)}")
    furnish(name, tmp_path)
    first = run(tmp_path)
    assert (first.returncode, first.stdout.count("training finished")) == (0, RANKS), first.stdout[-2000:]
    second = run(tmp_path, resume=2, steps=5)
    assert (second.returncode, second.stdout.count("training finished")) == (0, RANKS), second.stdout[-2000:]


def test_deepspeed_is_said_to_be_missing_where_it_is() -> None:
    assert RECIPES["deepspeed"].missing() == (() if find_spec("deepspeed") else ("deepspeed",))


def test_the_launcher_of_deepspeed_is_told_its_node_and_all_hosts() -> None:
    words = launcher("python", ("n01", "n02"), 2, 1, ("10.0.0.1", 29500))
    assert "--node_rank=1" in words
    assert "--world_info=eyJuMDEiOiBbMCwgMV0sICJuMDIiOiBbMCwgMV19" in words
