"""`rootrank chat --serve` over real HTTP on loopback: who gets in, what a tab shows, and that everything ends."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, CookieJar, WSMsgType, WSServerHandshakeError

from assistant.tui.lost import gone

PATIENCE = 60.0


@dataclass
class Running:
    """The command, and the address it printed."""

    process: subprocess.Popen[str]
    address: str
    said: list[str]

    @property
    def origin(self) -> str:
        return self.address.partition("/?")[0]

    def children(self) -> list[int]:
        """Processes that it started and that have not ended."""
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                state, parent = stat.read_text().rsplit(")", 1)[1].split()[:2]
            except OSError:
                continue
            if int(parent) == self.process.pid and state != "Z":
                found.append(int(stat.parent.name))
        return found


def start(*arguments: str, folder: Path | None = None) -> Running:
    """Starts it and waits for the address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "assistant.cli", "chat", *arguments, "--serve"],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True, cwd=folder,
        env={**os.environ, "SSH_CONNECTION": ""},
    )  # fmt: skip
    assert process.stderr is not None
    said = [process.stderr.readline(), process.stderr.readline()]
    address = re.search(r"http://\S+", said[0])
    assert address, said
    return Running(process, address[0], said)


def end(running: Running) -> None:
    """Ends it, whatever a test left of it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if running.process.poll() is None:
            running.process.send_signal(number)
            try:
                running.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                continue
    assert running.process.stderr is not None
    running.process.stderr.close()


@pytest.fixture
def served(job: Path) -> Iterator[Running]:
    running = start(str(job))
    yield running
    end(running)


def run(deed: Callable[[ClientSession], Awaitable[None]]) -> None:
    """Does something with a browser's memory of cookies."""

    async def with_session() -> None:
        async with asyncio.timeout(3 * PATIENCE), ClientSession(cookie_jar=CookieJar(unsafe=True)) as browser:
            await deed(browser)

    asyncio.run(with_session())


async def status_of(browser: ClientSession, address: str, host: str | None = None) -> tuple[int, str]:
    headers = {"Host": host} if host else {}
    async with browser.get(address, headers=headers, allow_redirects=False) as response:
        return response.status, (await response.read()).decode("utf-8", "replace")


async def enter(browser: ClientSession, running: Running) -> None:
    async with browser.get(running.address) as response:
        assert response.status == 200
        assert "token" not in str(response.url)


async def screen_until(browser: ClientSession, running: Running, wanted: str, *, tell: object = None) -> None:
    """Opens a tab, waits until some text is drawn, and closes it."""
    async with browser.ws_connect(f"{running.origin}/ws", headers={"Origin": running.origin}) as tab:
        if tell is not None:
            await tab.send_json(tell)
        await drawn(tab, wanted)


async def drawn(tab: ClientWebSocketResponse, wanted: str) -> str:
    """What is drawn until some text has come, without what only moves and colours."""
    seen = ""
    try:
        async with asyncio.timeout(PATIENCE):
            async for message in tab:
                if message.type is WSMsgType.BINARY:
                    seen += re.sub(r"\x1b\[[0-9;?$]*[a-zA-Z]", "", message.data.decode("utf-8", "replace"))
                    if wanted in seen:
                        return seen
    except TimeoutError:
        raise AssertionError(f"waited in vain after {seen[-2000:]!r}") from None
    raise AssertionError(f"closed after {seen[-2000:]!r}")


async def until(holds: Callable[[], object]) -> None:
    begun = time.monotonic()
    while not holds():
        assert time.monotonic() - begun < PATIENCE, "waited in vain"
        await asyncio.sleep(0.02)


def test_nobody_comes_in_without_the_address(served: Running) -> None:
    async def deed(browser: ClientSession) -> None:
        for path in (
            "/",
            "/?token=",
            "/?token=wrong",
            "/?token=%ff%00",
            "/static/js/textual.js",
            "/page.js",
            "/download/x",
            "/ws",
        ):
            status, text = await status_of(browser, served.origin + path)
            assert status == 403, path
            assert text.startswith("Refused: ")
            assert text.count("\n") == 1

    run(deed)


def test_the_address_works_once_and_gives_a_cookie_that_scripts_cannot_read(served: Running) -> None:
    async def first(browser: ClientSession) -> None:
        async with browser.head(served.address) as response:
            assert response.status == 403
        async with browser.get(served.address, allow_redirects=False) as response:
            assert response.status == 303
            assert response.headers["Location"] == "/"
            cookie = response.headers["Set-Cookie"]
            assert "HttpOnly" in cookie
            assert "SameSite=Strict" in cookie
            assert served.address.partition("=")[2] not in cookie
        status, text = await status_of(browser, f"{served.origin}/")
        assert status == 200
        assert "Rootrank" in text
        for path in re.findall(r"(?:src|href)=\"(/[\w./-]+)\"", text):
            assert (await status_of(browser, served.origin + path))[0] == 200
        assert "//fonts" not in text
        assert (await status_of(browser, served.address))[0] == 303

    async def second(browser: ClientSession) -> None:
        status, text = await status_of(browser, served.address)
        assert status == 403
        assert "used already" in text

    run(first)
    run(second)


def test_a_foreign_host_is_refused_even_with_the_cookie(served: Running) -> None:
    async def deed(browser: ClientSession) -> None:
        assert (await status_of(browser, served.address, host="evil.example"))[0] == 403
        await enter(browser, served)
        for host in ("evil.example", "127.0.0.1.evil.example:80", "localhost.", "0.0.0.0", "127.0.0.2"):
            assert (await status_of(browser, f"{served.origin}/", host=host))[0] == 403, host
        for host in ("localhost:9", "127.0.0.1:65535"):
            assert (await status_of(browser, f"{served.origin}/", host=host))[0] == 200, host

    run(deed)


def test_a_foreign_page_cannot_open_a_workplace(served: Running) -> None:
    host = served.origin.removeprefix("http://")
    foreign = ("null", "http://evil.example", f"https://{host}", "http://127.0.0.1:1", f"http://{host}.evil")

    async def deed(browser: ClientSession) -> None:
        await enter(browser, served)
        for headers in ({}, *({"Origin": one} for one in foreign)):
            with pytest.raises(WSServerHandshakeError) as refusal:
                await browser.ws_connect(f"{served.origin}/ws", headers=headers)
            assert refusal.value.status == 403, headers
        assert not served.children()

    run(deed)


def test_a_tab_shows_the_workplace_and_its_process_ends_with_it(served: Running) -> None:
    async def deed(browser: ClientSession) -> None:
        await enter(browser, served)
        origin = {"Origin": served.origin}
        async with browser.ws_connect(f"{served.origin}/ws?width=120&height=40", headers=origin) as tab:
            await drawn(tab, "memory.gpu_oom")
            for child in served.children():
                line = Path(f"/proc/{child}/cmdline").read_bytes()
                assert served.address.partition("=")[2].encode() not in line
            async with browser.ws_connect(f"{served.origin}/ws", headers=origin) as other:
                await drawn(other, "memory.gpu_oom")
                assert len(served.children()) == 2
            await until(lambda: len(served.children()) == 1)
        await until(lambda: not served.children())

    run(deed)


def test_what_is_typed_is_asked_and_kept(served: Running) -> None:
    async def deed(browser: ClientSession) -> None:
        await enter(browser, served)
        async with browser.ws_connect(f"{served.origin}/ws", headers={"Origin": served.origin}) as tab:
            await drawn(tab, "offline")
            await tab.send_json(["resize", {"width": 140, "height": 45}])
            await tab.send_json(["stdin", "What failed?\r"])
            await drawn(tab, "Next:")
            await tab.send_json(["stdin", "half typed"])
            await drawn(tab, "half typed")
        await until(lambda: not served.children())

    run(deed)
    data = Path(os.environ["ROOTRANK_DATA_DIR"])
    assert b"What failed?" in next((data / "sessions").glob("*.jsonl")).read_bytes()
    assert (data / "chat" / "history.jsonl").read_text().splitlines()[-1] == '"half typed"'


def test_what_a_page_never_says_changes_nothing(served: Running) -> None:
    async def deed(browser: ClientSession) -> None:
        await enter(browser, served)
        address = f"{served.origin}/ws?width=9999999&height=-1"
        async with browser.ws_connect(address, headers={"Origin": served.origin}) as tab:
            for text in ("", "{", "[]", "7", '["stdin"]', '["stdin", 7]', '["resize", {"width": 1e9, "height": null}]'):
                await tab.send_str(text)
            await tab.send_str('["stdin", "\\ud800"]')
            await tab.send_bytes(b"\0" * 100)
            await tab.send_json(["resize", {"width": 10**9, "height": 10**9}])
            await tab.send_json(["resize", {"width": 100, "height": 30}])
            await drawn(tab, "memory.gpu_oom")
            await tab.send_json(["ping", 7])
        for path in ("/nowhere", "/static/../server.py", "/static/%2e%2e/server.py", "/download/nothing", "/static/"):
            assert (await status_of(browser, served.origin + path))[0] in (403, 404), path
        assert (await status_of(browser, f"{served.origin}/"))[0] == 200

    run(deed)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_the_end_of_the_server_ends_its_processes(served: Running, number: signal.Signals) -> None:
    async def deed(browser: ClientSession) -> None:
        await enter(browser, served)
        async with browser.ws_connect(f"{served.origin}/ws", headers={"Origin": served.origin}) as tab:
            await drawn(tab, "offline")
            children = served.children()
            assert children
            served.process.send_signal(number)
            code = await asyncio.to_thread(served.process.wait, PATIENCE)
            assert code == (0 if number != signal.SIGKILL else -number)
            await until(lambda: not any(Path(f"/proc/{child}").exists() for child in children))

    run(deed)


def test_a_process_that_hears_nothing_is_ended(served: Running) -> None:
    async def deed(browser: ClientSession) -> None:
        await enter(browser, served)
        async with browser.ws_connect(f"{served.origin}/ws", headers={"Origin": served.origin}) as tab:
            await drawn(tab, "offline")
            (child,) = served.children()
            os.kill(child, signal.SIGSTOP)
        await until(lambda: not served.children())

    run(deed)


def test_names_with_spaces_and_quotes_reach_the_tab(job: Path, tmp_path: Path) -> None:
    odd = tmp_path / 'it\'s "my" $(touch hacked); job'
    odd.symlink_to(job)
    running = start(odd.name, folder=tmp_path)

    async def deed(browser: ClientSession) -> None:
        await enter(browser, running)
        await screen_until(browser, running, "memory.gpu_oom")

    try:
        run(deed)
    finally:
        end(running)
    assert [path.name for path in tmp_path.iterdir()] == [odd.name]


def test_why_a_tab_cannot_open_is_told_in_it(tmp_path: Path) -> None:
    (tmp_path / "core").write_bytes(bytes(range(256)) * 64)
    running = start(str(tmp_path))

    async def deed(browser: ClientSession) -> None:
        await enter(browser, running)
        await screen_until(browser, running, "hint: ")
        await screen_until(browser, running, "hint: ")

    try:
        run(deed)
    finally:
        end(running)


def test_a_second_tab_opens_the_case_that_the_first_one_read(served: Running, job: Path) -> None:
    async def deed(browser: ClientSession) -> None:
        await enter(browser, served)
        await screen_until(browser, served, "memory.gpu_oom")
        async with browser.ws_connect(f"{served.origin}/ws", headers={"Origin": served.origin}) as tab:
            await drawn(tab, "memory.gpu_oom")
            (child,) = served.children()
            assert b"\0c-" in Path(f"/proc/{child}/cmdline").read_bytes()

    run(deed)


def chat(*arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "assistant.cli", "chat", *arguments], stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=PATIENCE,
    )  # fmt: skip
    return done.returncode, done.stderr


def test_a_port_that_is_taken_or_needs_no_server_is_a_refusal(served: Running, job: Path) -> None:
    port = served.origin.rpartition(":")[2]
    code, said = chat(str(job), "--serve", "--port", port)
    assert code == 2
    assert "in use" in said
    assert "leave --port out" in said
    code, said = chat(str(job), "--port", port)
    assert code == 2
    assert "--serve" in said


def test_standard_input_cannot_be_served(job: Path) -> None:
    code, said = chat("-", "--serve")
    assert code == 2
    assert "rootrank diagnose -" in said


def test_a_missing_library_is_named_with_what_installs_it(job: Path, tmp_path: Path) -> None:
    (tmp_path / "textual_serve.py").write_text("raise ModuleNotFoundError(name='textual_serve')")
    done = subprocess.run(
        [sys.executable, "-m", "assistant.cli", "chat", str(job), "--serve"], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 4
    assert "textual_serve is not installed" in done.stderr
    assert "rootrank[serve]" in done.stderr


def test_a_pipe_that_nobody_writes_to_is_lost() -> None:
    reading, writing = os.pipe()
    assert not gone(reading)
    os.close(writing)
    assert gone(reading)
    os.close(reading)
