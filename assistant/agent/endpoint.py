"""From a profile to a client: key, headers, proxy, certificates, time limits; the client libraries load here."""

from __future__ import annotations

import logging
import os
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assistant.errors import ConfigError, NoKey
from assistant.profiles import ONE_LINE, Profile, sendable

if TYPE_CHECKING:
    import httpx2
    from langchain_core.language_models.chat_models import BaseChatModel

CONNECT_SECONDS = 10.0
NO_KEY = "none"
"""Sent where an endpoint wants no key: the client insists on one."""
TRACING = ("LANGSMITH_", "LANGCHAIN_TRACING", "LANGCHAIN_ENDPOINT", "LANGCHAIN_API_KEY", "LANGCHAIN_PROJECT")


def silence() -> None:
    """Nothing is ever traced to a third party, whatever the environment says, and no warning of the library, which
    knows no hint, stands beside our own. Called before langchain is imported."""
    for name in [name for name in os.environ if name.startswith(TRACING)]:
        del os.environ[name]
    os.environ["LANGSMITH_TRACING"] = "false"
    logging.getLogger("langchain_core.callbacks.manager").setLevel(logging.ERROR)


def key_of(name: str, profile: Profile) -> str:
    """The key, from the environment or the keyring; raises NoKey where one is named and none is there."""
    if profile.key_env and (key := os.environ.get(profile.key_env, "").strip()):
        if not sendable(key):
            raise NoKey(
                f"the key in {profile.key_env} holds a line break or a letter that cannot be sent", hint=ONE_LINE
            )
        return key
    if profile.keyring and (stored := _from_keyring(name, profile.keyring)):
        return stored
    if not profile.key_env and not profile.keyring:
        return NO_KEY
    wanted = (
        f"the variable {profile.key_env} is not set" if profile.key_env else f"the keyring has no {profile.keyring}"
    )
    raise NoKey(f"profile {name} has no key: {wanted}", hint=_set_key(profile))


def _set_key(profile: Profile) -> str:
    if profile.key_env:
        return f"export {profile.key_env}=...; for an endpoint without keys leave key_env out"
    return f"store it: keyring set {profile.keyring.replace(':', ' ', 1)}"


def _from_keyring(name: str, entry: str) -> str | None:
    service, _, user = entry.partition(":")
    try:
        import keyring  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        hint = "pip install keyring, or name a variable in key_env"
        raise NoKey(f"profile {name} wants a key from the keyring, which is not installed", hint=hint) from None
    try:
        found = keyring.get_password(service, user or name)
    except Exception as error:  # a back end of any maker
        raise NoKey(f"the keyring cannot be read: {type(error).__name__}", hint="unlock it, or use key_env") from None
    return str(found) if found else None


def http_client(profile: Profile) -> httpx2.AsyncClient:
    """The connection: it follows no redirect, so that neither key nor text goes where the profile does not say."""
    silence()
    import httpx2

    waits = httpx2.Timeout(profile.first_token_seconds, connect=min(CONNECT_SECONDS, profile.timeout_seconds))
    return httpx2.AsyncClient(
        verify=_trusted(profile.ca_file), proxy=profile.proxy or None, timeout=waits, follow_redirects=False
    )


def _trusted(file: str) -> ssl.SSLContext | bool:
    if not file:
        return True
    try:
        return ssl.create_default_context(cafile=os.path.expanduser(file))
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"ca_file {file}: {error}", hint="give a file of PEM certificates") from None


def request_headers(profile: Profile, key: str) -> dict[str, str]:
    """Headers of the profile, and Azure's own for the key."""
    azure = {"api-key": key} if profile.api_version else {}
    return {**azure, **profile.filled_headers()}


def extra_body(profile: Profile) -> dict[str, Any]:
    """What goes into a request beside langchain's own fields."""
    older = profile.api == "chat" and profile.output_field == "max_tokens"
    return {"max_tokens": profile.max_output} if older else {}


def chat_model(profile: Profile, key: str, client: Any, *, stream: bool, api: str | None = None) -> BaseChatModel:  # noqa: ANN401 - httpx2 client
    """The model behind a client of `http_client`.

    Args:
        api: in place of the profile's, where the Responses API is missing.
    """
    silence()
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    options: Mapping[str, Any] = {
        "model": profile.model,
        "base_url": profile.base_url,
        "api_key": SecretStr(key),
        "organization": profile.organisation or None,
        "use_responses_api": (api or profile.api) == "responses",
        "max_tokens": profile.max_output if profile.output_field == "max_completion_tokens" else None,
        "extra_body": extra_body(profile) or None,
        "temperature": profile.temperature,
        "streaming": stream,
        "stream_usage": stream and profile.stream_usage,
        # The client's read timeout bounds each wait. The library's own bound rests on asyncio.wait_for, which in
        # Python 3.11 swallows a cancellation that comes together with a piece.
        "stream_chunk_timeout": None,
        "max_retries": profile.retries,
        "timeout": client.timeout,
        "default_headers": request_headers(profile, key),
        "default_query": {"api-version": profile.api_version} if profile.api_version else None,
        "http_async_client": client,
        "store": False if (api or profile.api) == "responses" else None,
    }
    return ChatOpenAI(**options)
