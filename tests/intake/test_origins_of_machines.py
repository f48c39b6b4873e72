"""Machines that are called by what they hold, and devices that are no machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.intake.models import Source
from assistant.intake.origins import Origin, origin_of, origins


def beside(*names: str) -> list[Origin]:
    sources = [Source(number, name, Path(name)) for number, name in enumerate(names)]
    found = origins(sources)
    return [found[source.id] for source in sources]


@pytest.mark.parametrize(
    ("names", "nodes"),
    [
        (("rack3-gpu10.log", "rack3-gpu11.log"), ["rack3-gpu10", "rack3-gpu11"]),
        (("rack3-gpu10/train.log", "rack3-gpu11/train.log"), ["rack3-gpu10", "rack3-gpu11"]),
        (("gpu-008/train.log", "gpu-009/train.log"), ["gpu-008", "gpu-009"]),
        (("gpu64/rank-0.log", "gpu65/rank-1.log"), ["gpu64", "gpu65"]),
        (("hpc-gpu12/a.log", "hpc-gpu13/a.log"), ["hpc-gpu12", "hpc-gpu13"]),
        (("xa101/dmesg.log", "xa102/dmesg.log"), ["xa101", "xa102"]),
        (("a.tar.gz!rack3-gpu10/t.log", "a.tar.gz!rack3-gpu11/t.log"), ["rack3-gpu10", "rack3-gpu11"]),
    ],
)
def test_machines_are_nodes_and_name_no_device(names: tuple[str, ...], nodes: list[str]) -> None:
    found = beside(*names)
    assert [origin.node for origin in found] == nodes
    assert [origin.device for origin in found] == [None] * len(names)


@pytest.mark.parametrize(
    ("names", "devices"),
    [
        (("gpu0/train.log", "gpu1/train.log"), ["0", "1"]),
        (("gpu0.log", "gpu1.log"), ["0", "1"]),
        (("node1-gpu3.log", "node1-gpu4.log"), ["3", "4"]),
        (("rank-0-device-0.txt", "rank-1-device-1.txt"), ["0", "1"]),
        (("train_npu7.log", "train_npu6.log"), ["7", "6"]),
        (("n01/gpu-15/a.log", "n01/gpu-14/a.log"), ["15", "14"]),
    ],
)
def test_devices_of_one_machine_are_no_nodes(names: tuple[str, ...], devices: list[str]) -> None:
    found = beside(*names)
    assert [origin.device for origin in found] == devices
    assert {origin.node for origin in found} <= {None, "node1", "node1-gpu3", "node1-gpu4", "n01"}


@pytest.mark.parametrize("name", ["shard3/a.log", "epoch_12/a.log", "plog1/a.log", "rank3/a.log", "task_4/a.log"])
def test_numbered_folders_of_other_things_are_no_machines(name: str) -> None:
    other = name.replace("3", "5").replace("12", "13").replace("1/", "2/").replace("_4", "_6")
    assert {origin.node for origin in beside(name, other)} == {None}


@pytest.mark.parametrize(
    "name",
    ["gpu" + "9" * 5000, "gpu٣/a.log", "gpu-/x", "-", "gpu0gpu1gpu2", "/", "\x00gpu3", "gpu3-" * 2000 + "/x"],
    ids=range(8),
)
def test_hostile_names_are_read_without_harm(name: str) -> None:
    origin_of(name)
    beside(name, name.replace("3", "4"))
