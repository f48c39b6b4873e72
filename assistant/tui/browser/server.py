"""Serves the workplace on loopback: the page, its files, and a process for each tab. `door` says who may come in."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket as sockets
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from urllib.parse import quote

import textual_serve
from aiohttp import WSMsgType, web
from textual_serve.download_manager import DownloadManager

from assistant.errors import UsageError
from assistant.tui.browser.child import Child
from assistant.tui.browser.door import HOST, Door, of_this_machine, of_this_page

MOST_TABS = 8
"""Tabs at a time; each is a process that may read logs."""
PAGE, SCRIPT = (Path(__file__).with_name(name) for name in ("page.html", "page.js"))
FILES = Path(textual_serve.__file__).parent / "static"
NO_HOST = "Refused: open the workplace as 127.0.0.1 or localhost."
NO_TOKEN = "Refused: this address was used already, or never was right; end rootrank chat --serve and start it again."
NO_COOKIE = "Refused: open the address that rootrank chat --serve printed; it works once, in one browser."
NO_PAGE = "Refused: only the workplace's own page may open this connection."
TOO_MANY = f"{MOST_TABS} tabs are open already; close one and load this page again."
FAULT = "The request could not be answered; the server goes on."
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def serve(command: Callable[[], Sequence[str]], port: int, tell: Callable[[str], None]) -> None:
    """Serves until Ctrl+C, SIGTERM or a lost terminal; every process that it started is then ended.

    `command` is asked for each tab what to run; `tell` gets the address. Port 0 is a free one. Raises UsageError.
    """
    for name in ("aiohttp", "textual-serve"):
        # Their records may hold addresses, and with them the token.
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False
    with _listening(port) as listener:
        door = Door(listener.getsockname()[1])
        asyncio.run(_until_ended(Served(door, command).application(), listener, lambda: tell(door.address)))


def _listening(port: int) -> sockets.socket:
    try:
        return sockets.create_server((HOST, port))
    except OSError as error:
        why = os.strerror(error.errno or 0).lower()
        raise UsageError(f"--port {port}: {why}", hint="leave --port out, and a free one is taken") from None


async def _until_ended(application: web.Application, listener: sockets.socket, ready: Callable[[], None]) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, ended.set)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        ready()
        await ended.wait()
    finally:
        await runner.cleanup()


class Served:
    """What stands behind the door."""

    def __init__(self, door: Door, command: Callable[[], Sequence[str]]) -> None:
        self._door, self._command = door, command
        self._downloads = DownloadManager()
        self._tabs: set[Child] = set()

    def application(self) -> web.Application:
        """The routes, all of them behind `guard`."""
        application = web.Application(middlewares=[self.guard])
        application.router.add_get("/", self.page, allow_head=False)
        application.router.add_get("/page.js", self.script, allow_head=False)
        application.router.add_get("/ws", self.tab, allow_head=False)
        application.router.add_get("/download/{key}", self.download, allow_head=False)
        application.router.add_static("/static", FILES)
        application.on_shutdown.append(self.close)
        return application

    @web.middleware
    async def guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Lets in whom the door knows; whatever else happens to a request is told in one sentence."""
        if not of_this_machine(request.headers.getall("Host", [])):
            return refused(NO_HOST)
        known = self._door.knows(request.cookies.get(self._door.cookie, ""))
        if request.method == "GET" and request.path == "/" and "token" in request.query:
            return self._enter(request.query["token"], known)
        if not known:
            return refused(NO_COOKIE)
        try:
            response = await handler(request)
        except web.HTTPException as error:
            return plain(error.status, error.reason)
        except Exception:
            return plain(500, FAULT)
        if not response.prepared:
            response.headers.update(HEADERS)
        return response

    def _enter(self, token: str, known: bool) -> web.StreamResponse:
        session = self._door.exchange(token)
        if session is None and not known:
            return refused(NO_TOKEN)
        response = web.Response(status=303, headers={**HEADERS, "Location": "/"})
        if session is not None:
            response.set_cookie(self._door.cookie, session, httponly=True, samesite="Strict", path="/")
        return response

    async def page(self, request: web.Request) -> web.StreamResponse:
        """The page that holds one tab's screen."""
        text = PAGE.read_text("utf-8").replace("{socket}", f"ws://{request.headers['Host']}/ws")
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' "
            f"data:; connect-src 'self' ws://{request.headers['Host']}; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'"
        )
        return web.Response(text=text, content_type="text/html", headers={"Content-Security-Policy": policy})

    async def script(self, request: web.Request) -> web.StreamResponse:
        """The page's own script."""
        return web.Response(text=SCRIPT.read_text("utf-8"), content_type="text/javascript")

    async def tab(self, request: web.Request) -> web.StreamResponse:
        """A workplace, for as long as its tab is open."""
        if not of_this_page(request.headers.getall("Origin", []), request.headers["Host"]):
            return refused(NO_PAGE)
        socket = web.WebSocketResponse(heartbeat=15)
        await socket.prepare(request)
        child = Child(self._command(), socket, self._downloads)
        if len(self._tabs) >= MOST_TABS:
            await child.say(TOO_MANY)
            return socket
        self._tabs.add(child)
        try:
            await self._show(child, socket, request)
        finally:
            self._tabs.discard(child)
        return socket

    async def _show(self, child: Child, socket: web.WebSocketResponse, request: web.Request) -> None:
        try:
            await child.start(_cells(request.query.get("width"), 80), _cells(request.query.get("height"), 24))
        except OSError as error:
            await child.say(f"The workplace cannot be started: {error.strerror}.")
            return
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    # What is no message of the page changes nothing; nor does an answer to a page that is gone.
                    with contextlib.suppress(ValueError, TypeError, ConnectionError):
                        await _take(child, socket, message.json())
        finally:
            await asyncio.shield(child.finish())

    async def download(self, request: web.Request) -> web.StreamResponse:
        """A file that a workplace hands over."""
        key = request.match_info["key"]
        try:
            about = await self._downloads.get_download_metadata(key)
        except KeyError:
            raise web.HTTPNotFound from None
        name = f"attachment; filename*=UTF-8''{quote(about.file_name, safe='')}"
        response = web.StreamResponse(headers={**HEADERS, "Content-Disposition": name})
        response.content_type = "application/octet-stream"
        await response.prepare(request)
        async for chunk in self._downloads.download(key):
            await response.write(chunk)
        await response.write_eof()
        return response

    async def close(self, application: web.Application) -> None:
        """Ends every tab."""
        await asyncio.gather(*(child.finish() for child in tuple(self._tabs)))


async def _take(child: Child, socket: web.WebSocketResponse, told: list[object]) -> None:
    """One message of the page: typed characters, a new size, the window coming and going."""
    match told:
        case ["stdin", str(text)]:
            await child.send_bytes(text.encode("utf-8", "replace"))
        case ["resize", {"width": int(width), "height": int(height)}]:
            await child.set_terminal_size(width, height)
        case ["ping", float() | int() | str() as mark]:
            await socket.send_json(["pong", mark])
        case ["focus"] | ["focus", _]:
            await child.focus()
        case ["blur"] | ["blur", _]:
            await child.blur()


def _cells(text: str | None, otherwise: int) -> int:
    return int(text) if text is not None and text.isdecimal() and len(text) < 6 else otherwise


def plain(status: int, text: str) -> web.Response:
    """One sentence."""
    return web.Response(status=status, text=f"{text}\n", headers=HEADERS)


def refused(text: str) -> web.Response:
    """One sentence that says why not."""
    return plain(403, text)
