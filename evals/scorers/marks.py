"""The marks of one answer: for each column whether it is right, where the truth asks and the tool can answer.

A column is missing in the marks where the truth does not ask for it on this job. Whether a *tool* can fill a column is
found over all of its answers (see `abilities`): a column that it can fill is wrong where an answer leaves it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from assistant.case.vocabulary import UNKNOWN_CAUSE, Confidence, Status
from evals.prediction import Prediction, Suspect
from evals.truth import Provable, Truth

DEPTHS = (1, 3, 5, 8)
"""How far down a ranking the guilty may stand; L4's."""

ABILITIES: dict[str, Callable[[Prediction], bool]] = {
    "status": lambda p: p.status is not None,
    "cause": lambda p: p.cause is not None,
    "rank": lambda p: p.ranks is not None,
    "node": lambda p: p.nodes is not None,
    "blame": lambda p: p.blamed is not None,
    "events": lambda p: p.events is not None,
    "stage": lambda p: "stage" in p.fields or p.stage is not None,
    "iteration": lambda p: "iteration" in p.fields or p.iteration is not None,
    "action": lambda p: "action" in p.fields or p.action is not None,
    "confidence": lambda p: "confidence" in p.fields or p.confidence is not None,
    "further": lambda p: p.further is not None,
    "roles": lambda p: p.events is not None and any(flag.role for flag in p.events),
}


def abilities(answers: Iterable[Prediction]) -> frozenset[str]:
    """What a tool can say at all: what any of its answers says."""
    given = [answer for answer in answers if answer.error is None]
    return frozenset(name for name, able in ABILITIES.items() if any(map(able, given)))


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one tool on one job."""

    marks: dict[str, bool] = field(default_factory=dict)
    confidence: Confidence | None = None
    wrong: tuple[str, ...] = ()
    """What is wrong, in words, for jobs that may be looked at."""


def mark(answer: Prediction, truth: Truth, able: frozenset[str]) -> Marks:
    """All marks but those of events."""
    if answer.error is not None:
        answer = Prediction(error=answer.error)
    asked = {
        **_of_status(answer, truth),
        **_of_cause(answer, truth),
        **_of_places(answer, truth),
        **_of_moment(answer, truth),
        **_of_further(answer, truth),
    }
    marks = {column: right for column, right in asked.items() if _needs(column) in able}
    if {"status", "cause", "blame"} <= able:
        marks["verdict"] = all(marks.get(column, True) for column in ("status", "cause", "blame"))
    return Marks(marks, answer.confidence, tuple(_words(answer, truth, marks)))


NEEDS = {
    "healthy_not_failed": "status",
    "no_blame": "blame",
    "blame_only": "blame",
    "iteration_near": "iteration",
    "unknown_rightly": "cause",
    "unknown_said": "cause",
    "further_found": "further",
    "further_none": "further",
}


def _needs(column: str) -> str:
    return NEEDS.get(column, column.split("@")[0])


def _of_status(answer: Prediction, truth: Truth) -> dict[str, bool]:
    marks = {"status": answer.status == truth.provable.status}
    if truth.provable.status is Status.HEALTHY:
        marks["healthy_not_failed"] = answer.status not in (None, Status.FAILED)
    return marks


def _of_cause(answer: Prediction, truth: Truth) -> dict[str, bool]:
    """`unknown_rightly`: of the answers "cannot tell", those that are accepted. `unknown_said`: of the jobs whose best
    answer that is, those that got it."""
    causes = truth.provable.causes
    if not causes:
        return {}
    marks = {"cause": answer.cause in causes}
    if answer.cause == UNKNOWN_CAUSE:
        marks["unknown_rightly"] = UNKNOWN_CAUSE in causes
    if causes[0] == UNKNOWN_CAUSE:
        marks["unknown_said"] = answer.cause == UNKNOWN_CAUSE
    return marks


def guilty_nodes(truth: Truth) -> frozenset[str]:
    """Nodes that the logs prove guilty, those included that a guilty rank was on; empty for jobs on one node."""
    ranks = set(truth.provable.ranks)
    homes = {done.node for done in truth.injected if done.rank in ranks and done.node is not None}
    return frozenset(truth.provable.nodes) | homes if len(truth.nodes) != 1 else frozenset()


def _of_places(answer: Prediction, truth: Truth) -> dict[str, bool]:
    provable = truth.provable
    marks: dict[str, bool] = {}
    if provable.ranks and not provable.nobody_too:
        marks |= {f"rank@{k}": bool({*provable.ranks} & {*(answer.ranks or ())[:k]}) for k in DEPTHS}
    nodes = guilty_nodes(truth)
    if nodes and not provable.nobody_too:
        marks |= {f"node@{k}": bool(nodes & {*(answer.nodes or ())[:k]}) for k in DEPTHS}
    return marks | _of_blame(answer, truth)


def _of_blame(answer: Prediction, truth: Truth) -> dict[str, bool]:
    """`blame`: who is blamed first is guilty, or nobody where nobody is. `blame_only`: and no innocent beside.

    `no_blame` asks on jobs without a provably guilty one alone. Who is guilty of a further failure is no innocent.
    """
    provable, blamed = truth.provable, answer.blamed
    everyone = (provable, *provable.further)
    if not any(each.ranks or each.nodes for each in everyone):
        innocent = blamed == ()
        return {"blame": innocent, "blame_only": innocent, "no_blame": innocent}
    if blamed is None:
        return {"blame": False, "blame_only": False}
    if not blamed:
        accepted = provable.nobody_too or not (provable.ranks or provable.nodes)
        return {"blame": accepted, "blame_only": accepted}
    first = is_guilty(blamed[0], provable) if provable.ranks or provable.nodes else False
    innocent = any(not any(is_guilty(one, each) for each in everyone) for one in blamed)
    return {"blame": first, "blame_only": first and not innocent}


def is_guilty(suspect: Suspect, provable: Provable) -> bool:
    """Whether it is a rank, or node, that the logs prove guilty.

    A node alone suffices where no rank can be told, and where several ranks are guilty that all are the node's.
    """
    if len(provable.ranks) == 1 or (provable.ranks and suspect.rank is not None):
        return suspect.rank in provable.ranks
    return suspect.node in provable.nodes


def _of_moment(answer: Prediction, truth: Truth) -> dict[str, bool]:
    provable, marks = truth.provable, dict[str, bool]()
    if provable.stages:
        marks["stage"] = answer.stage in provable.stages
    if provable.actions:
        marks["action"] = answer.action in provable.actions
    if provable.iteration is not None:
        marks["iteration"] = answer.iteration == provable.iteration
        marks["iteration_near"] = answer.iteration is not None and abs(answer.iteration - provable.iteration) <= 1
    return marks


def _of_further(answer: Prediction, truth: Truth) -> dict[str, bool]:
    """On a failed job: every further failure is told, or none is told where there is none."""
    if truth.provable.status is not Status.FAILED:
        return {}
    told = set(answer.further or ())
    if truth.provable.further:
        return {"further_found": all(told & set(each.causes) for each in truth.provable.further)}
    return {"further_none": answer.further is not None and not told}


def _words(answer: Prediction, truth: Truth, marks: dict[str, bool]) -> Iterable[str]:
    provable = truth.provable
    if answer.error is not None:
        yield f"broke: {answer.error}"
        return
    said: dict[str, tuple[object, object]] = {
        "status": (answer.status, provable.status),
        "cause": (answer.cause, _either(provable.causes)),
        "blame": (_people(answer.blamed), _guilty(truth)),
        "stage": (answer.stage, _either(provable.stages)),
        "iteration_near": (answer.iteration, provable.iteration),
        "action": (answer.action, _either(provable.actions)),
        "further_found": (_either(answer.further or ()), _either([c for f in provable.further for c in f.causes])),
        "further_none": (_either(answer.further or ()), "none"),
    }
    for column, (given, wanted) in said.items():
        if marks.get(column) is False:
            yield f"{column.split('_')[0]} {given}, not {wanted}"


def _either(words: Iterable[object]) -> str:
    return " or ".join(map(str, words)) or "none"


def _people(blamed: tuple[Suspect, ...] | None) -> str:
    names = [f"rank {each.rank}" if each.rank is not None else str(each.node) for each in (blamed or ())[:4]]
    return ", ".join(names) or "nobody"


def _guilty(truth: Truth) -> str:
    provable = truth.provable
    names = [f"rank {rank}" for rank in provable.ranks] or list(provable.nodes)
    return _either([*names, *(["nobody"] if provable.nobody_too or not names else [])])
