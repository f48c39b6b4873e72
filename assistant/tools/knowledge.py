"""search_knowledge, similar_incidents, explain_code, explain_word: what is known beyond this job."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from assistant.case.models import Case
from assistant.case.text import clean
from assistant.case.vocabulary import Role
from assistant.faults.models import Fault
from assistant.retrieval.models import Answer, Filters, Hit, Kind, Query
from assistant.tools.desk import Desk
from assistant.tools.finding import Finding, Tool, found, nothing
from assistant.tools.models import Arguments, ResultStatus
from assistant.tools.systemcodes import system_codes

PASSAGE = 700
"""Characters of a passage that are shown."""


class SearchArguments(Arguments):
    """What to look for."""

    query: str = Field(min_length=1)
    """A code, an error name, a log line, or words."""
    kinds: tuple[Kind, ...] = ()
    """fault, doc, incident, runbook, ticket; empty: all."""
    limit: int = Field(default=4, ge=1, le=10)


def search_knowledge(desk: Desk, arguments: Arguments) -> Finding:
    """Vendor facts, library entries, runbooks and past incidents."""
    assert isinstance(arguments, SearchArguments)
    query = Query(text=arguments.query, filters=Filters(kinds=arguments.kinds), limit=arguments.limit)
    return _told(_asked(desk, query))


class IncidentArguments(Arguments):
    """How many."""

    limit: int = Field(default=3, ge=1, le=10)


def similar_incidents(desk: Desk, arguments: Arguments) -> Finding:
    """Past failures like this one."""
    assert isinstance(arguments, IncidentArguments)
    kinds: tuple[Kind, ...] = ("incident", "ticket")
    return _told(_asked(desk, case_query(desk.case, kinds, arguments.limit)))


def case_query(case: Case, kinds: tuple[Kind, ...], limit: int) -> Query:
    """What a case looks like to the search: its entries, templates, stage and the words of its verdict."""
    telling = [event for event in case.events if event.role in (Role.INITIATING, Role.CASCADE)]
    faults = [case.verdict.fault, *(event.fault for event in telling)]
    texts = [case.verdict.statement, *(event.template for event in telling[:3])]
    return Query(
        text=" ".join(texts)[:2000],
        filters=Filters(kinds=kinds),
        limit=limit,
        faults=tuple(dict.fromkeys(fault for fault in faults if fault)),
        templates=tuple(event.id for event in telling),
        stage=case.verdict.stage.value if case.verdict.stage else "",
    )


def _asked(desk: Desk, query: Query) -> Answer | None:
    return desk.search(query) if desk.search is not None else None


def _told(answer: Answer | None) -> Finding:
    if answer is None:
        return Finding(("The search of knowledge and incidents is not set up here.",), status=ResultStatus.ERROR)
    missing = [f"(not searched: {clean(part)})" for part in answer.missing]
    if not answer.fits:
        return nothing(f"Nothing in the knowledge fits. {clean(answer.note)}".strip(), *missing)
    return found([*(row for hit in answer.hits for row in _hit(hit)), *missing])


def _hit(hit: Hit) -> Iterator[str]:
    passage = hit.passage
    graded = f", facts {passage.checked}" if passage.checked else ""
    heading = f" - {passage.heading}" if passage.heading else ""
    yield clean(f"{passage.kind} {passage.document}: {passage.title}{heading} ({', '.join(hit.reasons)}{graded})")
    yield f"  {clean(passage.text)[:PASSAGE]}"
    if passage.source:
        yield f"  source: {clean(passage.source)}"


class CodeArguments(Arguments):
    """What to explain."""

    code: str = Field(min_length=1, max_length=4000)
    """A code (`Xid 79`, `exit 137`, `EI0006`), an error name, a whole log line, or the id of a library entry."""


def explain_code(desk: Desk, arguments: Arguments) -> Finding:
    """What a code or an error line means, what it does not prove, and what to do."""
    assert isinstance(arguments, CodeArguments)
    exact = desk.library.get(arguments.code)
    names = (exact.id,) if exact is not None else tuple(desk.matcher.match(arguments.code))
    entries = [fault for name in names if (fault := desk.library.get(name)) is not None]
    rows = [clean(row) for row in dict.fromkeys(system_codes(arguments.code))]
    rows += [row for fault in entries[:2] for row in _fault(fault)]
    query = Query(text=arguments.code, filters=Filters(kinds=("doc", "fault")), limit=2, faults=names[:3])
    answer = _asked(desk, query)
    if answer is not None and answer.fits:
        rows += [row for hit in answer.hits if hit.passage.document not in names for row in _hit(hit)]
    return found(rows) if rows else nothing(f"Nothing is known here of {clean(arguments.code)!r}.")


def _fault(fault: Fault) -> Iterator[str]:
    yield clean(f"{fault.id}: {fault.title} (cause {fault.cause}, usually {fault.role.value})")
    yield f"  {clean(fault.explanation)}"
    if fault.does_not_prove:
        yield f"  It does not prove: {clean(fault.does_not_prove)}"
    yield f"  What to do: {clean(fault.action.text)}"
    yield from (f"  source: {clean(reference.source)} ({reference.checked})" for reference in fault.references[:2])


class WordArguments(Arguments):
    """Which word."""

    word: str = Field(min_length=1, max_length=200)


def explain_word(desk: Desk, arguments: Arguments) -> Finding:
    """What a word of the field means."""
    assert isinstance(arguments, WordArguments)
    exact = desk.glossary.get(arguments.word)
    words = [exact] if exact else list(desk.glossary.inside(arguments.word))[:3]
    if not words:
        return nothing(f"The glossary does not have {clean(arguments.word)!r}.")
    return found(f"{word.term}: {word.short} {word.more}".strip() for word in words)


SEARCH_KNOWLEDGE = Tool(
    "search_knowledge",
    "Searches vendor facts, known faults, runbooks and past incidents by code, error line or words.",
    SearchArguments,
    search_knowledge,
)
SIMILAR_INCIDENTS = Tool(
    "similar_incidents",
    "Past failures like this one, public and the team's own, with what fixed them.",
    IncidentArguments,
    similar_incidents,
)
EXPLAIN_CODE = Tool(
    "explain_code",
    "What an error code, an exit code, an error name or a log line means, what it does not prove, what to do.",
    CodeArguments,
    explain_code,
)
EXPLAIN_WORD = Tool(
    "explain_word", "What a word of distributed training means, in a sentence or two.", WordArguments, explain_word
)
