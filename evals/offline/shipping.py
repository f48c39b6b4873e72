"""Makes `knowledge/sayings.npz`: the vectors of the sayings, so that a question need not wait for them."""

from __future__ import annotations

from pathlib import Path

from assistant.answers.intents import examples_of, load_intents
from assistant.answers.meaning import SHIPPED, SecondOpinion, natural, shipped
from assistant.disk import replace_file
from assistant.errors import ModelMissing
from assistant.retrieval.bert import Bert
from assistant.retrieval.transformers import package_folder
from evals.desks import intents

KNOWLEDGE = Path(__file__).parent.parent.parent / "knowledge"


def model() -> Bert:
    """The packaged model. Raises ModelMissing."""
    folder = package_folder()
    if folder is None:
        raise ModelMissing("the packaged model is not installed", hint="pip install 'rootrank[retrieval,minilm]'")
    return Bert(folder)


def texts() -> list[str]:
    """All sayings as the model reads them."""
    return [natural(one.text) for one in examples_of(load_intents([KNOWLEDGE]).file)]


def ship() -> int:
    """Writes the file; a second or two for every hundred sayings."""
    data = shipped(texts(), model())
    replace_file(KNOWLEDGE / SHIPPED, data)
    (KNOWLEDGE / SHIPPED).chmod(0o644)
    print(f"{SHIPPED}: {len(data) // 1024} KiB")
    return 0


def opinion() -> SecondOpinion:
    """The second opinion of the packaged model, nothing kept on disk."""
    return SecondOpinion(model, examples_of(intents().file))
