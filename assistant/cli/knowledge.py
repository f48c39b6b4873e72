"""`rootrank knowledge`: what the search knows, pages of your own, the index, and whether all of it is sound."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli import narration
from assistant.cli.exit_codes import ExitCode
from assistant.cli.output import pipe, print_json, print_table
from assistant.cli.search import Framework, Kinds, Layer, Vendor, filters_of, indexing
from assistant.cli.settings import configured
from assistant.errors import UnknownDocument

if TYPE_CHECKING:
    from assistant.retrieval.documents import Document
    from assistant.retrieval.models import Filters

app = typer.Typer(help="What the search knows, and pages of your own.", no_args_is_help=True)

Title = Annotated[str, typer.Option(help="Title of the page.")]
Product = Annotated[str, typer.Option(help="Product or framework that it is about.")]
Codes = Annotated[list[str] | None, typer.Option("--code", help="Exact code to find it by; may be repeated.")]


@app.command("list")
def list_(
    kind: Kinds = None,
    vendor: Vendor = "",
    layer: Layer = "",
    framework: Framework = "",
    json: Annotated[bool, typer.Option("--json", help="Print a JSON array.")] = False,
) -> int:
    """Every document, by kind and id."""
    from assistant.retrieval.corpus import gather

    corpus = gather()
    for problem in corpus.problems:
        narration.say(f"warning: {problem.message}")
    filters = filters_of(kind, vendor, layer, framework)
    found = [document for document in corpus.documents if _passes(document, filters)]
    if json:
        print_json([_summary(document) for document in found])
    elif found:
        rows = [(one.kind, one.id, one.layer, one.checked, one.origin, one.title) for one in found]
        print_table(("KIND", "ID", "LAYER", "CHECKED", "FROM", "TITLE"), rows)
    else:
        narration.say("no such document")
    return ExitCode.OK


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="ID", help="An id, or KIND:ID where several kinds share it.")],
    json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> int:
    """One document in full, with where it stands and where its facts come from."""
    from assistant.retrieval.corpus import gather

    found = gather().find(name)
    if not found:
        raise UnknownDocument(f"no document {name!r}", hint="run `rootrank knowledge list` for those there are")
    if json:
        print_json([asdict(document) for document in found])
        return ExitCode.OK
    with pipe():
        for document in found:
            _print(document)
    return ExitCode.OK


@app.command()
def add(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Markdown, HTML, PDF, text, or ticket JSON.")],
    title: Title = "",
    vendor: Annotated[str, typer.Option(help="Vendor that it is about.")] = "",
    product: Product = "",
    layer: Annotated[str, typer.Option(help="Layer that it is about.")] = "",
    code: Codes = None,
) -> int:
    """Adds pages of your own; a file that was added before is replaced. Prints the ids."""
    given = {"title": title, "vendor": vendor, "product": product, "layer": layer, "codes": code}
    return _import(files, {name: value for name, value in given.items() if value})


@app.command("import")
def import_(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER", help="A folder of runbooks, or a ticket export.")],
    vendor: Annotated[str, typer.Option(help="Vendor that they are about.")] = "",
    product: Product = "",
) -> int:
    """Adds every page in a folder; what cannot be read is named and left out. Prints the ids."""
    given = {"vendor": vendor, "product": product}
    return _import(folders, {name: value for name, value in given.items() if value})


@app.command()
def remove(names: Annotated[list[str], typer.Argument(metavar="ID")]) -> int:
    """Removes pages of your own; what ships with the installation stays."""
    from assistant.retrieval.shelf import own_shelf

    for name in names:
        narration.remark(f"removed {own_shelf().remove(name)}")
    return ExitCode.OK


@app.command()
def rebuild() -> int:
    """Builds the search index anew. A search does that by itself where something has changed."""
    from assistant.retrieval.index import rebuild as build
    from assistant.retrieval.opening import cache_of, wanted_of

    settings = configured()
    index = build(
        cache_of(settings),
        wanted_of(settings, progress=indexing),
    )
    for problem in index.problems:
        narration.say(f"warning: {problem}")
    narration.say(f"{index.store.size()} passages, embedder {index.store.meta()['embedder']}")
    index.close()
    return ExitCode.OK


@app.command()
def check(json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> int:
    """Checks everything under knowledge/; ends with 1 where something is wrong."""
    from assistant.faults.check import check_library
    from assistant.faults.ways import check_dialects
    from assistant.retrieval.check import check as check_all

    report = check_all()
    found = [f"{one.said()} - {one.remedy}" for one in (*check_library(), *check_dialects())]
    report = replace(report, problems=(*report.problems, *found))
    if json:
        print_json(asdict(report))
        return ExitCode.PROBLEMS if report.problems else ExitCode.OK
    with pipe():
        for problem in report.problems:
            print(problem)
    for kind, counts in sorted(report.counts.items()):
        told = ", ".join(f"{number} {how}" for how, number in counts.items())
        narration.say(f"{kind}: {sum(counts.values())} ({told})")
    narration.say(f"{len(report.problems)} problems")
    return ExitCode.PROBLEMS if report.problems else ExitCode.OK


def _import(paths: list[Path], facts: dict[str, object]) -> int:
    from assistant.retrieval.imports import import_paths
    from assistant.retrieval.shelf import own_shelf

    done = import_paths(paths, own_shelf(), configured().retrieval, facts)
    with pipe():
        for name in done.ids:
            print(name)
    for file, why in done.skipped:
        narration.say(f"warning: {file}: {why}")
    narration.remark(f"{len(done.ids)} pages added, {len(done.skipped)} files left out")
    return ExitCode.INPUT if done.skipped and not done.ids else ExitCode.OK


def _passes(document: Document, filters: Filters) -> bool:
    vendor, framework = document.vendor.lower(), document.framework.lower()
    return (
        (not filters.kinds or document.kind in filters.kinds)
        and (not filters.layer or document.layer == filters.layer)
        and (not filters.vendor or vendor in ("", filters.vendor.lower()))
        and (not filters.framework or framework in ("", filters.framework.lower()))
    )


def _summary(document: Document) -> dict[str, object]:
    shown = asdict(document)
    return {name: shown[name] for name in shown if name not in ("sections", "templates")}


def _print(document: Document) -> None:
    from assistant.case.text import clean

    told = (document.kind, document.layer, document.vendor, document.framework, document.versions, document.checked)
    print(clean(document.title))
    print(clean(f"{document.id} · {' · '.join(part for part in told if part)}"))
    for name, value in (("codes", ", ".join(document.codes)), ("source", document.source), ("file", document.file)):
        if value:
            print(clean(f"{name}: {value}"))
    for section in document.sections:
        print(f"\n{clean(section.heading)}" if section.heading else "")
        for line in section.text.splitlines():
            print(clean(line))
