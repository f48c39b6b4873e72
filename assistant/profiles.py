"""Model endpoints by name, and how far a conversation with one may go: the sections `[profiles.NAME]` and `[chat]`."""

from __future__ import annotations

import difflib
import os
import re
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from assistant.errors import ConfigError, NoKey

PROFILES = "profiles"
"""The section that holds them, a table each."""
OFFLINE = "offline"
"""The answerer that needs no model; no profile may be called so."""
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
ONE_LINE = "set the variable again, as one line of plain letters"
HIDDEN = ("key_env", "headers", "proxy")
"""Fields whose values may hold a secret, rightly or by mistake, and are never printed as they stand."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_HEADER = re.compile(r"([A-Za-z0-9-]+)\s*:\s*(.+)")


class Section(BaseModel):
    """Base of all settings: frozen, closed, documented by attribute docstrings."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


def _address(text: str) -> str:
    """An absolute http address without a key in it."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an http or https address")
    if parts.username or parts.password:
        raise ValueError("must hold no user name and no password; use `key_env`")
    if parts.query or parts.fragment:
        raise ValueError("must end with its path; a key goes into `key_env`, a version into `api_version`")
    return text.rstrip("/")


def sendable(text: str) -> bool:
    """Whether a header can carry it; the libraries below would print a key that it cannot."""
    return text.isascii() and text.isprintable()


def _variable(text: str) -> str:
    if text and not _VARIABLE.fullmatch(text):
        raise ValueError("must be the name of an environment variable, not the key itself")
    return text


def _headers(lines: tuple[str, ...]) -> tuple[str, ...]:
    for line in lines:
        if not _HEADER.fullmatch(line.strip()):
            raise ValueError("each must be written as `Name: value`")
    return lines


class Profile(Section):
    """One OpenAI-compatible endpoint with one model, and what it is able to do; `rootrank doctor` finds that out."""

    base_url: Annotated[str, AfterValidator(_address)]
    """Address up to `/v1`."""
    model: str = Field(min_length=1)
    """Name of the model as the endpoint knows it."""
    key_env: Annotated[str, AfterValidator(_variable)] = ""
    """Environment variable that holds the key; empty for an endpoint that wants none."""
    keyring: str = ""
    """`service:user` under which the system's keyring holds the key (needs the package keyring)."""
    api: Literal["chat", "responses"] = "chat"
    """Chat Completions, or the Responses API; where the latter is missing, the former is taken."""
    api_version: str = ""
    """For Azure addresses that want `api-version`; the key then goes into the header `api-key`."""
    organisation: str = ""
    """Organisation that is billed, where the endpoint knows such."""
    headers: Annotated[tuple[str, ...], AfterValidator(_headers)] = ()
    """Further headers, each as `Name: value`; `$NAME` in a value is taken from the environment."""
    proxy: str = ""
    """Address of a proxy; empty takes HTTP_PROXY and HTTPS_PROXY as they are set."""
    ca_file: str = ""
    """File with the certificate authorities to trust; empty takes the system's."""
    context_window: int = Field(default=32_768, ge=512, le=100_000_000)
    """Tokens that question, evidence and answer may take together."""
    max_output: int = Field(default=2_048, ge=64, le=1_000_000)
    """Tokens of one answer."""
    output_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    """How the endpoint is told that bound; many local servers know only the older name."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    """Unset: the endpoint's own."""
    tools: bool = True
    """The model calls tools; without it, the same is asked for as JSON."""
    tool_choice: bool = True
    """The endpoint heeds tool_choice: when an answer is due, tools are forbidden with it instead of left out."""
    json_schema: bool = True
    """The endpoint holds an answer to a JSON schema."""
    stream: bool = True
    """The endpoint streams."""
    stream_usage: bool = True
    """The endpoint counts tokens in streams, and takes the option that asks for it."""
    timeout_seconds: float = Field(default=120.0, gt=0, le=3_600)
    """How long one reply of the model may take."""
    first_token_seconds: float = Field(default=45.0, gt=0, le=3_600)
    """How long the first piece of a reply, or the next one, is waited for."""
    retries: int = Field(default=2, ge=0, le=10)
    """How often a request is tried again that the endpoint could not take."""
    input_price: float | None = Field(default=None, ge=0)
    """Price of a million tokens that are sent."""
    output_price: float | None = Field(default=None, ge=0)
    """Price of a million tokens that come back."""
    currency: str = Field(default="USD", pattern=r"[A-Z]{3}")
    """Currency of the prices."""
    local: bool = False
    """The endpoint runs on a machine that may see the logs as they are."""
    redact: bool = True
    """Mask secrets, addresses and names before anything is sent; may be false only with `local = true`."""

    @model_validator(mode="after")
    def _only_local_sees_all(self) -> Self:
        if not self.redact and not self.local:
            raise ValueError("redact = false needs local = true: nothing leaves this machine unmasked")
        if self.max_output >= self.context_window:
            raise ValueError("max_output must be smaller than context_window")
        return self

    def cost(self, sent: int, received: int) -> float | None:
        """What so many tokens cost; None without prices."""
        if self.input_price is None and self.output_price is None:
            return None
        return (sent * (self.input_price or 0.0) + received * (self.output_price or 0.0)) / 1_000_000

    def filled_headers(self) -> dict[str, str]:
        """The headers with what the environment adds. Raises NoKey."""
        found = (_HEADER.fullmatch(line.strip()) for line in self.headers)
        filled = {match[1]: _filled(match[2]) for match in found if match}
        for name in [name for name, value in filled.items() if not sendable(value)]:
            raise NoKey(f"the header {name} holds a line break or a letter that cannot be sent", hint=ONE_LINE)
        return filled


class Chat(Section):
    """Who answers questions about a case, and how far that may go."""

    profile: str = OFFLINE
    """`offline`, or the name of a profile."""
    fallback: tuple[str, ...] = ()
    """Profiles that take over, in this order, where it fails; at last `offline` does."""
    language: str = ""
    """Language of answers, an IETF tag; empty: that of the question."""
    max_calls: int = Field(default=24, ge=0, le=1_000)
    """Tool calls of one turn."""
    max_tokens: int = Field(default=200_000, ge=0)
    """Tokens of one turn, sent and received; 0 for no bound."""
    max_seconds: float = Field(default=240.0, ge=0)
    """Seconds of one turn; 0 for no bound."""
    max_cost: float = Field(default=0.0, ge=0)
    """Money of one turn, in the currency of the profile's prices; 0 for no bound."""
    case_tokens: int = Field(default=0, ge=0)
    """Tokens of all turns about one case; 0 for no bound."""
    case_seconds: float = Field(default=0.0, ge=0)
    """Seconds of all turns about one case; 0 for no bound."""
    case_cost: float = Field(default=0.0, ge=0)
    """Money of all turns about one case; 0 for no bound."""
    redact: tuple[Literal["secret", "email", "user", "ip", "host"], ...] = ("secret", "email", "user", "ip", "host")
    """What is masked before text is sent; secrets always are."""


def is_key(key: str) -> bool:
    """Whether a key of the configuration is one of a profile: `profiles.NAME.field`."""
    section, _, rest = key.partition(".")
    name, _, field = rest.rpartition(".")
    return section == PROFILES and is_name(name) and field in Profile.model_fields


def is_name(name: str) -> bool:
    """Whether a profile may be called so."""
    return NAME.fullmatch(name) is not None and name != OFFLINE


def unknown_key(key: str, origin: str) -> ConfigError:
    """What is wrong with a key below `profiles`, and the nearest one."""
    table, _, field = key.rpartition(".")
    name = table.removeprefix(PROFILES).removeprefix(".")
    if name and not is_name(name):
        hint = f"names are lower-case letters, digits, - and _; {OFFLINE} is taken"
        return ConfigError(f"{origin}: [{table}] is no name for a profile", hint=hint)
    near = difflib.get_close_matches(field, Profile.model_fields, n=1, cutoff=0.5)
    place = table if name else f"{PROFILES}.NAME"
    hint = f"did you mean {place}.{near[0]}?" if near else f"keys of a profile: {', '.join(Profile.model_fields)}"
    return ConfigError(f"{origin}: unknown key {key}", hint=hint)


def _filled(value: str) -> str:
    return re.sub(r"\$(\w+)", lambda found: os.environ.get(found[1], ""), value.strip())


def shown(field: str, value: object) -> object:
    """A value as it may be printed: of headers the names, of an address no password and nothing that was asked."""
    if field == "headers" and isinstance(value, list | tuple):
        return tuple(_masked(str(line)) for line in value)
    if field in ("proxy", "base_url") and isinstance(value, str):
        return re.sub(r"[?#].*", "?***", re.sub(r"//[^/@]*@", "//***@", value), flags=re.DOTALL)
    return value


def _masked(line: str) -> str:
    name, _, value = line.partition(":")
    return f"{name}: {value.strip()}" if value.strip().startswith("$") else f"{name}: ***"
