"""Which part each raw record plays, by the labels of the truth."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from assistant.case.vocabulary import Role
from assistant.errors import BadTruth
from evals.scorers.records import Record
from evals.truth import Label, Truth


@dataclass(frozen=True, slots=True)
class Matcher:
    """A label, ready to use."""

    label: Label
    regex: re.Pattern[str]

    def __call__(self, record: Record) -> bool:
        """Whether the label holds for a record: by its first line, or by the line that names its error."""
        first, label = record.lines[0], self.label
        if first < (label.first_line or 1) or (label.last_line is not None and first > label.last_line):
            return False
        if not fnmatchcase(record.source, label.source):
            return False
        return bool(self.regex.search(record.head)) or bool(self.regex.search(record.key))


def matchers(truth: Truth) -> tuple[Matcher, ...]:
    """The labels of one job. Raises BadTruth for a pattern that is no regular expression."""
    return tuple(_matcher(truth.job, label) for label in truth.labels)


def _matcher(job: str, label: Label) -> Matcher:
    try:
        return Matcher(label, re.compile(label.pattern))
    except re.error as error:
        raise BadTruth(
            f"{job}: the label {label.pattern!r} is no regular expression: {error}",
            hint="correct the pattern of the label in truth.json, or in the injector that wrote it",
        ) from error


def roles_of(records: Sequence[Record], labels: Sequence[Matcher]) -> list[Role | None]:
    """The role of each record: that of the first label that holds for it, None for ordinary lines."""
    return [next((matcher.label.role for matcher in labels if matcher(record)), None) for record in records]


def idle(records: Sequence[Record], labels: Sequence[Matcher]) -> Iterator[Label]:
    """Labels that hold for no record of their job."""
    for matcher in labels:
        if not any(map(matcher, records)):
            yield matcher.label
