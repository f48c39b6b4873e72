"""Rivals on small jobs written by hand, on which it is plain what each of them says, right or wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.case.vocabulary import Role, Stage, Status
from evals.prediction import Context, Flag, Prediction, Suspect, Tool
from evals.rivals import missing, nvrx, tools
from evals.rivals.first_errors import ErrorCount, ErrorTime
from evals.rivals.forest import Forest
from evals.rivals.gpualert import cause_of
from evals.rivals.grep import Grep
from evals.rivals.lines import open_job
from evals.rivals.merged import Place, merge
from evals.rivals.torchelastic import Torchelastic

BLOCK = """\
E0301 10:00:0{second}.500000 40{rank} torch/distributed/elastic/api.py:10] failed (exitcode: {code}) local_rank: 0
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-03-01_10:00:0{second}
  host      : n{rank}
  rank      : {rank} (local_rank: 0)
  exitcode  : {code} (pid: 40{rank})
  error_file: <N/A>
  traceback : {why}
============================================================
"""


def steps(rank: int, until: int) -> list[str]:
    """What a healthy rank writes."""
    start = f"2026-03-01 10:00:00,000 INFO starting on n{rank}: rank {rank} of 3"
    return [start, *(f"2026-03-01 10:00:0{step},000 INFO step {step}/9 loss 2.{step}" for step in range(1, until + 1))]


def write_job(folder: Path, ends: dict[int, list[str]], until: int = 4) -> Path:
    """Three nodes with a rank each; `ends` is what a rank writes after its last step."""
    for rank in range(3):
        node = folder / f"n{rank}"
        node.mkdir(parents=True)
        text = "\n".join([*steps(rank, until), *ends.get(rank, [])]) + "\n"
        (node / f"rank-{rank}.log").write_text(text)
    return folder


@pytest.fixture
def loud(tmp_path: Path) -> Path:
    """Rank 1 fails first; ranks 0 and 2 complain later, rank 2 the most."""
    victims = ["2026-03-01 10:00:08,000 ERROR peer lost", "2026-03-01 10:00:09,000 ERROR giving up: peer lost"]
    first = ["2026-03-01 10:00:05,000 ERROR cannot read sample 17", "ValueError: bad sample"]
    return write_job(tmp_path / "job", {1: first, 0: victims[:1], 2: victims * 3})


def asked(tool: Tool, job: Path, tmp_path: Path, baselines: tuple[Path, ...] = ()) -> Prediction:
    """The tool's answer with a scratch folder of its own."""
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    return tool.predict(job, baselines, Context(scratch))


def test_error_time_suspects_whoever_complained_first(loud: Path, tmp_path: Path) -> None:
    answer = asked(ErrorTime(), loud, tmp_path)
    assert answer.ranks == (1, 0, 2)
    assert answer.nodes == ("n1", "n0", "n2")
    assert answer.seconds is not None


def test_error_count_suspects_whoever_complained_most(loud: Path, tmp_path: Path) -> None:
    assert asked(ErrorCount(), loud, tmp_path).ranks == (2, 1, 0)


def test_what_the_baselines_of_the_paper_cannot_say_is_none(loud: Path, tmp_path: Path) -> None:
    for tool in (ErrorTime(), ErrorCount()):
        answer = asked(tool, loud, tmp_path)
        assert (answer.status, answer.cause, answer.blamed, answer.events) == (None, None, None, None)
        assert not answer.fields


def test_an_untimed_traceback_is_placed_by_what_its_rank_wrote_before(tmp_path: Path) -> None:
    trace = ["Traceback (most recent call last):", '  File "t.py", line 1', "KeyError: 'x'"]
    job = write_job(tmp_path / "job", {2: trace, 0: ["2026-03-01 10:00:06,000 ERROR peer lost"]})
    assert asked(ErrorTime(), job, tmp_path).ranks == (2, 0)


def test_grep_flags_every_line_with_a_keyword(loud: Path, tmp_path: Path) -> None:
    answer = asked(Grep(), loud, tmp_path)
    assert answer.status is Status.FAILED
    assert answer.events is not None
    assert Flag("n1/rank-1.log", 6) in answer.events
    assert len(answer.events) == 9


def test_grep_calls_a_job_without_keywords_healthy(tmp_path: Path) -> None:
    answer = asked(Grep(), write_job(tmp_path / "job", {}), tmp_path)
    assert (answer.status, answer.events) == (Status.HEALTHY, frozenset())


def test_the_forest_finds_the_one_node_that_differs(tmp_path: Path) -> None:
    odd = [f"2026-03-01 10:00:0{n},000 WARNING link port {n} flapped" for n in range(5, 9)]
    answer = asked(Forest(), write_job(tmp_path / "job", {2: odd}), tmp_path)
    assert answer.ranks is not None
    assert answer.ranks[0] == 2


def test_the_forest_flags_only_what_healthy_runs_do_not_write(tmp_path: Path) -> None:
    healthy = write_job(tmp_path / "healthy", {})
    odd = ["2026-03-01 10:00:05,000 WARNING link flapped"]
    answer = asked(Forest(), write_job(tmp_path / "job", {2: odd}), tmp_path, (healthy,))
    assert answer.events == frozenset({Flag("n2/rank-2.log", 6)})


def block(rank: int, second: int, code: int, why: str) -> str:
    """What the launcher of a rank prints when it has failed."""
    return BLOCK.format(rank=rank, second=second, code=code, why=why)


def test_torchelastic_blames_the_earliest_root_cause_of_all_launchers(tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", {})
    (job / "n0/launcher.log").write_text(block(0, 7, 1, "To enable traceback see: the manual"))
    (job / "n2/launcher.log").write_text(block(2, 5, -9, "Signal 9 (SIGKILL) received by PID 402"))
    answer = asked(Torchelastic(), job, tmp_path)
    assert answer.blamed == (Suspect(rank=2, node="n2"),)
    assert answer.ranks == (2, 0)
    assert (answer.status, answer.cause) == (Status.FAILED, "process.killed")


def test_torchelastic_takes_the_exception_from_its_blocks_traceback(tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", {})
    trace = (
        'Traceback (most recent call last):\n    File "t.py", line 1, in f\n  ModuleNotFoundError: No module named x'
    )
    (job / "n1/launcher.log").write_text(block(1, 5, 1, trace))
    assert asked(Torchelastic(), job, tmp_path).cause == "code.import"


def test_torchelastic_finds_nothing_where_no_launcher_reports(loud: Path, tmp_path: Path) -> None:
    answer = asked(Torchelastic(), loud, tmp_path)
    assert (answer.status, answer.blamed) == (Status.HEALTHY, ())


def test_files_are_merged_in_time_and_lines_carry_their_rank(loud: Path, tmp_path: Path) -> None:
    file = tmp_path / "merged.log"
    places = merge(open_job(loud), file)
    lines = file.read_text().splitlines()
    assert len(lines) == len(places)
    errors = [line for line in lines if "ERROR" in line]
    assert errors[0].startswith("1: ")
    assert lines.index("1: ValueError: bad sample") == lines.index(errors[0]) + 1
    assert places[lines.index(errors[0])] == Place("n1/rank-1.log", 6, "n1", 1)


def test_a_restart_agents_answer_is_led_back_to_the_files() -> None:
    places = [Place("n1/rank-1.log", 6, "n1", 1), Place("n0/rank-0.log", 6, "n0", 0)]
    primary = {"failure_class": "cuda_oom", "line": 1, "rank": None, "phase": "steady_mid", "failure_iteration": 7}
    answer = nvrx.read_answer(
        {"primary_failure": primary, "cascades": [{"rank_spread": ["0"], "sample_lines": [2]}]}, places, 0.5, 1000
    )
    assert (answer.cause, answer.ranks, answer.blamed) == ("memory.gpu_oom", (1, 0), (Suspect(1, "n1"),))
    assert (answer.stage, answer.iteration) == (Stage.TRAINING, 7)
    assert answer.events == frozenset(
        {Flag("n1/rank-1.log", 6, Role.INITIATING), Flag("n0/rank-0.log", 6, Role.CASCADE)}
    )


def test_no_primary_failure_is_nothing_failed_and_nobody_blamed() -> None:
    answer = nvrx.read_answer({"primary_failure": None}, [], 0.1, 10)
    assert (answer.status, answer.cause, answer.blamed, answer.events) == (Status.HEALTHY, "none", (), frozenset())


def test_a_label_of_gpualert_becomes_a_cause() -> None:
    assert cause_of("NaN detected in loss\nSuggestion: check the learning rate.") == "numerics.nan"
    assert cause_of("Process exited with code 1. Check stderr.log for details.") == "unknown"


def test_whoever_is_not_installed_is_named_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOTRANK_RIVALS", str(tmp_path / "none"))
    assert set(missing()) == {"nvrx", "gpualert"}
    assert {tool.name for tool in tools()}.isdisjoint(missing())
    assert all("build" in why for why in missing().values())
