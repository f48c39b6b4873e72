"""The one action of a verdict: the matched entry's own, else the cause class's from `knowledge/actions.yaml`."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import yaml
from pydantic import ValidationError

from assistant.case.models import Action
from assistant.diagnosis.theory import Theory
from assistant.errors import KnowledgeError
from assistant.faults.models import FaultAction
from assistant.paths import locate


def default_actions() -> dict[str, FaultAction]:
    """Actions by cause class, a user's own folder over ours; a file that is wrong is left out.

    Raises KnowledgeError where no file tells what to do in general.
    """
    return _gathered()[0]


def actions_left_out() -> tuple[str, ...]:
    """The files of actions that could not be used, and why."""
    return _gathered()[1]


@lru_cache(maxsize=1)
def _gathered() -> tuple[dict[str, FaultAction], tuple[str, ...]]:
    merged: dict[str, FaultAction] = {}
    wrong: list[KnowledgeError] = []
    for file in (folder / "actions.yaml" for folder in locate("knowledge")):
        try:
            merged.update(_read(file) if file.is_file() else {})
        except KnowledgeError as error:
            wrong.append(error)
    if "default" not in merged:
        raise wrong[0] if wrong else KnowledgeError("no actions.yaml", hint="Reinstall Rootrank.")
    return merged, tuple(" ".join(error.message.split()) for error in wrong)


def _read(file: Path) -> dict[str, FaultAction]:
    try:
        entries = yaml.safe_load(file.read_text(encoding="utf-8"))
        return {str(cause): FaultAction.model_validate(entry) for cause, entry in entries.items()}
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError, AttributeError) as error:
        raise KnowledgeError(f"{file}: {error}", hint="Mend the file; each cause needs kind and text.") from error


def action_for(theory: Theory, evidence: tuple[str, ...]) -> Action:
    """The action for a theory, resting on its evidence."""
    actions = default_actions()
    chosen = theory.fault.action if theory.fault else actions.get(theory.cause, actions["default"])
    return Action(kind=chosen.kind, text=chosen.text, evidence=evidence, steps=chosen.steps)


def plain_action(name: str) -> Action:
    """The action for a run without a failure: `none` or `incomplete`."""
    chosen = default_actions()[name]
    return Action(kind=chosen.kind, text=chosen.text, steps=chosen.steps)
