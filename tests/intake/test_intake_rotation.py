"""Rotated sets are recognised by names, and numbers that may be ranks are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.intake.discover import discover
from assistant.intake.rotation import rotated


def ordered(names: list[str]) -> dict[str, list[str]]:
    places = rotated(names)
    groups: dict[str, list[str]] = {}
    for name in sorted(names, key=lambda one: (places[one].group, places[one].part)):
        groups.setdefault(places[name].group, []).append(name)
    return groups


@pytest.mark.parametrize(
    ("oldest_first", "group"),
    [
        (["n/x.log.10.gz", "n/x.log.2.gz", "n/x.log.1", "n/x.log"], "n/x.log"),
        (["x.log-20261128.gz", "x.log-20261129.gz", "x.log"], "x.log"),
        (["x.log-20261129", "x.log-20261130"], "x.log"),
        (["x.log.2026-11-28", "x.log.2026-11-29_17", "x.log"], "x.log"),
        (["0.log.20261129-173646.gz", "0.log.20261129-183646", "0.log"], "0.log"),
        (["x.2026-11-29_17-36-46_123456.log", "x.log"], "x.log"),
        (["x.2.log", "x.1.log", "x.log"], "x.log"),
        (["messages-20261122", "messages-20261129", "messages"], "messages"),
        (["console.1", "console"], "console"),
        (["a.tgz!x.log.1", "a.tgz!x.log"], "a.tgz!x.log"),
        (["x.log.2.gz", "x.log.1"], "x.log"),
        (["x.log.1", "x.log.gz"], "x.log"),
    ],
)
def test_parts_come_oldest_first(oldest_first: list[str], group: str) -> None:
    assert ordered(list(reversed(oldest_first))) == {group: oldest_first}


@pytest.mark.parametrize(
    "names",
    [
        ["rank.0.log", "rank.1.log", "rank.2.log"],
        ["train.0.log", "train.1.log", "train.log"],
        ["stdout.0", "stdout.1", "stdout.2"],
        ["out.log.0", "out.log.1", "out.log.7"],
        ["worker.log", "worker.1.log", "worker.2.log"],
        ["rank.1.gz", "rank.2.gz"],
        ["run-20261128.log", "run-20261129.log"],
        ["x.log", "x.3.log"],
        ["x.log", "x.log.rank1"],
        ["node1/x.log", "node2/x.log.1"],
        ["x.log", "x.log.gz"],
        ["plog-11116_20230131024824451.log", "plog-11190_20230131024824599.log"],
        ["single.log-20261129.gz"],
    ],
)
def test_doubtful_names_stay_apart(names: list[str]) -> None:
    assert ordered(names) == {name: [name] for name in names}


def test_discovery_lists_a_set_together_and_oldest_first(tmp_path: Path) -> None:
    for name in ("b.log", "b.log.1", "b.log.2", "a.log"):
        (tmp_path / name).write_text(f"{name}\n")
    found = discover([str(tmp_path)])
    assert [(one.name, one.group, one.part) for one in found.sources] == [
        ("a.log", "a.log", 0),
        ("b.log.2", "b.log", 0),
        ("b.log.1", "b.log", 1),
        ("b.log", "b.log", 2),
    ]
