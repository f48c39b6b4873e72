"""The checker of pages and incidents, and that what ships passes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.retrieval.check import check
from assistant.retrieval.models import Query
from assistant.retrieval.opening import open_search
from tests.retrieval.conftest import settings_of


def test_sound_knowledge_has_no_problems_and_is_counted(knowledge: Path) -> None:
    report = check([knowledge])
    assert report.problems == ()
    assert report.counts["doc"] == {"read": 1, "secondary": 1, "unverified": 1}
    assert report.counts["incident"] == {"read": 1}


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("docs/network/gid.md", "layer: network\n", "", "layer is missing"),
        ("docs/network/gid.md", "https://example.org/gid", "a colleague", "source is no address"),
        ("docs/network/gid.md", "id: gid", "id: other", "has the id other"),
        ("docs/network/gid.md", "codes:", "faults: [gone]\ncodes:", "names the fault gone"),
        ("docs/network/gid.md", "layer: network", "layer: moon", "gid.md, line 6: layer"),
        ("docs/storage/full.md", "id: full", "id: gid", "taken already"),
        ("incidents/public.yaml", "  source: https://example.org/rack\n", "", "source is missing"),
        ("incidents/public.yaml", "[gpu-gone]", "[gone]", "names the fault gone"),
        ("incidents/public.yaml", "cause: hardware.gpu_lost", "cause: moon.dust", "entry flood-of-79: cause"),
        ("incidents/public.yaml", "- id", "- {x\n- id", "line"),
        ("faults/gpu.yaml", "role: root", "role: branch", "gpu-gone"),
    ],
)
def test_what_is_wrong_is_named_with_its_file_and_the_rest_is_served(
    knowledge: Path, tmp_path: Path, file: str, old: str, new: str, said: str
) -> None:
    path = knowledge / file
    path.write_text(path.read_text().replace(old, new, 1))
    problems = check([knowledge]).problems
    assert any(str(path) in problem and said in problem for problem in problems), problems
    searcher = open_search(settings_of(tmp_path, embedder="none"), folders=[knowledge])
    assert searcher.search(Query(text="exit 137")).hits[0].passage.document == "kill"
    searcher.close()


def test_what_ships_is_sound() -> None:
    assert check().problems == ()
