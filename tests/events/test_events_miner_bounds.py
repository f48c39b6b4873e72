"""Text without any repetition must not take Drain's quadratic time, and ordinary logs must not be coarsened."""

from __future__ import annotations

import random

from assistant.events.miner import DrainMiner, common_words


def test_few_forms_are_left_as_they_are() -> None:
    forms = [f"worker w{n} ready on port <NUM>" for n in range(50)]
    assert common_words(forms, most=50) == forms


def test_rare_words_become_slots_until_few_forms_are_left() -> None:
    source = random.Random(7)
    words = ["".join(source.choices("abcdefgh", k=7)) for _ in range(3_000)]
    forms = [f"ERROR: {a} {b} failed" for a, b in zip(words, reversed(words), strict=True)]
    assert set(common_words(forms, most=100)) == {"ERROR: <*> <*> failed"}


def test_a_flood_of_distinct_forms_is_mined_to_what_they_share() -> None:
    source = random.Random(7)
    forms = sorted({f"ERROR: {''.join(source.choices('abcdefgh', k=9))} x y failed" for _ in range(9_000)})
    assert set(DrainMiner().mine(forms)) == {"ERROR: <*> x y failed"}
