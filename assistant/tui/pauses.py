"""Keeps the collector of unused objects from holding up a key. Knows no screen."""

from __future__ import annotations

import gc


def spare_what_is_loaded() -> None:
    """Takes all that exists by now out of the collector's sight.

    A case, the fault library and the libraries behind them are a million objects that stay; a full collection looks at
    each of them, which takes a tenth of a second, and comes whenever enough new ones were made.
    """
    gc.freeze()
