from __future__ import annotations

import random

import pytest

from assistant.baselines.matching import Index


def same(left: str, right: str) -> bool:
    return Index({"held": right}, {}).match([("other", left)]) == ["held"]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("loaded shard <*> from disk", "loaded shard alpha from disk"),
        ("loaded shard beta from disk", "loaded shard <*> from disk"),
        ("open /data/a7 for reading", "open /data/b9 for reading"),
    ],
)
def test_templates_that_differ_by_parameters_are_one_message(left: str, right: str) -> None:
    assert same(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("worker started on port", "worker stopped on port"),
        ("rank <*> status FAILED now", "rank <*> status <*> now"),
        ("<*> <*> <*>", "saving <*> <*>"),
        ("loaded shard <*> from disk", "loaded shard <*> from disk again"),
        ("loss is nan at step", "loss is <*> at step"),
    ],
)
def test_different_messages_stay_apart(left: str, right: str) -> None:
    assert not same(left, right)


def test_ids_and_aliases_win_over_likeness() -> None:
    index = Index({"a": "write <*> done", "b": "write <*> ended"}, {"old": "b"})
    assert index.match([("a", "anything"), ("old", "write x done"), ("new", "")]) == ["a", "b", None]


def test_the_closest_template_is_taken() -> None:
    index = Index({"a": "step <*> of <*> <*> now", "b": "step <*> of phase <*> now"}, {})
    assert index.match([("x", "step <*> of phase two now")]) == ["b"]


def test_thousands_of_random_templates_are_matched_without_false_pairs() -> None:
    chance = random.Random(1)
    vocabulary = [f"{a}{b}{c}" for a in "bcdfg" for b in "aeiou" for c in "klmnp"]
    texts = {str(n): " ".join(chance.choices(vocabulary, k=chance.randint(6, 14))) for n in range(6000)}
    held = {key: text for key, text in texts.items() if int(key) % 2}
    others = [(f"other {key}", text.replace(text.split()[3], "<*>")) for key, text in texts.items()]
    found = Index(held, {}).match(others)
    expected = [key.removeprefix("other ") if key.removeprefix("other ") in held else None for key, _ in others]
    assert found == expected
