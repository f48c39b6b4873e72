"""Hand-made cases, one for each way a job can end, for the tests of stores, reports and commands."""

from __future__ import annotations

from assistant.case.models import (
    Action,
    Alternative,
    Attempt,
    Candidate,
    Case,
    EventReport,
    Evidence,
    Job,
    NodeReport,
    NotRead,
    PatternReport,
    Step,
    Timing,
    Verdict,
)
from assistant.case.vocabulary import ActionKind, Confidence, EvidenceClass, NodeState, Role, Stage, Status

TIMING = Timing(seconds=1.25, bytes=755_053)

OOM_LINE = (
    "[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 1 has a total capacity of "
    "79.15 GiB of which 1.02 GiB is free."
)


def evidence(
    number: int, source: str, line: int, text: str, node: str | None = None, rank: int | None = None
) -> Evidence:
    """One cited line."""
    return Evidence(
        id=f"E{number}", source=source, line=line, offset=line * 80, text=text, node=node, rank=rank,
        time="2026-03-04T05:06:07Z",
    )  # fmt: skip


def failed_case() -> Case:
    """Rank 5 of 8 ran out of GPU memory, the others timed out waiting for it."""
    return Case(
        case="c-0123456789",
        status=Status.FAILED,
        job=Job(
            id="8812", world_size=8, nodes=2, framework="Megatron-LM", outcome="failed", topology={"tp": 2, "pp": 2}
        ),
        verdict=_oom_verdict(),
        suspects=(_oom_suspect(),),
        candidates=(_oom_suspect(), Candidate(node="gpu-03", rank=1, score=0.2, reasons=("a collective timed out",))),
        nodes=(
            NodeReport(node="gpu-03", ranks=(0, 1, 2, 3), state=NodeState.HEALTHY, last_iteration=412),
            NodeReport(node="gpu-07", ranks=(4, 5, 6, 7), state=NodeState.AFFECTED, last_iteration=411, why="rank 5"),
        ),
        attempts=(
            Attempt(number=0, started="2026-03-04T01:00:00Z", outcome="restarted", last_iteration=120),
            Attempt(number=1, started="2026-03-04T02:00:00Z", outcome="failed", last_iteration=411),
        ),
        events=_oom_events(),
        evidence=(
            evidence(1, "gpu-07/rank-5.err", 118, OOM_LINE, "gpu-07", 5),
            evidence(
                2,
                "gpu-03/rank-1.err",
                90,
                "[rank1]: watchdog: collective SeqNum=77 timed out after 600000 ms",
                "gpu-03",
                1,
            ),
            evidence(3, "gpu-07/launcher.log", 31, "exitcode : 1 (pid: 4242) of local_rank 1", "gpu-07"),
        ),
        patterns=(
            PatternReport(name="cross_job", ran=False, note="no baseline of healthy runs is stored"),
            PatternReport(name="spatial", ran=True, note="compared 8 ranks"),
            PatternReport(name="temporal", ran=True, note="compared 411 iterations"),
        ),
        notes=("3 lines held broken UTF-8",),
        not_read=(NotRead(source="gpu-07/core.4242", why="binary"),),
        timing=TIMING,
    )


def healthy_case() -> Case:
    """Everything reached its goal."""
    return Case(
        case="c-00000000aa",
        status=Status.HEALTHY,
        job=Job(world_size=16, nodes=2, framework="torchtitan", outcome="succeeded"),
        verdict=Verdict(
            cause="none",
            statement="Nothing failed: all 16 ranks reached step 1000 and ended normally.",
            evidence_class=EvidenceClass.LOGS,
            evidence=("E1",),
            iteration=1000,
            action=Action(kind=ActionKind.NONE, text="Nothing to do."),
            why=("The run says that training completed (E1).",),
        ),
        nodes=(
            NodeReport(node="a1", ranks=tuple(range(8)), state=NodeState.HEALTHY, last_iteration=1000),
            NodeReport(node="a2", ranks=tuple(range(8, 16)), state=NodeState.HEALTHY, last_iteration=1000),
        ),
        evidence=(evidence(1, "a1.log", 9000, "Training completed", "a1"),),
        timing=TIMING,
    )


def incomplete_case() -> Case:
    """No rank wrote anything for a long time."""
    return Case(
        case="c-00000000bb",
        status=Status.INCOMPLETE,
        job=Job(world_size=4, nodes=1, framework="generic", outcome="no end in the logs"),
        verdict=Verdict(
            cause="collective.hang",
            statement="The job stopped progressing after iteration 57: rank 2 never entered iteration 58.",
            confidence=Confidence.MEDIUM,
            evidence_class=EvidenceClass.NEEDS_MEASUREMENT,
            evidence=("E1", "E2"),
            stage=Stage.TRAINING,
            iteration=57,
            action=Action(
                kind=ActionKind.COLLECT,
                text="Look at what rank 2 is doing before anything is restarted.",
                steps=(Step(text="Dump its stack", command="py-spy dump --pid <pid of rank 2>", risk="none"),),
            ),
            missing=("a stack of rank 2 while it hangs",),
            why=("Ranks 0, 1 and 3 wait in iteration 58 (E2); rank 2 wrote its last line in iteration 57 (E1).",),
        ),
        suspects=(Candidate(rank=2, score=0.7, reasons=("silent 600 s before its peers",), evidence=("E1",)),),
        candidates=(Candidate(rank=2, score=0.7, reasons=("silent 600 s before its peers",), evidence=("E1",)),),
        evidence=(
            evidence(1, "rank2.log", 57, "step 57 loss 2.1", None, 2),
            evidence(2, "rank0.log", 58, "step 58 waiting for all_reduce", None, 0),
        ),
        timing=TIMING,
    )


def unknown_case() -> Case:
    """It failed, and the logs do not show why."""
    return Case(
        case="c-00000000cc",
        status=Status.FAILED,
        job=Job(outcome="failed"),
        verdict=Verdict(
            cause="unknown",
            statement="The launcher reports a failed rank, and no log shows why.",
            evidence_class=EvidenceClass.NOT_IN_LOGS,
            evidence=("E1",),
            action=Action(kind=ActionKind.COLLECT, text="Collect the standard error of each rank and diagnose again."),
            missing=("standard error of each rank", "the kernel log of the node"),
        ),
        evidence=(evidence(1, "launcher.log", 3, "exitcode : 1"),),
        timing=TIMING,
    )


def all_cases() -> dict[str, Case]:
    """Every sample by name."""
    return {
        "failed": failed_case(),
        "healthy": healthy_case(),
        "incomplete": incomplete_case(),
        "unknown": unknown_case(),
    }


def _oom_verdict() -> Verdict:
    return Verdict(
        cause="memory.gpu_oom",
        statement="Rank 5 on gpu-07 ran out of GPU memory while training after iteration 411.",
        confidence=Confidence.HIGH,
        evidence_class=EvidenceClass.LOGS,
        evidence=("E1", "E2", "E3"),
        stage=Stage.TRAINING,
        iteration=411,
        action=Action(
            kind=ActionKind.FREE_RESOURCE,
            text="Make room on the GPU: lower the micro batch, or find what grows from iteration to iteration.",
            evidence=("E1",),
            steps=(
                Step(
                    text="Halve the micro batch size and double the accumulation steps",
                    command="--micro-batch-size 1",
                    risk="slower iterations",
                    verify="memory stays below the capacity for 100 iterations",
                    undo="set the old value again",
                ),
                Step(text="Start from the last checkpoint (iteration 400)"),
            ),
        ),
        alternatives=(
            Alternative(cause="hardware.gpu_memory", why="part of the memory may be retired", evidence=("E1",)),
        ),
        missing=("memory over time of GPU 1 on gpu-07",),
        why=(
            "Rank 5 raised an out-of-memory error first (E1).",
            "The collective timeouts of seven ranks came 600 s later and name nobody (E2).",
            "The launcher ended the others after rank 5 exited with code 1 (E3).",
        ),
        fault="cuda-oom",
    )


def _oom_suspect() -> Candidate:
    return Candidate(
        node="gpu-07",
        rank=5,
        device="GPU 1",
        score=0.97,
        reasons=("first error in time order", "its peers wait for it"),
        evidence=("E1", "E3"),
    )


def _oom_events() -> tuple[EventReport, ...]:
    return (
        EventReport(
            id="t-11", template="<*> CUDA out of memory. Tried to allocate <*>", role=Role.INITIATING, count=1,
            nodes=("gpu-07",), ranks=(5,), evidence=("E1",), why="library: cuda-oom", fault="cuda-oom", score=1.0,
        ),
        EventReport(
            id="t-12", template="<*> collective SeqNum=<*> timed out", role=Role.CASCADE, count=7,
            nodes=("gpu-03", "gpu-07"), ranks=(0, 1, 2, 3, 4, 6, 7), evidence=("E2",), why="follows from cuda-oom",
        ),
    )  # fmt: skip
