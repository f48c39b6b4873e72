"""The check of one sentence: what it cites exists, was shown, and carries what it claims."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from assistant.answers.claims import CITATION, Claim, Sort, citations, claims, is_command, unquoted
from assistant.answers.commanding import strange_commands
from assistant.answers.entities import known_nodes
from assistant.answers.grounds import Grounds, grounds_of
from assistant.answers.language import ADVICE, BLAME, ENGLISH, HEDGED, NEGATION, PLAIN_WORDS, STATES, plain_text
from assistant.answers.links import harmless, strange_addresses
from assistant.answers.models import Standing
from assistant.answers.order import unlooked, unordered
from assistant.tools.calls import Calls
from assistant.tools.commands import Commands
from assistant.tools.desk import Shown
from assistant.tools.models import ToolResult

_ADVICE = re.compile(
    r"(?i)^[^\w|]*(?:\d{1,3}[.)]\s+)?(?:(?:first|then|next|now|also|finally|afterwards|if [^,]{1,120}),?\s+)?"
    r"(?:please\s+)?(?:" + "|".join(sorted(ADVICE)) + r")\b(?!(?:\s+\S+){0,3}?\s+(?:is|are|was|were|has|had)\b)"
)
_LINE = re.compile(r"(?i)(?:\b(?:lines?|Zeilen?)|行)[\s#:-]*$")
_RULE = re.compile(r"\|?[\s:|-]*-[\s:|-]*")
FENCES = ("```", "~~~")
_WORDS = re.compile(r"[a-z][a-z_]{3,}")
PLACES = {Sort.RANK, Sort.HOST}
STRANGE = 0.5
"""Share of its words that a sentence may not find in the lines that it cites."""
STEM = 5
"""Letters by which two forms of a word are known as one."""
_PLACED_NUMBER = re.compile(
    r"(?i)\b(?:iterations?|steps?|checkpoints?|lines?|attempts?|epochs?|ports?|pids?|code|signal)[\s#:=_-]*(?:of\s+)?$"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """How a sentence stands, what it cites, and what the check objects to."""

    standing: Standing
    citations: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """What sentences are checked against."""

    shown: Shown
    """The log lines that tools have shown."""
    results: Mapping[str, ToolResult]
    """The tool results by id."""
    hosts: tuple[str, ...] = ()
    """Node names of the case."""
    commands: Callable[[], Commands] = Commands
    """Gives the commands that may be advised; asked only where a sentence holds one."""
    bound: bool = True
    """Whether whoever is blamed must be one whom the verdict blames; a rival explanation need not."""

    @property
    def told(self) -> str:
        """Everything that has been shown, in one text."""
        results, lines = tuple(self.results.values()), tuple(self.shown.by_id.values())
        return "\n".join([*(result.text for result in results), *(line.text for line in lines)])


def known_from(calls: Calls, *, bound: bool = True) -> Known:
    """All that a conversation has shown."""
    desk = calls.desk
    return Known(desk.shown, calls.results, known_nodes(desk.case), lambda: desk.commands, bound)


def check(sentence: str, known: Known) -> Finding:
    """Checks one sentence against what it cites."""
    if sentence.lstrip().startswith(FENCES):
        return _fenced(sentence, known)
    cited = citations(sentence)
    problems = [problem for row in _rows(sentence) for problem in _problems(row, citations(row) or cited, known)]
    if problems:
        return Finding(Standing.UNSUPPORTED, cited, tuple(dict.fromkeys(problems)))
    asks = sentence.rstrip().endswith("?")
    return Finding(Standing.SUPPORTED if cited and not asks else Standing.PLAIN, cited)


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


def _problems(sentence: str, cited: tuple[str, ...], known: Known) -> list[str]:
    """What the check objects to."""
    made = _relevant(sentence, claims(sentence, known.hosts))
    grounds, unknown = grounds_of(cited, known.shown, known.results, hosts=known.hosts)
    problems = [f"{name} does not exist or was not shown" for name in unknown]
    problems += _foreign(sentence, grounds, known)
    if not cited:
        return [*problems, *_uncited(sentence, made)]
    counted = {str(len([one for one in made if one.sort is sort])) for sort in (Sort.RANK, Sort.HOST)} - {"0", "1"}
    missing = [one for one in made if not grounds.carry(one, _is_line(sentence, one)) and not _counts(one, counted)]
    missing += _blamed_wrongly(sentence, made, cited, known)
    said = [f"what it cites does not carry {_listed(missing)}"] if missing else []
    return [*problems, *said, *_unshown(sentence, made, grounds, known)]


def _foreign(sentence: str, grounds: Grounds, known: Known) -> Iterator[str]:
    """Addresses and commands that come from nowhere."""
    for address in strange_addresses(sentence, grounds.text, known.results):
        yield f"no source of ours has the address {harmless(address[:120])}"
    for command in strange_commands(sentence, known.commands, grounds.text):
        yield f"no source of ours knows the command {harmless(command[:120])}"


def _uncited(sentence: str, made: list[Claim]) -> Iterator[str]:
    """What a sentence without a citation states all the same."""
    if any(one.sort is not Sort.NOTION for one in made) or (made and not _is_open(sentence)):
        yield f"cites nothing for {_listed(made)}"
    elif STATES.search(unquoted(sentence)) and not _is_open(sentence) and not sentence.rstrip().endswith(":"):
        yield "cites nothing for what it says has happened"


def _unshown(sentence: str, made: list[Claim], grounds: Grounds, known: Known) -> Iterator[str]:
    """What a sentence says of order and absence without evidence of it, and one that has nothing to do with its own."""
    bare = CITATION.sub(" ", sentence).strip()
    if _is_advice(bare) or bare.endswith(("?", ":")) or not (grounds.evidence or grounds.rows):
        return
    order = unordered(unquoted(sentence), grounds.evidence, grounds.rows)
    for said in filter(None, (order, unlooked(unquoted(sentence), grounds.evidence, grounds.rows))):
        yield f"what it cites does not show {said!r}"
    carried = {one.sort for one in made if grounds.carry(one)}
    if known.bound and carried <= PLACES and _strays(bare, grounds, places=bool(carried)):
        yield "what it cites is about something else"


def _strays(bare: str, grounds: Grounds, *, places: bool) -> bool:
    """Whether a sentence of which its evidence carries nothing but places shares too few words with it. English only.

    Of a tool's page, which holds many words, a place or one word must be there; of log lines, half of the words.
    """
    words = [word for word in _WORDS.findall(unquoted(bare).lower()) if word not in PLAIN_WORDS]
    if not words or not ENGLISH.search(bare):
        return False
    strange = sum(word[:STEM] not in grounds.text for word in words)
    if grounds.rows:
        return strange == len(words) and not places and not _is_open(bare)
    return strange > len(words) * STRANGE


def declares(sentence: str) -> bool:
    """Whether a sentence says that something is so, or is not: no advice, no question, no heading."""
    bare = unquoted(sentence).strip()
    return bool(bare) and not bare.startswith("#") and not bare.endswith(("?", ":", "**")) and not _is_advice(bare)


def _is_open(sentence: str) -> bool:
    """Whether a sentence states nothing for certain."""
    asks = sentence.rstrip().endswith("?")
    return asks or _is_advice(sentence) or any(words.search(sentence) for words in (NEGATION, HEDGED))


def _is_advice(sentence: str) -> bool:
    return _ADVICE.match(sentence) is not None


def _blamed_wrongly(sentence: str, made: list[Claim], cited: tuple[str, ...], known: Known) -> list[Claim]:
    """Places that a sentence blames although neither what it cites nor the verdict blames them."""
    if not BLAME.search(unquoted(sentence)) or NEGATION.search(sentence):
        return []
    named = [claim for claim in made if claim.sort in (Sort.RANK, Sort.HOST)]
    verdicts = tuple(name for name, one in tuple(known.results.items()) if one.tool == "overview")
    asked = [cited, verdicts] if known.bound and verdicts and not HEDGED.search(sentence) else [cited]
    blaming = [grounds_of(names, known.shown, known.results, blaming=True)[0] for names in asked]
    return [] if all(any(grounds.carry(claim) for claim in named) for grounds in blaming) else named


def _fenced(block: str, known: Known) -> Finding:
    """A block of lines: each is a command that is known, or stands in what tools have shown."""
    lines = [line.strip() for line in block.strip().splitlines()[1:-1]]
    told = known.told
    strange = [line for line in lines if line and line not in told and not known.commands().knows(line, told)]
    if strange:
        what = "no source of ours knows the command" if is_command(strange[0]) else "no tool has shown this line:"
        return Finding(Standing.UNSUPPORTED, (), (f"{what} {harmless(strange[0][:200])}",))
    return Finding(Standing.SUPPORTED if any(line in told for line in lines) else Standing.PLAIN)


def _relevant(sentence: str, made: list[Claim]) -> list[Claim]:
    """The claims that need evidence: advice may name settings and amounts of its own, a question may ask about any."""
    asks = sentence.rstrip().endswith("?")
    if not asks and not _is_advice(sentence):
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
