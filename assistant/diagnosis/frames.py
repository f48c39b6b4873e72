"""What a traceback's own frames say about the stage: where no progress was announced, the code path still tells."""

from __future__ import annotations

import re

from assistant.case.vocabulary import Stage

FRAMES: tuple[tuple[Stage, str], ...] = (
    (
        Stage.CHECKPOINT_SAVE,
        r"\bin (?:_?save\w*|\w*save_(?:checkpoint|model|state)\w*)\b|torch\.save\(|\bsave_checkpoint\(",
    ),
    (
        Stage.CHECKPOINT_LOAD,
        r"\bin \w*(?:load|restore|resume)_?\w*(?:checkpoint|ckpt)\w*\b|load_checkpoint\(|\bin load_state_dict\b",
    ),
    (
        Stage.EVALUATION,
        r"\bin (?:\w*evaluat\w*|\w*eval_(?:step|loop|epoch)\w*|\w*validation\w*|validate\w*|run_eval\w*)\b",
    ),
    (
        Stage.TRAINING,
        r"\bin (?:\w*train(?:ing)?_(?:step|loop|batch|epoch|one_epoch)\w*|_inner_training_loop|backward)\b"
        r"|\bin \w*optimizer_step\b|\.backward\(|optimizer\.step\(",
    ),
    (
        Stage.LOADING,
        r"\bin (?:\w*data_?(?:set|module|loader)s?\w*_?(?:provider|builder)?|load_dataset|build_\w*|from_pretrained|"
        r"_from_pretrained|get_model\w*|setup_model\w*|make_\w*data\w*|distribute_layer|_load_\w*)\b",
    ),
    (Stage.TRAINING, r"for .* in (?:enumerate\()?\w*(?:[Ll]oader|batches)\b|\bin (?:train|fit|train_\w+)\b"),
    (Stage.STARTUP, r"init_process_group|\bin (?:init_distributed\w*|initialize_\w+|setup_distributed)\b"),
)
"""Stages with the frames that betray them, the most telling first: a save runs within training, not the reverse."""

_COMPILED = tuple((stage, re.compile(pattern)) for stage, pattern in FRAMES)
_WITHIN = frozenset({Stage.CHECKPOINT_SAVE, Stage.CHECKPOINT_LOAD, Stage.EVALUATION})
_BEFORE = frozenset({Stage.STARTUP, Stage.LOADING, Stage.CHECKPOINT_LOAD})


def stage_of_frames(text: str) -> Stage | None:
    """The stage that the frames of a traceback show, None where they show none."""
    if 'File "' not in text:
        return None
    return next((stage for stage, pattern in _COMPILED if pattern.search(text)), None)


def refined(announced: Stage | None, text: str, *, iterating: bool) -> Stage | None:
    """The announced stage, or the one that the frames show where they know more.

    Args:
        iterating: an iteration had begun, so that nothing from before training can be running.
    """
    shown = stage_of_frames(text)
    if shown is None or (iterating and shown in _BEFORE):
        return announced
    if announced is None or announced is Stage.STARTUP:
        return shown
    return shown if announced is Stage.TRAINING and shown in _WITHIN else announced
