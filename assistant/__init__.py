"""Rootrank: which rank of a distributed training job broke first, why, and what to do now."""

import os

__version__ = "0.1.0"

# Polars' allocator keeps freed pages for seconds and reads this once, when Polars is loaded: without it a scan over
# thousands of files holds some 150 MB that nothing uses.
os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:100,muzzy_decay_ms:0,narenas:2")
