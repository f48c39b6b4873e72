"""Sentences of a verdict. Plain words, one fact a sentence, the evidence id behind it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from assistant.case.vocabulary import Stage
from assistant.diagnosis.models import Place
from assistant.diagnosis.theory import Theory
from assistant.faults.models import Specificity

OWN_SUBJECT = re.compile(r"(?:a|an|the|one) (?:rank|process|worker|node|writer) (?=\w)", re.IGNORECASE)
"""A title's own subject, which the blamed place replaces."""
ERROR_FILE = re.compile(r'\{"message": ?(?:\{"message": ?)?"((?:[^"\\]|\\.){1,400})')
"""torchelastic's error file: the error's own words inside it."""
GLOG_HEAD = re.compile(r"^[IWEF]\d{4} [\d:.]+ +\d+ \S+\] ")
"""What stands before a launcher's words in its own lines."""
MOST_QUOTED = 100
"""Characters of an error message that a statement quotes."""
STAGE_WORDS = {
    Stage.STARTUP: "at start-up",
    Stage.LOADING: "while model and data were loaded",
    Stage.CHECKPOINT_LOAD: "while a checkpoint was loaded",
    Stage.TRAINING: "in training",
    Stage.EVALUATION: "in evaluation",
    Stage.CHECKPOINT_SAVE: "while a checkpoint was saved",
    Stage.SHUTDOWN: "at shut-down",
}


def place_words(place: Place) -> str:
    """A place in words: "rank 7 on n03", "node n03", "GPU 0000:9b:00"."""
    if place.rank is not None:
        return f"rank {place.rank}" + (f" on {place.node}" if place.node else "")
    if place.device is not None:
        return f"device {place.device}" + (f" on {place.node}" if place.node else "")
    return f"node {place.node}" if place.node else "an unnamed place"


def listing(items: Sequence[str], most: int = 4) -> str:
    """A list in words, cut after `most` items with the number of the rest."""
    if len(items) > most:
        return ", ".join(items[:most]) + f" and {len(items) - most} more"
    if len(items) < 2:
        return "".join(items)
    return ", ".join(items[:-1]) + " and " + items[-1]


def when_words(stage: Stage, iteration: int | None) -> str:
    """Stage and iteration in words."""
    where = STAGE_WORDS[stage]
    return f"{where}, at iteration {iteration}" if iteration is not None else where


def statement(theory: Theory, stage: Stage, iteration: int | None) -> str:
    """The verdict in one sentence."""
    who = listing([place_words(blamed.place) for blamed in theory.blamed])
    subject = who[:1].upper() + who[1:] if who else _nobody(theory)
    return f"{_joined(subject, theory)}, {when_words(stage, iteration)}."


def _joined(subject: str, theory: Theory) -> str:
    """Subject and title as one clause: "Rank 7 on n03 ran out of memory", or "Ranks ...: a rank ran out of memory"."""
    title = theory.title[:1].lower() + theory.title[1:] if _lowers(theory.title) else theory.title
    title += _quoted(theory)
    if not theory.blamed and title.startswith(f"{subject.lower()} "):
        return subject + title[len(subject) :]
    own = OWN_SUBJECT.match(title)
    if own and len(theory.blamed) == 1:
        return f"{subject} {title[own.end() :]}"
    return f"{subject} {title}" if theory.group is None and theory.blamed else f"{subject}: {title}"


def _nobody(theory: Theory) -> str:
    return "All ranks alike" if "alike" in theory.nobody else "The job"


def _quoted(theory: Theory) -> str:
    """The error's own words, where the library knows no better name for it."""
    if theory.group is None or theory.group.first.specificity is not Specificity.GENERIC:
        return ""
    words = theory.group.first.record.text.rsplit("\n", 1)[-1].strip()
    inner = ERROR_FILE.match(words)
    words = inner[1] if inner else GLOG_HEAD.sub("", words)
    shown = "".join(c for c in words if c.isprintable())
    return f" ({shown[:MOST_QUOTED]}{'...' if len(shown) > MOST_QUOTED else ''})" if shown else ""


def _lowers(title: str) -> bool:
    first = title.split(" ", 1)[0]
    return first[:1].isupper() and (first[1:].islower() or len(first) == 1)


def sentences(parts: Iterable[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """Each part as a sentence with its evidence ids in brackets."""
    return tuple(f"{text}{_ids(ids)}." if text else "" for text, ids in parts if text)


def _ids(ids: Sequence[str]) -> str:
    return f" [{', '.join(ids)}]" if ids else ""
