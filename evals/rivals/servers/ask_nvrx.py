"""Answers with what NVIDIA's restart agent says of one log, without any model: its deterministic stage alone."""

from __future__ import annotations

from typing import Any

from common import serve  # type: ignore[import-not-found]
from nvidia_resiliency_ext.attribution.restart_agent import (  # type: ignore[import-not-found]
    InMemoryAttemptRecordStore,
    RestartAgent,
    RestartAgentRequest,
    RestartAgentRuntime,
)


def analyse(request: dict[str, Any]) -> dict[str, Any]:
    """The agent's whole answer, and the last step that it saw finished."""
    runtime = RestartAgentRuntime(
        RestartAgent(evidence_extractor=None), attempt_record_store=InMemoryAttemptRecordStore()
    )
    run = runtime.analyze_one(RestartAgentRequest(log_path=request["file"], job_id=None, cycle_id=None))
    step = run.bundle.progress.highest_completed_step if run.bundle is not None else None
    return {**run.result.to_payload(), "highest_completed_step": step}


serve(analyse)
