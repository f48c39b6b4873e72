"""Words without their endings: what both sides of a search go through."""

from __future__ import annotations

_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))
_NO_PLURAL = ("ss", "us", "is")


def stem(word: str) -> str:
    """A word without its commonest English endings; what both sides of a search go through."""
    if len(word) < 4 or not word.isalpha() or not word.isascii():
        return word
    for ending, put in _ENDINGS:
        if word.endswith(ending) and not (ending == "s" and word.endswith(_NO_PLURAL)):
            cut = word.removesuffix(ending) + put
            return _bare(cut) if len(cut) > 2 else word
    return _bare(word)


def _bare(word: str) -> str:
    """`stopp` is `stop`, `miss` stays; a final `e` goes, as it has in `timing`."""
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl":
        return word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word
