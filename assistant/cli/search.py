"""`rootrank search`: vendor facts and past failures, found by symptom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli import narration
from assistant.cli.exit_codes import ExitCode
from assistant.cli.output import pipe, print_json
from assistant.cli.settings import case_store, configured
from assistant.errors import UsageError

if TYPE_CHECKING:
    from assistant.config import Settings
    from assistant.retrieval.models import Answer, Filters, Hit, Query
    from assistant.retrieval.search import Searcher

Kinds = Annotated[
    list[str] | None, typer.Option("--kind", help="fault, doc, incident, runbook or ticket; may be repeated.")
]
Vendor = Annotated[str, typer.Option(help="Leave out what is about another vendor.")]
Layer = Annotated[str, typer.Option(help="hardware, network, collective, memory, storage, ...")]
Framework = Annotated[str, typer.Option(help="Leave out what is about another framework or product.")]
VersionOf = Annotated[str, typer.Option("--for-version", metavar="X.Y", help="Leave out what is about other versions.")]


def search(
    words: Annotated[list[str] | None, typer.Argument(metavar="WORDS", help="Words, a code, or a pasted line.")] = None,
    case: Annotated[str | None, typer.Option(help="Look for what explains a stored case.")] = None,
    kind: Kinds = None,
    vendor: Vendor = "",
    layer: Layer = "",
    framework: Framework = "",
    for_version: VersionOf = "",
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, max=100, help="At most so many.")] = 5,
    json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> int:
    """Finds vendor facts, library entries and past incidents; says so where nothing fits."""
    settings = configured()
    filters = filters_of(kind, vendor, layer, framework, for_version)
    query = _query(" ".join(words or ()), case, filters, limit, settings)
    searcher = opened(settings)
    try:
        answer = searcher.search(query)
    finally:
        searcher.close()
    for missing in answer.missing:
        narration.say(f"note: {missing}")
    if json:
        print_json(answer.model_dump(mode="json"))
    else:
        _print(answer)
    return ExitCode.OK


def filters_of(
    kinds: list[str] | None, vendor: str = "", layer: str = "", framework: str = "", version: str = ""
) -> Filters:
    """Filters as typed; UsageError for a kind that is none."""
    from assistant.retrieval.models import KINDS, Filters

    for kind in kinds or ():
        if kind not in KINDS:
            raise UsageError(f"--kind {kind}: no such kind", hint=", ".join(KINDS))
    return Filters.model_validate(
        {"kinds": kinds or (), "vendor": vendor, "layer": layer, "framework": framework, "version": version}
    )


def opened(settings: Settings) -> Searcher:
    """The search over all that there is; builds its index where something has changed."""
    from assistant.retrieval.opening import open_search

    return open_search(settings, progress=indexing)


def indexing(done: int, whole: int) -> None:
    """Tells how far the index is."""
    narration.remark(f"indexing: {done} of {whole} passages")


def _query(words: str, case: str | None, filters: Filters, limit: int, settings: Settings) -> Query:
    from assistant.retrieval.models import Query
    from assistant.retrieval.query import query_of

    if case is not None:
        return query_of(case_store(settings).load(case).case, words, filters, limit)
    if not words.strip():
        raise UsageError("nothing to look for", hint='give words, as in rootrank search "Xid 79", or --case CASE')
    return Query(text=words, filters=filters, limit=limit)


def _print(answer: Answer) -> None:
    from assistant.case.text import clean

    with pipe():
        if not answer.fits:
            print(clean(answer.note))
        for place, hit in enumerate(answer.hits or answer.nearest[:3], start=1):
            for line in _lines(place, hit):
                print(clean(line))


def _lines(place: int, hit: Hit) -> list[str]:
    passage = hit.passage
    head = f"{place}. {passage.title}" + (f" - {passage.heading}" if passage.heading else "")
    told = [
        part for part in (passage.kind, passage.document, passage.layer, passage.date[:10], passage.checked) if part
    ]
    also = f"; also {', '.join(hit.folded)}" if hit.folded else ""
    text = " ".join(passage.text.split())
    shown = text if len(text) <= 300 else f"{text[:299]}…"
    source = [f"   {passage.source}"] if passage.source else []
    return [head, f"   {' · '.join(told)}  ({', '.join(hit.reasons)}{also})", f"   {shown}", *source]
