"""Single rules of the diagnosis, on small jobs that differ in just one thing."""

from __future__ import annotations

import pytest

from assistant.case.vocabulary import Stage
from assistant.diagnosis.exits import exits
from assistant.diagnosis.frames import refined, stage_of_frames
from assistant.diagnosis.groups import Spread, spread
from assistant.diagnosis.ledger import iso
from assistant.diagnosis.models import Population
from assistant.diagnosis.wording import listing
from assistant.signals.models import Signal, SignalKind
from tests.diagnosis.conftest import Diagnose
from tests.diagnosis.jobs import healthy_rank, lost_peer, stamp, steps, traceback, waited

EIGHT = Population(
    frozenset(range(8)), frozenset({"n1", "n2"}), {rank: "n1" if rank < 4 else "n2" for rank in range(8)}, 8
)


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ({3}, Spread.ONE_RANK),
        ({0, 1, 2, 3}, Spread.ONE_NODE),
        ({0, 5}, Spread.SOME_RANKS),
        (set(range(8)), Spread.ALL),
        (set(range(7)), Spread.ALL),
    ],
)
def test_how_far_ranks_spread_over_the_job(ranks: set[int], expected: Spread) -> None:
    assert spread(frozenset(ranks), frozenset(), EIGHT) is expected


def ended(rank: int, code: int, kind: SignalKind = SignalKind.EXIT, time: float | None = None) -> Signal:
    return Signal("torchelastic", kind, node="n1", rank=rank, exitcode=code, time=time)


def test_a_process_that_its_launcher_stopped_did_not_end_by_itself() -> None:
    ends = exits([ended(0, -15), ended(1, -9, time=5.0), ended(2, -9, SignalKind.CLOSED)], EIGHT, 0)
    assert [end.place.rank for end in ends if end.by_itself] == [1]


@pytest.mark.parametrize(
    ("code", "cause", "words"),
    [
        (-9, "process.killed", "SIGKILL"),
        (137, "process.killed", "SIGKILL"),
        (-11, "process.segfault", "SIGSEGV"),
        (135, "process.bus_error", "SIGBUS"),
        (3, "process.exit", "exit code 3"),
        (255, "process.exit", "exit code 255"),
    ],
)
def test_an_exit_code_is_read_as_the_way_of_ending(code: int, cause: str, words: str) -> None:
    (end,) = exits([ended(0, code)], EIGHT, 0)
    assert (end.cause, end.words) == (cause, words)


def test_ends_of_earlier_attempts_do_not_count() -> None:
    assert exits([ended(0, -9)], EIGHT, 1) == ()


FRAME = '  File "/opt/t.py", line 5, in {}\n    x\n'


@pytest.mark.parametrize(
    ("function", "stage"),
    [
        ("save_checkpoint", Stage.CHECKPOINT_SAVE),
        ("load_checkpoint", Stage.CHECKPOINT_LOAD),
        ("evaluate", Stage.EVALUATION),
        ("training_step", Stage.TRAINING),
        ("build_dataset", Stage.LOADING),
        ("init_distributed", Stage.STARTUP),
        ("frobnicate", None),
    ],
)
def test_frames_betray_the_stage(function: str, stage: Stage | None) -> None:
    assert stage_of_frames(FRAME.format(function)) is stage


def test_frames_never_lead_back_behind_the_first_iteration() -> None:
    assert refined(Stage.TRAINING, FRAME.format("build_dataset"), iterating=True) is Stage.TRAINING
    assert refined(Stage.TRAINING, FRAME.format("save_checkpoint"), iterating=True) is Stage.CHECKPOINT_SAVE
    assert refined(Stage.EVALUATION, FRAME.format("training_step"), iterating=True) is Stage.EVALUATION


def test_times_are_written_in_utc_with_milliseconds() -> None:
    assert iso(0.5) == "1970-01-01T00:00:00.500Z"
    assert iso(None) is None


def test_long_lists_are_cut_with_their_rest_counted() -> None:
    assert listing(["a"]) == "a"
    assert listing(["a", "b"]) == "a and b"
    assert listing([str(n) for n in range(6)]) == "0, 1, 2, 3 and 2 more"


def ranks(world: int, last: int) -> dict[str, str]:
    return {f"rank-{r}.log": healthy_rank(r, world, last) for r in range(world)}


def test_a_victim_that_crashes_after_its_timeout_is_not_blamed(job: Diagnose) -> None:
    files = ranks(4, 6)
    for victim in (0, 1, 3):
        files[f"rank-{victim}.log"] += waited(26 + victim)
    files["rank-0.log"] += "terminate called without an active exception\nFatal Python error: Aborted\n"
    case = job(files)
    assert [s.rank for s in case.suspects] == [2]
    assert case.verdict.cause == "collective.hang"


def test_a_specific_error_near_an_unspecific_one_names_the_cause(job: Diagnose) -> None:
    files = ranks(2, 4)
    files["rank-1.log"] += traceback(10, "RuntimeError: worker gave up") + traceback(
        10.5, "OSError: [Errno 28] No space left on device: '/ckpt/step_4.pt'"
    )
    files["rank-0.log"] += lost_peer(11)
    case = job(files)
    assert case.verdict.cause == "storage.disk_full"
    assert [s.rank for s in case.suspects] == [1]


def test_a_second_fault_elsewhere_is_reported_beside_the_first(job: Diagnose) -> None:
    files = ranks(4, 6)
    files["rank-1.log"] += traceback(12.0, "OSError: [Errno 28] No space left on device: '/ckpt/step_6.pt'")
    files["rank-3.log"] += traceback(12.2, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.")
    for victim in (0, 2):
        files[f"rank-{victim}.log"] += lost_peer(15)
    case = job(files)
    found = {case.verdict.cause, *(failure.verdict.cause for failure in case.failures)}
    assert found == {"storage.disk_full", "memory.gpu_oom"}


def test_an_error_on_the_only_rank_at_hand_blames_nobody(job: Diagnose) -> None:
    lines = f"{stamp(1)} INFO rank 5 of world size 8\n" + traceback(3, "TypeError: forward() got an unexpected keyword")
    case = job({"rank-5.log": lines})
    assert case.status == "failed"
    assert case.suspects == ()


def test_only_a_named_error_in_an_earlier_attempt_does_not_fail_a_job_that_then_succeeded(job: Diagnose) -> None:
    restart = "[default] Starting elastic_operator with launch configs:\n"
    first = healthy_rank(0, 1, 5) + traceback(11, "ConnectionError: storage gateway went away")
    second = f"{stamp(30)} INFO building model\n" + steps(1, 9, start=31) + f"{stamp(50)} INFO training finished\n"
    case = job({"out.log": first + restart + second})
    assert case.status == "healthy"


def test_the_action_comes_with_a_step_that_can_be_done(job: Diagnose) -> None:
    files = ranks(4, 6)
    for victim in (0, 1, 3):
        files[f"rank-{victim}.log"] += waited(26)
    action = job(files).verdict.action
    assert action.steps
    assert any(step.command for step in action.steps)


def test_events_keep_the_values_behind_their_masks(job: Diagnose) -> None:
    files = ranks(2, 4)
    files["rank-1.log"] += traceback(10, "OSError: [Errno 28] No space left on device: '/ckpt/step_4.pt'")
    files["rank-0.log"] += lost_peer(11)
    (event,) = [event for event in job(files).events if event.role == "initiating"]
    assert "28" in event.parameters[0]
    assert any("/ckpt/step_4" in value for value in event.parameters[0])
