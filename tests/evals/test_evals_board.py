"""From answers to figures, to a report and to a verdict on the build."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard

from assistant.case.vocabulary import Confidence
from assistant.errors import BadTruth
from evals.check import Subset, board_of, lines_of, load_subset, narrated
from evals.jobset import Half, load_set
from evals.report.bars import Bars, load_bars, measured
from evals.report.document import Contents, document
from evals.report.kinds import by_kind, misses
from evals.report.plots import plots
from evals.report.tables import differences, full, short
from evals.runner import answers_of, shared_copy
from evals.scorers.board import Board, boards, in_half, of_size
from tests.evals.sets import QUIET, RIGHT, WRONG, Breaks, Says, healthy_of, tar_of, truth_of, write_job, write_set

SET = (
    truth_of("job-001"),
    truth_of("job-002", kind="permission"),
    truth_of("job-003", kind="sigkill"),
    healthy_of("job-004"),
    truth_of("job-005", world_size=64, replica_of="job-001"),
)
HEADS = (
    "## The bars",
    "## The reporting half",
    "## The tuning half",
    "## One part taken out",
    "## By kind",
    "## Does confidence",
    "## Scaled replicas",
    "## Seconds",
    "## How it is scored",
)
RIGHTS, NOBODY, WRONGS = Says("right", RIGHT), Says("nobody", QUIET), Says("wrong", WRONG)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Board]:
    folder = write_set(tmp_path_factory.mktemp("set"), *SET)
    tools = [RIGHTS, NOBODY, WRONGS]
    return boards(answers_of(load_set(folder).jobs, tools, cache=folder / "cache", processes=1), tools)


def test_shares_of_tools_whose_worth_is_known(made: list[Board]) -> None:
    right, nobody, wrong = [board.of(in_half(Half.TUNE)) for board in made]
    assert [len(board.scored) for board in (right, nobody, wrong)] == [3, 3, 3]
    figures = {
        column: [board.cell(column).value for board in (right, nobody, wrong)]
        for column in ("rank@1", "cause", "no_blame", "blame", "events_f1")
    }
    assert figures["rank@1"] == [1.0, 1.0, 0.0]
    assert figures["cause"] == pytest.approx([2 / 3, 1 / 3, 0.0])
    assert figures["no_blame"] == [0.0, 1.0, 0.0]
    assert figures["blame"] == pytest.approx([2 / 3, 1 / 3, 0.0])
    # It flags 2 events of each failed job; on the healthy one its flags are on files that are not there: 2 false.
    assert figures["events_f1"][0] == pytest.approx(2 * 4 / (2 * 4 + 2))
    assert figures["events_f1"][1] == 0.0


def test_replicas_are_counted_apart(made: list[Board]) -> None:
    assert [each.job.name for each in made[0].of(of_size(64)).scored] == ["job-005"]
    assert all(not each.job.scaled for each in made[0].of(in_half(Half.REPORT)).scored)


def test_calibration(made: list[Board]) -> None:
    found = made[0].of(in_half(Half.REPORT)).confident(Confidence.HIGH)
    assert (found.right, found.n) == (1, 2)
    assert made[1].confident(Confidence.HIGH).n == 0


def test_seconds_and_megabytes(made: list[Board]) -> None:
    assert made[0].seconds == (1.0, 5.0)
    assert made[0].megabytes == (1.0, 1.0)


def test_a_tool_that_breaks_is_wrong_and_is_asked_again_next_time(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", truth_of())
    tool = Breaks(tmp_path / "diary")
    jobs = load_set(folder).jobs
    for times in (1, 2):
        (answers,) = answers_of(jobs, [tool], cache=tmp_path / "cache", processes=1)
        assert answers.answers[0].error == "OSError: no such thing"
        assert tool.diary.read_text().count("asked") == times
    (board,) = boards([replace(answers, answers=(answers.answers[0],))], [tool])
    assert board.broken == 1


def test_what_was_answered_is_kept_until_tool_or_job_change(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", truth_of())
    jobs, cache = load_set(folder).jobs, tmp_path / "cache"

    def cause(tool: Says) -> str | None:
        return answers_of(jobs, [tool], cache=cache, processes=1)[0].answers[0].cause

    assert cause(RIGHTS) == "code.exception"
    assert cause(Says("right", WRONG)) == "code.exception"
    assert cause(Says("right", WRONG, fingerprint="2")) == "memory.gpu_oom"
    (folder / "job-001/n01/rank-0.log").write_text("other\n")
    assert cause(Says("right", WRONG)) == "memory.gpu_oom"


def test_a_cache_cut_short_is_asked_again(tmp_path: Path) -> None:
    jobs, cache = load_set(write_set(tmp_path / "set", truth_of())).jobs, tmp_path / "cache"
    answers_of(jobs, [RIGHTS], cache=cache, processes=1)
    for file in cache.rglob("*.zst"):
        file.write_bytes(file.read_bytes()[:-4])
    (answers,) = answers_of(jobs, [RIGHTS], cache=cache, processes=1)
    assert answers.answers == (RIGHT,)


def test_several_processes_answer_alike(tmp_path: Path, made: list[Board]) -> None:
    folder = write_set(tmp_path / "set", *SET)
    answers = answers_of(load_set(folder).jobs, [RIGHTS], cache=tmp_path / "cache", processes=2)
    (board,) = boards(answers, [RIGHTS])
    assert [each.marks for each in board.scored] == [each.marks for each in made[0].scored]


def test_misses_are_named_on_the_tuning_half_only(made: list[Board]) -> None:
    text = "\n".join([*misses(made[2]), *by_kind(made[2], Half.REPORT)])
    assert "job-001 (exception)" in text
    assert "job-002" not in text
    assert "| permission | 1 | 0/1 |" in text


def test_what_cannot_be_said_is_a_dash(made: list[Board]) -> None:
    assert short(made[0].cell("unknown_said")) == "-"
    assert short(made[0].cell("rank@1")).startswith("100.0 %<br>")
    assert any(line.startswith("| cause class | 80.0 % | 5 |") for line in full(made[0]))


def test_the_report_holds_every_part(made: list[Board]) -> None:
    drawn = plots(made, made)
    names = tuple(f"plots/{name}" for name in drawn)
    contents = Contents(
        "the command", {"torch": "2"}, tuple(made), tuple(made), load_bars(), names, {"rival": "no net"}
    )
    text = document(contents)
    for head in HEADS:
        assert head in text
    assert "![tools](plots/tools.svg)" in text
    assert "Not asked: rival (no net)" in text
    assert "job-002" not in text
    assert set(drawn) == {"tools.svg", "calibration.svg", "ablation.svg", "scale.svg"}
    for svg in drawn.values():
        assert ElementTree.fromstring(svg).tag.endswith("svg")


def test_a_report_of_no_job_at_all_is_written(made: list[Board]) -> None:
    empty = [board.of(lambda _: False) for board in made]
    text = document(Contents("x", {}, tuple(empty), tuple(empty), load_bars(), (), {}))
    assert "not measured" in text
    assert plots(empty, ())["tools.svg"]


def test_points_lost_without_a_part(made: list[Board]) -> None:
    table = differences(made[0], made[1:2], ["cause", "unknown_said"])
    assert table[2] == "| right | 80.0 % |"
    assert table[3] == "| nobody | -60.0 |"


def test_bars_compare_with_the_reporting_half_or_two_sizes(made: list[Board]) -> None:
    bars = Bars.model_validate(
        {
            "schema": "rootrank.bars/1",
            "bars": [
                {"what": "a", "column": "rank@1", "at_least": 0.95},
                {"what": "b", "column": "no_blame", "at_least": 0.97},
                {"what": "c", "column": "rank@1", "ranks": [64, 64], "within": 0.02},
                {"what": "d", "column": "rank@1", "ranks": [4096, 64], "within": 0.02},
            ],
        }
    )
    assert [each.reached for each in measured(bars, made[0])] == [True, False, True, None]


@pytest.mark.parametrize(
    "bar", ["column: nothing\n    at_least: 1", "column: cause", "column: cause\n    ranks: [1, 2]"]
)
def test_bars_that_say_nothing_are_refused(tmp_path: Path, bar: str) -> None:
    (tmp_path / "bars.yaml").write_text(f"schema: rootrank.bars/1\nbars:\n  - what: x\n    {bar}\n")
    with pytest.raises(BadTruth, match=r"bars\.yaml"):
        load_bars(tmp_path / "bars.yaml")


def test_a_threshold_that_is_not_reached_or_no_longer_asked_fails(made: list[Board]) -> None:
    subset = Subset.model_validate(
        {"schema": "rootrank.check/1", "jobs": [], "at_least": {"cause": 0.8, "blame": 0.81, "unknown_said": 0.1}}
    )
    lines = lines_of(subset, made[0])
    assert [line.holds for line in lines] == [True, False, False]
    text = "\n".join(narrated(lines, made[2]))
    assert "LOW blame" in text
    assert "job-002" not in text
    assert "and 1 of the reporting half" in text


def test_a_subset_that_names_no_job_of_the_set_is_refused(tmp_path: Path) -> None:
    (tmp_path / "check.yaml").write_text("schema: rootrank.check/1\nat_least: {cause: 1}\njobs: [job-077]\n")
    subset = load_subset(tmp_path / "check.yaml")
    with pytest.raises(BadTruth, match="job-077"):
        board_of(subset, write_set(tmp_path / "set", truth_of()), tmp_path / "cache", 1)
    (tmp_path / "check.yaml").write_text("schema: rootrank.check/1\nat_least: {luck: 1}\njobs: []\n")
    with pytest.raises(BadTruth, match="luck"):
        load_subset(tmp_path / "check.yaml")


def test_twins_are_unpacked_once_for_all_jobs(tmp_path: Path) -> None:
    archive = tmp_path / "job-004.tar.zst"
    archive.write_bytes(zstandard.compress(tar_of(write_job(tmp_path / "job", broken=False), "job")))
    (tmp_path / "shared").mkdir()
    first = shared_copy(archive, tmp_path / "shared")
    archive.unlink()
    assert shared_copy(archive, tmp_path / "shared") == first
    assert [path.name for path in (tmp_path / "shared").iterdir()] == [first.name]
    assert (first / "n01/rank-0.log").is_file()
