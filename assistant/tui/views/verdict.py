"""The verdict card: cause, confidence, stage, iteration, and the one thing to do."""

from __future__ import annotations

from collections.abc import Iterator

from textual import events
from textual.content import Content

from assistant.case.models import Case
from assistant.case.vocabulary import ActionKind, Status
from assistant.report.text import context
from assistant.tui.marks import CONFIDENCE, STATUS
from assistant.tui.safe import Literal, literal, plain
from assistant.tui.views.hanging import hanging


class VerdictCard(Literal):
    """What broke, in a few lines."""

    def __init__(self, case: Case) -> None:
        super().__init__(id="verdict", classes="card")
        self._case = case

    def set_case(self, case: Case) -> None:
        """Shows a case."""
        self._case = case
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        """Fits the lines to the width."""
        self._draw()

    def plain_text(self) -> str:
        """It, each line in full length."""
        return _drawn(self._case, 0).plain

    def _draw(self) -> None:
        self.show(_drawn(self._case, self.content_size.width))


def _drawn(case: Case, width: int) -> Content:
    return Content("\n").join(_lines(case, width))


def _lines(case: Case, width: int) -> Iterator[Content]:
    verdict = case.verdict
    yield _head(case)
    yield literal(verdict.statement, "bold")
    yield literal(" · ".join(context(case)), "$foreground-muted")
    action = verdict.action
    if action.kind is not ActionKind.NONE:
        kind = action.kind.value.replace("_", " ")
        text = Content.assemble((f"{kind}: ", "bold"), plain(action.text))
        yield hanging(Content.styled("Do now  ", "bold $text-accent"), text, width)
        command = next((step.command for step in action.steps if step.command), None)
        if command:
            lead = Content.assemble("        ", ("$ ", "$foreground-muted"))
            yield hanging(lead, literal(command, "$text-accent"), width)
    if verdict.missing:
        rest = f"  (+{len(verdict.missing) - 1} more)" if len(verdict.missing) > 1 else ""
        text = Content.assemble(plain(verdict.missing[0]), (rest, "$foreground-muted"))
        yield hanging(Content.styled("Missing ", "bold $text-warning"), text, width)
    if case.failures:
        also = ", ".join(failure.verdict.cause for failure in case.failures[:3])
        yield hanging(Content.styled("Also    ", "bold"), Content(plain(also)), width)


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
