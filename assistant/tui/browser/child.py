"""One tab: a process of `rootrank chat` that draws into a pipe, and the way between it and the browser.

The pipe's protocol is textual-serve's. What differs here: no shell reads the command; what the process said on standard
error is shown in the tab; a process that does not end is ended; and its pipe is read to the end even when nobody looks.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence

from aiohttp import web
from textual_serve._binary_encode import DecodeError
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from assistant.case.text import clean

GRACE = 5.0
"""Seconds that a process may take to end when it is asked to."""
READY = b"__GANGLION__\n"
"""The line after which the protocol begins."""
MOST = 16_384
"""Bytes of standard error that are shown."""
LARGEST = 64 << 20
"""Bytes of one drawing, or of one piece of a file that is handed over."""
COLUMNS = (10, 500)
ROWS = (4, 200)


class Child(AppService):
    """A workplace and the connection that shows it."""

    def __init__(self, command: Sequence[str], socket: web.WebSocketResponse, downloads: DownloadManager) -> None:
        async def close() -> None:
            await socket.close()

        super().__init__(
            command[0], write_bytes=socket.send_bytes, write_str=socket.send_str, close=close,
            download_manager=downloads,
        )  # fmt: skip
        self._argv = tuple(command)

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        self._process = await asyncio.create_subprocess_exec(
            *self._argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=self._build_environment(width, height),
            # Ctrl+C in the server's terminal is for the server, which then ends its children in good order.
            start_new_session=True,
        )  # fmt: skip
        self._stdin = self._process.stdin
        return self._process

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        size = {"COLUMNS": str(bounded(width, COLUMNS)), "ROWS": str(bounded(height, ROWS))}
        return {**super()._build_environment(), **size, "TERM": "xterm-256color", "COLORTERM": "truecolor"}

    async def set_terminal_size(self, width: int, height: int) -> None:
        """The window has another size."""
        await super().set_terminal_size(bounded(width, COLUMNS), bounded(height, ROWS))

    async def run(self) -> None:
        """Shows what the process draws until it ends; then what it said, and closes the connection."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        assert process.stderr is not None
        said = asyncio.create_task(_last_words(process.stderr))
        try:
            await self._relay(process.stdout)
        except asyncio.IncompleteReadError:
            pass
        except (ValueError, KeyError, TypeError, DecodeError):
            # It does not speak the protocol, and would block once nobody reads it.
            self._kill()
            while await process.stdout.read(MOST):
                pass
        await process.wait()
        await asyncio.wait([said], timeout=GRACE)
        await self.say(said.result() if said.done() else "")
        said.cancel()

    async def say(self, text: str) -> None:
        """Shows some lines, if there are any, on a screen that was wiped, and closes the connection."""
        wiped = "\x1b[0m\x1b[2J\x1b[H" + "\r\n".join(map(clean, text.splitlines()))
        with contextlib.suppress(ConnectionError):
            if text:
                await self.remote_write_bytes(wiped.encode())
            await self.remote_close()

    async def _relay(self, drawn: asyncio.StreamReader) -> None:
        while await drawn.readline() != READY:
            if drawn.at_eof():
                return
        while True:
            kind, length = await drawn.readexactly(1), int.from_bytes(await drawn.readexactly(4), "big")
            if kind not in b"DMP" or length > LARGEST:
                raise ValueError(kind, length)
            payload = await drawn.readexactly(length)
            if kind == b"D":
                await self.on_data(payload)
            elif kind == b"M":
                await self.on_meta(payload)
            else:
                await self.on_packed(payload)

    async def on_data(self, payload: bytes) -> None:
        """Draws. Where the browser is gone, the rest is read all the same: a process that cannot write never ends."""
        with contextlib.suppress(ConnectionError):
            await super().on_data(payload)

    async def on_meta(self, data: bytes) -> None:
        """What is no drawing: a file to hand over, an address to open. The end is told by `run`, when all is said."""
        told = json.loads(data)
        opens = told["type"] == "open_url" and not str(told["url"]).startswith(("http://", "https://"))
        if told["type"] != "exit" and not opens:
            with contextlib.suppress(ConnectionError):
                await super().on_meta(data)

    async def finish(self) -> None:
        """Asks the process to end, and ends it where it does not. Its session is written as it grows."""
        if self._process is None:
            return
        await self._download_manager.cancel_app_downloads(app_service_id=self.app_service_id)
        try:
            async with asyncio.timeout(GRACE):
                await self.send_meta({"type": "quit"})
                self.stdin.close()
                await self._process.wait()
        except TimeoutError:
            self._kill()
        if self._task is not None:
            await self._task

    def _kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)


def bounded(cells: int, limits: tuple[int, int]) -> int:
    """A size that a screen may have; what is drawn costs memory by its cells."""
    return max(limits[0], min(cells, limits[1]))


async def _last_words(stream: asyncio.StreamReader) -> str:
    kept = b""
    while data := await stream.read(MOST):
        kept = (kept + data)[-MOST:]
    return kept.decode("utf-8", "replace")
