"""The scripted server: HTTP on loopback, a thread a request, faults as the script wants them."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from assistant.replay.models import Able, Script, Step
from assistant.replay.requests import Director, Request, parsed
from assistant.replay.wire import chat, chat_events, response, response_events

LOOPBACK = "127.0.0.1"
LARGEST_REQUEST = 64 << 20


class ReplayServer(ThreadingHTTPServer):
    """One server with its script."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128
    """Connections that wait; more than five come at once from a client in threads."""

    def __init__(self, script: Script, port: int = 0) -> None:
        self.director = Director(script)
        self.closing = threading.Event()
        super().__init__((LOOPBACK, port), _Handler)

    @property
    def base_url(self) -> str:
        """What goes into a profile."""
        return f"http://{LOOPBACK}:{self.server_address[1]}/v1"

    @property
    def requests(self) -> list[Request]:
        """What was asked so far."""
        return self.director.requests

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is nothing to report."""


@contextmanager
def serving(script: Script) -> Iterator[ReplayServer]:
    """A server in a thread of its own, for as long as the block runs."""
    server = ReplayServer(script)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    server: ReplayServer

    def log_message(self, format: str, *args: object) -> None:
        """Requests are kept, not printed."""

    def do_GET(self) -> None:
        """The list of models; a simple sign of life elsewhere."""
        if self.path.rstrip("/").endswith("/models"):
            model = {"id": self._script.model, "object": "model", "created": 0, "owned_by": "replay"}
            window = {"max_model_len": self._script.able.window}
            self._json(200, {"object": "list", "data": [{**model, **window}]})
        else:
            self._error(404, "not found")

    def do_POST(self) -> None:
        """An answer of the script."""
        length = int(self.headers.get("content-length") or 0)
        if not 0 < length <= LARGEST_REQUEST:
            self._error(400, "a body is needed")
            return
        try:
            request = parsed(self.rfile.read(length))
        except ValueError as error:
            self._error(400, f"the body is no JSON: {error}")
            return
        path = self.path.rstrip("/")
        if refusal := _refusal(self._script.able, request, path, self.headers.get("authorization")):
            self._error(*refusal)
            return
        self._answer(self.server.director.step_for(request), request, responses=path.endswith("/responses"))

    @property
    def _script(self) -> Script:
        return self.server.director.script

    def _answer(self, step: Step, request: Request, *, responses: bool) -> None:
        self.server.closing.wait(step.delay)
        if step.fault == "refuse":
            self._hang_up()
        elif step.status != 200:
            self._error(step.status, step.text or "scripted error", step.headers)
        elif step.fault == "not_json":
            self._send(200, b"<html><body>gateway</body></html>", "text/html", step.headers)
        elif request.stream:
            events = (response_events if responses else chat_events)(step, request, self._script.model)
            self._stream(step, events)
        else:
            self._whole(step, (response if responses else chat)(step, request, self._script.model))

    def _whole(self, step: Step, answer: dict[str, Any]) -> None:
        data = json.dumps(answer).encode()
        if step.fault == "stall":
            self._stall()
        elif step.fault in ("cut", "garbage"):
            self._send(200, data[: len(data) // 2], "application/json", step.headers, claimed=len(data))
            self._hang_up()
        else:
            self._send(200, data, "application/json", step.headers)

    def _stream(self, step: Step, events: Iterable[str]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        for name, value in step.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        sent = list(events)
        stop = max(1, len(sent) // 2) if step.fault in ("cut", "stall", "garbage") else len(sent)
        for event in sent[:stop]:
            self.wfile.write(event.encode())
            self.wfile.flush()
            if step.pace:
                time.sleep(step.pace)
        if step.fault == "garbage":
            self.wfile.write(b'data: {"choices": [{"delta": {"content": \n\n')
        elif step.fault == "stall":
            self._stall()
        elif step.fault == "cut":
            self._hang_up()

    def _stall(self) -> None:
        self.server.closing.wait(3600)

    def _hang_up(self) -> None:
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)

    def _error(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        kind = {401: "authentication_error", 429: "rate_limit_error"}.get(status, "invalid_request_error")
        code = "context_length_exceeded" if "maximum context length" in message else None
        error = {"message": message, "type": kind, "param": None, "code": code}
        self._json(status, {"error": error}, headers)

    def _json(self, status: int, answer: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(answer).encode(), "application/json", headers or {})

    def _send(
        self, status: int, data: bytes, kind: str, headers: dict[str, str], claimed: int | None = None
    ) -> None:  # fmt: skip
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data) if claimed is None else claimed))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def _refusal(able: Able, request: Request, path: str, key: str | None) -> tuple[int, str] | None:
    """The error that a server of these abilities gives to a request, if any."""
    if able.key is not None and key != f"Bearer {able.key}":
        return 401, "Incorrect API key provided"
    if path.endswith("/responses"):
        if not able.responses:
            return 404, "not found"
    elif not path.endswith("/chat/completions"):
        return 404, "not found"
    return _incapable(able, request)


def _incapable(able: Able, request: Request) -> tuple[int, str] | None:
    body = request.body
    if request.tokens > able.window:
        return 400, f"This model's maximum context length is {able.window} tokens; you sent {request.tokens}."
    if body.get("tools") and not able.tools:
        return 400, "this model does not support tools"
    if body.get("tools") and not able.tool_choice and body.get("tool_choice", "auto") != "auto":
        return 400, "tool_choice is not supported"
    if request.wants_schema and not able.json_schema:
        return 500, "response_format is not supported"
    if request.stream and not able.stream:
        return 400, "streaming is not supported"
    return None
