"""Which rank broke first, and who is only a victim: the rules of the diagnosis on small jobs."""

from __future__ import annotations

from tests.diagnosis.conftest import Diagnose
from tests.diagnosis.jobs import healthy_rank, lost_peer, stamp, steps, traceback, waited

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB"


def ranks(world: int, last: int) -> dict[str, str]:
    return {f"rank-{r}.log": healthy_rank(r, world, last) for r in range(world)}


def test_the_rank_that_ran_out_of_memory_is_blamed_and_its_victims_are_not(job: Diagnose) -> None:
    files = ranks(4, 12)
    files["rank-2.log"] += traceback(18, OOM)
    for victim in (0, 1, 3):
        files[f"rank-{victim}.log"] += lost_peer(19 + victim)
    case = job(files)
    assert case.status == "failed"
    assert case.verdict.cause == "memory.gpu_oom"
    assert [s.rank for s in case.suspects] == [2]
    assert case.verdict.stage == "training"
    assert case.verdict.iteration == 12
    assert case.verdict.confidence == "high"


def test_all_ranks_failing_alike_blames_nobody(job: Diagnose) -> None:
    files = ranks(4, 3)
    for rank in range(4):
        files[f"rank-{rank}.log"] += traceback(9 + 0.1 * rank, "ValueError: sequence length 4097 exceeds 4096")
    case = job(files)
    assert case.status == "failed"
    assert case.suspects == ()
    assert case.verdict.cause.split(".")[0] in ("code", "data", "config")


def test_in_a_hang_the_silent_rank_is_blamed_not_the_earliest_reporter(job: Diagnose) -> None:
    files = ranks(4, 6)
    for victim in (0, 1, 3):
        files[f"rank-{victim}.log"] += waited(26 + victim)
    case = job(files)
    assert case.verdict.cause == "collective.hang"
    assert [s.rank for s in case.suspects] == [2]
    assert case.verdict.evidence_class == "needs_measurement"
    assert abs((case.verdict.iteration or 0) - 6) <= 1


def test_time_orders_the_cascade_not_file_position(job: Diagnose) -> None:
    files = ranks(4, 8)
    files["rank-0.log"] += lost_peer(20)
    files["rank-1.log"] += lost_peer(20.4)
    files["rank-2.log"] += lost_peer(20.2)
    files["rank-3.log"] += traceback(14, "KeyError: 'attention_mask'")
    case = job(files)
    assert [s.rank for s in case.suspects] == [3]
    assert case.verdict.cause in ("code.exception", "data.invalid")


def test_an_error_followed_by_progress_and_a_goal_is_no_failure(job: Diagnose) -> None:
    files = ranks(2, 4)
    files["rank-1.log"] += f"{stamp(9.2)} ERROR checkpoint write failed: [Errno 5] Input/output error, retrying\n"
    for rank in range(2):
        files[f"rank-{rank}.log"] += steps(5, 12, start=10) + f"{stamp(20)} INFO training completed successfully\n"
    case = job(files)
    assert case.status == "healthy"
    assert case.verdict.cause == "none"
    assert case.suspects == ()


def test_a_kill_after_the_goal_is_no_failure(job: Diagnose) -> None:
    files = ranks(2, 5)
    for rank in range(2):
        files[f"rank-{rank}.log"] += f"{stamp(12)} INFO Training completed\n"
    files["slurm.out"] = (
        "slurmstepd: error: *** STEP 77.0 ON n01 CANCELLED AT 2026-11-02T10:05:00 DUE TO TIME LIMIT ***\n"
    )
    assert job(files).status == "healthy"


def test_a_time_limit_in_the_middle_of_progress_blames_nobody(job: Diagnose) -> None:
    files = ranks(2, 30)
    files["slurm.out"] = "slurmstepd: error: *** JOB 77 ON n01 CANCELLED AT 2026-11-02T10:00:36 DUE TO TIME LIMIT ***\n"
    case = job(files)
    assert case.status == "failed"
    assert case.verdict.cause == "scheduler.time_limit"
    assert case.suspects == ()
    assert case.verdict.stage == "training"


def test_what_only_one_node_lacks_blames_that_node(job: Diagnose) -> None:
    files = {f"n0{n}/rank-{n}.log": healthy_rank(n, 4, 0) for n in range(4)}
    files["n02/rank-2.log"] += traceback(3, "ModuleNotFoundError: No module named 'flash_attn'")
    for victim in (0, 1, 3):
        files[f"n0{victim}/rank-{victim}.log"] += lost_peer(7 + victim)
    case = job(files)
    assert case.verdict.cause == "code.import"
    assert [s.node for s in case.suspects] == ["n02"]
    assert case.verdict.stage in ("startup", "loading")


def test_a_job_that_simply_stops_writing_is_incomplete(job: Diagnose) -> None:
    files = ranks(3, 9)
    files["rank-1.log"] = healthy_rank(1, 3, 6)
    case = job(files)
    assert case.status == "incomplete"
    assert case.verdict.iteration == 9
    assert case.verdict.why[0].startswith("Rank 1 reached iteration 6, behind its peers")
    assert case.verdict.cause == "none"
    assert case.suspects == ()
    assert case.verdict.action.kind == "collect"


def test_a_failure_without_a_reason_is_called_unknown_and_names_what_is_missing(job: Diagnose) -> None:
    files = {"out.log": healthy_rank(0, 1, 4) + f"{stamp(12)} FATAL frobnicator gave up\n"}
    case = job(files)
    assert case.status == "failed"
    assert case.verdict.cause == "unknown"
    assert case.verdict.confidence is None
    assert case.verdict.missing


def test_every_cited_id_is_in_the_evidence(job: Diagnose) -> None:
    files = ranks(3, 5)
    files["rank-1.log"] += traceback(11, OOM)
    files["rank-0.log"] += lost_peer(12)
    case = job(files)
    known = {e.id for e in case.evidence}
    cited = {*case.verdict.evidence, *case.verdict.action.evidence}
    cited |= {i for candidate in (*case.suspects, *case.candidates) for i in candidate.evidence}
    cited |= {i for event in case.events for i in event.evidence}
    assert cited <= known
    assert "OutOfMemoryError" in next(e for e in case.evidence if e.id == case.verdict.evidence[0]).text


def test_the_same_input_gives_the_same_bytes(job: Diagnose) -> None:
    files = ranks(4, 6)
    files["rank-2.log"] += traceback(12, OOM)
    first, second = (job(files).model_dump_json(exclude={"timing"}) for _ in range(2))
    assert first == second
