"""What a search finds: codes and signatures first, filters, weights, folding, and that nothing fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assistant.config import Settings
from assistant.incidents.models import Incident, Sighting, Trace
from assistant.retrieval.models import Answer, Filters, Query
from assistant.retrieval.opening import open_search
from assistant.retrieval.query import query_of
from assistant.retrieval.search import Searcher
from tests.samples import failed_case

Search = Callable[..., Answer]


def ids(answer: Answer) -> list[str]:
    return [hit.passage.document for hit in answer.hits]


@pytest.fixture
def searcher(settings: Settings, knowledge: Path) -> Iterator[Searcher]:
    opened = open_search(settings, folders=[knowledge])
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Xid 79", "gpu-gone"),
        ("xid: 79", "gpu-gone"),
        ("NVRM: Xid (PCI:0000:af:00): 79, pid='<unknown>', GPU has fallen off the bus", "gpu-gone"),
        ("what does NCCL_IB_GID_INDEX do", "gid"),
        ("exit code 137", "kill"),
        ("exitcode  : -9 (pid: 4242)", "kill"),
        ("worker died with signal 9", "kill"),
        ("[rank3]: torch.OutOfMemoryError: CUDA out of memory.", "gpu-oom"),
        ("no room left while writing optimizer state", "full"),
    ],
)
def test_a_symptom_leads_to_its_document(searcher: Searcher, text: str, first: str) -> None:
    answer = searcher.search(Query(text=text))
    assert answer.fits
    assert ids(answer)[0] == first
    assert answer.missing == ()


def test_an_exact_code_outranks_any_likeness(searcher: Searcher) -> None:
    answer = searcher.search(Query(text="Xid 79 queue pairs fail to connect port address table index RoCE routed"))
    assert set(ids(answer)[:2]) == {"gpu-gone", "flood-of-79"}
    assert "code Xid 79" in answer.hits[0].reasons
    assert "gid" in ids(answer)


def test_a_fired_signature_brings_the_incidents_of_that_fault(searcher: Searcher) -> None:
    answer = searcher.search(Query(text="Xid (PCI:0000:3b:00): 79", filters=Filters(kinds=("incident",))))
    assert ids(answer) == ["flood-of-79"]
    assert "signature gpu-gone" in answer.hits[0].reasons


@pytest.mark.parametrize("text", ["how do I bake sourdough bread", "quarterly revenue forecast", "zzzz", "???"])
def test_nothing_fits_is_an_answer(searcher: Searcher, text: str) -> None:
    answer = searcher.search(Query(text=text))
    assert not answer.fits
    assert answer.hits == ()
    assert answer.note


@pytest.mark.parametrize(
    ("text", "filters", "found"),
    [
        ("the device is gone from the volume", Filters(layer="storage"), {"full"}),
        ("the device is gone from the bus", Filters(kinds=("fault",)), {"gpu-gone", "gpu-oom"}),
        ("queue pairs of a process fail", Filters(vendor="NVIDIA", kinds=("doc",)), {"gid"}),
        ("no room left for the process", Filters(framework="slurm", kinds=("doc",)), {"full"}),
        ("NCCL_IB_GID_INDEX, exit 137, no room left", Filters(version="2.30", kinds=("doc",)), {"kill", "full"}),
        ("NCCL_IB_GID_INDEX", Filters(version="2.18.3", layer="network"), {"gid"}),
        ("NCCL_IB_GID_INDEX", Filters(version="a build of ours", layer="network"), {"gid"}),
    ],
)
def test_filters_leave_out_what_is_about_something_else(
    searcher: Searcher, text: str, filters: Filters, found: set[str]
) -> None:
    assert set(ids(searcher.search(Query(text=text, filters=filters)))) == found


def incident(name: str, **more: object) -> Incident:
    base = {
        "id": name, "title": "Loss of a device", "cause": "hardware.gpu_lost", "symptom": f"{name}: a device was lost",
        "root_cause": "unknown so far", "codes": ("Xid 79",), "origin": "team",
    }  # fmt: skip
    return Incident.model_validate(base | more)


def team(settings: Settings, knowledge: Path, *incidents: Incident) -> Searcher:
    return open_search(settings, folders=[knowledge], team=lambda: incidents)


def test_recent_and_confirmed_incidents_come_first(settings: Settings, knowledge: Path) -> None:
    old = incident("old-one", date="2019-01-01", symptom="alpha beta gamma")
    new = incident("new-one", date="2026-01-01", symptom="delta epsilon zeta")
    sure = incident("sure-one", confirmed_at="2026-01-02", confirmed_by="kim", symptom="eta theta iota")
    searcher = team(settings, knowledge, old, new, sure)
    query = Query(text="Xid 79", filters=Filters(kinds=("incident",)), today="2026-01-10")
    order = [name for name in ids(searcher.search(query)) if name != "flood-of-79"]
    searcher.close()
    assert order == ["sure-one", "new-one", "old-one"]


def test_near_duplicates_are_folded(settings: Settings, knowledge: Path) -> None:
    words = "the same long story about a device that went away in the night and never came back again"
    searcher = team(settings, knowledge, incident("one", symptom=words), incident("two", symptom=words))
    answer = searcher.search(Query(text=words))
    searcher.close()
    assert ids(answer).count("one") + ids(answer).count("two") == 1
    assert {name for hit in answer.hits for name in hit.folded} & {"one", "two"}


def test_templates_of_a_case_find_the_incident_that_had_them(settings: Settings, knowledge: Path) -> None:
    case = failed_case()
    trace = Trace(templates=tuple(Sighting(id=event.id, text=event.template) for event in case.events))
    searcher = team(settings, knowledge, incident("again", trace=trace, codes=()))
    answer = searcher.search(query_of(case))
    searcher.close()
    assert "again" in ids(answer)[:2]
    assert "gpu-oom" in ids(answer)


def test_a_query_of_a_case_holds_more_than_its_words() -> None:
    query = query_of(failed_case(), "look at rank 5")
    assert query.text.startswith("look at rank 5\n")
    assert "CUDA out of memory" in query.text
    assert "tensor parallel" in query.text
    assert query.templates
    assert query.framework == "Megatron-LM"


def test_the_same_query_gives_the_same_answer(searcher: Searcher) -> None:
    query = Query(text="device memory lost on the bus", today="2026-01-01")
    assert searcher.search(query).model_dump_json() == searcher.search(query).model_dump_json()
