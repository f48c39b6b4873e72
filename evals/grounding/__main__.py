"""Figures of the check of answers: `python -m evals.grounding [--tune] [--show]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assistant.answers.grounding import Finding, check, known_from
from assistant.answers.models import Standing
from assistant.answers.sentences import split
from assistant.tools.calls import Calls
from evals.desks import opened
from evals.figures import keep
from evals.grounding.sentences import MadeAnswer, Part, answers, load_sentences

CAUGHT, MARKED = 0.95, 0.05


@dataclass(frozen=True, slots=True)
class Judged:
    """A sentence with what the check said of its pieces."""

    job: str
    part: Part
    findings: tuple[Finding, ...]

    @property
    def marked(self) -> bool:
        """Whether any piece of it was marked as unsupported."""
        return any(finding.standing is Standing.UNSUPPORTED for finding in self.findings)


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where the bars hold, 1 where they do not."""
    parser = argparse.ArgumentParser(prog="python -m evals.grounding", description=__doc__)
    parser.add_argument("--tune", action="store_true", help="only the half that may be looked at")
    options = parser.parse_args(arguments)
    made = [one for one in judged() if not (options.tune and one.part.held)]
    for one in made:
        if not one.part.held and one.part.kind != "mute" and one.marked == (one.part.kind == "sound"):
            problems = "; ".join(problem for finding in one.findings for problem in finding.problems)
            print(f"{one.job.rsplit('/', 1)[-1]}: {one.part.kind}: {one.part.text!r} {problems}")
    print(*_lines(made), sep="\n")
    figures = {half: _figures([one for one in made if one.part.held is held]) for half, held in _HALVES}
    if not options.tune:
        keep("grounding", figures | {"all": _figures(made), "answers": _answers()})
    all_ = _figures(made)
    return 0 if all_["caught"] >= CAUGHT * all_["planted"] and all_["marked"] <= MARKED * all_["sound"] else 1


_HALVES = (("tuned on", False), ("held back", True))


def judged(jobs: Sequence[str] = ()) -> Iterator[Judged]:
    """Every sentence of every answer once."""
    file = load_sentences()
    for case in file.cases:
        if jobs and case.job not in jobs:
            continue
        with opened(case.job) as job:
            calls = job.calls(search=False)
            for tool in file.tools:
                calls.call(tool, {})
            seen: set[str] = set()
            for answer in answers(case):
                fresh = [one for one in _judged(answer, calls) if one.part.text not in seen]
                seen.update(one.part.text for one in fresh)
                yield from fresh


def _judged(answer: MadeAnswer, calls: Calls) -> Iterator[Judged]:
    """The pieces of the answer as a reader gets them, given back to the sentences that they are of."""
    known = known_from(calls)
    pieces = [(piece, check(piece, known)) for piece in split(answer.text)]
    at = 0
    ends = []
    for piece, _ in pieces:
        at += len(piece)
        ends.append(at)
    start = 0
    for part in answer.parts:
        end = start + len(part.text.rstrip()) + 2
        own = [f for (_, f), stop in zip(pieces, ends, strict=True) if start < stop <= end]
        yield Judged(answer.job, part, tuple(own))
        start = end


def _figures(made: Sequence[Judged]) -> dict[str, int]:
    planted = [one for one in made if one.part.kind not in ("sound", "mute")]
    sound = [one for one in made if one.part.kind == "sound"]
    mute = [one for one in made if one.part.kind == "mute"]
    return {
        "planted": len(planted), "caught": sum(one.marked for one in planted),
        "sound": len(sound), "marked": sum(one.marked for one in sound),
        "mute": len(mute), "mute_caught": sum(one.marked for one in mute),
    }  # fmt: skip


def _lines(made: Sequence[Judged]) -> Iterator[str]:
    for half, held in (*_HALVES, ("all", None)):
        figures = _figures([one for one in made if held is None or one.part.held is held])
        yield (
            f"{half}: caught {figures['caught']} of {figures['planted']} planted, marked {figures['marked']} of "
            f"{figures['sound']} sound, caught {figures['mute_caught']} of {figures['mute']} real lines "
            "that do not say so"
        )


def _answers() -> int:
    return sum(1 for case in load_sentences().cases for _ in answers(case))


if __name__ == "__main__":
    sys.exit(main())
