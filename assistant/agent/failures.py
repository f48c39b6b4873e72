"""What went wrong with an endpoint, in words, each with its remedy."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator
from typing import Any

from assistant.case.text import clean
from assistant.errors import (
    AnswerGarbled,
    CannotDo,
    EndpointAway,
    EndpointFault,
    EndpointSlow,
    ModelError,
    NoSuchModel,
    RateLimited,
    RootrankError,
    WindowFull,
    WrongKey,
)
from assistant.profiles import Profile

_OVERFLOW = re.compile(
    r"(?i)context[ _]length|context window|context size|maximum context|too many tokens|prompt is too long"
    r"|exceeds? the (?:available|max)"
)
_LIMIT = re.compile(r"(?i)(?:maximum context length (?:is|of)|context (?:size|window)[^0-9]{0,20})\s*\(?(\d{3,9})")
_INCAPABLE = re.compile(
    r"(?i)\btools?\b|tool_choice|function.?call|response_format|json_schema|grammar|stream(?:ing|_options)?\b"
)
_DOCTOR = "run `rootrank doctor {name}`"


def failure_of(error: BaseException, name: str, profile: Profile) -> ModelError:
    """Any error of the client libraries as one of ours."""
    if isinstance(error, ModelError):
        return error
    doctor = _DOCTOR.format(name=name)
    if isinstance(error, RootrankError):
        return EndpointFault(error.message, hint=error.hint)
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return _by_status(status, error, name, profile)
    chain = list(_chain(error))
    if any(isinstance(one, TimeoutError) or "Timeout" in type(one).__name__ for one in chain):
        seconds = f"{profile.first_token_seconds:g} s for a piece, {profile.timeout_seconds:g} s for all"
        hint = f"raise first_token_seconds or timeout_seconds of [profiles.{name}]; {doctor}"
        return EndpointSlow(f"{_host(profile)} did not answer in time ({seconds})", hint=hint)
    if (away := _away(chain, profile)) is not None:
        return EndpointAway(away, hint=f"correct base_url, proxy or ca_file of [profiles.{name}]; {doctor}")
    said = _said(error)
    if _OVERFLOW.search(said):
        return _overflow(profile, name, said)
    if _is_cut(chain):
        begun = any("complete" in str(one) or "incomplete" in str(one) for one in chain)
        when = "in the middle of its answer" if begun else "without an answer"
        return EndpointAway(f"{_host(profile)} closed the connection {when}", hint=f"try again; {doctor}")
    return _garbled(error, profile, doctor, said)


def _garbled(error: BaseException, profile: Profile, doctor: str, said: str) -> AnswerGarbled:
    """What came is not what the protocol says; the libraries' own words are of no help there."""
    hint = f"is base_url the address of an OpenAI-compatible service, up to /v1? {doctor}"
    if isinstance(error, ValueError) and type(error).__name__ == "JSONDecodeError":
        hint = f"try again; where it happens again, look at what stands between here and the endpoint; {doctor}"
        said = "a piece of it is no JSON"
    elif "No generations" in said or "Unexpected response type" in said:
        said = "something else came, perhaps a web page"
    return AnswerGarbled(f"{_host(profile)} sent no proper answer: {said}", hint=hint)


def _by_status(status: int, error: BaseException, name: str, profile: Profile) -> ModelError:
    said, doctor = _said(error), _DOCTOR.format(name=name)
    where = _host(profile)
    if status in (401, 403):
        key = f"check the key in {profile.key_env or profile.keyring or 'key_env (none is configured)'}"
        return WrongKey(f"{where} refuses the key ({status}): {said}", hint=f"{key}, and what it may do")
    if status == 404:
        hint = f"check model and base_url of [profiles.{name}]; {doctor}"
        return NoSuchModel(f"{where} knows no model {profile.model!r}, or no such path: {said}", hint=hint)
    if status == 429:
        wait = _retry_after(error)
        again = f"try again in {wait} s" if wait else "try again later"
        return RateLimited(
            f"{where} takes no more requests for now (429): {said}", hint=f"{again}, or set chat.fallback"
        )
    if status == 413 or (status in (400, 422, 500) and _OVERFLOW.search(said)):
        return _overflow(profile, name, said)
    if status in (400, 404, 405, 415, 422, 500, 501) and _INCAPABLE.search(said):
        return CannotDo(f"{where} cannot do that: {said}", hint=f"{doctor} --write finds out what it can do")
    if 300 <= status < 400:
        return EndpointAway(f"{where} sends elsewhere ({status})", hint="give the final address as base_url")
    hint = f"try again later, or set chat.fallback; {doctor}"
    return EndpointFault(f"{where} reports an error ({status}): {said}", hint=hint)


def _overflow(profile: Profile, name: str, said: str) -> WindowFull:
    hint = f"correct context_window of [profiles.{name}] (`rootrank doctor {name} --write`), or ask less at once"
    full = WindowFull(f"question and evidence do not fit the window of {profile.model}: {said}", hint=hint)
    told = _LIMIT.search(said)
    full.window = int(told[1]) if told else None
    return full


def _away(chain: list[BaseException], profile: Profile) -> str | None:
    """Why there is no connection."""
    for one in chain:
        said = str(one).lower()
        if "wrong_version_number" in said or "record layer failure" in said:
            return f"{_host(profile)} does not speak TLS: its address wants http:// instead of https://"
        if isinstance(one, ssl.SSLError) or "certificate" in said:
            return f"the certificate of {_host(profile)} is not trusted: {clean(str(one))[:160]}"
        if isinstance(one, socket.gaierror) or "name or service not known" in said or "nodename" in said:
            return f"there is no host {_host(profile)}"
        if isinstance(one, ConnectionRefusedError) or "connection refused" in said or "connect call failed" in said:
            return f"nobody listens at {_host(profile)}"
    if any(type(one).__name__ in ("ConnectError", "ProxyError", "UnsupportedProtocol") for one in chain):
        return f"no connection to {_host(profile)}: {_said(chain[-1])}"
    return None


def _is_cut(chain: list[BaseException]) -> bool:
    return any(type(one).__name__ in ("RemoteProtocolError", "ReadError", "APIConnectionError") for one in chain)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came from; bounded."""
    current: BaseException | None = error
    for _ in range(12):
        if current is None:
            return
        yield current
        current = current.__cause__ or current.__context__


def _said(error: BaseException) -> str:
    """What the endpoint says, in one short line. It is data like any other."""
    body: Any = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error") if isinstance(body.get("error"), dict) else body
        message = inner.get("message") if isinstance(inner, dict) else None
        if isinstance(message, str) and message:
            return clean(message)[:240]
    return clean(str(error) or type(error).__name__)[:240]


def _retry_after(error: BaseException) -> str | None:
    headers = getattr(getattr(error, "response", None), "headers", None)
    value = headers.get("retry-after") if headers is not None else None
    return value if isinstance(value, str) and re.fullmatch(r"\d{1,6}(\.\d+)?", value) else None


def _host(profile: Profile) -> str:
    return profile.base_url.split("//", 1)[-1].split("/", 1)[0]
