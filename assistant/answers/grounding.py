"""The check of one sentence: what it cites exists, was shown, and carries what it claims."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assistant.answers.claims import Claim, Sort, citations, claims, is_command
from assistant.answers.grounds import grounds_of
from assistant.answers.language import ADVICE, BLAME, NEGATION, plain_text
from assistant.answers.models import Standing
from assistant.tools.desk import Shown
from assistant.tools.models import ToolResult

_ADVICE = re.compile(
    r"(?i)^[^\w|]*(?:\d{1,3}[.)]\s+)?(?:(?:first|then|next|now|also|finally|afterwards|if [^,]{1,120}),?\s+)?"
    r"(?:please\s+)?(?:" + "|".join(sorted(ADVICE)) + r")\b(?!(?:\s+\S+){0,3}?\s+(?:is|are|was|were|has|had)\b)"
)
_LINE = re.compile(r"(?i)(?:\b(?:lines?|Zeilen?)|行)[\s#:-]*$")
_RULE = re.compile(r"\|?[\s:|-]*-[\s:|-]*")
FENCES = ("```", "~~~")
_PLACED_NUMBER = re.compile(
    r"(?i)\b(?:iterations?|steps?|checkpoints?|lines?|attempts?|epochs?|ports?|pids?|code|signal)[\s#:=_-]*(?:of\s+)?$"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """How a sentence stands, what it cites, and what the check objects to."""

    standing: Standing
    citations: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def check(sentence: str, *, shown: Shown, results: Mapping[str, ToolResult], hosts: Iterable[str]) -> Finding:
    """Checks one sentence against what it cites.

    Args:
        shown: the log lines that tools have shown.
        results: the tool results by id.
        hosts: node names of the case.
    """
    if sentence.lstrip().startswith(FENCES):
        return _fenced(sentence, shown, results)
    hosts = tuple(hosts)
    cited = citations(sentence)
    rows = _rows(sentence)
    problems = [problem for row in rows for problem in _problems(row, citations(row) or cited, hosts, shown, results)]
    if problems:
        return Finding(Standing.UNSUPPORTED, cited, tuple(dict.fromkeys(problems)))
    return Finding(Standing.SUPPORTED if cited else Standing.PLAIN, cited)


def _rows(sentence: str) -> list[str]:
    """A table by rows, without its head: each rests on what it cites itself. Anything else is one piece."""
    if not sentence.lstrip().startswith("|"):
        return [sentence]
    rows = sentence.strip().splitlines()
    rule = next((at for at, row in enumerate(rows) if _RULE.fullmatch(row.strip())), 0)
    heads = [cell.strip().lower() for cell in rows[0].split("|")] if rule else []
    return [_told(row, heads) for row in rows[rule + 1 if rule else 0 :]]


def _told(row: str, heads: list[str]) -> str:
    """A row of a table with the word `rank` before what stands under it."""
    cells = row.split("|")
    named = [
        f" rank {cell.strip()} " if head in ("rank", "rang") else cell for head, cell in zip(heads, cells, strict=False)
    ]
    return "|".join([*named, *cells[len(named) :]])


def _problems(
    sentence: str, cited: tuple[str, ...], hosts: tuple[str, ...], shown: Shown, results: Mapping[str, ToolResult]
) -> list[str]:
    """What the check objects to."""
    made = _relevant(sentence, claims(sentence, hosts))
    grounds, unknown = grounds_of(cited, shown, results, hosts=hosts)
    problems = [f"{name} does not exist or was not shown" for name in unknown]
    if made and not cited:
        return [*problems, f"cites nothing for {_listed(made)}"]
    counted = {str(len([one for one in made if one.sort is sort])) for sort in (Sort.RANK, Sort.HOST)} - {"0", "1"}
    missing = [one for one in made if not grounds.carry(one, _is_line(sentence, one)) and not _counts(one, counted)]
    missing += _blamed_wrongly(sentence, made, cited, shown, results)
    return [*problems, f"what it cites does not carry {_listed(missing)}"] if missing else problems


def _blamed_wrongly(
    sentence: str, made: list[Claim], cited: tuple[str, ...], shown: Shown, results: Mapping[str, ToolResult]
) -> list[Claim]:
    """Places that a sentence blames although what it cites names them without blame."""
    if not BLAME.search(sentence) or NEGATION.search(sentence):
        return []
    grounds, _ = grounds_of(cited, shown, results, blaming=True)
    named = [claim for claim in made if claim.sort in (Sort.RANK, Sort.HOST)]
    return [] if any(grounds.carry(claim) for claim in named) else named


def _fenced(block: str, shown: Shown, results: Mapping[str, ToolResult]) -> Finding:
    """A block of lines: each is a command, or stands in what tools have shown."""
    lines = [line.strip() for line in block.strip().splitlines()[1:-1]]
    told, lines_shown = tuple(results.values()), tuple(shown.by_id.values())
    seen = "\n".join([*(result.text for result in told), *(item.text for item in lines_shown)])
    strange = [line for line in lines if line and line not in seen and not is_command(line)]
    if strange:
        return Finding(Standing.UNSUPPORTED, (), (f"no tool has shown this line: {strange[0][:200]}",))
    return Finding(Standing.SUPPORTED if any(line in seen for line in lines) else Standing.PLAIN)


def _relevant(sentence: str, made: list[Claim]) -> list[Claim]:
    """The claims that need evidence: advice may name settings and amounts of its own, a question may ask about any."""
    asks = sentence.rstrip().endswith("?")
    if not asks and not _ADVICE.match(sentence):
        return made
    held = (Sort.RANK, Sort.HOST) if asks else (Sort.RANK, Sort.HOST, Sort.QUOTE)
    return [claim for claim in made if claim.sort in held or (not asks and _is_placed(sentence, claim))]


def _counts(claim: Claim, counted: set[str]) -> bool:
    """Whether a number only counts the places that the sentence names."""
    return claim.sort is Sort.NUMBER and not claim.unit and claim.value in counted


def _is_line(sentence: str, claim: Claim) -> bool:
    """Whether a number is said to be that of a line."""
    at = plain_text(sentence).find(claim.text)
    return claim.sort is Sort.NUMBER and at > 0 and _LINE.search(plain_text(sentence)[:at]) is not None


def _is_placed(sentence: str, claim: Claim) -> bool:
    """Whether a number stands for something of this job: an iteration, a line, an exit code."""
    at = sentence.find(claim.text)
    return claim.sort is Sort.NUMBER and at > 0 and _PLACED_NUMBER.search(sentence[:at]) is not None


def _listed(made: list[Claim]) -> str:
    return ", ".join(dict.fromkeys(claim.text for claim in made))[:300]
