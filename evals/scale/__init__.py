"""Multiplies laboratory logs to the size of real clusters."""

from __future__ import annotations

from evals.scale.replicas import make_replica, make_replicas

__all__ = ["make_replica", "make_replicas"]
