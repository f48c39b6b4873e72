"""Rootrank: which rank of a distributed training job broke first, why, and what to do now."""

__version__ = "0.1.0"
