"""The shape of a job, from its own lines, an option or a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.errors import UsageError
from assistant.intake.dialects import compiled, load_dialects
from assistant.intake.models import MarkKind, Stream
from assistant.intake.nodelists import expand_hosts, expand_numbers
from assistant.intake.topology import read_topology, read_topology_file, with_streams

PROGRESS = load_dialects().progress


def facts_of(*lines: str) -> list[dict[str, str]]:
    """The facts of some lines, as the scan hands them on."""
    found = []
    for number, line in enumerate(lines):
        for dialect in PROGRESS:
            for mark in dialect.marks:
                match = compiled(mark.pattern).search(line) if mark.mark is MarkKind.FACT else None
                if match:
                    groups = {name: text for name, text in match.groupdict().items() if text}
                    found.append({**groups, "dialect": dialect.id, "stream": "0", "line": str(number)})
    return found


def test_megatron_states_its_groups() -> None:
    shape = read_topology(facts_of("  world_size ................ 64", "  tensor_model_parallel_size ...... 4"))
    assert (shape.world_size, shape.tp, shape.framework) == (64, 4, "megatron-lm")


def test_one_line_may_state_them_all() -> None:
    line = "using world size: 64, data-parallel size: 8, context-parallel size: 1, tensor-model-parallel size: 4, "
    shape = read_topology(facts_of(line + "pipeline-model-parallel size: 2"))
    assert shape.sizes == {"tp": 4, "pp": 2, "dp": 8, "cp": 1}


def test_deepspeed_calls_its_data_parallel_size_world_size() -> None:
    shape = read_topology(facts_of("[INFO] [config.py:904:print]   world_size ................... 16"))
    assert (shape.world_size, shape.dp) == (None, 16)


def test_a_device_mesh_states_its_dimensions() -> None:
    shape = read_topology(facts_of("Building 2-D device mesh with ['dp_shard', 'tp'], [4, 2]"))
    assert shape.sizes == {"tp": 2, "dp": 4}


def test_what_follows_from_the_rest_is_filled_in() -> None:
    shape = read_topology(facts_of("+ torchrun --nnodes=4 --nproc_per_node=8 train.py"))
    assert (shape.world_size, shape.nodes, shape.ranks_per_node) == (32, 4, 8)


def test_given_sizes_win_over_the_log() -> None:
    shape = read_topology(facts_of("WORLD_SIZE=8"), given={"world_size": 16, "nodes": 2})
    assert (shape.world_size, shape.nodes, shape.ranks_per_node) == (16, 2, 8)


def test_hosts_come_from_the_launchers_list() -> None:
    shape = read_topology(facts_of("SLURM_JOB_NODELIST=n[01-03]", "SLURM_JOB_ID=4711"))
    assert (shape.hosts, shape.nodes, shape.job_id) == (("n01", "n02", "n03"), 3, "4711")


def test_nothing_known_is_nothing_said() -> None:
    shape = read_topology([])
    assert (shape.world_size, shape.nodes, shape.sizes, shape.hosts) == (None, None, {}, ())


@pytest.mark.parametrize("text", ["{", "[[[[", "['tp'], [2]", "x" * 10_000])
def test_hostile_facts_do_no_harm(text: str) -> None:
    fact = {"mesh_names": text, "mesh_sizes": text, "nodes_json": text, "rank_map": text, "nodelist": text}
    assert read_topology([fact]).sizes == {}


def test_streams_complete_what_no_line_states() -> None:
    streams = [Stream(i, "g", "", rank=i, node=f"n{i // 2}") for i in range(4)]
    shape = with_streams(read_topology([]), streams)
    assert (shape.world_size, shape.nodes) == (4, 2)


def test_a_file_states_sizes(tmp_path: Path) -> None:
    path = tmp_path / "topology.yaml"
    path.write_text("world_size: 64\ntp: 4\n", encoding="utf-8")
    assert read_topology_file(path) == {"world_size": 64, "tp": 4}


@pytest.mark.parametrize("text", ["- 1", "colour: 4", "tp: four", "{", ""])
def test_a_wrong_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "topology.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError):
        read_topology_file(path)


def test_host_lists_expand_in_the_order_written() -> None:
    assert expand_hosts("node[002-004,014],a,b[1-2]-ib") == (
        "node002", "node003", "node004", "node014", "a", "b1-ib", "b2-ib",
    )  # fmt: skip
    assert expand_hosts("w-[3,1-2,0]") == ("w-3", "w-1", "w-2", "w-0")
    assert expand_numbers("2,4-6") == (2, 4, 5, 6)


@pytest.mark.parametrize("text", ["n[1-999999999]", "n[", "n[]", ",,,", "n[a-b]", "n[5-1]"])
def test_hostile_host_lists_stay_small(text: str) -> None:
    assert len(expand_hosts(text)) <= 1
