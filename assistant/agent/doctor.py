"""Examines an endpoint and says what the profile should say about it."""

from __future__ import annotations

import asyncio
import ipaddress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from assistant.agent.endpoint import http_client, key_of
from assistant.agent.failures import failure_of
from assistant.agent.probes import PROBES, Probe, Result
from assistant.errors import ModelError, WrongKey
from assistant.profiles import Profile


@dataclass(frozen=True, slots=True)
class Report:
    """What was found, in the order of looking."""

    results: tuple[Result, ...]
    failure: ModelError | None = None
    """What kept the endpoint from being examined."""
    advice: tuple[str, ...] = ()
    findings: dict[str, Any] = field(default_factory=dict)
    """Fields of the profile as they should be, where they differ from what it says."""


def examine(name: str, profile: Profile) -> Report:
    """Asks the endpoint a few small questions. Sends nothing of any log."""
    return asyncio.run(_examined(name, profile))


async def _examined(name: str, profile: Profile) -> Report:
    results: list[Result] = []
    try:
        key = key_of(name, profile)
        results.append(Result("key", True, profile.key_env or profile.keyring or "none wanted"))
        async with http_client(profile) as client:
            probe = Probe(profile, key, client)
            await _reached(probe, results, name)
            for look in PROBES[1:]:
                results.append(await _looked(look, probe, name))
                if results[-1].name == "answers" and not results[-1].able:
                    break
    except ModelError as failure:
        return Report(tuple(results), failure, tuple(_advice(profile)))
    except Exception as error:
        return Report(tuple(results), failure_of(error, name, profile), tuple(_advice(profile)))
    said = {key: value for result in results for key, value in result.sets.items()}
    findings = {key: value for key, value in said.items() if getattr(profile, key) != value}
    return Report(tuple(results), None, tuple(_advice(profile)), findings)


async def _reached(probe: Probe, results: list[Result], name: str) -> None:
    """The first request: it also tells whether address and key are right."""
    async with asyncio.timeout(probe.profile.timeout_seconds):
        status, _ = await probe.get("/models")
    if status in (401, 403):
        results.append(Result("key", False, f"refused ({status})"))
        raise WrongKey(f"the endpoint of {name} refuses the key ({status})", hint="check the key and what it may do")
    results.append(Result("reachable", True, probe.profile.base_url))
    results.append(await _looked(PROBES[0], probe, name))


async def _looked(look: Any, probe: Probe, name: str) -> Result:  # noqa: ANN401
    """One probe; one that fails says why, and the others go on."""
    try:
        async with asyncio.timeout(probe.profile.timeout_seconds):
            result: Result = await look(probe)
            return result
    except Exception as error:
        return Result(look.__name__, False, failure_of(error, name, probe.profile).message)


def _advice(profile: Profile) -> list[str]:
    told = []
    if profile.local and not _is_near(urlsplit(profile.base_url).hostname or ""):
        told.append("local = true, but the address is not on this machine or a private network")
    if not profile.redact:
        told.append("redact = false: log lines are sent as they are")
    if profile.base_url.startswith("http://") and not _is_near(urlsplit(profile.base_url).hostname or ""):
        told.append("the address is http: key and text travel unencrypted")
    return told


def _is_near(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".lan", ".internal"))
