"""`rootrank explain` and what belongs to it, from the command line to the session on disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.cli.main import main
from assistant.replay.models import Script
from assistant.replay.server import ReplayServer, serving

SECRET = "hunter2-very-secret"
TRACE = ["Traceback (most recent call last):", '  File "train.py", line 7, in <module>', "ValueError: bad shard 12"]
PROBE = """
import sys
from assistant.cli.main import main
code = main(sys.argv[1:])
print(code, *sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


@pytest.fixture(autouse=True)
def words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Knowledge is searched by words: no vectors are made for a question or two."""
    monkeypatch.setenv("ROOTRANK_RETRIEVAL__EMBEDDER", "none")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A job of two ranks on two nodes, of which one raises; its log holds a password."""
    for node, rank in (("worker-a7", 0), ("worker-b8", 1)):
        steps = [f"2026-03-01 03:00:{n:02d},000 [INFO] Step: {n}/40 | loss: 2.{n}" for n in range(20)]
        end = [f"2026-03-01 03:00:21,000 login kim@corp.example password={SECRET}", *TRACE] if rank else []
        folder = tmp_path / "logs" / node
        folder.mkdir(parents=True)
        (folder / f"rank{rank}.log").write_text("\n".join([*steps, *end, ""]))
    return tmp_path / "logs"


@pytest.fixture
def server() -> Iterator[ReplayServer]:
    """A model that cites the overview."""
    script = {
        "schema": "rootrank.replay/1",
        "steps": [
            {"when": {"contains": "A program has checked"}, "text": "1: DROP"},
            {"text": "Look at its log first."},
        ],
    }
    with serving(Script.model_validate(script)) as running:
        yield running


def with_profile(home: Path, server: ReplayServer, **more: object) -> None:
    """A user's file with one profile."""
    fields = {"base_url": server.base_url, "model": "scripted", "retries": 0, **more}
    lines = [f"{key} = {json.dumps(value)}" for key, value in fields.items()]
    path = home / "config/rootrank.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["# mine", "[profiles.gw]", *lines, "[chat]", 'profile = "gw"', ""]))


def events(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_offline_it_answers_ends_as_diagnose_does_and_keeps_a_session(
    logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(logs), "-q", "What failed first?"]) == 10
    said = capsys.readouterr().out
    assert "ValueError" in said
    assert "Evidence" in said
    assert main(["sessions", "list"]) == 0
    assert "What failed first?" in capsys.readouterr().out
    assert main(["sessions", "show", "last"]) == 0
    assert "ValueError" in capsys.readouterr().out
    assert main(["sessions", "export", "last"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["kind"] for line in lines[:2]] == ["header", "asked"]
    assert lines[-1]["event"]["kind"] == "done"
    assert main(["sessions", "remove", "last"]) == 0
    assert main(["sessions", "show", "last"]) == 4


def test_a_session_goes_on_and_keeps_its_results(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", str(logs), "-q", "What failed?"])
    assert main(["explain", "--session", "last", "-q", "Why?", "--json"]) == 10
    second = capsys.readouterr().out.splitlines()[-1]
    assert json.loads(second)["kind"] == "done"
    main(["sessions", "list", "--json"])
    assert json.loads(capsys.readouterr().out)[0]["turns"] == 2


def test_a_stored_case_answers_when_its_logs_are_gone(
    logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    main(["explain", str(logs), "--no-save", "--exit-zero"])
    assert main(["diagnose", str(logs)]) == 10
    for path in logs.rglob("*.log"):
        path.unlink()
    capsys.readouterr()
    assert main(["explain", "last", "-q", "What failed?"]) == 10
    assert "ValueError" in capsys.readouterr().out
    assert main(["explain", "last", "-q", "show me rank 1", "--exit-zero"]) == 0


def test_the_question_may_come_from_standard_input(
    logs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import io

    monkeypatch.setattr(sys, "stdin", io.StringIO("How do I fix it?\n"))
    assert main(["explain", str(logs), "-q", "-", "--json"]) == 10
    stream = events(capsys.readouterr().out)
    assert stream[-1]["kind"] == "done"
    assert {"text", "tool_finished", "usage"} <= {str(event["kind"]) for event in stream}


def test_markdown_is_printed_whole(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(logs), "--markdown"]) == 10
    assert "## Evidence" in capsys.readouterr().out


def test_a_model_answers_and_nothing_private_leaves(
    logs: Path, own_home: Path, server: ReplayServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with_profile(own_home, server)
    assert main(["explain", str(logs), "-q", "Why did worker-b8 fail?"]) == 10
    assert "Look at its log first." in capsys.readouterr().out
    sent = "".join(request.whole for request in server.requests)
    assert sent
    assert not [word for word in (SECRET, "kim@corp.example", "worker-b8", "worker-a7") if word in sent]


def test_what_would_be_sent_is_shown_and_not_sent(
    logs: Path, own_home: Path, server: ReplayServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with_profile(own_home, server)
    assert main(["explain", str(logs), "--show-prompt"]) == 0
    shown = capsys.readouterr().out
    address, _, body = shown.partition("\n")
    assert address == f"POST {server.base_url}/chat/completions"
    assert server.requests == []
    main(["explain", str(logs), "--no-save"])
    request, sent = json.loads(body), server.requests[0].body
    nonce = request["messages"][0]["content"].split("<evidence-")[1][:8]
    real = sent["messages"][0]["content"].split("<evidence-")[1][:8]
    assert body.strip().replace(nonce, real) == json.dumps(sent, indent=2, ensure_ascii=False)


def test_a_prompt_to_take_elsewhere_is_masked(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(logs), "--prompt-only", "-q", "Why worker-b8?"]) == 0
    text = capsys.readouterr().out
    assert "worker-b8" not in text
    assert "HOST_" in text
    assert "ValueError" in text


def test_without_fallback_a_failing_model_ends_with_five(
    logs: Path, own_home: Path, server: ReplayServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with_profile(own_home, server, base_url="http://127.0.0.1:9/v1")
    assert main(["explain", str(logs), "--no-fallback"]) == 5
    told = capsys.readouterr().err
    assert "nobody listens" in told
    assert "hint:" in told
    assert main(["explain", str(logs)]) == 10
    found = capsys.readouterr()
    assert "offline answers instead of" in found.err
    assert "ValueError" in found.out


def test_a_file_that_is_added_makes_a_revision_and_the_answer_says_what_changed(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["diagnose", str(logs)])
    capsys.readouterr()
    extra = tmp_path / "dmesg-worker-a7.log"
    extra.write_text("[12345.678] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\n")
    main(["explain", "last", "--attach", str(extra), "--json"])
    stream = events(capsys.readouterr().out)
    assert stream[1]["tool"] == "changes"
    texts = [event for event in stream if event["kind"] == "text"]
    assert [text["number"] for text in texts] == list(range(1, len(texts) + 1))
    assert "revision 2" in str(texts[0]["text"])
    assert not [text for text in texts if text["standing"] == "unsupported"]
    main(["cases", "show", "last", "--json"])
    assert json.loads(capsys.readouterr().out)["revision"] == 2


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["explain"], 2),
        (["explain", "LOGS", "-q", "  "], 2),
        (["explain", "-", "-q", "-"], 2),
        (["explain", "LOGS", "--json", "--markdown"], 2),
        (["explain", "LOGS", "--profile", "oflfine"], 4),
        (["explain", "c-0123456789"], 4),
        (["explain", "no/such/file.log"], 3),
        (["explain", "--session", "s-nothing"], 4),
        (["doctor"], 2),
        (["replay-server", "no-such.yaml"], 4),
        (["model", "local"], 2),
        (["model", "local", "no-such.gguf"], 3),
    ],
)
def test_what_cannot_work_is_refused(
    logs: Path, arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(logs) if one == "LOGS" else one for one in arguments]) == code
    told = capsys.readouterr().err
    assert "error:" in told
    assert "hint:" in told


def test_doctor_finds_out_what_an_endpoint_is_able_to_do(own_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = {
        "schema": "rootrank.replay/1",
        "able": {"tools": False, "json_schema": False, "window": 5000},
        "steps": [{"text": "ready"}],
    }
    with serving(Script.model_validate(script)) as limited:
        with_profile(own_home, limited)
        assert main(["doctor"]) == 0
        found = capsys.readouterr()
        assert "tools" in found.out
        assert "tools = false" in found.err
        assert main(["doctor", "gw", "--write"]) == 0
    text = (own_home / "config/rootrank.toml").read_text()
    assert text.startswith("# mine\n")
    assert "tools = false" in text
    assert "json_schema = false" in text
    assert "context_window = 5000" in text
    capsys.readouterr()
    assert main(["config", "validate"]) == 0


def test_doctor_says_why_an_endpoint_cannot_be_used(
    own_home: Path, server: ReplayServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with_profile(own_home, server, base_url="http://127.0.0.1:9/v1")
    assert main(["doctor"]) == 1
    assert "nobody listens" in capsys.readouterr().err


def test_a_local_model_gets_a_profile_that_is_valid(
    own_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "small.gguf"
    model.write_bytes(b"GGUF" + bytes(60))
    assert main(["model", "local", str(model), "--write"]) == 0
    assert "llama-server -m" in capsys.readouterr().out
    assert main(["config", "show", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["profiles.local.tools"]["value"] is False
    other = tmp_path / "other.bin"
    other.write_bytes(b"PK\x03\x04")
    assert main(["model", "local", str(other)]) == 3


def test_a_bound_on_money_needs_prices(
    logs: Path, own_home: Path, server: ReplayServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with_profile(own_home, server)
    assert main(["explain", str(logs), "--max-cost", "0.5"]) == 2
    assert "has no prices" in capsys.readouterr().err
    with_profile(own_home, server, input_price=1.0, output_price=1.0)
    assert main(["explain", str(logs), "--max-cost", "0.5"]) == 10


def test_an_interrupted_turn_is_kept_as_far_as_it_came(
    logs: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    step = {"text": "Look at its log first. Then rest. Then look again. And rest.", "fault": "stall"}
    with serving(Script.model_validate({"schema": "rootrank.replay/1", "steps": [step]})) as stalled:
        with_profile(own_home, stalled)
        command = [sys.executable, "-m", "assistant.cli", "explain", str(logs), "-q", "Why?"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            assert running.stdout is not None
            assert running.stdout.read(10) == "Look at it"
            running.send_signal(signal.SIGINT)
            _, told = running.communicate(timeout=300)
    assert running.returncode == 130
    assert "kept" in told
    main(["sessions", "export", "last"])
    kinds = [json.loads(line).get("event", {}).get("kind") for line in capsys.readouterr().out.splitlines()]
    assert "text" in kinds
    assert kinds[-1] == "cancelled"


def test_the_scripted_server_runs_until_it_is_interrupted(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("schema: rootrank.replay/1\nmodel: told\n")
    command = [sys.executable, "-m", "assistant.cli", "replay-server", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        url = running.stdout.readline().strip()
        with urllib.request.urlopen(f"{url}/models", timeout=60) as answer:
            assert json.load(answer)["data"][0]["id"] == "told"
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=300)
    assert running.returncode == 0


def test_the_demonstration_says_that_it_is_scripted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--chat", "hanging-rank"]) == 0
    found = capsys.readouterr()
    assert "no model is asked" in found.err
    assert "rank 5 on gpu-a03" in found.out
    assert "Corrected" in found.out
    assert main(["sessions", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize("question", [[], ["-q", "What failed first?"]])
def test_offline_explain_loads_no_library_of_models_or_vectors(logs: Path, question: list[str]) -> None:
    plain = {name: value for name, value in os.environ.items() if name != "ROOTRANK_RETRIEVAL__EMBEDDER"}
    done = subprocess.run(
        [sys.executable, "-c", PROBE, "explain", str(logs), *question],
        capture_output=True, text=True, timeout=300, check=True, env=plain,
    )  # fmt: skip
    code, *modules = done.stderr.splitlines()[-1].split()
    assert code == "10"
    heavy = {"torch", "chromadb", "sentence_transformers", "langchain", "langchain_core", "openai", "textual", "httpx2"}
    assert not set(modules) & heavy
