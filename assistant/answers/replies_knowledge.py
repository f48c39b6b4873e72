"""Replies from beyond the job: codes, words, past incidents, and what can be asked at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from assistant.answers.language import SEARCHING
from assistant.answers.replies_doubts import means
from assistant.answers.replies_verdict import sentence
from assistant.answers.talk import Reply, Talk
from assistant.case.text import clean
from assistant.tools.models import ResultStatus


def meaning(talk: Talk) -> Reply:
    """What a code, an error or a kind of failure means; without one, the initiating error of the case."""
    named = talk.named
    codes = list(named.codes or named.quotes or _entries(talk) or named.words or _phrase(talk))
    if not codes:
        cited = talk.case.verdict.evidence[:1]
        codes = [item.text for item in talk.case.evidence if item.id in cited]
    for code in codes[:2]:
        yield from _meaning(talk, code)
        yield from _here(talk, code)
    if not codes:
        yield from talk.say("Name a code or an error, as in `Xid 79`.")


_MEANT = re.compile(
    r"(?i)\bwhat (?:(?:does|do|is|are) )?(?:the |a )?(.{4,160}?) (?:mean|means|meaning|about)\b"
    r"|\b(?:meaning of|explain|decode) (?:the |a )?(.{4,160})"
)
_NO_NAME = re.compile(r"(?i)\b(?:error|message|it|this|that|me|line|log|words?|you)\b")


def _phrase(talk: Talk) -> list[str]:
    """What is asked after in words of the log, without quotation marks."""
    found = _MEANT.search(" ".join(talk.question.text[:400].split()))
    said = next(filter(None, found.groups()), "").rstrip(" ?.!") if found else ""
    return [said] if " " in said and not _NO_NAME.search(said) else []


def _here(talk: Talk, code: str) -> Reply:
    """What it means in this case, where the verdict rests on it."""
    verdict = talk.case.verdict
    cited = [item for item in talk.case.evidence if item.id in verdict.evidence and code.lower() in item.text.lower()]
    if cited:
        overview = yield from talk.ask("overview")
        yield from talk.say(f"In this case: {sentence(verdict.statement)}", cited[0].id, overview.id)


def _entries(talk: Talk) -> list[str]:
    """The library entry behind each kind of failure that was named: the verdict's own, where it is of that kind."""
    verdict = talk.case.verdict
    found: list[str] = []
    for said, classes in talk.named.causes[:2]:
        own = [verdict.fault] if verdict.fault and means(verdict.cause, classes) else []
        kin = [fault.id for fault in talk.calls.desk.library if means(fault.cause, classes)]
        known = talk.calls.desk.glossary.get(said)
        found += [known.term] if known is not None else [*own, *kin, said][:1]
    return found


def _meaning(talk: Talk, code: str) -> Reply:
    yield from talk.note(f"**{clean(code)[:160].replace('*', '')}**")
    known = talk.calls.desk.glossary.get(code)
    if known is not None:
        entry = yield from talk.ask("explain_word", word=known.term)
        yield from talk.note(entry.text)
    result = yield from talk.ask("explain_code", code=code[:2000])
    if result.status is ResultStatus.FOUND:
        yield from talk.say("This is what is known of it:", result.id)
        yield from talk.lines(result)
    elif known is None:
        yield from talk.note(f"{clean(result.text)} Look in the vendor's documentation.")


def word(talk: Talk) -> Reply:
    """What a word of the field means."""
    for term in talk.named.words[-2:]:
        result = yield from talk.ask("explain_word", word=term)
        yield from talk.note(result.text)
    if not talk.named.words:
        yield from talk.say("The glossary does not have that word.")


def seen_before(talk: Talk) -> Reply:
    """Past incidents like this one."""
    result = yield from talk.ask("similar_incidents")
    if result.status is ResultStatus.NOTHING:
        yield from talk.say("No stored incident resembles this one.", result.id)
    elif result.status is ResultStatus.ERROR:
        yield from talk.note(clean(result.text))
    else:
        yield from talk.say("These resemble it; that they do proves nothing about this case:", result.id)
        yield from talk.lines(result)


def help_(talk: Talk) -> Reply:
    """What can be asked."""
    yield from talk.say(
        "I answer without a language model, in English, from this case and the knowledge that is stored."
    )
    yield from talk.say("You can ask, in your own words:")
    for shown in talk.suggestions:
        yield from talk.item(shown)


def thanks(talk: Talk) -> Reply:
    """A short word."""
    yield from talk.say("You are welcome.")


def beyond(talk: Talk) -> Reply:
    """What is said to a question that is not understood; codes and words in it are looked for all the same."""
    if talk.named.codes:
        yield from meaning(talk)
        return
    yield from talk.say("That question is beyond me without a language model.")
    yield from lines_with_its_words(talk)
    yield from talk.say("I understand questions like these:")
    for shown in talk.suggestions[:6]:
        yield from talk.item(shown)
    result = yield from talk.ask("search_knowledge", query=talk.question.text[:500], limit=2)
    if result.status is ResultStatus.FOUND:
        yield from talk.say("The stored knowledge has this on its words:", result.id)
        yield from talk.lines(result)


def lines_with_its_words(talk: Talk) -> Reply:
    """Log lines that hold the telling words of the question, all of them or as many as stand together."""
    told = [word for word in re.findall(r"[a-z][a-z0-9_.-]{3,}", talk.question.text.lower()) if word not in SEARCHING]
    words = sorted({re.sub(r"(?:ed|es|s|ing)$", "", word) for word in told}, key=lambda word: (-len(word), word))[:4]
    if len(words) < 2:
        words = words if len(told) == len(talk.question.text.split()) - 1 else []
    for pattern in _together(words):
        result = yield from talk.ask("grep_log", pattern=pattern, limit=5)
        if result.status is ResultStatus.FOUND:
            yield from talk.say("These lines of the logs hold words of it:", result.id)
            yield from talk.lines(result)
            return


def _together(words: list[str]) -> Iterator[str]:
    """Expressions for lines that hold two of the words in either order, then one, rarest (longest) first."""
    named = [re.escape(word) for word in words]
    for one, other in combinations(named, 2):
        yield f"(?i)\\b{one}.{{0,120}}\\b{other}|\\b{other}.{{0,120}}\\b{one}"
    if len(named) == 1:
        yield f"(?i)\\b{named[0]}"
