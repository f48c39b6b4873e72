"""`rootrank explain`: one question about a job, answered in checked sentences with a model or without."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli import narration
from assistant.cli.diagnose import Bar, ExitZero
from assistant.cli.exit_codes import ExitCode, of_case
from assistant.cli.output import form_of, pipe
from assistant.cli.settings import configured
from assistant.errors import UsageError

if TYPE_CHECKING:
    from assistant.answers.models import Answerer, Question
    from assistant.answers.sessions import Session, SessionWriter
    from assistant.cli.conversing import Opened
    from assistant.cli.output import Form
    from assistant.config import Settings

DEFAULT = "What failed, why, and what should I do now?"
LONGEST = 20_000
"""Characters of a question."""

Targets = Annotated[
    list[str] | None, typer.Argument(metavar="LOGS|CASE", help="Logs of one job, or a stored case (an id, or `last`).")
]
Ask = Annotated[str | None, typer.Option("-q", "--question", help="The question; - reads it from standard input.")]
Json = Annotated[bool, typer.Option("--json", help="Print the event stream, a JSON object a line.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print the answer as Markdown when it is done.")]
PromptOnly = Annotated[bool, typer.Option("--prompt-only", help="Print a masked prompt with the evidence; ask nobody.")]
ShowPrompt = Annotated[bool, typer.Option("--show-prompt", help="Print the request as it would be sent; send nothing.")]
MaxCost = Annotated[float | None, typer.Option(min=0, help="What this turn may cost, in the profile's currency.")]
ProfileName = Annotated[str | None, typer.Option("--profile", metavar="NAME", help="Model profile, or offline.")]
NoFallback = Annotated[bool, typer.Option("--no-fallback", help="Where the model fails, end with 5.")]
Newcomer = Annotated[bool, typer.Option("--new", help="Explain as to somebody new.")]
Language = Annotated[
    str | None, typer.Option(metavar="TAG", help="Language of the answer; offline knows English only.")
]
SessionName = Annotated[str | None, typer.Option("--session", metavar="ID", help="Go on with a session (or `last`).")]
Attach = Annotated[list[str] | None, typer.Option(metavar="FILE", help="Add a file to the case; may be repeated.")]
Job = Annotated[str | None, typer.Option(metavar="ID", help="Which job, where a folder holds several.")]


@dataclass(frozen=True, slots=True)
class Wanted:
    """How the answer is wanted."""

    form: Form
    profile: str | None
    fallback: bool
    save: bool


def explain(
    targets: Targets = None,
    question: Ask = None,
    json: Json = False,
    markdown: Markdown = False,
    prompt_only: PromptOnly = False,
    show_prompt: ShowPrompt = False,
    max_cost: MaxCost = None,
    profile: ProfileName = None,
    no_fallback: NoFallback = False,
    new: Newcomer = False,
    language: Language = None,
    session: SessionName = None,
    attach: Attach = None,
    job: Job = None,
    no_save: Annotated[bool, typer.Option("--no-save", help="Keep neither case nor session.")] = False,
    exit_zero: ExitZero = False,
    progress: Bar = True,
) -> int:
    """Answers a question about a job; every sentence is checked against the logs. Ends as `diagnose` does."""
    from assistant.answers.models import Question

    form = form_of(json, markdown)
    text = _text(question, targets or [])
    settings = configured(
        chat__max_cost=("--max-cost", max_cost) if max_cost is not None else None,
        cases__save=("--no-save", False) if no_save else None,
    )
    wanted = Wanted(form, profile, not no_fallback, settings.cases.save)
    asked = Question(text=text, newcomer=new, language=language or settings.chat.language or None)
    if prompt_only or show_prompt:
        return _shown(targets or [], attach or [], settings, wanted, asked, exact=show_prompt, job=job)
    code = answer(targets or [], attach or [], settings, wanted, asked, session=session, bar=progress, job=job)
    return ExitCode.OK if exit_zero and code != ExitCode.MODEL else code


def answer(
    targets: list[str], attach: list[str], settings: Settings, wanted: Wanted, question: Question, *,
    session: str | None = None, bar: bool = False, job: str | None = None,
) -> int:  # fmt: skip
    """One turn, written down as it happens."""
    from assistant.cli.conversing import open_case, session_store

    earlier = session_store(settings).load(session) if session else None
    opened = open_case(_targets(targets, earlier), attach, settings, save=wanted.save, bar=bar, job=job)
    try:
        return _answered(opened, settings, wanted, question, earlier)
    finally:
        opened.search.close()


def _answered(
    opened: Opened, settings: Settings, wanted: Wanted, question: Question, earlier: Session | None
) -> int:  # fmt: skip
    from assistant.cli.turns import Turn, play

    answerer, prompt = answerer_for(opened, settings, wanted, earlier)
    writer = writer_for(opened, settings, wanted, answerer.name, prompt, earlier)
    turn, failed = Turn(opened, answerer, question, wanted.form, earlier, writer), False
    with pipe():
        failed = play(turn)
    if writer is not None and not turn.unkept:
        narration.remark(f"kept; ask on with: rootrank explain --session {writer.header.session} -q ...")
    return ExitCode.MODEL if failed and not wanted.fallback else of_case(opened.case)


def answerer_for(
    opened: Opened, settings: Settings, wanted: Wanted, earlier: Session | None
) -> tuple[Answerer, str]:  # fmt: skip
    """Who answers, and the version of the prompts where it is a model; results of an earlier session stand again."""
    from assistant.answers.revising import restored
    from assistant.profiles import OFFLINE

    hypotheses = restored(opened.calls, earlier) if earlier is not None else {}
    if (wanted.profile or settings.chat.profile) == OFFLINE:
        return opened.offline, ""
    from assistant.agent.budget import spent_on
    from assistant.agent.opening import open_answerer
    from assistant.agent.prompts import load_prompts
    from assistant.cli.conversing import session_store

    _warn(settings, wanted.profile or settings.chat.profile)
    bounded = settings.chat.case_tokens or settings.chat.case_cost or settings.chat.case_seconds
    before = spent_on(session_store(settings).sessions(), opened.case.case) if bounded else None
    prompts = load_prompts()
    answerer = open_answerer(
        settings, opened.calls, opened.offline, profile=wanted.profile, fallback=wanted.fallback, before=before,
        hypotheses=hypotheses, prompts=prompts,
    )  # fmt: skip
    return answerer, prompts.version


def _warn(settings: Settings, name: str) -> None:
    """Says where text goes, and what a bound on money cannot bound."""
    from assistant.agent.opening import profile_of

    profile = profile_of(settings, name)
    narration.remark(f"asking {profile.model} at {profile.base_url}")
    if not profile.redact:
        narration.say(f"warning: profile {name} has redact = false: log lines are sent as they are")
    if settings.chat.max_cost and not profile.local and profile.cost(1, 1) is None:
        hint = f"set input_price and output_price of [profiles.{name}], or bound tokens: chat.max_tokens"
        raise UsageError(f"profile {name} has no prices, so its cost cannot be bounded", hint=hint)


def writer_for(
    opened: Opened, settings: Settings, wanted: Wanted, answerer: str, prompt: str, earlier: Session | None
) -> SessionWriter | None:  # fmt: skip
    """Where the turn is written down; None where nothing is kept."""
    from assistant import __version__
    from assistant.cli.conversing import session_store
    from assistant.cli.stamps import knowledge_stamp, library_stamp

    if not wanted.save:
        return None
    store = session_store(settings)
    if earlier is not None:
        return store.resume(earlier.header.session)[1]
    return store.new(
        case=opened.case.case, revision=opened.case.revision, answerer=answerer, program=__version__, prompt=prompt,
        library=library_stamp(opened.calls.desk.library), knowledge=knowledge_stamp(),
    )  # fmt: skip


def _shown(
    targets: list[str], attach: list[str], settings: Settings, wanted: Wanted, question: Question, *, exact: bool,
    job: str | None,
) -> int:  # fmt: skip
    from assistant.agent.preview import prompt_text, request_text
    from assistant.cli.conversing import open_case

    opened = open_case(_targets(targets, None), attach, settings, save=False, bar=False, job=job)
    try:
        show = request_text if exact else prompt_text
        text = show(settings, opened.calls, question, wanted.profile)
    finally:
        opened.search.close()
    with pipe():
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    return ExitCode.OK


def _targets(targets: list[str], earlier: Session | None) -> list[str]:
    if earlier is None:
        if not targets or "" in targets:
            raise UsageError("nothing to explain", hint="give logs, or a stored case: rootrank explain last")
        return targets
    if targets and targets != [earlier.header.case]:
        hint = "leave LOGS out, or start a new session"
        raise UsageError(f"session {earlier.header.session} is about {earlier.header.case}", hint=hint)
    return [earlier.header.case]


def _utf8(text: str) -> str:
    """Bytes that were no UTF-8, or that a bare C locale did not decode, as what they most likely are."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _text(question: str | None, targets: list[str]) -> str:
    """The question as it was typed, piped in, or the usual one."""
    if question == "-":
        if "-" in targets or sys.stdin is None:
            raise UsageError("standard input cannot be both logs and question", hint="put one of them into a file")
        question = sys.stdin.read(LONGEST + 1)
    text = DEFAULT if question is None else _utf8(question).strip()
    if not text:
        raise UsageError("the question is empty", hint='-q "why rank 5?", or leave -q out')
    if len(text) > LONGEST:
        raise UsageError(f"the question is longer than {LONGEST} characters", hint="attach long text: --attach FILE")
    return text
