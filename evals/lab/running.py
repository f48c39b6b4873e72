"""The time between the start of a job's launchers and the end of the last one. Times are seconds."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from evals.lab.job import Job
from evals.lab.network import Lan
from evals.lab.node import Place, command, environment
from evals.lab.outcome import Outcome
from evals.lab.processes import kill_tree

GRACE = 6.0
"""How long launchers may outlive the first that failed, before they are stopped as a scheduler does."""
POLL = 0.1
CUTS = ("silent", "carrier", "interface")


class Running:
    """One running job."""

    def __init__(self, job: Job, places: list[Place], marks: Path, lan: Lan | None) -> None:
        self.job, self.places, self.marks, self.lan = job, places, marks, lan
        self.began = time.time()
        self.launchers: dict[int, subprocess.Popen[bytes]] = {}
        self.pending = {place.node: job.late.get(place.node, 0.0) for place in places if place.node not in job.absent}
        self.acts: list[dict[str, Any]] = []
        self.overdue = False
        self.marked_at: float | None = None
        self.stop_at: float | None = None
        self.stopped = False
        self.below: set[int] = set()

    def watch(self) -> None:
        """Starts the launchers, does what is to be done from outside, and waits for the end."""
        try:
            while self.pending or self._alive():
                self._start_due()
                self._act()
                self._limit()
                time.sleep(POLL)
        finally:
            self._end()

    def outcome(self) -> Outcome:
        """What is known at the end."""
        codes = {node: launcher.returncode for node, launcher in sorted(self.launchers.items())}
        steps = {int(path.stem.rpartition("-")[2]): int(path.read_text() or 0) for path in self._files("step")}
        marks = [json.loads(line) for path in self._files("jsonl") for line in path.read_text().splitlines()]
        return Outcome(codes, self.began, time.time(), self.overdue, marks, self.acts, dict(sorted(steps.items())))

    def _files(self, suffix: str) -> list[Path]:
        return sorted(self.marks.parent.glob(f"{self.marks.name}-*.{suffix}"))

    def _alive(self) -> list[int]:
        return [node for node, launcher in self.launchers.items() if launcher.poll() is None]

    def _start_due(self) -> None:
        for node, delay in list(self.pending.items()):
            if time.time() - self.began >= delay:
                del self.pending[node]
                self.launchers[node] = self._start(self.places[node])
                self.stop_at = None

    def _start(self, place: Place) -> subprocess.Popen[bytes]:
        place.logs.mkdir(parents=True, exist_ok=True)
        with (place.logs / "launcher.log").open("wb") as console:
            return subprocess.Popen(
                command(self.job, place),
                cwd=place.workplace,
                env=environment(self.job, place),
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _act(self) -> None:
        """Does what the job's trigger says, once, a while after the mark."""
        trigger = self.job.trigger
        if trigger is None or self.acts:
            return
        if self.marked_at is None and self._files("jsonl"):
            self.marked_at = time.time()
        if self.marked_at is None or time.time() < self.marked_at + trigger.wait:
            return
        self.acts.append({"action": trigger.action, "node": trigger.node, "time": time.time()})
        if trigger.action == "terminate":
            self._signal(signal.SIGTERM)
        elif trigger.action == "lose":
            kill_tree(self.launchers[trigger.node])
        elif self.lan:
            self.lan.cut(trigger.node, CUTS[self.job.seed % len(CUTS)])  # type: ignore[arg-type]

    def _limit(self) -> None:
        """Once a launcher has failed, the others are stopped after a while; past the job's time limit, all are."""
        now = time.time()
        failed = any(launcher.poll() for launcher in self.launchers.values())
        if failed and self.stop_at is None:
            self.stop_at = now + GRACE
        if now > self.began + self.job.patience:
            self.overdue = True
            self.pending.clear()
            self._end()
        elif self.stop_at and now > self.stop_at and self._alive():
            self._reap()
            self.stop_at = now + 2 * GRACE

    def _reap(self) -> None:
        if self.job.reaper == "kill" or self.stopped:
            self._end()
        else:
            self._signal(signal.SIGTERM)
        self.stopped = True

    def _signal(self, number: signal.Signals) -> None:
        for node in self._alive():
            self.launchers[node].send_signal(number)

    def _end(self) -> None:
        """Nothing that was started outlives the run."""
        for launcher in self.launchers.values():
            kill_tree(launcher)
            launcher.wait()
