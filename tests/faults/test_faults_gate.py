"""The gate lets pass whatever the library knows and whatever smells of failure, in RE2 and in Polars alike."""

from __future__ import annotations

import polars as pl
import pytest

from assistant.faults.gate import GENERIC, gate_of, portable
from assistant.faults.library import load_library
from assistant.faults.literals import needs_known
from assistant.faults.matcher import Matcher
from assistant.intake.regexes import compile_regex

GATE = Matcher(load_library()).gate()


def passes(lines: list[str], gate: list[str]) -> list[bool]:
    series = pl.Series(lines, dtype=pl.String)
    frame = pl.DataFrame([series.str.contains(regex).alias(str(place)) for place, regex in enumerate(gate)])
    rust = frame.select(pl.any_horizontal(pl.all())).to_series().to_list()
    compiled = [compile_regex(regex) for regex in gate]
    assert rust == [any(regex.search(line) is not None for regex in compiled) for line in lines]
    return rust


@pytest.mark.parametrize(
    "line",
    [
        "E1129 17:36:46.910000 81 somewhere.py:12] it went wrong",
        "[ERROR] the frobnicator is gone",
        "the job FAILED at 10:11",
        "mypkg.errors.PlanError: nothing to do",
        "Traceback (most recent call last):",
        "caught signal 10",
        "received SIGUSR2",
        "process ended with exit code 3",
        "loss: nan",
        "lm loss: inf",
        "ncclUnknownThing: something was refused",
        "the device is unreachable",
        "write: no space left on device",
        "could not start the helper",
        "worker exited with code 7, exit status 7",
        "panic: runtime is gone",
    ],
)
def test_an_unknown_failure_passes(line: str) -> None:
    assert passes([line], GATE) == [True]


@pytest.mark.parametrize(
    "line",
    [
        "iteration 10/ 100 | lm loss: 1.0E+00 | grad norm: 1.2 | number of nan iterations: 0",
        "Epoch 3:  41%|████▏     | 410/1000 [00:31<00:45, 13.1it/s, loss=2.31]",
        "banana split into 12 shards",
        "information: nanoseconds are used",
        "using the oomph schedule, 0 retries",
        "step 5 loss 2.1 terror-free",
        "mirrored volume is in use",
    ],
)
def test_ordinary_lines_do_not_pass(line: str) -> None:
    expected = "nan iterations" in line
    assert passes([line], GATE) == [expected]


@pytest.mark.parametrize(
    ("regex", "matching"),
    [
        (r"\bvalve\b", "a valve, stuck"),
        (r"(?i)VALVE (?P<rank>\d+)\b", "Valve 7"),
        (r"(?P<node>[\w.-]+): task (\d+)", "n-1.x: task 3"),
        (r"a|b\b", "b"),
        (r"\ba|b", "xb"),
        (r"pump\\b", "pump\\b"),
        (r"[\d\]]x\s\S", "]x y"),
        (r"(?m)^end\s*$", "end"),
        (r"\(\w+\)\D", "(ab)c"),
    ],
)
def test_the_portable_form_matches_what_the_signature_matches(regex: str, matching: str) -> None:
    assert compile_regex(regex).search(matching) is not None
    assert passes([matching], [portable(regex)]) == [True]


def test_flags_of_a_portable_form_stay_inside() -> None:
    joined = "|".join([portable("(?i)valve"), portable("PUMP")])
    assert pl.Series(["VALVE", "PUMP", "pump"]).str.contains(joined).to_list() == [True, True, False]


def test_named_groups_do_not_clash_when_forms_are_joined() -> None:
    joined = "|".join(portable(regex) for regex in (r"valve (?P<rank>\d+)", r"pump (?P<rank>\d+)"))
    assert pl.Series(["pump 3"]).str.contains(joined).to_list() == [True]


@pytest.mark.parametrize(
    ("regex", "implied"),
    [
        (r"the valve has failed again", True),
        (r"valve (?:failed|was killed) at", True),
        (r"valve (?:failed|stuck) at", False),
        (r"valve (?:failed )?stuck", False),
        (r"valve .*? failed \d+", True),
        (r"(?:a|b)+ failed x", True),
        (r"failed", False),
        (r"x(?: failed )*y", False),
        (r"x(?: failed ){2,}y", False),
        (r"(?i)valve ERROR \d", True),
        (r"[Vv]alve error [a-z]", True),
        (r"valve error[a-z]", False),
        (r"valve\s+failed\s+\w", False),
        (r"cannot[a-z]", True),
        (r"(?P<rank>\d+) failed, (?P<node>\w+)", True),
        (r"(", False),
    ],
)
def test_a_signature_is_left_out_only_where_a_generic_word_is_certain(regex: str, implied: bool) -> None:
    known = compile_regex(r"(?i)(?:^|\W)(?:failed|killed|error)(?:\W|$)|cannot")

    def passing(text: str, folded: bool) -> bool:
        return known.search(f"x{text.strip(chr(0))}x") is not None

    assert needs_known(regex, passing) is implied
    if regex != "(":
        assert (portable(regex) in gate_of([regex])) or regex not in ("failed",)


def test_no_pattern_of_the_gate_is_needed_twice() -> None:
    assert len(set(GATE)) == len(GATE)
    assert list(GENERIC) == GATE[: len(GENERIC)]
