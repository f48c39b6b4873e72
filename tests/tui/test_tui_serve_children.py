"""The processes behind the tabs, when they are not what they should be."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, CookieJar, WSMsgType
from aiohttp.test_utils import TestServer

from assistant.tui.browser.door import Door
from assistant.tui.browser.server import MOST_TABS, Served

PATIENCE = 60.0
GREETING = "import sys\nsys.stdout.write('__GANGLION__\\nD\\0\\0\\0\\5hello')\nsys.stdout.flush()\n"
WAITING = GREETING + "sys.stdin.buffer.read()\n"
NONSENSE = GREETING + "sys.stdout.write('?????' * 100_000)\nsys.stdout.flush()\nsys.stdin.buffer.read()\n"
ENDING = GREETING + "sys.stderr.write('error: \\x1b]52;c;eA==\\x07 it went wrong\\nhint: try again\\n')\n"
MUTE = "import sys; sys.stderr.write('never ready'); sys.exit(3)"
LINKS = (
    "import json, sys\n"
    "print('__GANGLION__', flush=True)\n"
    "for url in ('javascript:alert(1)', 'file:///etc/passwd', 'https://example.org/'):\n"
    "    told = json.dumps({'type': 'open_url', 'url': url, 'new_tab': True}).encode()\n"
    "    sys.stdout.buffer.write(b'M' + len(told).to_bytes(4, 'big') + told)\n"
)

Opening = Callable[[], Awaitable[ClientWebSocketResponse]]


@asynccontextmanager
async def page_of(*command: str) -> AsyncIterator[Opening]:
    """Opens tabs of a server that runs some command in each."""
    door = Door(1)
    async with TestServer(Served(door, lambda: command).application(), host="127.0.0.1") as server:
        origin = str(server.make_url("")).rstrip("/")
        async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as browser, asyncio.timeout(PATIENCE):
            async with browser.get(f"{origin}/?{door.address.partition('?')[2]}") as response:
                assert response.status == 200
            yield lambda: browser.ws_connect(f"{origin}/ws", headers={"Origin": origin})


async def shown(tab: ClientWebSocketResponse) -> str:
    """All that is drawn until the connection is closed."""
    seen = b""
    async for message in tab:
        if message.type is WSMsgType.BINARY:
            seen += message.data
    return seen.decode()


@pytest.mark.parametrize(
    ("script", "told"),
    [(ENDING, r"error: \x1b]52;c;eA==\x07 it went wrong" + "\r\nhint: try again"), (MUTE, "never ready")],
)
def test_the_last_words_of_a_process_are_shown_and_harmless(script: str, told: str) -> None:
    async def deed() -> None:
        async with page_of(sys.executable, "-c", script) as opened:
            assert told in await shown(await opened())

    asyncio.run(deed())


def test_a_process_that_talks_nonsense_is_ended() -> None:
    async def deed() -> None:
        async with page_of(sys.executable, "-c", NONSENSE) as opened:
            assert (await shown(await opened())).startswith("hello")

    asyncio.run(deed())


def test_a_command_that_cannot_be_run_is_told() -> None:
    async def deed() -> None:
        async with page_of("/nowhere/python") as opened:
            assert "cannot be started: No such file" in await shown(await opened())

    asyncio.run(deed())


def test_more_tabs_than_the_machine_should_bear_are_refused_until_one_is_closed() -> None:
    async def deed() -> None:
        async with page_of(sys.executable, "-c", WAITING) as opened:
            tabs = [await opened() for _ in range(MOST_TABS)]
            for tab in tabs:
                assert await tab.receive_bytes() == b"hello"
            assert "close one" in await shown(await opened())
            await tabs[0].close()
            while (await (late := await opened()).receive_bytes()) != b"hello":
                await late.close()

    asyncio.run(deed())


def test_only_addresses_of_the_web_are_opened() -> None:
    async def deed() -> None:
        async with page_of(sys.executable, "-c", LINKS) as opened:
            told = [message.json() async for message in await opened() if message.type is WSMsgType.TEXT]
            assert [one[1]["url"] for one in told] == ["https://example.org/"]

    asyncio.run(deed())
