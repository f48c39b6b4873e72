"""A stopped turn leaves its tool at work in a thread; what that finds reaches no later turn."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from assistant.tools.calls import Calls
from assistant.tools.desk import Desk
from assistant.tools.finding import Finding, Tool, found
from assistant.tools.models import Arguments, ResultStatus
from assistant.tools.registry import BY_NAME

PATIENCE = 30.0


class Gate:
    """A tool that works until it is let go, and knows how many are at work."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.at_work = self.most = 0

    def ask(self, desk: Desk, arguments: Arguments) -> Finding:
        self.at_work += 1
        self.most = max(self.most, self.at_work)
        self.begun.set()
        assert self.go.wait(PATIENCE)
        self.at_work -= 1
        return found(["a row"] * 2_000, desk.case.evidence)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    made = Gate()
    monkeypatch.setitem(BY_NAME, "slow", Tool("slow", "waits", Arguments, made.ask))
    return made


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as made:
        yield made


def test_what_a_stopped_turn_finds_late_is_dropped(calls: Calls, gate: Gate, pool: ThreadPoolExecutor) -> None:
    before = dict(calls.desk.shown.by_id)
    turn, name = calls.begin_turn(), calls.claim_id()
    late = pool.submit(calls.call, "slow", {}, turn, name)
    assert gate.begun.wait(PATIENCE)
    calls.end_turn(turn)
    gate.go.set()
    assert late.result(PATIENCE).status is ResultStatus.REFUSED
    assert calls.results == {}
    assert calls.desk.spilled == {}
    assert calls.desk.shown.by_id == before


def test_the_next_turn_has_ids_and_a_budget_of_its_own(calls: Calls, gate: Gate, pool: ThreadPoolExecutor) -> None:
    calls.per_turn = 1
    first = calls.begin_turn()
    late = pool.submit(calls.call, "slow", {}, first, calls.claim_id())
    assert gate.begun.wait(PATIENCE)
    second = calls.begin_turn()
    name = calls.claim_id()
    now = pool.submit(calls.call, "slow", {}, second, name)
    gate.go.set()
    assert late.result(PATIENCE).id == "T1"
    assert now.result(PATIENCE).status is ResultStatus.FOUND
    assert list(calls.results) == [name] == ["T2"]
    assert (first.made, second.made) == (1, 1)


def test_the_desk_serves_one_call_at_a_time(calls: Calls, gate: Gate, pool: ThreadPoolExecutor) -> None:
    turn = calls.begin_turn()
    waiting = [pool.submit(calls.call, "slow", {}, turn) for _ in range(3)]
    aside = pool.submit(calls.aside, lambda desk: gate.ask(desk, Arguments()).status)
    gate.go.set()
    assert aside.result(PATIENCE) is ResultStatus.FOUND
    statuses = sorted(one.result(PATIENCE).status for one in waiting)
    assert statuses == [ResultStatus.FOUND, ResultStatus.REFUSED, ResultStatus.REFUSED]
    assert gate.most == 1


def test_a_call_that_waits_for_the_desk_lets_go_when_its_turn_is_stopped(
    calls: Calls, gate: Gate, pool: ThreadPoolExecutor
) -> None:
    first = calls.begin_turn()
    busy = pool.submit(calls.call, "slow", {}, first)
    assert gate.begun.wait(PATIENCE)
    second = calls.begin_turn()
    waiting = pool.submit(calls.call, "slow", {}, second)
    calls.end_turn(second)
    assert waiting.result(PATIENCE).status is ResultStatus.REFUSED
    gate.go.set()
    assert busy.result(PATIENCE).status is ResultStatus.REFUSED
    assert calls.call("overview", {}).status is ResultStatus.FOUND


def test_many_threads_never_get_the_same_id(calls: Calls, pool: ThreadPoolExecutor) -> None:
    ready = threading.Barrier(8)

    def claim(at: int) -> list[str]:
        ready.wait(PATIENCE)
        kept = [calls.add("mark", {"line": at}, "x", ()).id for _ in range(50)]
        return [*kept, *(calls.claim_id() for _ in range(50))]

    claimed = [name for one in pool.map(claim, range(8)) for name in one]
    assert len(set(claimed)) == len(claimed) == 800
    assert len(calls.results) == 400
