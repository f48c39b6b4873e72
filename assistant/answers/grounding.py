"""The check of one sentence: what it cites exists, was shown, and carries what it claims."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assistant.answers.claims import Claim, Sort, citations, claims, is_command
from assistant.answers.grounds import grounds_of
from assistant.answers.language import ADVICE
from assistant.answers.models import Standing
from assistant.tools.desk import Shown
from assistant.tools.models import ToolResult

_ADVICE = re.compile(
    r"(?i)^\W*(?:\d{1,3}[.)]\s+)?(?:(?:first|then|next|now|also|finally|afterwards|if [^,]{1,120}),?\s+)?"
    r"(?:please\s+)?(?:" + "|".join(sorted(ADVICE)) + r")\b"
)
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
    cited = citations(sentence)
    made = _relevant(sentence, claims(sentence, hosts))
    grounds, unknown = grounds_of(cited, shown, results)
    problems = [f"{name} does not exist or was not shown" for name in unknown]
    if made and not cited:
        problems.append(f"cites nothing for {_listed(made)}")
    elif made:
        missing = [claim for claim in made if not grounds.carry(claim)]
        problems += [f"what it cites does not carry {_listed(missing)}"] if missing else []
    if problems:
        return Finding(Standing.UNSUPPORTED, cited, tuple(problems))
    return Finding(Standing.SUPPORTED if cited else Standing.PLAIN, cited)


def _fenced(block: str, shown: Shown, results: Mapping[str, ToolResult]) -> Finding:
    """A block of lines: each is a command, or stands in what tools have shown."""
    lines = [line.strip() for line in block.strip().splitlines()[1:-1]]
    seen = "\n".join([*(result.text for result in results.values()), *(item.text for item in shown.by_id.values())])
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


def _is_placed(sentence: str, claim: Claim) -> bool:
    """Whether a number stands for something of this job: an iteration, a line, an exit code."""
    at = sentence.find(claim.text)
    return claim.sort is Sort.NUMBER and at > 0 and _PLACED_NUMBER.search(sentence[:at]) is not None


def _listed(made: list[Claim]) -> str:
    return ", ".join(dict.fromkeys(claim.text for claim in made))[:300]
