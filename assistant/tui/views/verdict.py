"""The verdict card: cause, confidence, stage, iteration, and the one thing to do."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content

from assistant.case.models import Case
from assistant.case.vocabulary import ActionKind, Status
from assistant.report.text import context
from assistant.tui.marks import CONFIDENCE, STATUS
from assistant.tui.safe import Literal, literal, plain


class VerdictCard(Literal):
    """What broke, in a few lines."""

    def __init__(self, case: Case) -> None:
        super().__init__(id="verdict", classes="card")
        self.set_case(case)

    def set_case(self, case: Case) -> None:
        """Shows a case."""
        self.show(Content("\n").join(_lines(case)))


def _lines(case: Case) -> Iterator[Content]:
    verdict = case.verdict
    yield _head(case)
    yield literal(verdict.statement, "bold")
    yield literal(" · ".join(context(case)), "$foreground-muted")
    action = verdict.action
    if action.kind is not ActionKind.NONE:
        kind = action.kind.value.replace("_", " ")
        yield Content.assemble(("Do now  ", "bold $text-accent"), (f"{kind}: ", "bold"), plain(action.text))
        command = next((step.command for step in action.steps if step.command), None)
        if command:
            yield Content.assemble("        ", ("$ ", "$foreground-muted"), literal(command, "$text-accent"))
    if verdict.missing:
        rest = f"  (+{len(verdict.missing) - 1} more)" if len(verdict.missing) > 1 else ""
        yield Content.assemble(
            ("Missing ", "bold $text-warning"), plain(verdict.missing[0]), (rest, "$foreground-muted")
        )
    if case.failures:
        also = ", ".join(failure.verdict.cause for failure in case.failures[:3])
        yield Content.assemble(("Also    ", "bold"), plain(also))


def _head(case: Case) -> Content:
    sign, colour = STATUS[case.status]
    verdict = case.verdict
    if case.status is Status.HEALTHY:
        return Content.assemble((f"{sign} HEALTHY", f"bold {colour}"), " nothing failed")
    cause = "cause not determined" if verdict.cause in ("unknown", "none") else verdict.cause
    parts: list[Content | str | tuple[str, str]] = [
        (f"{sign} {case.status.value.upper()}", f"bold {colour}"), "  ", (cause, "bold"),
    ]  # fmt: skip
    if verdict.confidence:
        dots, shade = CONFIDENCE[verdict.confidence]
        parts += ["  ", (dots, shade), f" {verdict.confidence.value} confidence"]
    return Content.assemble(*parts)
